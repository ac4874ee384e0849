package definitionfile

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/definitionfile/document"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"
	"candlemark/internal/storage/parameters"
	"candlemark/policies"
	"candlemark/protocol"
)

// Judge reads definitions and returns the plan of their import into a virtual host of a broker or, for "", into the
// virtual hosts that they name. Errors: the text is not a document, or an error of the broker.
func Judge(ctx context.Context, broker management.Broker, users *auth.Users, text []byte, vhost string) (*document.Plan, error) {
	d, err := document.Read(text)
	if err != nil {
		return nil, err
	}
	present, err := presentIn(ctx, broker, users)
	if err != nil {
		return nil, err
	}
	return document.Judge(d, present, vhost), nil
}

func presentIn(ctx context.Context, broker management.Broker, users *auth.Users) (p document.Present, err error) {
	p = document.Present{
		Users: map[string]bool{}, VHosts: map[string]auth.VHost{},
		Exchanges: map[document.Name]policies.ExchangeDeclaration{}, Queues: map[document.Name]policies.QueueDeclaration{},
	}
	for _, a := range users.Accounts() {
		p.Users[a.Name] = true
	}
	for _, v := range users.VHosts() {
		p.VHosts[v.Name] = v
	}
	exchanges, err := broker.Exchanges(ctx, "")
	if err != nil {
		return p, err
	}
	for i := range exchanges {
		x := &exchanges[i]
		p.Exchanges[document.Name{VHost: x.VHost, Name: x.Name}] = policies.ExchangeDeclaration{
			Type: x.Type, Durable: x.Durable, AutoDelete: x.AutoDelete, Internal: x.Internal, Arguments: x.Arguments,
		}
	}
	queues, err := broker.Queues(ctx, "")
	for i := range queues {
		q := &queues[i]
		if q.Ending { // a declaration waits for the end, or is refused
			continue
		}
		p.Queues[document.Name{VHost: q.VHost, Name: q.Name}] = policies.QueueDeclaration{
			Durable: q.Durable, AutoDelete: q.AutoDelete, Exclusive: q.Exclusive, Arguments: q.Arguments,
		}
	}
	return p, err
}

// Carry executes a plan for a user, who needs no permissions; the zero value stands for the operator of the broker.
// Items that the broker refuses are marked in the plan; the rest continues. The user of the audit log is in ctx. The
// error is ctx's; then it is unknown how much of the rest was done.
func Carry(ctx context.Context, broker management.Broker, users *auth.Users, by auth.User, p *document.Plan) error {
	c := &carrier{broker: broker, users: users.By(events.OriginOf(ctx)), by: by, policies: map[string][]*document.Item{}, methods: map[batch][]*document.Item{}}
	for i := range p.Items {
		item := &p.Items[i]
		if err := c.put(ctx, item); err != nil {
			refuse(item, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for _, vhost := range slices.Sorted(maps.Keys(c.policies)) {
		c.putPolicies(ctx, vhost)
	}
	for _, section := range []string{"exchanges", "queues", "bindings"} {
		for _, at := range slices.SortedFunc(maps.Keys(c.methods), func(a, b batch) int { return cmp.Compare(a.vhost, b.vhost) }) {
			if at.section == section {
				c.declare(ctx, at)
			}
		}
	}
	for _, item := range c.shovels {
		if err := c.putParameter(ctx, item.Value.(parameters.Parameter)); err != nil {
			refuse(item, err)
		}
	}
	publish(ctx, broker, p)
	return ctx.Err()
}

// publish publishes the event of the import of definitions with the number of items.
func publish(ctx context.Context, broker management.Broker, p *document.Plan) {
	by, fields := events.OriginOf(ctx), protocol.Table{{Key: "items", Value: int64(len(p.Items))}}
	broker.Events().Publish(by.Asked(), func() *events.Event {
		counts := p.Counts()
		for _, verdict := range slices.Sorted(maps.Keys(counts)) {
			fields = append(fields, protocol.Field{Key: string(verdict), Value: int64(counts[verdict])})
		}
		return &events.Event{Name: "definitions.imported", By: by, Fields: fields}
	})
}

// batch are items that come many at a time.
type batch struct{ section, vhost string }

// carrier carries a plan out.
type carrier struct {
	broker management.Broker
	users  *auth.Users
	by     auth.User
	// The items for later steps.
	policies map[string][]*document.Item // by virtual host
	methods  map[batch][]*document.Item
	shovels  []*document.Item // they begin when queues and exchanges exist
}

// put puts one into the broker, or keeps it for later.
func (c *carrier) put(ctx context.Context, item *document.Item) (err error) {
	switch v := item.Value.(type) {
	case auth.Account:
		limits := v.Limits
		v.Limits = nil // the account keeps limits that the document does not name
		if _, err = c.users.PutAccount(v); err == nil && limits != nil {
			err = c.users.SetUserLimits(v.Name, func(l auth.Limits) auth.Limits {
				maps.Copy(l, limits)
				return l
			})
		}
	case auth.VHost:
		_, err = c.broker.PutVHost(ctx, v)
	case auth.Grant:
		_, err = c.users.PutGrant(v)
	case auth.TopicGrant:
		_, err = c.users.PutTopicGrant(v)
	case document.VHostLimits:
		err = c.users.SetVHostLimits(v.VHost, func(auth.Limits) auth.Limits { return v.Limits })
	case parameters.Parameter:
		if v.Component == parameters.Shovel {
			c.shovels = append(c.shovels, item)
			return nil
		}
		err = c.putParameter(ctx, v)
	case document.Global:
		_, err = c.broker.PutGlobal(ctx, v.Name, v.Value)
	case *policies.Policy:
		c.policies[v.VHost] = append(c.policies[v.VHost], item)
	case protocol.Method:
		at := batch{item.Section, item.VHost}
		c.methods[at] = append(c.methods[at], item)
	}
	return err
}

// putParameter puts a parameter, which the user of the import has set, or the operator if there is none.
func (c *carrier) putParameter(ctx context.Context, p parameters.Parameter) error {
	p.Setter = parameters.Setter{User: c.by.Name, Operator: c.by.Name == ""}
	_, err := c.broker.PutParameter(ctx, p)
	return err
}

// putPolicies puts the policies of a virtual host in force; of two policies with one name, the later.
func (c *carrier) putPolicies(ctx context.Context, vhost string) {
	type name struct {
		name     string
		operator bool
	}
	last := map[name]*policies.Policy{}
	for _, item := range c.policies[vhost] {
		p := item.Value.(*policies.Policy)
		last[name{p.Name, p.Operator}] = p
	}
	all := slices.SortedFunc(maps.Values(last), func(a, b *policies.Policy) int { return cmp.Compare(a.Name, b.Name) })
	if err := c.broker.SetPolicies(ctx, vhost, all); err != nil {
		for _, item := range c.policies[vhost] {
			refuse(item, err)
		}
	}
}

func (c *carrier) declare(ctx context.Context, at batch) {
	items := c.methods[at]
	methods := make([]protocol.Method, len(items))
	for i, item := range items {
		methods[i] = item.Value.(protocol.Method)
	}
	_ = c.broker.RunAll(ctx, c.by, at.vhost, methods, func(i int, err error) {
		if err != nil {
			refuse(items[i], err)
		}
	})
}

// refuse notes the reason why the broker refused an item.
func refuse(item *document.Item, err error) { item.Note(document.Refused, document.Explanation(err)) }
