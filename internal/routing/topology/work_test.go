package topology

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"candlemark/protocol"
)

// slowTopic binds n queues such that a key of many words leads to as many nodes as possible.
func slowTopic(h *fixture, x *Exchange, n int) {
	r := x.Routes()
	for i := range n {
		words := []string{"#"}
		for bit := range 60 {
			if i>>(bit%12)&1 == 1 {
				words = append(words, "a", "#")
			} else {
				words = append(words, "*", "#")
			}
		}
		q := h.queue(fmt.Sprint("q", i))
		r, _ = r.With(Binding{Destination: q.Name, RoutingKey: strings.Join(words, ".")}, Target{Queue: q})
	}
	x.Publish(r)
}

func manyKeys(n int) (keys [][]byte) {
	for range n {
		keys = append(keys, []byte(strings.Repeat("a.", 127)+"a"))
	}
	return keys
}

// slowHeaders makes bindings all of which are compared with a message that has the headers sent.
func slowHeaders(h *fixture) (rules *Exchange, sent protocol.Table) {
	rules = h.exchange("rules", "headers")
	sent = table("all", "same")
	for i := range 30 {
		sent = append(sent, protocol.Field{Key: fmt.Sprint("h", i), Value: int64(1)})
	}
	for i := range 2000 {
		args := append(slices.Clone(sent), protocol.Field{Key: fmt.Sprint("z", i), Value: nil})
		h.bind(rules, "q", fmt.Sprint(i), args)
	}
	return rules, sent
}

// slowCaps makes exchanges each of which lowers the cap of all exchanges after it.
func slowCaps(h *fixture) *Exchange {
	circle := h.exchange("circle", "fanout")
	circle.Publish(circle.Routes().WithMaxTTL(1_000_000))
	for i := range 200 {
		x := h.exchange(fmt.Sprint("circle", i), "fanout")
		x.Publish(x.Routes().WithMaxTTL(int64(1000 - i)))
		for j := range i {
			h.bindExchange(h.directory.Exchange([]byte(fmt.Sprint("circle", j))), x, "")
		}
		h.bindExchange(circle, x, "")
	}
	return circle
}

// For any bindings and keys, a route takes at most TurnSteps steps, and a Long one at most MaxSteps.
func TestWorkOfARouteIsBounded(t *testing.T) {
	h := newFixture(t)
	topics := h.exchange("topics", "topic")
	slowTopic(h, topics, 512)

	rules, sent := slowHeaders(h)
	chain := h.exchange("chain", "fanout")
	for i, last := 0, chain; i < 100; i++ {
		next := h.exchange(fmt.Sprint("chain", i), "topic")
		h.bindExchange(last, next, "#")
		h.bind(next, fmt.Sprint("end", i), "#", nil)
		last = next
	}

	circle := slowCaps(h)
	wide := h.exchange("wide", "topic")
	for i := range 1000 {
		h.bind(wide, fmt.Sprint("wide", i), "#", nil)
	}
	v := NewVHost("/")
	v.Publish(h.directory)
	decode := func() protocol.Table { return sent }
	for _, test := range []struct {
		x    *Exchange
		keys int
		want int  // queues, -1: refused
		turn bool // it does not exceed a turn
	}{
		{topics, 200, -1, false},
		{rules, 1, 0, false},
		{chain, 200, 100, false},
		{wide, 200, 1000, true},
		{circle, 1, 0, false},
	} {
		keys := manyKeys(test.keys)
		h.router.RouteAll(h.directory, test.x, keys, decode)
		if h.router.Over() == test.turn {
			t.Errorf("%s: over %v after %d steps", test.x.Name, h.router.Over(), h.router.Steps())
		}
		l := v.Long(test.x, keys, decode, nil)
		found, _ := l.Find()
		if got := len(found.Queues); found.Err != nil != (test.want < 0) || test.want >= 0 && got != test.want {
			t.Errorf("%s: %d queues, %v, want %d", test.x.Name, got, found.Err, test.want)
		}
		if n := l.router.limit; n > MaxSteps+l.router.free {
			t.Errorf("%s: %d steps", test.x.Name, n)
		}
		if l.router.topic.next != nil && slices.ContainsFunc(l.router.topic.next[:cap(l.router.topic.next)], func(n *topicNode) bool { return n != nil }) {
			t.Errorf("%s: nodes are kept", test.x.Name)
		}
	}
	if got := namesOf(t, h.router.Route(h.directory, chain, []byte("k"), nil)); len(got) != 100 || h.router.Over() {
		t.Errorf("after a route that was over: %d queues", len(got))
	}
}

func TestLongRouteIsStopped(t *testing.T) {
	h := newFixture(t)
	x := h.exchange("x", "topic")
	slowTopic(h, x, 512)
	v := NewVHost("/")
	v.Publish(h.directory)
	waits := v.Long(x, manyKeys(1), nil, nil)
	v.lane <- struct{}{} // another route is running
	waits.Stop()
	if _, ok := waits.Find(); ok {
		t.Error("a route that nobody wants waited and was found")
	}
	<-v.lane
	runs := v.Long(x, manyKeys(10_000), nil, nil)
	runs.Stop()
	runs.router.begin()
	if found, ok := runs.Find(); ok || len(found.Queues) > 0 || runs.router.Steps() > TurnSteps {
		t.Errorf("%v, %v after %d steps", found.Queues, ok, runs.router.Steps())
	}
	if len(v.lane) != 0 {
		t.Error("the lane is still taken")
	}
}
