package httpapi

import (
	"encoding/json"
	"maps"
	"slices"

	"candlemark/internal/auth"
	"candlemark/policies"
)

// The components that have parameters. Those of RabbitMQ's plugins do not exist
// here.
const (
	operatorPolicies = string(auth.OperatorPolicies)
	vhostLimits      = string(auth.VHostLimits)
	limitsName       = "limits" // the one parameter of vhost-limits
)

// The JSON forms of parameters.
type (
	parameterItem struct {
		Value     any    `json:"value"`
		VHost     string `json:"vhost"`
		Component string `json:"component"`
		Name      string `json:"name"`
	}
	globalItem struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	}
	policyValue struct {
		Pattern    string              `json:"pattern"`
		Definition policies.Definition `json:"definition"`
		Priority   json.Number         `json:"priority"`
		ApplyTo    string              `json:"apply-to"`
	}
)

// parameters are those of the component, virtual host and name of the path, if it
// names any. Operator policies and the limits of virtual hosts are shown as
// parameters, as they are some in RabbitMQ; policies are not.
var parameters = resource[parameterItem]{parametersOf, func(i *parameterItem) string { return i.Name }}

func parametersOf(r *request) ([]parameterItem, error) {
	items, component := []parameterItem{}, r.part("component")
	if component == "" || component == operatorPolicies {
		list, err := r.broker.ListPolicies(r.Context(), r.vhost, true)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			items = append(items, parameterItem{policyValue{p.Pattern, p.Definition, p.Priority, p.ApplyTo}, p.VHost, operatorPolicies, p.Name})
		}
	}
	if component == "" || component == vhostLimits {
		for _, v := range r.users.VHosts() {
			if len(v.Limits) > 0 && (r.vhost == "" || r.vhost == v.Name) {
				items = append(items, parameterItem{v.Limits, v.Name, vhostLimits, limitsName})
			}
		}
	}
	return slices.DeleteFunc(items, func(i parameterItem) bool {
		return r.name != "" && i.Name != r.name || !r.sees(i.VHost)
	}), nil
}

func putParameter(r *request) (created bool, err error) {
	b, err := r.json("value")
	if err != nil {
		return false, err
	}
	switch component := r.part("component"); {
	case component == operatorPolicies:
		return storePolicy(r, true, b.fields["value"])
	case component == vhostLimits && r.name == limitsName:
		limits, err := auth.ParseVHostLimits(b.fields["value"])
		if err != nil {
			return false, invalid(err)
		}
		err = setVHostLimits(r, func(before auth.Limits) auth.Limits {
			created = len(before) == 0
			return limits
		})
		return created, err
	case component == "policy":
		return false, complaint("policies may not be set using this method")
	default:
		return false, complaintf("Validation failed\n\ncomponent %s not found\n", component)
	}
}

func deleteParameter(r *request) (bool, error) {
	item, err := parameters.find(r)
	switch {
	case err != nil:
		return false, err
	case item.Component == operatorPolicies:
		return r.broker.ClearPolicy(r.Context(), r.vhost, r.name, true)
	}
	return true, setVHostLimits(r, func(auth.Limits) auth.Limits { return auth.Limits{} })
}

// globals are all global parameters, or the one that the path names.
var globals = resource[globalItem]{
	func(r *request) ([]globalItem, error) {
		items, all := []globalItem{}, r.broker.Globals()
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if r.name == "" || r.name == name {
				items = append(items, globalItem{name, all[name]})
			}
		}
		return items, nil
	},
	func(i *globalItem) string { return i.Name },
}

func putGlobal(r *request) (bool, error) {
	b, err := r.json("value")
	if err != nil {
		return false, err
	}
	created, err := r.broker.PutGlobal(r.name, b.fields["value"])
	return created, invalid(err)
}

func deleteGlobal(r *request) (bool, error) { return r.broker.DeleteGlobal(r.name) }

// putClusterName gives the broker its name, a global parameter.
func putClusterName(r *request) (any, error) {
	b, err := r.json("name")
	if err != nil {
		return nil, err
	}
	if b.text("name"); b.err != nil {
		return nil, b.err
	}
	_, err = r.broker.PutGlobal(ClusterName, b.fields["name"])
	return nil, invalid(err)
}

// clusterName names the broker.
func clusterName(r *request) (any, error) {
	o, err := r.broker.Overview(r.Context())
	return map[string]string{"name": o.ClusterName}, err
}

// parameterChanger may change the parameter that the path names. Who may change some
// is told which do not exist.
func parameterChanger(r *request) error {
	s := auth.Setting(r.part("component"))
	if s == auth.OperatorPolicies || s == auth.VHostLimits {
		return changer(s)(r)
	}
	return policymaker(r)
}
