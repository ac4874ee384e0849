package broker

import (
	"errors"
	"slices"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/definitions"
	"candlemark/protocol"

	amqp "github.com/rabbitmq/amqp091-go"
)

const adminName = topology.AdminExchange

// atTheActor lists the ways in which a client with all permissions might intercept messages between users of the admin exchange
// and the broker.
var atTheActor = map[string]func(ch *testkit.Channel) error{
	"declare a queue": func(ch *testkit.Channel) error {
		_, err := ch.QueueDeclare(adminName, false, false, false, false, nil)
		return err
	},
	"declare a durable queue": func(ch *testkit.Channel) error {
		_, err := ch.QueueDeclare(adminName, true, false, false, false, nil)
		return err
	},
	"declare with line breaks": func(ch *testkit.Channel) error {
		_, err := ch.QueueDeclare("candlemark\r.admin\n", true, false, false, false, nil)
		return err
	},
	"bind a queue":           func(ch *testkit.Channel) error { return ch.QueueBind("loot", "", adminName, false, nil) },
	"unbind a queue":         func(ch *testkit.Channel) error { return ch.QueueUnbind("loot", "", adminName, nil) },
	"bind the exchange":      func(ch *testkit.Channel) error { return ch.QueueBind(adminName, "", "amq.fanout", false, nil) },
	"unbind the exchange":    func(ch *testkit.Channel) error { return ch.QueueUnbind(adminName, "", adminName, nil) },
	"unbind it elsewhere":    func(ch *testkit.Channel) error { return ch.QueueUnbind(adminName, "", "amq.fanout", nil) },
	"bind to the exchange":   func(ch *testkit.Channel) error { return ch.ExchangeBind(adminName, "", "amq.fanout", false, nil) },
	"bind from the exchange": func(ch *testkit.Channel) error { return ch.ExchangeBind("amq.fanout", "", adminName, false, nil) },
	"unbind to it":           func(ch *testkit.Channel) error { return ch.ExchangeUnbind(adminName, "", "amq.fanout", false, nil) },
	"unbind from it":         func(ch *testkit.Channel) error { return ch.ExchangeUnbind("amq.fanout", "", adminName, false, nil) },
	"bind it to itself":      func(ch *testkit.Channel) error { return ch.ExchangeBind(adminName, "", adminName, false, nil) },
	"delete the exchange":    func(ch *testkit.Channel) error { return ch.ExchangeDelete(adminName, false, false) },
}

// checkAdminExchange sends a command and checks that the answer arrives, and that no other queue gets anything.
func checkAdminExchange(b *testkit.Bubble, ch *testkit.Channel) {
	b.Helper()
	ch.Declare("answers", nil)
	ch.Declare("loot", nil)
	ch.Send(adminName, "policy.list", amqp.Publishing{ReplyTo: "answers"})
	b.Advance(time.Second)
	if got := ch.Drain("answers"); len(got) != 1 {
		b.Errorf("answers %q", got)
	}
	if got := ch.Drain("loot"); len(got) != 0 {
		b.Errorf("somebody else got %q", got)
	}
	if b.Queue(adminName) != nil {
		b.Error("there is a queue of that name")
	}
}

// TestAdminExchangeIsNobodys: no declare, bind, unbind or delete can intercept commands to the broker, before or after a restart.
func TestAdminExchangeIsNobodys(t *testing.T) {
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		durable(b, ch, "loot", nil)
		for name, try := range atTheActor {
			var e *amqp.Error
			if err := try(b.Connect().Open()); !errors.As(err, &e) || e.Code != int(protocol.AccessRefused) {
				b.Errorf("%s: %v", name, err)
			}
		}
		if n, err := ch.QueueDelete(adminName, false, false, false); n != 0 || err != nil { // the queue does not exist
			b.Error(n, err)
		}
		if _, err := ch.QueueDelete("loot", false, false, false); err != nil {
			b.Error(err)
		}
		checkAdminExchange(b, ch)
	}, 0, checkAdminExchange)
}

// TestAdminExchangeAndStoredHijack: definitions of this kind that an older broker allowed and stored have no effect; the messages
// of such a queue are kept.
func TestAdminExchangeAndStoredHijack(t *testing.T) {
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		durable(b, ch, "loot2", nil)
		all := []any{
			definitions.Queue{VHost: "/", Name: adminName, Type: "classic", Incarnation: 1 << 40},
			definitions.Queue{VHost: "/", Name: "amq.delayed.x", Type: "classic", Incarnation: 1<<40 + 1},
			definitions.Exchange{VHost: "/", Name: adminName, Type: "topic", Arguments: protocol.Table{{Key: "alternate-exchange", Value: "amq.fanout"}}},
			definitions.Exchange{VHost: "/", Name: "", Type: "fanout"},
			definitions.Exchange{VHost: "/", Name: "no-such-type", Type: "x-unknown"},
			definitions.Binding{VHost: "/", Source: adminName, Destination: adminName},
			definitions.Binding{VHost: "/", Source: adminName, Destination: "loot2"},
			definitions.Binding{VHost: "/", Source: adminName, Destination: "amq.fanout", ToExchange: true},
			definitions.Binding{VHost: "/", Source: "amq.fanout", Destination: adminName, ToExchange: true},
			definitions.Binding{VHost: "/", Source: "", Destination: "loot2", RoutingKey: "other"},
		}
		if _, err := definitions.Wait(b.Meta, definitions.Change{Put: all}); err != nil {
			b.Fatal(err)
		}
		b.Log.Allow("not restored", "cannot be restored")
	}, 0, func(b *testkit.Bubble, ch *testkit.Channel) {
		checkAdminExchange(b, ch)
		if got := ch.Drain("loot2"); len(got) != 0 {
			b.Errorf("the binding got %q", got)
		}
		if n := b.Log.Count("not restored"); n != 7 {
			b.Errorf("%d lines in the log", n)
		}
		d, err := b.Meta.Load()
		if err != nil || len(d.Bindings) != 0 || !slices.ContainsFunc(d.Queues, func(q definitions.Queue) bool { return q.Name == adminName }) {
			b.Errorf("stored: %+v, %v", d, err)
		}
		if b.Queue("amq.delayed.x") != nil {
			b.Error("a queue has the name of a holder")
		}
		ch.Send("", "loot2", testkit.Text("m"))
		if got := ch.Drain("loot2"); len(got) != 1 {
			b.Errorf("the default exchange is another: %q", got)
		}
	})
}
