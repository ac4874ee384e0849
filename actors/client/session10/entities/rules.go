package entities

import (
	"cmp"
	"slices"

	"candlemark/actors/client/session10/access"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/routing/filter"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/internal/servicebus/entity"
	"candlemark/protocol/amqp10"
)

// maxRules is the limit of rules in one answer.
const maxRules = 1000

// rules adds, removes and lists the rules of a subscription, which are bindings of its queue (ADR 77), like the
// administration API. The user must be allowed to configure the queue and, except for listing, to bind it.
func (a *asked) rules(may *access.Rights) {
	_, topic, own := entity.OfQueue(a.Queue)
	x := may.VHost.Directory().Exchange([]byte(topic))
	q := may.VHost.Directory().Queue([]byte(a.Queue))
	switch err := cmp.Or(a.mayRule(may, topic), mail.Locked(q, a.Connection, a.vhost())); {
	case err != nil:
		a.failed(err)
		return
	case own == "" || q == nil || x == nil || x.Type != filter.ExchangeType:
		a.missing(a.Queue)
		return
	}
	all := rulesOf(x, q.Name)
	switch a.Operation {
	case servicebus.AddRule:
		a.addRule(x, q, all)
	case servicebus.RemoveRule:
		name, _ := a.Field("rule-name").(string)
		for i := range all {
			if entity.Same(all[i].Name, name) {
				a.change(&mail.Unbind{Request: a.changed(), Source: x.Name, Binding: all[i].binding, Connection: a.Connection, Topic: mail.PermissionUnless(nil)})
				return
			}
		}
		a.missing(rulePath(a.Queue, name))
	default:
		a.listRules(all)
	}
}

// mayRule checks the permissions to change rules: permission to configure the queue, and the permissions of queue.bind.
// Rules of disabled entities cannot be changed.
func (a *asked) mayRule(may *access.Rights, topic string) error {
	err := may.Check(auth.Queue, a.Queue, auth.Configure)
	if a.Operation == servicebus.EnumerateRules {
		return err
	}
	if err == nil {
		err = may.Check(auth.Queue, a.Queue, auth.Write)
	}
	if err == nil {
		err = may.Check(auth.Exchange, topic, auth.Read)
	}
	if err == nil {
		err = may.Receives(a.Queue)
	}
	return err
}

func rulePath(subscription, name string) string {
	return subscription + "/" + entity.Rules + "/" + name
}

// missing answers that an object does not exist, in words that tell clients that retrying is useless.
func (a *asked) missing(path string) {
	a.answer(404, "The messaging entity '"+path+"' could not be found.", servicebus.EntityNotFound, nil)
}

// bound is a rule and its binding.
type bound struct {
	filter.Rule
	binding topology.Binding
}

func rulesOf(x *topology.Exchange, queue string) (all []bound) {
	for b := range x.Routes().BindingsTo(queue, false) {
		if r, err := filter.RuleOf(b.RoutingKey, b.Arguments); err == nil {
			all = append(all, bound{r, b})
		}
	}
	slices.SortStableFunc(all, func(a, b bound) int { return filter.CompareNames(a.Name, b.Name) })
	return all
}

func (a *asked) addRule(x *topology.Exchange, q *topology.Queue, all []bound) {
	r, err := a.Rule()
	if err == nil {
		err = entity.CheckRuleName(r.Name)
	}
	if err == nil {
		err = r.Validate()
	}
	if err != nil {
		a.answer(400, err.Error(), amqp10.InvalidField, nil)
		return
	}
	for i := range all {
		if entity.Same(all[i].Name, r.Name) {
			a.answer(409, "The messaging entity '"+rulePath(a.Queue, r.Name)+"' already exists.", servicebus.EntityExists, nil)
			return
		}
	}
	a.change(&mail.Bind{
		Request: a.changed(), Source: x.Name, Connection: a.Connection, Topic: mail.PermissionUnless(nil),
		Binding: topology.Binding{Destination: q.Name, RoutingKey: r.Name, Arguments: r.Arguments()},
	})
}

// listRules answers with a page of the rules.
func (a *asked) listRules(all []bound) {
	skip, _ := a.Field("skip").(int32)
	top, ok := a.Field("top").(int32)
	if !ok || top > maxRules {
		top = maxRules
	}
	from := min(max(int(skip), 0), len(all))
	page := make([]filter.Rule, 0, len(all)-from)
	for _, b := range all[from:min(from+max(int(top), 0), len(all))] {
		page = append(page, b.Rule)
	}
	if len(page) == 0 {
		a.answer(204, "no more rules", "", nil)
		return
	}
	a.answer(200, "OK", "", servicebus.DescribeRules(page))
}

// changed returns the Request of a command whose reply becomes the answer.
func (a *asked) changed() mail.Request {
	return a.Ask(func(_ any, err error) {
		if err != nil {
			a.failed(err)
			return
		}
		a.answer(200, "OK", "", nil)
	})
}

// change asks the virtual host to change a binding.
func (a *asked) change(what any) { a.Send(a.Access.Login.VHost.PID, what) }
