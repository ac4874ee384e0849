package broker

import (
	"strings"
	"testing"

	"candlemark/integration/testkit"
	"candlemark/protocol"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Short forms of the methods for the tables.

func declare(q string, arguments ...protocol.Field) *protocol.QueueDeclare {
	return &protocol.QueueDeclare{Queue: q, Arguments: arguments}
}

func passive(q string) *protocol.QueueDeclare { return &protocol.QueueDeclare{Queue: q, Passive: true} }

func durably(q string, arguments ...protocol.Field) *protocol.QueueDeclare {
	return &protocol.QueueDeclare{Queue: q, Durable: true, Arguments: arguments}
}

func exclusively(q string) *protocol.QueueDeclare {
	return &protocol.QueueDeclare{Queue: q, Exclusive: true}
}

func direct(x string, arguments ...protocol.Field) *protocol.ExchangeDeclare {
	return &protocol.ExchangeDeclare{Exchange: x, Type: "direct", Arguments: arguments}
}

func arg(key string, value any) protocol.Field { return protocol.Field{Key: key, Value: value} }

const (
	noQueue    = "NOT_FOUND - no queue 'q' in vhost '/'"
	noExchange = "NOT_FOUND - no exchange 'x' in vhost '/'"
	notDefault = "ACCESS_REFUSED - operation not permitted on the default exchange"
	noneNamed  = "NOT_FOUND - no previously declared queue"
)

func TestClassExchange(t *testing.T) {
	x := direct("x")
	typed := func(name, kind string) *protocol.ExchangeDeclare {
		return &protocol.ExchangeDeclare{Exchange: name, Type: kind}
	}
	inequivalent := func(what, received, current string) string {
		return "channel 406 40/10 PRECONDITION_FAILED - inequivalent arg '" + what + "' for exchange 'x' in vhost '/': received " + received + " but current is " + current
	}
	bound := []any{x, declare("q"), &protocol.QueueBind{Queue: "q", Exchange: "x"}}
	after := func(before []any, last any) []any { return append(append([]any{}, before...), last) }
	play(t, []row{
		{"declare", []any{x}, "exchange.declare-ok"},
		{"declare again", []any{x, x}, "exchange.declare-ok"},
		{"declare nowait", []any{&protocol.ExchangeDeclare{Exchange: "x", Type: "topic", NoWait: true}}, ""},
		{"declare passive", []any{x, &protocol.ExchangeDeclare{Exchange: "x", Passive: true}}, "exchange.declare-ok"},
		{"DEC-14 missing", []any{&protocol.ExchangeDeclare{Exchange: "x", Passive: true}}, "channel 404 40/10 " + noExchange},
		{"DEC-14 missing nowait", []any{&protocol.ExchangeDeclare{Exchange: "x", Passive: true, NoWait: true}}, "channel 404 40/10 " + noExchange},
		{"DEC-14 type", []any{typed("x", "nope")}, "channel 406 40/10 PRECONDITION_FAILED - unknown exchange type 'nope'"},
		{"DEC-14 no type", []any{typed("x", "")}, "channel 406 40/10 PRECONDITION_FAILED - invalid exchange type ''"},
		{"DEC-14 alternate", []any{direct("x", arg("alternate-exchange", int32(5)))}, "channel 406 40/10 PRECONDITION_FAILED - invalid type 'signedint' for arg 'alternate-exchange' in exchange 'x' in vhost '/'"},
		{"DEC-8 reserved", []any{direct("amq.x")}, "channel 403 40/10 ACCESS_REFUSED - exchange name 'amq.x' contains reserved prefix 'amq.*'"},
		{"DEC-8 line ends", []any{direct("x\r\n"), &protocol.ExchangeDeclare{Exchange: "x", Passive: true}}, "exchange.declare-ok"},
		{"DEC-10 declare", []any{direct("")}, "channel 403 40/10 " + notDefault},
		{"DEC-10 passive", []any{&protocol.ExchangeDeclare{Passive: true}}, "channel 403 40/10 " + notDefault},
		{"DEC-4 type", []any{x, typed("x", "fanout")}, inequivalent("type", "'fanout'", "'direct'")},
		{"DEC-4 durable", []any{x, &protocol.ExchangeDeclare{Exchange: "x", Type: "direct", Durable: true}}, inequivalent("durable", "'true'", "'false'")},
		{"DEC-4 auto_delete", []any{x, &protocol.ExchangeDeclare{Exchange: "x", Type: "direct", AutoDelete: true}}, inequivalent("auto_delete", "'true'", "'false'")},
		{"DEC-4 internal", []any{x, &protocol.ExchangeDeclare{Exchange: "x", Type: "direct", Internal: true}}, inequivalent("internal", "'true'", "'false'")},
		{"DEC-4 alternate", []any{x, direct("x", arg("alternate-exchange", "a"))}, inequivalent("alternate-exchange", "the value 'a' of type 'longstr'", "none")},

		{"delete", []any{x, &protocol.ExchangeDelete{Exchange: "x"}}, "exchange.delete-ok"},
		{"delete what is not there", []any{&protocol.ExchangeDelete{Exchange: "x"}}, "exchange.delete-ok"},
		{"delete nowait", []any{x, &protocol.ExchangeDelete{Exchange: "x", NoWait: true}}, ""},
		{"DEC-10 delete", []any{&protocol.ExchangeDelete{}}, "channel 403 40/20 " + notDefault},
		{"DEC-10 delete amq", []any{&protocol.ExchangeDelete{Exchange: "amq.direct"}}, "channel 403 40/20 ACCESS_REFUSED - deletion of system exchange 'amq.direct' in vhost '/' not allowed"},
		{"delete in use", after(bound, &protocol.ExchangeDelete{Exchange: "x", IfUnused: true}), "channel 406 40/20 PRECONDITION_FAILED - exchange 'x' in vhost '/' in use"},

		{"bind", []any{x, &protocol.ExchangeBind{Destination: "x", Source: "amq.topic", RoutingKey: "#"}}, "exchange.bind-ok"},
		{"bind nowait", []any{x, &protocol.ExchangeBind{Destination: "x", Source: "amq.topic", NoWait: true}}, ""},
		{"DEC-14 bind from nowhere", []any{&protocol.ExchangeBind{Destination: "amq.topic", Source: "x"}}, "channel 404 40/30 " + noExchange},
		{"DEC-14 bind to nowhere", []any{&protocol.ExchangeBind{Destination: "x", Source: "amq.topic"}}, "channel 404 40/30 " + noExchange},
		{"DEC-10 bind from", []any{&protocol.ExchangeBind{Destination: "amq.topic"}}, "channel 403 40/30 " + notDefault},
		{"DEC-10 bind to", []any{&protocol.ExchangeBind{Source: "amq.topic"}}, "channel 403 40/30 " + notDefault},
		{
			"DEC-14 x-match",
			[]any{&protocol.ExchangeBind{Destination: "amq.topic", Source: "amq.match", Arguments: protocol.Table{arg("x-match", "most")}}},
			`channel 406 40/30 PRECONDITION_FAILED - Invalid x-match field value <<"most">>; expected all, any, all-with-x, or any-with-x`,
		},
		{"unbind", []any{&protocol.ExchangeUnbind{Destination: "amq.fanout", Source: "amq.topic"}}, "exchange.unbind-ok"},
		{"unbind what is not there", []any{&protocol.ExchangeUnbind{Destination: "x", Source: "y"}}, "exchange.unbind-ok"},
		{"DEC-10 unbind", []any{&protocol.ExchangeUnbind{Source: "amq.topic"}}, "channel 403 40/40 " + notDefault},
	})
}

func TestClassQueue(t *testing.T) {
	q := declare("q")
	invalid := func(key, why string) string {
		return "channel 406 50/10 PRECONDITION_FAILED - invalid arg '" + key + "' for queue 'q' in vhost '/'" + why
	}
	refused := func(rule, key string, value any, why string) row {
		return row{rule + " " + key, []any{declare("q", arg(key, value))}, invalid(key, ": "+why)}
	}
	inequivalent := func(what, received, current string) string {
		return "channel 406 50/10 PRECONDITION_FAILED - inequivalent arg '" + what + "' for queue 'q' in vhost '/': received " + received + " but current is " + current
	}
	const otherKind = " of queue type rabbit_classic_queue"
	const locked = "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'q' in vhost '/'. It could be originally declared on another connection or the exclusive property value does not match that of the original declaration."
	play(t, []row{
		{"declare", []any{q}, "queue.declare-ok"},
		{"declare again", []any{q, q}, "queue.declare-ok"},
		{"declare nowait", []any{&protocol.QueueDeclare{Queue: "q", NoWait: true}}, ""},
		{"declare passive", []any{q, passive("q")}, "queue.declare-ok"},
		{"DEC-9 server-named", []any{declare("")}, "queue.declare-ok"},
		{"DEC-9 last queue", []any{declare(""), &protocol.QueuePurge{}}, "queue.purge-ok"},
		{"DEC-2 unknown argument", []any{q, declare("q", arg("x-foo", int32(1)))}, "queue.declare-ok"},
		{"DEC-3 integers of any type", []any{declare("q", arg("x-expires", int8(10))), declare("q", arg("x-expires", int64(10)))}, "queue.declare-ok"},
		{"DEC-3 classic is none", []any{q, declare("q", arg("x-queue-type", "classic"))}, "queue.declare-ok"},
		{"DEC-13 transient", []any{&protocol.QueueDeclare{Queue: "q"}}, "queue.declare-ok"},
		{"DEC-6 missing", []any{passive("q")}, "channel 404 50/10 " + noQueue},
		{"DEC-6 missing nowait", []any{&protocol.QueueDeclare{Queue: "q", Passive: true, NoWait: true}}, "channel 404 50/10 " + noQueue},
		{"DEC-8 reserved", []any{declare("amq.q")}, "channel 403 50/10 ACCESS_REFUSED - queue name 'amq.q' contains reserved prefix 'amq.*'"},
		{"DEC-8 line ends", []any{declare("a\r\nb"), passive("ab")}, "queue.declare-ok"},
		{"DEC-8 255 bytes", []any{declare(strings.Repeat("n", 255))}, "queue.declare-ok"},

		{"DEC-1 durable before arguments", []any{q, durably("q", arg("x-expires", int32(1)))}, inequivalent("durable", "'true'", "'false'")},
		{"DEC-1 values are not checked again", []any{declare("q", arg("x-message-ttl", int32(10))), declare("q", arg("x-message-ttl", int32(-10)))}, inequivalent("x-message-ttl", "'-10'", "'10'")},
		{"DEC-2 order", []any{q, declare("q", arg("x-message-ttl", int32(1)), arg("x-expires", int32(10)))}, inequivalent("x-expires", "the value '10' of type 'signedint'", "none")},
		{"DEC-3 double", []any{declare("q", arg("x-message-ttl", int32(10))), declare("q", arg("x-message-ttl", 10.0))}, inequivalent("x-message-ttl", "'10.0'", "'10'")},
		{"DEC-4 auto_delete", []any{q, &protocol.QueueDeclare{Queue: "q", AutoDelete: true}}, inequivalent("auto_delete", "'true'", "'false'")},
		{"DEC-4 missing now", []any{declare("q", arg("x-message-ttl", int32(10))), q}, inequivalent("x-message-ttl", "none", "the value '10' of type 'signedint'")},
		{"DEC-4 extra now", []any{q, declare("q", arg("x-message-ttl", int64(10)))}, inequivalent("x-message-ttl", "the value '10' of type 'long'", "none")},
		{"DEC-5 exclusive now", []any{q, exclusively("q")}, "channel 405 50/10 " + locked},
		{"DEC-5 not exclusive now", []any{exclusively("q"), q}, "channel 405 50/10 " + locked},
		{"DEC-12 quorum on classic", []any{durably("q"), durably("q", arg("x-queue-type", "quorum"))}, inequivalent("x-queue-type", "'quorum'", "'classic'")},

		refused("ERR-4 TTL-3", "x-message-ttl", int32(-1), "{value_negative,-1}"),
		refused("ERR-5 TTL-3", "x-message-ttl", "5", `"expected integer, got longstr"`),
		refused("TTL-2 TTL-3", "x-message-ttl", int64(315360000001), "{value_too_large,315360000001}"),
		refused("LEASE-1", "x-expires", int32(0), "{value_zero,0}"),
		refused("LEASE-1 negative", "x-expires", int32(-1), "{value_negative,-1}"),
		refused("DL-4", "x-dead-letter-routing-key", "k", "routing_key_but_no_dlx_defined"),
		refused("DL-4 type", "x-dead-letter-routing-key", int32(1), "{unacceptable_type,signedint}"),
		refused("DEC-11", "x-max-length", int32(-1), "{value_negative,-1}"),
		refused("DEC-11", "x-max-length-bytes", "1", `"expected integer, got longstr"`),
		refused("DEC-11", "x-max-priority", int32(256), "{max_value_exceeded,256}"),
		refused("DEC-11", "x-single-active-consumer", "true", "{unacceptable_type,longstr}"),
		refused("DEC-11", "x-queue-type", "foo", `"unsupported queue type 'foo'"`),
		refused("DEC-11 type", "x-queue-type", int32(1), "{unacceptable_type,signedint}"),
		refused("DEC-11", "x-queue-version", int32(3), `"unsupported queue version '3'"`),
		refused("DEC-11", "x-queue-leader-locator", "bad", "invalid_queue_locator_arg"),
		refused("DEC-11", "x-overflow", "bad", "invalid_overflow"),
		{"DL-2", []any{declare("q", arg("x-dead-letter-exchange", int32(1)))}, "channel 406 50/10 PRECONDITION_FAILED - invalid type 'signedint' for arg 'x-dead-letter-exchange' in queue 'q' in vhost '/'"},
		{"DL-5", []any{declare("q", arg("x-dead-letter-strategy", "at-least-once"))}, invalid("x-dead-letter-strategy", otherKind)},
		{"DEC-7", []any{declare("q", arg("x-delivery-limit", int32(1)))}, invalid("x-delivery-limit", otherKind)},
		{"TTL-4 order", []any{declare("q", arg("x-message-ttl", int32(-1)), arg("x-expires", int32(0)))}, invalid("x-expires", ": {value_zero,0}")},
		{"stream", []any{durably("q", arg("x-queue-type", "stream"))}, invalid("x-queue-type", `: "unsupported queue type 'stream'"`)},
		{"quorum transient", []any{declare("q", arg("x-queue-type", "quorum"))}, "channel 406 50/10 PRECONDITION_FAILED - invalid property 'non-durable' for queue 'q' in vhost '/'"},

		{"bind", []any{q, &protocol.QueueBind{Queue: "q", Exchange: "amq.direct", RoutingKey: "k"}}, "queue.bind-ok"},
		{"bind nowait", []any{q, &protocol.QueueBind{Queue: "q", Exchange: "amq.direct", NoWait: true}}, ""},
		{"DEC-9 bind", []any{&protocol.QueueBind{Exchange: "amq.direct"}}, "channel 404 50/20 " + noneNamed},
		{"DEC-6 bind", []any{&protocol.QueueBind{Queue: "q", Exchange: "amq.direct"}}, "channel 404 50/20 " + noQueue},
		{"DEC-14 bind", []any{q, &protocol.QueueBind{Queue: "q", Exchange: "x"}}, "channel 404 50/20 " + noExchange},
		{"DEC-10 bind", []any{q, &protocol.QueueBind{Queue: "q"}}, "channel 403 50/20 " + notDefault},
		{"x-match", []any{q, &protocol.QueueBind{Queue: "q", Exchange: "amq.headers", Arguments: protocol.Table{arg("x-match", int32(5))}}}, "channel 406 50/20 PRECONDITION_FAILED - Invalid x-match field type signedint (value 5); expected longstr"},
		{"unbind", []any{q, &protocol.QueueUnbind{Queue: "q", Exchange: "amq.direct", RoutingKey: "k"}}, "queue.unbind-ok"},
		{"unbind what is not there", []any{&protocol.QueueUnbind{Queue: "q", Exchange: "x"}}, "queue.unbind-ok"},
		{"DEC-9 unbind", []any{&protocol.QueueUnbind{Exchange: "amq.direct"}}, "channel 404 50/50 " + noneNamed},
		{"DEC-10 unbind", []any{q, &protocol.QueueUnbind{Queue: "q"}}, "channel 403 50/50 " + notDefault},

		{"purge", []any{q, &protocol.QueuePurge{Queue: "q"}}, "queue.purge-ok"},
		{"purge nowait", []any{q, &protocol.QueuePurge{Queue: "q", NoWait: true}}, ""},
		{"DEC-6 purge", []any{&protocol.QueuePurge{Queue: "q"}}, "channel 404 50/30 " + noQueue},
		{"DEC-9 purge", []any{&protocol.QueuePurge{}}, "channel 404 50/30 " + noneNamed},
		{"delete", []any{q, &protocol.QueueDelete{Queue: "q"}}, "queue.delete-ok"},
		{"delete nowait", []any{q, &protocol.QueueDelete{Queue: "q", NoWait: true}}, ""},
		{"DEC-6 delete", []any{&protocol.QueueDelete{Queue: "q"}}, "queue.delete-ok"},
		{"DEC-9 delete", []any{&protocol.QueueDelete{}}, "channel 404 50/40 " + noneNamed},
		{"DEC-6 not empty", []any{q, whole{BasicPublish: protocol.BasicPublish{RoutingKey: "q"}}, &protocol.QueueDelete{Queue: "q", IfEmpty: true}}, "channel 406 50/40 PRECONDITION_FAILED - queue 'q' in vhost '/' not empty"},
		{"DEC-6 in use", []any{q, &protocol.BasicConsume{Queue: "q"}, &protocol.QueueDelete{Queue: "q", IfUnused: true}}, "channel 406 50/40 PRECONDITION_FAILED - queue 'q' in vhost '/' in use"},
	})
}

func TestMisspeltArgumentIsLogged_DEC20(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("an unknown argument of a queue has no effect")
		ch := b.Connect().Open()
		for range 2 { // the second one creates nothing
			ch.Declare("q", amqp.Table{"x-mesage-ttl": 1000})
		}
		if n := b.Log.Count("x-message-ttl"); n != 1 {
			b.Errorf("%d warnings", n)
		}
	})
}
