package amqp10

import (
	"context"
	"testing"
	"time"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// A deferred message expires at its deadline, not earlier, and is dead-lettered; a purge drops it. It survives a restart and a
// crash with its deadline.
func TestEntity_DeferredEnds_DEFER3_DEFER4_DEFER5(t *testing.T) {
	for name, start := range map[string]func(*testkit.Bubble, time.Duration){"stop": (*testkit.Bubble).Restart, "crash": (*testkit.Bubble).Crash} {
		t.Run(name, func(t *testing.T) {
			testkit.RunStored(t, nil, func(b *testkit.Bubble) {
				entity(b)
				c := connect(b, nil)
				ends := time.Now().Add(time.Hour)
				for _, body := range []string{"expires", "stays"} {
					m := amqp.NewMessage([]byte(body))
					if body == "expires" {
						m.Header = &amqp.MessageHeader{TTL: time.Until(ends)}
					}
					c.send(c.sender("q", nil), m)
				}
				at := c.deferAll(c.receiver("q", second(2)), 2)
				b.Advance(time.Second) // until the changes are on disk
				start(b, time.Minute)
				c = connect(b, nil)
				defer func() { _ = c.conn.Close() }()
				n := c.node("q")
				if all := n.peek(0, 10, nil); len(all) != 2 || all[0].Annotations["x-opt-message-state"] != int32(1) || all[0].ApplicationProperties["why"] != "later" {
					t.Fatalf("%+v", all)
				}
				b.Advance(time.Until(ends) - time.Millisecond)
				if i := b.Describe("q"); i.Deferred != 2 {
					t.Errorf("%d deferred", i.Deferred)
				}
				b.Advance(3 * time.Millisecond) // the deadline of one message is relative to its arrival
				if code, _, _ := n.numbered(at[0]); code != 404 {
					t.Error("it has expired:", code)
				}
				m := c.next(c.receiver("q/$DeadLetterQueue", second(1)))
				if m == nil || string(m.GetData()) != "expires" || m.ApplicationProperties["DeadLetterReason"] != "TTLExpiredException" {
					t.Fatalf("%+v", m)
				}
				if count, err := b.Connect().Open().QueuePurge("q", false); err != nil || count != 1 {
					t.Error(count, err)
				}
				if code, _, _ := n.numbered(at[1]); code != 404 {
					t.Error("it was purged:", code)
				}
			})
		})
	}
}

// An expired lock can neither be renewed nor settle the message, also while another receiver holds the message, whose lock is
// unaffected.
func TestEntity_EndedLock_LOCK5(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		b.Log.Allow("not settled in time")
		c.put(c.sender("q", nil), "m")
		n := c.node("q")
		old := c.next(c.receiver("q", second(1)))
		other := c.receiver("q", second(1))
		b.Advance(time.Minute)
		m := c.next(other)
		if m == nil || tokenOf(m) == tokenOf(old) {
			t.Fatalf("%+v", m)
		}
		if code, _ := n.ask("renew-lock", map[string]any{"lock-tokens": []amqp.UUID{tokenOf(old)}}); code != 410 {
			t.Error("renewed:", code)
		}
		if code := n.dispose("completed", []amqp.UUID{tokenOf(old)}, nil); code != 410 {
			t.Error("settled:", code)
		}
		until, _ := m.Annotations["x-opt-locked-until"].(time.Time)
		b.Advance(time.Until(until) - 2*time.Millisecond)
		if code, _ := n.ask("renew-lock", map[string]any{"lock-tokens": []amqp.UUID{tokenOf(m)}}); code != 200 {
			t.Error("its own lock:", code)
		}
		if err := other.AcceptMessage(context.Background(), m); err != nil {
			t.Error(err)
		}
	})
}

