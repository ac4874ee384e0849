package amqp10

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
)

// peek returns the messages from a number on.
func (n *node) peek(from int64, count int32, more map[string]any) []*amqp.Message {
	n.Helper()
	body := map[string]any{"from-sequence-number": from, "message-count": count}
	for key, value := range more {
		body[key] = value
	}
	code, answer := n.ask("peek-message", body)
	all, _ := n.messages(answer)
	if (code == 200) != (len(all) > 0) || code != 200 && code != 204 {
		n.Errorf("peeked: %d, %v", code, answer)
	}
	return all
}

// Ready, locked, deferred and scheduled messages are peeked in the order of their numbers, page by page, starting at any number.
func TestEntity_Peek_LOCK6(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		s, r, n := c.sender("q", nil), c.receiver("q", second(-1)), c.node("q")
		c.put(s, "deferred", "locked")
		if err := r.IssueCredit(2); err != nil {
			t.Fatal(err)
		}
		c.deferAll(r, 1)
		if c.next(r) == nil {
			t.Fatal("nothing is locked")
		}
		if code, _ := n.schedule(n.scheduled("scheduled", time.Now().Add(time.Hour))); code != 200 {
			t.Fatal(code)
		}
		c.put(s, "ready", "last")
		var bodies []string
		var numbers []int64
		var states []any
		for from := int64(0); ; {
			page := n.peek(from, 2, nil)
			for _, m := range page {
				number, _ := m.Annotations["x-opt-sequence-number"].(int64)
				bodies, numbers, from = append(bodies, string(m.GetData())), append(numbers, number), number+1
				states = append(states, m.Annotations["x-opt-message-state"])
			}
			if len(page) == 0 {
				break
			}
		}
		if want := []string{"deferred", "locked", "scheduled", "ready", "last"}; !slices.Equal(bodies, want) || !slices.IsSorted(numbers) {
			t.Fatalf("%q, %v", bodies, numbers)
		}
		if want := []any{int32(1), nil, int32(2), nil, nil}; !slices.Equal(states, want) {
			t.Error("states:", states)
		}
		if got := n.peek(numbers[3], 1, nil); len(got) != 1 || string(got[0].GetData()) != "ready" {
			t.Errorf("from the fourth: %v", got)
		}
		if got := n.peek(numbers[4]+1, 1, nil); len(got) != 0 {
			t.Errorf("behind the last: %v", got)
		}
	})
}

// A peek returns messages as they were sent, with bodies of any kind, their types and a footer; on request it leaves out bodies
// and footers, and returns the rest.
func TestEntity_PeekAsSent_SBE11(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		s, n := c.sender("q", nil), c.node("q")
		sent := []*amqp.Message{
			{Data: [][]byte{[]byte("one"), []byte("two")}, Footer: amqp.Annotations{"x-opt-footer": "f"}}, {Value: map[string]any{"a": uint8(1)}}, {Sequence: [][]any{{int32(1)}}},
		}
		for _, m := range sent {
			subject := "s"
			m.Properties, m.ApplicationProperties = &amqp.MessageProperties{MessageID: uint64(5), Subject: &subject}, map[string]any{"n": uint64(7), "c": amqp.Null{}}
			if state := stateOf(c.send(s, m)); state != "accepted" {
				t.Fatal(state)
			}
		}
		one := func(i int, m *amqp.Message) {
			t.Helper()
			number, _ := m.Annotations["x-opt-sequence-number"].(int64)
			if m.Properties.MessageID != uint64(5) || *m.Properties.Subject != "s" || m.ApplicationProperties["n"] != uint64(7) || number == 0 || m.Header == nil || !m.Header.Durable {
				t.Errorf("%d: %+v", i, m)
			}
		}
		all := n.peek(0, 10, nil)
		if len(all) != len(sent) {
			t.Fatal(all)
		}
		for i, m := range all {
			one(i, m)
			if !reflect.DeepEqual(m.Data, sent[i].Data) || !reflect.DeepEqual(m.Value, sent[i].Value) || !reflect.DeepEqual(m.Sequence, sent[i].Sequence) || !reflect.DeepEqual(m.Footer, sent[i].Footer) {
				t.Errorf("got %+v, sent %+v", m, sent[i])
			}
		}
		for i, m := range n.peek(0, 10, map[string]any{"omit-message-body": true}) {
			one(i, m)
			if len(m.Data) != 0 || m.Value != nil || m.Sequence != nil || m.Footer != nil {
				t.Errorf("with a body: %+v", m)
			}
		}
	})
}

// A peeked message shows its TTL: the remaining time by the queue's settings once it has a deadline, the sender's TTL while it is
// scheduled.
func TestEntity_PeekShowsTTL_SBE11(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		b.SetPolicy("cap", `{"pattern":"^q$","apply-to":"queues","definition":{"message-ttl":60000}}`)
		s, n := c.sender("q", nil), c.node("q")
		for _, at := range []any{nil, time.Now().Add(time.Hour)} {
			for _, ttl := range []time.Duration{0, time.Second, 2 * time.Hour} {
				m := &amqp.Message{Header: &amqp.MessageHeader{TTL: ttl}, Data: [][]byte{{1}}, Annotations: amqp.Annotations{"x-opt-scheduled-enqueue-time": at}}
				if got := stateOf(c.send(s, m)); got != "accepted" {
					t.Fatal(got)
				}
			}
		}
		var got []time.Duration
		for _, m := range n.peek(0, 10, nil) {
			got = append(got, m.Header.TTL)
		}
		if want := []time.Duration{time.Minute, time.Second, time.Minute, 0, time.Second, 2 * time.Hour}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// Receivers of entities get durable and first-acquirer as they were sent; receivers of queues see that the message is durable.
func TestEntity_HeaderAsSent_SBE19(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		s, n := c.sender("q", nil), c.node("q")
		sent := []amqp.MessageHeader{{}, {Durable: true}, {FirstAcquirer: true}, {Durable: true, FirstAcquirer: true}}
		for i := range sent {
			sent[i].Priority = 3
			if state := stateOf(c.send(s, &amqp.Message{Header: &sent[i], Data: [][]byte{{1}}})); state != "accepted" {
				t.Fatal(state)
			}
		}
		same := func(i int, m *amqp.Message) {
			t.Helper()
			if m == nil || m.Header == nil || m.Header.Durable != sent[i].Durable || m.Header.FirstAcquirer != sent[i].FirstAcquirer || m.Header.Priority != 3 || string(m.GetData()) != "\x01" {
				t.Errorf("%d: got %+v, sent %+v", i, m, sent[i])
			}
		}
		for i, m := range n.peek(0, 10, nil) {
			same(i, m)
		}
		ctx, r := context.Background(), c.receiver("q", second(-1))
		if err := r.IssueCredit(2); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			m := c.next(r)
			same(i, m)
			if err := r.AcceptMessage(ctx, m); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(ctx); err != nil {
			t.Fatal(err)
		}
		queue := c.receiver("/queues/q", &amqp.ReceiverOptions{Credit: 2})
		for range 2 {
			if m := c.next(queue); m == nil || !m.Header.Durable {
				t.Errorf("%+v", m)
			}
		}
	})
}
