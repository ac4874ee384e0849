package management

import (
	"errors"
	"fmt"
	"strings"

	"candlemark/internal/routing/topology"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/convert"
)

// Refusal is the reason why a request is not run.
type Refusal struct {
	Code int // of HTTP
	Text string
}

// Error implements error.
func (r *Refusal) Error() string { return fmt.Sprintf("%d %s", r.Code, r.Text) }

func refuse(code int, format string, args ...any) *Refusal {
	return &Refusal{code, fmt.Sprintf(format, args...)}
}

// Refused returns the answer to a request that failed. o is nil if the request has no known operation.
func (o *Operation) Refused(err error) Answer {
	var own *Refusal
	var channel *protocol.ChannelError
	var connection *protocol.ConnectionError
	switch {
	case errors.As(err, &own):
		return Answer{own.Code, own.Text}
	case errors.As(err, &channel):
		return Answer{o.code(channel), explanation(channel.Text)}
	case errors.As(err, &connection) && (connection.Code == protocol.NotAllowed || connection.Code == protocol.CommandInvalid):
		return Answer{400, explanation(connection.Text)}
	case errors.As(err, &connection):
		return Answer{500, explanation(connection.Text)}
	}
	return Answer{500, "the broker failed"}
}

// code translates a channel exception.
func (o *Operation) code(err *protocol.ChannelError) int {
	reply := err.Code
	switch declares := o.Kind == DeclareQueue || o.Kind == DeclareExchange; {
	case reply == protocol.AccessRefused, strings.Contains(err.Text, ": queue limit in vhost '"):
		return 403
	case reply == protocol.PreconditionFailed && declares:
		return 409
	case reply == protocol.NotFound && o.Kind == DescribeQueue:
		return 404
	}
	return 400
}

// explanation returns the text of an exception without the name of its code.
func explanation(text string) string {
	if _, rest, found := strings.Cut(text, " - "); found {
		return rest
	}
	return text
}

// Queue is the description of a queue.
type Queue struct {
	*topology.Queue
	VHost, Node         string
	Messages, Consumers int
}

// Answer returns the response to a declaration or description of the queue. Clients require the types, also of the
// arguments: an empty map has no types, so the arguments contain the type of the queue, as in RabbitMQ.
func (q *Queue) Answer(code int) Answer {
	arguments := convert.Map(q.Arguments)
	if _, typed := arguments.Get("x-queue-type"); !typed {
		arguments = append(arguments, amqp10.Entry{Key: "x-queue-type", Value: q.Type})
	}
	return Answer{code, amqp10.Map{
		{Key: "leader", Value: q.Node},
		{Key: "replicas", Value: amqp10.Array{Of: amqp10.TypeString, Values: []any{q.Node}}},
		{Key: "message_count", Value: uint64(q.Messages)},
		{Key: "consumer_count", Value: uint32(q.Consumers)},
		{Key: "name", Value: q.Name},
		{Key: "vhost", Value: q.VHost},
		{Key: "durable", Value: wide(q.Durable || q.Exclusive)}, // as its client declared it; no other client sees an exclusive queue
		{Key: "auto_delete", Value: wide(q.AutoDelete)},
		{Key: "exclusive", Value: wide(q.Exclusive)},
		{Key: "type", Value: q.Type},
		{Key: "arguments", Value: arguments},
	}}
}

// wide encodes a boolean in two bytes, as RabbitMQ does in these answers.
func wide(is bool) amqp10.Value {
	if is {
		return amqp10.Value{byte(amqp10.TypeBool), 1}
	}
	return amqp10.Value{byte(amqp10.TypeBool), 0}
}

// Emptied returns the response to a deletion or purge of a queue with that many messages.
func Emptied(messages int) Answer {
	return Answer{200, amqp10.Map{{Key: "message_count", Value: uint64(messages)}}}
}

// Done returns the answer without a body.
func Done() Answer { return Answer{204, nil} }

// fields reads the bools, texts and arguments of the request's map into wanted, by their names; of names the object in
// errors. The error is a *Refusal for anything but a map, and for unknown keys.
func (r *Request) fields(of string, wanted map[string]any) error {
	m, ok := r.body.(amqp10.Map)
	if !ok {
		return refuse(400, "the body must be a map of each %s", of)
	}
	for _, e := range m {
		key, _ := e.Key.(string)
		ok := false
		switch to := wanted[key].(type) {
		case *bool:
			*to, ok = e.Value.(bool)
		case *string:
			*to, ok = e.Value.(string)
			ok = ok && len(*to) <= 255
		case *protocol.Table:
			var arguments amqp10.Map
			if arguments, ok = e.Value.(amqp10.Map); ok {
				*to, ok = convert.Table(arguments)
			}
		}
		if !ok {
			return refuse(400, "bad %s %s", of, short(text(e.Key)))
		}
	}
	return nil
}
