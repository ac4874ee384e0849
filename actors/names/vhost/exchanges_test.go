package vhost_test

import (
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

func to(queue string) topology.Binding { return topology.Binding{Destination: queue, RoutingKey: "k"} }

func incarnation(n uint64) string { return strconv.FormatUint(n, 10) }

func TestExchangesOfEveryVHost(t *testing.T) {
	withFixture(t, func(h *fixture) {
		want := []string{
			":direct", "amq.direct:direct", "amq.fanout:fanout", "amq.headers:headers", "amq.match:headers",
			"amq.rabbitmq.trace:topic", "amq.topic:topic", "candlemark.admin:direct",
		}
		if got := exchangeNames(h.vhost.Directory()); !slices.Equal(got, want) {
			t.Errorf("got %v", got)
		}
		if x := h.publishedExchange("amq.rabbitmq.trace"); !x.Internal || !x.Durable {
			t.Errorf("%+v", x)
		}
		if h.publishedExchange("").PID != nil {
			t.Error("the default exchange has no actor")
		}
	})
}

func TestDeclareAndDeleteExchange(t *testing.T) {
	declare := func(name, kind string) *mail.DeclareExchange { return &mail.DeclareExchange{Name: name, Type: kind} }
	ae := func(v any) protocol.Table { return protocol.Table{{Key: "alternate-exchange", Value: v}} }
	table := []struct {
		name string
		m    any
		code uint16
		text string
	}{
		{"new", declare("x", "topic"), 0, ""},
		{"DEC-8 breaks are removed", declare("e\r\nx", "fanout"), 0, ""},
		{"existing", declare("ex", "fanout"), 0, ""},
		{"existing passive", &mail.DeclareExchange{Name: "ex", Passive: true}, 0, ""},
		{"existing amq", &mail.DeclareExchange{Name: "amq.direct", Type: "direct", Durable: true}, 0, ""},
		{
			"DEC-4 type", &mail.DeclareExchange{Name: "amq.direct", Type: "fanout", Durable: true}, 406,
			"PRECONDITION_FAILED - inequivalent arg 'type' for exchange 'amq.direct' in vhost '/': received 'fanout' but current is 'direct'",
		},
		{
			"DEC-4 internal", &mail.DeclareExchange{Name: "ex", Type: "fanout", Internal: true}, 406,
			"PRECONDITION_FAILED - inequivalent arg 'internal' for exchange 'ex' in vhost '/': received 'true' but current is 'false'",
		},
		{
			"DEC-4 alternate", &mail.DeclareExchange{Name: "ex", Type: "fanout", Arguments: ae("y")}, 406,
			"PRECONDITION_FAILED - inequivalent arg 'alternate-exchange' for exchange 'ex' in vhost '/': received the value 'y' of type 'longstr' but current is none",
		},
		{"DEC-14 no type", declare("x", ""), 406, "PRECONDITION_FAILED - invalid exchange type ''"},
		{"DEC-14 type", declare("x", "nope"), 406, "PRECONDITION_FAILED - unknown exchange type 'nope'"},
		{
			"DEC-14 alternate", &mail.DeclareExchange{Name: "x", Type: "fanout", Arguments: ae(int32(1))}, 406,
			"PRECONDITION_FAILED - invalid type 'signedint' for arg 'alternate-exchange' in exchange 'x' in vhost '/'",
		},
		{"DEC-14 missing", &mail.DeclareExchange{Name: "x", Passive: true}, 404, "NOT_FOUND - no exchange 'x' in vhost '/'"},
		{"DEC-8 reserved", declare("amq.x", "direct"), 403, "ACCESS_REFUSED - exchange name 'amq.x' contains reserved prefix 'amq.*'"},
		{"DEC-10 declare", declare("", "direct"), 403, "ACCESS_REFUSED - operation not permitted on the default exchange"},
		{"DEC-10 passive", &mail.DeclareExchange{Passive: true}, 403, "ACCESS_REFUSED - operation not permitted on the default exchange"},
		{"DEC-10 delete", &mail.DeleteExchange{}, 403, "ACCESS_REFUSED - operation not permitted on the default exchange"},
		{
			"DEC-10 delete amq", &mail.DeleteExchange{Name: "amq.direct"}, 403,
			"ACCESS_REFUSED - deletion of system exchange 'amq.direct' in vhost '/' not allowed",
		},
		{
			"delete system", &mail.DeleteExchange{Name: "candlemark.admin"}, 403,
			"ACCESS_REFUSED - deletion of system exchange 'candlemark.admin' in vhost '/' not allowed",
		},
		{"delete none", &mail.DeleteExchange{Name: "x"}, 0, ""},
		{"delete", &mail.DeleteExchange{Name: "ex"}, 0, ""},
	}
	for _, row := range table {
		t.Run(row.name, func(t *testing.T) {
			withFixture(t, func(h *fixture) {
				h.send(&mail.DeclareExchange{Request: h.ask(), Name: "ex", Type: "fanout"})
				h.wantTopology(0, "")
				switch m := row.m.(type) {
				case *mail.DeclareExchange:
					c := *m
					c.Request = h.ask()
					h.send(&c)
				case *mail.DeleteExchange:
					c := *m
					c.Request = h.ask()
					h.send(&c)
				}
				h.wantTopology(row.code, row.text)
			})
		})
	}
}

func TestBindAndUnbindRefused(t *testing.T) {
	toExchange := func(name string) topology.Binding { return topology.Binding{Destination: name, ToExchange: true} }
	badMatch := to("q")
	badMatch.Arguments = protocol.Table{{Key: "x-match", Value: "some"}}
	const onDefault = "ACCESS_REFUSED - operation not permitted on the default exchange"
	table := []struct {
		name    string
		source  string
		binding topology.Binding
		code    uint16
		text    string
		unbind  string // "" for success
	}{
		{"no source", "x", to("q"), 404, "NOT_FOUND - no exchange 'x' in vhost '/'", ""},
		{"neither", "x", to("p"), 404, "NOT_FOUND - no exchange 'x' in vhost '/'", ""},
		{"no queue", "amq.direct", to("p"), 404, "NOT_FOUND - no queue 'p' in vhost '/'", ""},
		{"no exchange", "amq.direct", toExchange("p"), 404, "NOT_FOUND - no exchange 'p' in vhost '/'", ""},
		{"DEC-10 source", "", to("q"), 403, onDefault, onDefault},
		{"DEC-10 destination", "amq.direct", toExchange(""), 403, onDefault, onDefault},
		{
			"x-match", "amq.match", badMatch, 406,
			`PRECONDITION_FAILED - Invalid x-match field value <<"some">>; expected all, any, all-with-x, or any-with-x`, "removed",
		},
	}
	for _, row := range table {
		t.Run(row.name, func(t *testing.T) {
			withFixture(t, func(h *fixture) {
				h.declare("q")
				h.send(&mail.Bind{Request: h.ask(), Source: row.source, Binding: row.binding})
				h.wantTopology(row.code, row.text)
				h.send(&mail.Unbind{Request: h.ask(), Source: row.source, Binding: row.binding})
				switch row.unbind {
				case "":
					h.wantTopology(0, "")
				case "removed":
					take[*mail.RemoveBinding](h, h.exchange(row.source))
				default:
					h.wantTopology(row.code, row.unbind)
				}
			})
		})
	}
}

func TestBindingsGoToTheSource(t *testing.T) {
	withFixture(t, func(h *fixture) {
		h.declare("q")
		x := h.declareExchange("x", false)
		h.send(&mail.Bind{Request: h.ask(), Source: "x", Binding: to("q")})
		if b := take[*mail.AddBinding](h, x); b.Target.Queue != h.published("q") || b.Binding.RoutingKey != "k" {
			t.Errorf("%+v", b)
		}
		h.wantTopology(0, "")
		h.send(&mail.Bind{Request: h.ask(), Source: "x", Binding: topology.Binding{Destination: "amq.fanout", ToExchange: true}})
		if b := take[*mail.AddBinding](h, x); b.Target.Exchange != h.publishedExchange("amq.fanout") {
			t.Errorf("%+v", b)
		}
		h.wantTopology(0, "")
		h.send(&mail.Unbind{Request: h.ask(), Source: "x", Binding: to("q")})
		take[*mail.RemoveBinding](h, x)
		h.nothing(h.asker)
	})
}

func TestExchangeInUseIsKept(t *testing.T) {
	withFixture(t, func(h *fixture) {
		x := h.declareExchange("x", false)
		h.declare("q")
		h.hold(x, nil)
		h.send(&mail.DeleteExchange{Request: h.ask(), Name: "x", IfUnused: true},
			&mail.Bind{Request: h.ask(), Source: "x", Binding: to("q")})
		r := take[*mail.RetireExchange](h, x)
		h.nothing(x) // the Bind waits for the outcome of the delete
		h.send(&mail.RetireExchangeReply{Reply: r.Done(protocol.ChannelErrorf(406, "in use"))})
		h.wantTopology(406, "PRECONDITION_FAILED - in use")
		take[*mail.AddBinding](h, x)
		if h.publishedExchange("x") == nil {
			t.Error("unpublished")
		}
	})
}

func TestDeletedExchangeIsForgottenByItsSources(t *testing.T) {
	withFixture(t, func(h *fixture) {
		x, y := h.declareExchange("x", false), h.declareExchange("y", false)
		q := h.declare("q")
		h.bind("y", "x", true)
		h.bind("x", "q", false)
		h.hold(y, nil)
		h.send(&mail.DeleteExchange{Request: h.ask(), Name: "x"},
			&mail.DeclareExchange{Request: h.ask(), Name: "x", Type: "topic"})
		take[*mail.RetireExchange](h, x)
		f := take[*mail.ForgetDestination](h, y)
		h.nothing(h.asker)
		if h.publishedExchange("x") != nil {
			t.Error("still published")
		}
		h.send(&mail.ForgetDestinationReply{Reply: f.Done(nil)})
		h.wantTopology(0, "")
		h.wantTopology(0, "")
		if n := h.publishedExchange("x"); n == nil || n.Type != "topic" {
			t.Error("the declare behind the delete was lost")
		}
		h.retire("q", 1, true) // the old x is not informed any more
		take[*mail.QueueForgotten](h, q)
	})
}

func TestUnusedExchangeAnswersTheUnbind(t *testing.T) {
	for _, keep := range []bool{false, true} {
		withFixture(t, func(h *fixture) {
			x := h.declareExchange("x", true)
			h.hold(x, nil)
			h.send(&mail.ExchangeUnused{Request: h.ask(), Name: "x", Exchange: h.publishedExchange("x").PID})
			r := take[*mail.RetireExchange](h, x)
			h.nothing(h.asker)
			var err error
			if keep {
				err = protocol.ChannelErrorf(406, "in use")
			}
			h.send(&mail.RetireExchangeReply{Reply: r.Done(err)})
			h.wantTopology(0, "")
			if kept := h.publishedExchange("x") != nil; kept != keep {
				t.Errorf("kept: %v, want %v", kept, keep)
			}
		})
	}
}

func TestExchangeThatDiesIsForgotten(t *testing.T) {
	withFixture(t, func(h *fixture) {
		x := h.declareExchange("x", false)
		q := h.declare("q")
		h.bind("x", "q", false)
		h.hold(x, nil)
		h.retire("q", 1, true)
		take[*mail.ForgetDestination](h, x)
		h.nothing(q)
		h.system.Root.Stop(actorlib.PID(h.publishedExchange("x").PID))
		synctest.Wait()
		take[*mail.QueueForgotten](h, q) // the exchange's end counts as its answer
		if h.publishedExchange("x") != nil {
			t.Error("still published")
		}
	})
}

func TestTwoAutoDeleteExchangesThatFeedEachOther(t *testing.T) {
	withFixture(t, func(h *fixture) {
		x, y := h.declareExchange("x", true), h.declareExchange("y", true)
		h.bind("x", "y", true)
		h.bind("y", "x", true)
		unused := func(ctx actor.Context, m any) {
			if f, ok := m.(*mail.ForgetDestination); ok {
				actorlib.Send(ctx, f.ReplyTo, &mail.ForgetDestinationReply{Reply: f.Done(nil), Unused: true})
				return
			}
			agreeable(ctx, m)
		}
		h.hold(x, unused)
		h.hold(y, unused)
		h.send(&mail.DeleteExchange{Request: h.ask(), Name: "x"})
		h.wantTopology(0, "")
		if h.publishedExchange("x") != nil || h.publishedExchange("y") != nil {
			t.Error("still published")
		}
	})
}
