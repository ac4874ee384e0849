package vhost_test

import (
	"testing"
	"testing/synctest"

	"candlemark/actors/names/vhost"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/storage/definitions"

	"github.com/asynkron/protoactor-go/actor"
)

// slowStore completes a change when the test lets it.
type slowStore struct {
	definitions.Store
	answers []func(uint64, error)
}

func (s *slowStore) Apply(_ definitions.Change, done func(uint64, error)) {
	s.answers = append(s.answers, done)
}

func (s *slowStore) answer() {
	done := s.answers[0]
	s.answers = s.answers[1:]
	done(1, nil)
	synctest.Wait()
}

// TestAwaitIdle: the answer is sent when a queue that ends is deleted from the disk and its exchange, the exchange that becomes
// unused is deleted, too, and both actors have ended.
func TestAwaitIdle(t *testing.T) {
	var disk slowStore
	withConfiguredFixture(t, func(cfg *vhost.Config) { cfg.Meta = &disk }, func(h *fixture) {
		x := h.declareExchange("x", true)
		pid := h.publishedExchange("x").PID
		h.send(&mail.DeclareQueue{Request: h.ask(), Name: "q", VHost: "/", Durable: true})
		disk.answer()
		q := h.queue("q")
		take[*mail.DeclareQueue](h, q)
		h.bind("x", "q", false)
		h.send(&mail.AwaitIdle{Request: h.ask()})
		h.wantTopology(0, "")

		h.hold(x, func(actor.Context, any) {})
		h.retire("q", 1, false)
		await := h.ask()
		h.send(&mail.AwaitIdle{Request: await})
		h.nothing(h.asker)
		disk.answer()
		h.nothing(h.asker)
		f := take[*mail.ForgetDestination](h, x)
		h.send(&mail.ForgetDestinationReply{Reply: f.Done(nil), Unused: true})
		h.nothing(h.asker)
		r := take[*mail.RetireExchange](h, x)
		h.send(&mail.RetireExchangeReply{Reply: r.Done(nil)})
		take[*mail.QueueForgotten](h, q)
		h.nothing(h.asker)
		h.goes("q")
		h.nothing(h.asker)
		h.system.Root.Stop(actorlib.PID(pid))
		synctest.Wait()
		if a := take[*mail.TopologyReply](h, h.asker); a.ID != await.ID || a.Err != nil {
			t.Errorf("%+v", a)
		}
	})
}
