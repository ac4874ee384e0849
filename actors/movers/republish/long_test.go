package republish_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/rules"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"

	"github.com/asynkron/protoactor-go/actor"
)

// crowd makes n queues and an exchange "crowd" that routes every key to all of them.
func (h *fixture) crowd(n int, patterns ...string) []*probe {
	x := &topology.Exchange{Name: "crowd", Type: "topic"}
	var all []*probe
	for i := range n {
		all = append(all, h.queue(fmt.Sprint("c", i)))
	}
	h.exchange(x, "", "#", all...)
	routes := x.Routes()
	_, to := routes.Find(topology.Binding{Destination: "c0", RoutingKey: "#"})
	for _, key := range patterns {
		routes, _ = routes.With(topology.Binding{Destination: "other", RoutingKey: key}, to)
	}
	x.Publish(routes)
	return all
}

// withKeys gives each message an additional routing key n times.
func withKeys(d *mail.DeadLetter, n int, key string) *mail.DeadLetter {
	o := &message.Overlay{}
	for range n {
		o.CC = append(o.CC, key)
	}
	for i := range d.Messages {
		d.Messages[i].Overlay = o
	}
	return d
}

// A route that takes too long for one turn delays only its own source, whose order is kept.
func TestLongRoutesOfDeadLetters(t *testing.T) {
	withFixture(t, func(h *fixture) {
		crowd, quick := h.crowd(20, rules.LongPatterns()...), h.queue("quick")
		h.exchange(&topology.Exchange{Name: "x", Type: "fanout"}, "", "", quick)
		slow, other := h.queue("slow"), h.queue("other")
		h.root.Send(h.pid, withKeys(pendingMessage(slow, "expired", "crowd", 1, 5), 30, rules.LongKey))
		h.root.Send(h.pid, pendingMessage(slow, "expired", "crowd", 6, 1))
		h.root.Send(h.pid, pendingMessage(other, "expired", "x", 1, 3))
		h.send()
		for i, p := range crowd {
			next := byte(1)
			for next <= 6 {
				e := take[*mail.Enqueue](h, p)
				for _, m := range e.Messages {
					if m.Body[0] != next {
						t.Fatalf("c%d: %d instead of %d", i, m.Body[0], next)
					}
					next++
				}
				h.answer(e, false)
			}
			h.nothing(p)
		}
		h.answer(take[*mail.Enqueue](h, quick), false)
		h.settled(other, mail.Range{First: 1, Last: 3})
		for id := uint64(1); id <= 6; {
			r := take[*mail.DeadLetterReply](h, slow)
			for _, x := range r.IDs {
				if x.First != id {
					t.Fatalf("%v, want %d", x, id)
				}
				id = x.Last + 1
			}
		}
		h.nothing(slow)
	})
}

// Turns are limited for any number of messages and keys; other mail is processed in between.
func TestTurnsOfDeadLettersAreCut(t *testing.T) {
	withFixture(t, func(h *fixture) {
		target, source := h.queue("c"), h.queue("source")
		h.exchange(&topology.Exchange{Name: "x", Type: "topic"}, "", "#", target)
		h.send(withKeys(pendingMessage(source, "expired", "x", 1, 30), 2000, "k")) // 2,000 steps each
		turns, next := 0, byte(1)
		var room []message.Message // spare capacity behind the messages of the last turn
		for ; next <= 30; turns++ {
			e := take[*mail.Enqueue](h, target)
			if len(room) > 0 && &room[0] == &e.Messages[0] {
				t.Fatal("the target may write behind its messages, where those of the next turn are")
			}
			room = e.Messages[len(e.Messages):cap(e.Messages)]
			for _, m := range e.Messages {
				if m.Body[0] != next {
					t.Fatalf("%d instead of %d", m.Body[0], next)
				}
				next++
			}
		}
		if turns < 2 {
			t.Errorf("all in %d turns", turns)
		}
	})
}

