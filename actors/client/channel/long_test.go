package channel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"candlemark/actors/client/input"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/rules"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// crowd adds an exchange "crowd" with n queues, to which every key is routed, and with other patterns to the first one.
func (r *rig) crowd(n int, patterns ...string) {
	v := r.cfg.VHost
	x := &topology.Exchange{Name: "crowd", Type: "topic"}
	routes, _ := topology.NewRoutes("topic", nil)
	var first *topology.Queue
	for i := range n {
		q := &topology.Queue{Name: fmt.Sprint("c", i), PID: pid(fmt.Sprint("c", i))}
		first = cmp.Or(first, q)
		routes, _ = routes.With(topology.Binding{Destination: q.Name, RoutingKey: "#"}, topology.Target{Queue: q})
	}
	for _, key := range patterns {
		routes, _ = routes.With(topology.Binding{Destination: "other", RoutingKey: key}, topology.Target{Queue: first})
	}
	x.Publish(routes)
	v.Publish(v.Directory().WithExchange(x))
}

// search runs the search that a goroutine would run.
func (r *rig) search() {
	r.t.Helper()
	if r.queues.Long == nil {
		r.t.Fatal("no route is looked for")
	}
	for _, job := range r.in.Jobs() {
		job()
	}
	for _, m := range r.later {
		r.turn(m)
	}
	r.later = nil
}

// carbons returns n CC keys.
func carbons(n int, key string) protocol.Properties {
	list := make(protocol.Array, n)
	for i := range list {
		list[i] = key
	}
	return withHeaders("CC", list)
}

// A publish whose route takes too long for one turn keeps its position in the input, and the read chunk is released
// before the route is found.
func TestLongRouteKeepsOrder(t *testing.T) {
	for _, leaving := range []bool{false, true} {
		t.Run(fmt.Sprint("leaving ", leaving), func(t *testing.T) {
			r := newRig(t)
			r.crowd(100, rules.LongPatterns()...)
			r.command(&protocol.ConfirmSelect{})
			r.received("confirm.select-ok")
			r.feed(publish("x", "one", "before"), publish("crowd", "k", "long", carbons(30, rules.LongKey)))
			r.feed(publish("x", "one", "after"))
			r.sent("q1: enqueue before#1")
			if leaving {
				r.turn(&mail.CloseChannel{})
				r.sent()
			}
			r.search()
			got := r.posts
			r.posts = nil
			if leaving {
				for _, p := range got[len(got)-1:] {
					if _, ended := p.Mail.(*mail.ChannelClosed); !ended {
						t.Errorf("the channel has not ended: %T", p.Mail)
					}
				}
			}
			for _, p := range got[:100] {
				if text := r.describe(p); !strings.HasSuffix(text, "enqueue long#2") {
					t.Fatal(text)
				}
			}
			if text := r.describe(got[100]); text != "q1: enqueue after#3" {
				t.Error(text)
			}
			r.balanced()
		})
	}
}

// TestManyWordsAreRefused_DEC19: keys with too many words for a topic exchange are refused, and the input behind them is
// dropped.
func TestManyWordsAreRefused_DEC19(t *testing.T) {
	r := newRig(t)
	r.crowd(5)
	r.feed(publish("crowd", "a.b", "many", carbons(398, "a")))
	if r.posts = nil; r.queues.Long != nil {
		t.Error("a route of few steps is long")
	}
	r.feed(publish("crowd", "a.b", "too many", carbons(399, "a")), publish("x", "one", "behind"))
	r.received("channel.close {ReplyCode:406 ReplyText:PRECONDITION_FAILED - the routing keys of a message to topic exchange 'crowd' have " +
		"401 words together, more than 400 Class:60 Method:40}")
	r.sent()
}

// A route with more steps than the limit for a message, because of bindings that are refused today, is refused, and the
// input behind it is dropped.
func TestTooLongRouteIsRefused(t *testing.T) {
	r := newRig(t)
	var patterns []string
	for i := range 700 {
		patterns = append(patterns, rules.CostlyPattern(i))
	}
	r.crowd(10, patterns...)
	r.feed(publish("crowd", "k", "long", carbons(3, strings.Repeat("a.", 127)+"a")), publish("x", "one", "behind"))
	r.sent()
	r.search()
	r.received("channel.close {ReplyCode:406 ReplyText:PRECONDITION_FAILED - routing a message from exchange 'crowd' takes more than " +
		"4000000 steps, because of bindings of an earlier version Class:60 Method:40}")
	r.sent()
	r.balanced()
}

func TestEndOfChannelEndsTheSearch(t *testing.T) {
	r := newRig(t)
	r.crowd(100, rules.LongPatterns()...)
	r.feed(publish("crowd", "k", "long", carbons(30, rules.LongKey)))
	l := r.queues.Long
	r.fail(internalError("for the test"), nil)
	r.turn(input.Resume{})
	if _, ok := l.Find(); ok || r.queues.Long != nil {
		t.Error("still looked for")
	}
	r.sent("connection: 541 0/0 INTERNAL_ERROR - for the test")
	r.balanced()
}

// A turn ends after TurnSteps and one publish, for a read of any size; the rest is processed in further turns, in
// order.
func TestStepsOfATurnAreBounded(t *testing.T) {
	r := newRig(t)
	r.crowd(1000)
	var frames [][]byte
	for i := range 100 {
		frames = append(frames, publish("crowd", fmt.Sprint(i%2), fmt.Sprint(i)))
	}
	r.turn(r.inbound(slices.Concat(frames...)))
	next, turns := 0, 0
	for again := true; again; turns++ {
		if r.queues.Routes.Steps() > 2*topology.TurnSteps {
			t.Fatalf("a turn of %d steps", r.queues.Routes.Steps())
		}
		again = false
		for _, p := range r.posts {
			switch m := p.Mail.(type) {
			case input.Resume:
				again = true
			case *mail.Enqueue:
				if p.To.GetId() == "c7" {
					for _, x := range m.Messages {
						if string(x.Body) != fmt.Sprint(next) {
							t.Fatalf("%s instead of %d", x.Body, next)
						}
						next++
					}
				}
				m.Release()
			}
		}
		r.posts = nil
		if again {
			r.turn(input.Resume{})
		}
	}
	if next != 100 || turns < 5 {
		t.Errorf("%d messages in %d turns", next, turns)
	}
	r.balanced()
}

// Commands with one answer each count for the turn like routing steps; the rest is processed in further turns.
func TestAnswersOfATurnAreBounded(t *testing.T) {
	r := newRig(t)
	var frames [][]byte
	for range 4000 {
		frames = append(frames, frame(&protocol.BasicQos{PrefetchCount: 5}))
	}
	r.turn(r.inbound(slices.Concat(frames...)))
	answers, turns := 0, 0
	for again := true; again; turns++ {
		n := len(r.frames())
		if n > 1000 {
			t.Fatalf("a turn of %d answers", n)
		}
		answers += n
		again = slices.ContainsFunc(r.posts, func(p mail.Post) bool { _, is := p.Mail.(input.Resume); return is })
		if r.posts = nil; again {
			r.turn(input.Resume{})
		}
	}
	if answers != 4000 || turns < 10 {
		t.Errorf("%d answers in %d turns", answers, turns)
	}
	r.balanced()
}
