package definitionfile

import (
	"slices"

	"candlemark/internal/admin/httpapi/definitionfile/document"
	"candlemark/internal/storage/parameters"
	"candlemark/policies"
)

// takeOwn moves what RabbitMQ cannot import out of the lists (DEF-10). A policy with settings of both is in both lists: complete,
// and with the settings that RabbitMQ knows.
func takeOwn(all *[]parameter, o *objects) (taken own) {
	*all = slices.DeleteFunc(*all, func(p parameter) bool {
		policy, operator := p.Value.(policyValue)
		switch {
		case operator && hasOwn(policy.Definition):
			taken.OwnParameters = append(taken.OwnParameters, p)
			return len(policy.Definition.ForRabbitMQ()) == 0
		case parameters.Own(p.Component):
			taken.OwnParameters = append(taken.OwnParameters, p)
			return true
		}
		return false
	})
	for i := range *all {
		if policy, operator := (*all)[i].Value.(policyValue); operator {
			policy.Definition = policy.Definition.ForRabbitMQ()
			(*all)[i].Value = policy
		}
	}
	o.Policies = slices.DeleteFunc(o.Policies, func(p policy) bool {
		if !hasOwn(p.Definition) {
			return false
		}
		taken.OwnPolicies = append(taken.OwnPolicies, p)
		return len(p.Definition.ForRabbitMQ()) == 0
	})
	for i := range o.Policies {
		o.Policies[i].Definition = o.Policies[i].Definition.ForRabbitMQ()
	}
	away := map[document.Name]bool{}
	o.Exchanges = slices.DeleteFunc(o.Exchanges, func(x exchange) bool {
		if !document.OwnType(x.Type) {
			return false
		}
		away[document.Name{VHost: x.VHost, Name: x.Name}] = true
		taken.OwnExchanges = append(taken.OwnExchanges, x)
		return true
	})
	o.Bindings = slices.DeleteFunc(o.Bindings, func(b binding) bool {
		if !away[document.Name{VHost: b.VHost, Name: b.Source}] && (b.Type != "exchange" || !away[document.Name{VHost: b.VHost, Name: b.Destination}]) {
			return false
		}
		taken.OwnBindings = append(taken.OwnBindings, b)
		return true
	})
	return taken
}

func hasOwn(d policies.Definition) bool { return len(d.ForRabbitMQ()) < len(d) }