// Each target queue of a message counts as a step of the turn.
func TestTurnsOfManyTargetsAreCut(t *testing.T) {
	withFixture(t, func(h *fixture) {
		const targets = 200
		crowd := h.crowd(targets)
		h.send(pendingMessage(h.queue("source"), "expired", "crowd", 1, 250))
		if n := len(take[*mail.Enqueue](h, crowd[0]).Messages); n > topology.TurnSteps/targets+1 {
			t.Errorf("%d messages to %d queues in one turn", n, targets)
		}
	})
}

func TestTooLongRouteOfADeadLetter(t *testing.T) {
	withFixture(t, func(h *fixture) {
		var patterns []string
		for i := range 700 {
			patterns = append(patterns, rules.CostlyPattern(i))
		}
		h.crowd(1, patterns...)
		source, key := h.queue("source"), strings.Repeat("a.", 127)+"a"
		d := withKeys(pendingMessage(source, "expired", "crowd", 1, 1), 3, key)
		d.Guarantee = mail.AtLeastOnce
		h.send(d)
		if r := take[*mail.DeadLetterReply](h, source); len(r.Retained) != 1 {
			t.Errorf("%+v, want it kept", r)
		}
		h.send(withKeys(pendingMessage(source, "expired", "crowd", 2, 1), 3, key))
		h.settled(source, mail.Range{First: 2, Last: 2})
		if n := h.stats.ByReason("expired").Unroutable.Load(); n != 1 {
			t.Errorf("%d unroutable, want 1", n)
		}
		if !strings.Contains(h.log.String(), "cannot be routed") {
			t.Error("not logged")
		}
	})
}

// An actor that stops does not wait for routes; it cancels the search, since the result would have no receiver.
func TestEndWithALongRoute(t *testing.T) {
	withFixture(t, func(h *fixture) {
		h.crowd(200, rules.LongPatterns()...)
		var late atomic.Int32
		h.root.ActorSystem().EventStream.Subscribe(func(event any) {
			if e, ok := event.(*actor.DeadLetterEvent); ok && e.PID.Equal(h.pid) {
				late.Add(1)
			}
		})
		for i := range 3 { // searched one after the other
			h.root.Send(h.pid, withKeys(pendingMessage(h.queue(fmt.Sprint("s", i)), "expired", "crowd", 1, 1), 300, rules.LongKey))
		}
		_ = h.root.PoisonFuture(h.pid).Wait() // stops behind them
		synctest.Wait()
		if n := late.Load(); n > 1 { // one may just have been found
			t.Errorf("%d routes were found after the end", n)
		}
	})
}

// TestFinish: the answer is sent when all targets have answered, at once if none is outstanding; no new dead letters are routed.
func TestFinish(t *testing.T) {
	withFixture(t, func(h *fixture) {
		source, target, node := h.queue("source"), h.queue("target"), h.queue("node")
		h.exchange(&topology.Exchange{Name: "dlx", Type: "fanout"}, "", "", target)
		finish := func() { h.send(&mail.FinishDeadLetters{Request: mail.Request{ReplyTo: node.queue.PID}}) }
		finish()
		take[*mail.TopologyReply](h, node)

		_ = h.root.StopFuture(h.pid).Wait()
		h.pid = h.root.Spawn(h.props())
		h.send(pendingMessage(source, "expired", "dlx", 1, 2))
		finish()
		h.nothing(node)
		e := take[*mail.Enqueue](h, target)
		h.send(&mail.EnqueueReply{Ranges: []mail.Range{{First: e.Messages[0].Number, Last: e.Messages[0].Number}}})
		h.settled(source, mail.Range{First: 1, Last: 1})
		h.nothing(node)
		h.send(pendingMessage(source, "expired", "dlx", 3, 1))
		h.nothing(target)
		h.send(&mail.EnqueueReply{Ranges: []mail.Range{{First: e.Messages[1].Number, Last: e.Messages[1].Number}}})
		h.settled(source, mail.Range{First: 2, Last: 2})
		take[*mail.TopologyReply](h, node)
	})
}
