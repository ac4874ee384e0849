package vhost_test

import (
	"testing"
	"testing/synctest"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// goes plays the end of a queue after its farewell.
func (h *fixture) goes(name string) {
	h.t.Helper()
	h.mu.Lock()
	q := h.specs[name].Queue
	h.mu.Unlock()
	h.system.Root.Stop(actorlib.PID(q.PID))
	synctest.Wait()
}

// Every queue, in any phase, is told to end and is waited for; then the requester is answered and the actor stops.
func TestEndVHost(t *testing.T) {
	withFixture(t, func(h *fixture) {
		live, removed, refusing, leaving := h.declare("live"), h.declare("removed"), h.declare("refusing"), h.declare("leaving")
		h.bind("amq.direct", "live", false)
		for _, name := range []string{"removed", "refusing"} {
			h.send(&mail.DeleteQueue{Request: h.ask(), Name: name, IfUnused: true, VHost: "/"})
		}
		take[*mail.DeleteQueue](h, removed)
		take[*mail.DeleteQueue](h, refusing)
		h.retire("leaving", 1, false)
		take[*mail.QueueForgotten](h, leaving)

		end := h.ask()
		h.send(&mail.EndVHost{Request: end})
		if d := take[*mail.DeleteQueue](h, live); d.IfUnused || d.IfEmpty || d.ReplyTo != nil {
			t.Errorf("%+v", d)
		}
		h.nothing(removed)
		h.send(&mail.QueueDeleteRefused{Name: "refusing", Incarnation: h.specs["refusing"].Queue.Incarnation})
		if d := take[*mail.DeleteQueue](h, refusing); d.IfUnused {
			t.Error("the owner's condition keeps a queue of a virtual host that ends")
		}
		for _, name := range []string{"live", "removed", "refusing"} {
			h.nothing(h.asker)
			h.retire(name, 1, true)
			take[*mail.QueueForgotten](h, h.queue(name))
			if h.published(name) != nil {
				t.Error(name, "is still published")
			}
		}
		for _, name := range []string{"live", "removed", "refusing", "leaving"} {
			h.nothing(h.asker) // each may still have mail to answer
			h.goes(name)
		}
		if e := take[*mail.EndVHostReply](h, h.asker); e.ID != end.ID || e.Err != nil {
			t.Errorf("%+v", e)
		}
		if n := h.vhost.Directory().ExchangeCount(); n != 0 {
			t.Errorf("%d exchanges are published", n)
		}
	})
}

func TestEndVHostWithoutQueues(t *testing.T) {
	withFixture(t, func(h *fixture) {
		h.send(&mail.EndVHost{Request: h.ask()})
		take[*mail.EndVHostReply](h, h.asker)
	})
}

// Commands received while the vhost ends, or that waited for a name, are refused.
func TestEndVHostRefusesCommands(t *testing.T) {
	withFixture(t, func(h *fixture) {
		h.declare("q")
		h.send(&mail.DeleteQueue{Request: h.ask(), Name: "q", VHost: "/"})
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "q", VHost: "/"}) // waits
		h.nothing(h.asker)
		h.send(&mail.EndVHost{Request: h.ask()})
		const gone = "NOT_ALLOWED - the virtual host is gone"
		h.send(&mail.DeclareExchange{Request: h.ask(), Name: "x", Type: "direct"})
		h.wantTopology(530, gone)
		h.send(&mail.DeleteExchange{Request: h.ask(), Name: "amq.direct"})
		h.wantTopology(530, gone)
		for _, m := range []any{
			&mail.Bind{Request: h.ask(), Source: "amq.direct", Binding: topology.Binding{Destination: "q"}},
			&mail.Unbind{Request: h.ask(), Source: "amq.direct", Binding: topology.Binding{Destination: "q"}},
		} {
			h.send(m)
			h.wantTopology(530, gone)
		}
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "other", VHost: "/"})
		h.wantError(take[*mail.DeclareQueueReply](h, h.asker).Err, 404, "NOT_FOUND - no queue 'other' in vhost '/'")
		h.send(&mail.DeleteQueue{Request: h.ask(), Name: "other", VHost: "/"})
		h.wantError(take[*mail.DeleteQueueReply](h, h.asker).Err, 0, "")
		h.nothing(h.asker)
		h.retire("q", 1, true)
		h.wantError(take[*mail.DeclareQueueReply](h, h.asker).Err, 404, "NOT_FOUND - no queue 'q' in vhost '/'")
		h.goes("q")
		take[*mail.EndVHostReply](h, h.asker)
	})
}

// An exchange with an outstanding answer is not waited for.
func TestEndVHostWithASilentExchange(t *testing.T) {
	withFixture(t, func(h *fixture) {
		x := h.declareExchange("x", false)
		h.hold(x, nil)
		h.send(&mail.DeleteExchange{Request: h.ask(), Name: "x"})
		h.nothing(h.asker)
		h.send(&mail.EndVHost{Request: h.ask()})
		h.wantTopology(0, "")
		take[*mail.EndVHostReply](h, h.asker)
	})
}

// The default queue type is the virtual host's at the declare (DEC-12).
func TestDefaultQueueType_DEC12(t *testing.T) {
	withFixture(t, func(h *fixture) {
		for kind, want := range map[string]string{"": "classic", "quorum": "quorum", "classic": "classic"} {
			h.vhost.SetDefaultQueueType(kind)
			for name, m := range map[string]mail.DeclareQueue{
				"durable" + kind: {Durable: true}, "transient" + kind: {},
				"given" + kind: {Durable: true, Arguments: protocol.Table{{Key: "x-queue-type", Value: "classic"}}},
			} {
				m.Request, m.Name, m.VHost = h.ask(), name, "/"
				h.send(&m)
				expected := "classic"
				if name == "durable"+kind {
					expected = want
				}
				if got := h.published(name).Type; got != expected {
					t.Errorf("%s in a %q vhost is %s", name, kind, got)
				}
			}
		}
	})
}
