package entityadmin

import (
	"context"
	"errors"
	"slices"

	"candlemark/internal/access/auth"
	"candlemark/internal/routing/filter"
	"candlemark/internal/servicebus/entity"
	"candlemark/internal/storage/parameters"
	"candlemark/policies"
	"candlemark/protocol"
)

// Create creates an entity, and the rules of a subscription; if none are given, $Default, which selects everything.
// Errors: ErrExists, ErrNotFound for the topic, ErrInvalid; refusals of AMQP.
func (m *Manager) Create(ctx context.Context, d entity.Description, rules ...filter.Rule) error {
	d.Created = m.Broker.Clock().Wall()
	d.Updated = d.Created
	topic, err := m.checked(ctx, &d, rules)
	if err != nil {
		return err
	}
	if err := m.free(ctx, &d); err != nil {
		return err
	}
	if err := m.permit(&d); err != nil {
		return err
	}
	if err := m.dropKeys(ctx, d.Path(), nil); err != nil { // of an earlier entity of that name
		return err
	}
	before, err := m.resources(ctx)
	if err != nil {
		return err
	}
	undo, err := m.settle(ctx, &d)
	if err == nil {
		err = m.run(ctx, d.Declaration(topic))
	}
	if err != nil {
		return errors.Join(err, undo())
	}
	if d.Kind != entity.Subscription {
		return nil
	}
	if len(rules) == 0 {
		rules = []filter.Rule{{Name: filter.DefaultRule}}
	}
	for i := range rules {
		if err := m.bind(ctx, d.Topic, d.Name, &rules[i]); err != nil {
			return errors.Join(err, m.remove(ctx, d.Kind, d.Path(), before), undo())
		}
	}
	return nil
}

// checked validates an entity to be created or changed. For a subscription it returns the topic, and sets the topic's
// exact name.
func (m *Manager) checked(ctx context.Context, d *entity.Description, rules []filter.Rule) (*entity.Description, error) {
	if err := d.Validate(); err != nil {
		return nil, invalid(err)
	}
	for i := range rules {
		if err := checkRule(&rules[i]); err != nil {
			return nil, err
		}
	}
	for _, to := range [...]*string{&d.ForwardTo, &d.ForwardDeadLetteredMessagesTo} {
		if err := m.target(ctx, d.Path(), to); err != nil {
			return nil, err
		}
	}
	if d.Kind != entity.Subscription {
		return nil, nil
	}
	topic, err := m.Get(ctx, entity.Topic, "", d.Topic)
	if err != nil {
		return nil, err
	}
	d.Topic = topic.Name
	return &topic.Description, nil
}

// target finds the queue or topic that messages are forwarded to from a queue, and sets its exact name. The user must
// be permitted to take messages and to publish them there, like a user who declares a queue with a dead-letter exchange
// (DL-3).
func (m *Manager) target(ctx context.Context, from string, to *string) error {
	if *to == "" {
		return nil
	}
	for _, kind := range [...]entity.Kind{entity.Queue, entity.Topic} {
		switch there, err := m.Get(ctx, kind, "", *to); {
		case err == nil:
			*to = there.Name
			exchange := "" // the default one
			if kind == entity.Topic {
				exchange = there.Name
			}
			return m.lead(from, exchange)
		case !errors.Is(err, ErrNotFound):
			return err
		}
	}
	return invalidf("there is neither a queue nor a topic %q to forward to", *to)
}

// free checks that the name of a new entity is not in use. Queues and topics share names.
func (m *Manager) free(ctx context.Context, d *entity.Description) error {
	kinds := []entity.Kind{entity.Queue, entity.Topic}
	if d.Kind == entity.Subscription {
		kinds = []entity.Kind{entity.Subscription}
	}
	for _, kind := range kinds {
		switch _, err := m.Get(ctx, kind, d.Topic, d.Name); {
		case err == nil:
			return ErrExists
		case !errors.Is(err, ErrNotFound):
			return err
		}
	}
	return nil
}

