package document

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/routing/filter"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
	"candlemark/protocol"
)

// idleArgument returns the reason why an argument of queues has no effect, "" if it has one.
func idleArgument(name string) string {
	if name == "x-ha-policy" || name == "x-ha-policy-params" {
		return policies.OneNode
	}
	key, _ := strings.CutPrefix(name, "x-")
	return policies.Idle(key)
}

const (
	reserved     = "amq."
	reservedName = "names that begin with amq. are the broker's own"
)

// System reports whether an exchange of that name is the broker's own, which is neither exported nor imported.
func System(name string) bool {
	return name == "" || strings.HasPrefix(name, reserved) || name == topology.AdminExchange
}

// OwnType reports whether RabbitMQ 4.3 has no exchanges of a type that there are here (DEF-10).
func OwnType(kind string) bool { return kind == topology.DelayedType || kind == filter.ExchangeType }

func (j *judge) exchange(b *rest.Body, i *Item) {
	x := &protocol.ExchangeDeclare{
		Exchange: name(b, "name"), Type: name(b, "type"), Durable: b.Flag("durable"), AutoDelete: b.Flag("auto_delete"),
		Internal: b.Flag("internal"), Arguments: b.Table("arguments"),
	}
	i.VHost, i.Name = j.in(b), x.Exchange
	at := Name{i.VHost, i.Name}
	if b.Err != nil {
		j.noExchange[at] = true
		return
	}
	if System(i.Name) {
		i.Note(Ignored, "the exchange is the broker's own")
		return
	}
	given := policies.ExchangeDeclaration{Type: x.Type, Durable: x.Durable, AutoDelete: x.AutoDelete, Internal: x.Internal, Arguments: x.Arguments}
	if current, there := j.Exchanges[at]; there {
		if err := policies.EquivalentExchange(i.Name, i.VHost, current, given); err != nil {
			i.Note(Ignored, "it already exists and stays as it is: "+Explanation(err))
		}
		return
	}
	if kind := unknownType(x); kind != "" {
		j.noExchange[at] = true
		i.Note(Ignored, "unknown exchange type "+kind)
		return
	}
	if err := checkExchange(i, x); err != nil {
		j.noExchange[at] = true
		i.Note(Refused, Explanation(err))
		return
	}
	j.Exchanges[at] = given
	i.Value = x
}

// builtIn are the exchanges of every virtual host, with their types.
var builtIn = map[string]string{
	"amq.direct": "direct", "amq.fanout": "fanout", "amq.topic": "topic", "amq.headers": "headers", "amq.match": "headers",
	"amq.rabbitmq.trace": "topic",
}

// unknownType returns the type that the broker does not have, "" if it has it.
func unknownType(x *protocol.ExchangeDeclare) string {
	kind := x.Type
	if kind == topology.DelayedType {
		v, _ := x.Arguments.Get(topology.DelayedArgument)
		name, text := v.(string)
		if !text || name == topology.DelayedType {
			return "" // which is wrong
		}
		kind = name
	}
	if _, known := topology.NewRoutes(kind, nil); known {
		return ""
	}
	return kind
}

func checkExchange(i *Item, x *protocol.ExchangeDeclare) *protocol.ChannelError {
	if v, _ := x.Arguments.Get(topology.DelayedArgument); x.Type == topology.DelayedType {
		if name, text := v.(string); !text || name == topology.DelayedType {
			return protocol.ChannelErrorf(protocol.PreconditionFailed, "Invalid argument, 'x-delayed-type' must be an existing exchange type")
		}
	}
	if err := policies.ValidateExchangeArguments(i.Name, i.VHost, x.Arguments); err != nil {
		return err
	}
	routing := topology.Exchange{Type: x.Type, Arguments: x.Arguments}
	return topology.ValidateExchange(routing.RoutingType(), x.Arguments)
}

func (j *judge) queue(b *rest.Body, i *Item) {
	q := &protocol.QueueDeclare{
		Queue: name(b, "name"), Durable: b.Flag("durable"), AutoDelete: b.Flag("auto_delete"), Arguments: b.Table("arguments"),
	}
	i.VHost, i.Name = j.in(b), q.Queue
	at := Name{i.VHost, i.Name}
	kind, _ := q.Arguments.Get(queueType)
	if kind == nil && !isEmpty(b, "type") {
		kind = b.Text("type")
		q.Arguments = q.Arguments.Set(queueType, kind)
	}
	exclusive := b.Flag("exclusive")
	why := ""
	switch of := policies.DeadLettersFrom(q.Arguments); {
	case b.Err != nil:
	case i.Name == "":
		b.Fail(errors.New("the name of a queue is empty"))
	case strings.HasPrefix(i.Name, reserved):
		why = reservedName
	case exclusive:
		why = "it is exclusive to a connection"
	case kind == "stream":
		why = policies.NoStreams
	case of != "":
		i.Note(Ignored, fmt.Sprintf("the broker creates it for the dead letters of '%s'", of))
		return // its bindings can be imported
	}
	if why != "" || b.Err != nil {
		j.noQueue[at] = true
		if why != "" {
			i.Note(Ignored, why)
		}
		return
	}
	j.newQueue(q, at, i)
}

const queueType = "x-queue-type"

func (j *judge) newQueue(q *protocol.QueueDeclare, at Name, i *Item) {
	given := policies.QueueDeclaration{
		Durable: q.Durable, AutoDelete: q.AutoDelete,
		Arguments: policies.WithQueueType(q.Arguments, q.Durable, false, q.AutoDelete, j.VHosts[i.VHost].DefaultQueueType),
	}
	if current, there := j.Queues[at]; there {
		if err := policies.Equivalent(i.Name, i.VHost, current, given); err != nil {
			i.Note(Ignored, "it already exists and stays as it is: "+Explanation(err))
		}
		return
	}
	err := policies.ValidateQueueArguments(i.Name, i.VHost, given.Arguments)
	if err == nil {
		err = policies.ValidateQueueProperties(i.Name, i.VHost, given)
	}
	if err != nil {
		j.noQueue[at] = true
		i.Note(Refused, Explanation(err))
		return
	}
	j.Queues[at] = given
	i.Value = q
	for _, argument := range q.Arguments {
		if why := idleArgument(argument.Key); why != "" {
			i.Note(Approximated, argument.Key+" has no effect: "+why)
		}
	}
}

// Explanation returns the text of an error; for a refusal of the protocol, without the name of its code.
func Explanation(err error) string {
	if code, text := rest.ProtocolError(err); code != 0 {
		_, explanation, _ := strings.Cut(text, " - ")
		return cmp.Or(explanation, text)
	}
	return err.Error()
}