// The lock of a session expires on time, not earlier, also if it was renewed: its receiver is detached, and the next receiver
// gets the session with its messages and state.
func TestSessionLock_SESSION4_SESSION5_Wire(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		sessions(b)
		c.sendsTo("s", "a", "1", "2")
		r, n, ctx := c.receiver("s", ofSession("a")), c.node("s"), context.Background()
		if err := r.IssueCredit(2); err != nil {
			t.Fatal(err)
		}
		held := c.next(r)
		of := map[string]any{"session-id": "a"}
		b.Advance(30 * time.Second)
		code, answer := n.ask("renew-session-lock", of)
		ends, _ := answer["expiration"].(time.Time)
		if left := time.Until(ends); code != 200 || left > time.Minute || left < 59*time.Second {
			t.Fatal(code, answer)
		}
		if code, _ := n.ask("set-session-state", map[string]any{"session-id": "a", "session-state": []byte("half")}); code != 200 {
			t.Error(code)
		}
		if code, _ := connect(b, nil).node("s").ask("get-session-state", of); code != 410 {
			t.Error("of another connection:", code)
		}
		got := make(chan time.Time, 1)
		waits := connect(b, nil)
		defer func() { _ = waits.conn.Close() }()
		var next *amqp.Receiver
		go func() {
			next = waits.receiver("s", nextSession(5*time.Minute))
			got <- time.Now()
		}()
		b.Advance(time.Until(ends) - time.Millisecond)
		testkit.Silent(b, got, 0)
		b.Advance(3 * time.Millisecond)
		if at := testkit.Receive(b, got); at.Before(ends) || next.LinkSourceFilterValue(sessionFilter) != "a" {
			t.Errorf("%v early", ends.Sub(at))
		}
		if err := r.AcceptMessage(ctx, held); condition(err) != "com.microsoft:session-lock-lost" {
			t.Error("settled too late:", err)
		}
		for operation, body := range map[string]map[string]any{"renew-session-lock": of, "set-session-state": {"session-id": "a", "session-state": nil}} {
			if code, _ := n.ask(operation, body); code != 410 {
				t.Error(operation, "too late:", code)
			}
		}
		if code, answer := waits.node("s").ask("get-session-state", of); code != 200 || string(answer["session-state"].([]byte)) != "half" {
			t.Error(code, answer)
		}
		if err := next.IssueCredit(2); err != nil {
			t.Fatal(err)
		}
		if m := waits.next(next); m == nil || string(m.GetData()) != "1" || m.Header.DeliveryCount != 1 {
			t.Errorf("%+v", m)
		}
	})
}

// An unused queue expires with its locked and deferred messages; later requests to its node are answered with an error. An
// exclusive queue can expire while its connection is open.
func TestLease_LEASE6_LEASE8_LEASE11(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		lease := amqp091.Table{"x-queue-type": "quorum", "x-consumer-timeout": int32(3_600_000), "x-expires": int32(60_000)}
		if _, err := b.Connect().Open().QueueDeclare("q", true, false, false, false, lease); err != nil {
			t.Fatal(err)
		}
		s, r, n := c.sender("q", nil), c.receiver("q", second(2)), c.node("q")
		c.put(s, "deferred", "locked")
		at := c.deferAll(r, 1)
		m := c.next(r)
		b.Advance(10 * time.Minute) // an attached link counts as use
		if i := b.Describe("q"); i.Unacked != 1 || i.Deferred != 1 {
			t.Fatalf("%d locked, %d deferred", i.Unacked, i.Deferred)
		}
		if err := r.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		b.Advance(59 * time.Second)
		if code := n.dispose("abandoned", []amqp.UUID{{1}}, nil); code != 410 { // a request to the node does not count as use
			t.Error(code)
		}
		b.Advance(2 * time.Second)
		if code := n.dispose("completed", []amqp.UUID{tokenOf(m)}, nil); code != 404 {
			t.Error("settled:", code)
		}
		if code, _, _ := n.numbered(at...); code != 404 {
			t.Error("received:", code)
		}
		if err := s.Send(context.Background(), amqp.NewMessage(nil), nil); err == nil {
			t.Error("sent to a queue that has expired")
		}
		c.session = c.begin() // the detached link may still hold its handle
		p := c.pair(5)
		p.want("PUT", "/queues/mine", map[string]any{"exclusive": true, "arguments": map[string]any{"x-expires": uint32(1000)}}, "201 ")
		b.Advance(990 * time.Millisecond)
		if q := b.VHost().Directory().Queue([]byte("mine")); q == nil {
			t.Error("it has expired early")
		}
		b.Advance(20 * time.Millisecond)
		if q := b.VHost().Directory().Queue([]byte("mine")); q != nil {
			t.Error("it has not expired")
		}
	})
}