// settle sets the policy and the additional parameters of an entity, and declares the exchange for forwarding from it
// to a queue. undo undoes that for a new entity. After an error no such exchange is left.
func (m *Manager) settle(ctx context.Context, d *entity.Description) (undo func() error, err error) {
	made := "" // the exchange, if it did not exist
	undo = func() error {
		_, one := m.Broker.ClearPolicy(ctx, m.VHost, entity.PolicyName(d.Path()), false)
		_, two := m.Broker.DeleteParameter(ctx, m.parameter(d.Path(), nil))
		return errors.Join(one, two, m.unforward(ctx, made))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.unforward(ctx, made))
		}
	}()
	topics, err := m.topics(ctx)
	if err != nil {
		return undo, err
	}
	isTopic := func(name string) bool {
		for _, x := range topics {
			if x.Name == name {
				return true
			}
		}
		return false
	}
	if to := d.ForwardTo; to != "" && !isTopic(to) {
		if made, err = m.forwarding(ctx, to); err != nil {
			return undo, err
		}
	}
	if err := m.setPolicy(ctx, d, isTopic); err != nil {
		return undo, err
	}
	_, err = m.Broker.PutParameter(ctx, m.parameter(d.Path(), d.Kept().Marshal()))
	return undo, err
}

// setPolicy sets the policy of an entity, and reports the policy that no longer applies to it as a result.
func (m *Manager) setPolicy(ctx context.Context, d *entity.Description, isTopic func(name string) bool) error {
	name := entity.PolicyName(d.Path())
	all, err := m.Broker.ListPolicies(ctx, m.VHost, false)
	if err != nil {
		return err
	}
	var before *policies.Policy
	if i := slices.IndexFunc(all, func(p *policies.Policy) bool { return p.Name == name }); i >= 0 {
		before = all[i]
	}
	p, err := d.Policy(m.VHost, isTopic, before)
	switch {
	case err != nil:
		return invalid(err)
	case p == nil:
		_, err = m.Broker.ClearPolicy(ctx, m.VHost, name, false)
		return err
	}
	if err := m.Broker.SetPolicies(ctx, m.VHost, []*policies.Policy{p}); err != nil || m.Report == nil {
		return err
	}
	kind := policies.KindQuorumQueue
	if d.Kind == entity.Topic {
		kind = policies.KindExchange
	}
	if replaced, looser := policies.Replaced(all, p, kind, d.Path()); replaced != nil {
		m.Report(Replaced{d.Path(), replaced.Name, looser})
	}
	return nil
}

func (m *Manager) parameter(path string, value []byte) parameters.Parameter {
	return parameters.Parameter{Component: entity.Component, VHost: m.VHost, Name: path, Value: value}
}

// forwarding declares the exchange that leads only to a queue, and returns its name if it did not exist.
func (m *Manager) forwarding(ctx context.Context, queue string) (made string, err error) {
	x := entity.ForwardExchange(queue)
	exist, err := m.resources(ctx)
	if err == nil {
		err = m.run(ctx, &protocol.ExchangeDeclare{Exchange: x, Type: "fanout", Durable: true})
	}
	if err != nil {
		return "", err
	}
	if !exist[auth.Resource{Kind: auth.Exchange, Name: x}] {
		made = x
	}
	return made, m.run(ctx, &protocol.QueueBind{Queue: queue, Exchange: x})
}

// unforward deletes an exchange made for forwarding, "" for none, unless an entity forwards to it.
func (m *Manager) unforward(ctx context.Context, exchange string) error {
	if exchange == "" {
		return nil
	}
	all, err := m.Broker.ListPolicies(ctx, m.VHost, false)
	forwards := func(p *policies.Policy) bool {
		to, _ := p.Definition.Get("forward-to")
		return to == exchange
	}
	if err != nil || slices.ContainsFunc(all, forwards) {
		return err
	}
	return m.run(ctx, &protocol.ExchangeDelete{Exchange: exchange})
}

// Update changes an entity. Errors: ErrNotFound, ErrInvalid (also for properties that cannot be changed).
func (m *Manager) Update(ctx context.Context, d entity.Description) error {
	before, err := m.Get(ctx, d.Kind, d.Topic, d.Name)
	if err != nil {
		return err
	}
	d.Name, d.Topic = before.Name, before.Topic
	if err := before.Fixed(&d); err != nil {
		return invalid(err)
	}
	d.Created, d.Updated = before.Created, m.Broker.Clock().Wall()
	if _, err := m.checked(ctx, &d, nil); err != nil {
		return err
	}
	if err := m.permit(&d); err != nil {
		return err
	}
	_, err = m.settle(ctx, &d)
	return err
}

// Delete deletes an entity, a topic with its subscriptions; nothing if the user may not delete all that belongs to it.
// Error: ErrNotFound.
func (m *Manager) Delete(ctx context.Context, kind entity.Kind, topic, name string) error {
	e, err := m.Get(ctx, kind, topic, name)
	if err != nil {
		return err
	}
	exist, err := m.resources(ctx)
	if err != nil {
		return err
	}
	var all []entityParts
	if kind == entity.Topic {
		for _, q := range m.queueNames(entity.Subscription, e.Name) {
			all = append(all, partsOf(entity.Subscription, q.Name, exist))
		}
	}
	all = append(all, partsOf(kind, e.Path(), exist))
	for i := range all {
		for _, r := range all[i].resources {
			if err := m.mayConfigure(r); err != nil {
				return err
			}
		}
	}
	for i := range all {
		for _, r := range all[i].resources {
			if err := m.run(ctx, deletion(r)); err != nil {
				return err
			}
		}
		if err := m.forget(ctx, all[i].path); err != nil {
			return err
		}
	}
	return nil
}

// entityParts are the queues and exchanges deleted with an entity.
type entityParts struct {
	path      string
	resources []auth.Resource
}

// partsOf returns the parts of an entity that exist: the exchange of a topic; else the queue, the queue of its dead letters,
// and the exchange that leads to it.
func partsOf(kind entity.Kind, path string, exist map[auth.Resource]bool) entityParts {
	all := []auth.Resource{{Kind: auth.Exchange, Name: path}}
	if kind != entity.Topic {
		all = []auth.Resource{
			{Kind: auth.Queue, Name: path},
			{Kind: auth.Queue, Name: entity.DeadLetterQueue(path)},
			{Kind: auth.Exchange, Name: entity.ForwardExchange(path)},
		}
	}
	return entityParts{path, slices.DeleteFunc(all, func(r auth.Resource) bool { return !exist[r] })}
}

// resources returns all queues and exchanges.
func (m *Manager) resources(ctx context.Context) (map[auth.Resource]bool, error) {
	exchanges, err := m.Broker.Exchanges(ctx, m.VHost)
	all := map[auth.Resource]bool{}
	for i := range exchanges {
		all[auth.Resource{Kind: auth.Exchange, Name: exchanges[i].Name}] = true
	}
	for _, q := range m.Broker.QueueNames(m.VHost) {
		all[auth.Resource{Kind: auth.Queue, Name: q.Name}] = true
	}
	return all, err
}

// remove deletes the parts of an entity that do not exist in before.
func (m *Manager) remove(ctx context.Context, kind entity.Kind, path string, before map[auth.Resource]bool) error {
	now, err := m.resources(ctx)
	for _, r := range partsOf(kind, path, now).resources {
		if err == nil && !before[r] {
			err = m.run(ctx, deletion(r))
		}
	}
	return err
}

func deletion(r auth.Resource) protocol.Method {
	if r.Kind == auth.Queue {
		return &protocol.QueueDelete{Queue: r.Name}
	}
	return &protocol.ExchangeDelete{Exchange: r.Name}
}

func (m *Manager) forget(ctx context.Context, path string) error {
	_, one := m.Broker.ClearPolicy(ctx, m.VHost, entity.PolicyName(path), false)
	_, two := m.Broker.DeleteParameter(ctx, m.parameter(path, nil))
	return errors.Join(one, two, m.dropKeys(ctx, path, nil))
}
