package amqp10

import (
	"context"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"

	"github.com/Azure/go-amqp"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// scheduled returns an entry of a request that schedules a message.
func (n *node) scheduled(body string, at any) map[string]any {
	n.Helper()
	m := amqp.NewMessage([]byte(body))
	m.Annotations = amqp.Annotations{"x-opt-scheduled-enqueue-time": at}
	encoded, err := m.MarshalBinary()
	if err != nil {
		n.Fatal(err)
	}
	return map[string]any{"message-id": body, "message": encoded}
}

func (n *node) schedule(entries ...any) (code int32, numbers []int64) {
	n.Helper()
	code, answer := n.ask("schedule-message", map[string]any{"messages": entries})
	numbers, _ = answer["sequence-numbers"].([]int64)
	return code, numbers
}

func (n *node) cancel(numbers ...int64) int32 {
	n.Helper()
	code, _ := n.ask("cancel-scheduled-message", map[string]any{"sequence-numbers": numbers})
	return code
}

// A request schedules all of its messages or none; they are cancelled by their numbers.
func TestEntity_Scheduled(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		r, n := c.receiver("q", second(5)), c.node("q")
		at := time.Now().Add(time.Hour)
		code, numbers := n.schedule(n.scheduled("1", at), n.scheduled("2", at), n.scheduled("3", at.Add(time.Hour)))
		if code != 200 || len(numbers) != 3 || numbers[0] == 0 || numbers[0] >= numbers[1] || numbers[1] >= numbers[2] {
			t.Fatal(code, numbers)
		}
		_, answer := n.ask("peek-message", map[string]any{"from-sequence-number": int64(0), "message-count": int32(10)})
		all, _ := n.messages(answer)
		for i, m := range all {
			if m.Annotations["x-opt-sequence-number"] != numbers[i] || m.Annotations["x-opt-message-state"] != int32(2) {
				t.Errorf("%d: %v", i, m.Annotations)
			}
		}
		if len(all) != 3 {
			t.Fatal(all)
		}
		if code := n.cancel(numbers[1]); code != 200 {
			t.Error(code)
		}
		if code := n.cancel(numbers[2], numbers[1]); code != 404 {
			t.Error("one of them is cancelled:", code)
		}
		if code := n.cancel(numbers[2], numbers[2]); code != 200 {
			t.Error("one of them was cancelled with what was not there:", code)
		}
		if m := c.next(r); m != nil {
			t.Fatal("early", m)
		}
		b.Advance(time.Until(at))
		c.want(r, "1")
		if code := n.cancel(numbers[0]); code != 404 {
			t.Error("it was received:", code)
		}
		b.Advance(2 * time.Hour)
		if m := c.next(r); m != nil {
			t.Error("cancelled", m)
		}
	})
}

// A topic holds messages scheduled by operation, and routes them when they are due.
func TestEntity_ScheduledToTopic_DLY15(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		topicWith(b, "Events", "early")
		n := c.node("events")
		at := time.Now().Add(time.Hour)
		code, numbers := n.schedule(n.scheduled("1", at), n.scheduled("2", at), n.scheduled("3", at.Add(time.Hour)))
		if code != 200 || len(numbers) != 3 || numbers[0] == 0 || numbers[0] >= numbers[1] || numbers[1] >= numbers[2] {
			t.Fatal(code, numbers)
		}
		if code := n.cancel(numbers[1]); code != 200 {
			t.Error(code)
		}
		if code := n.cancel(numbers[1], numbers[2]); code != 404 {
			t.Error("one of them is cancelled:", code)
		}
		topicWith(b, "Events", "late") // created after the messages were scheduled: they are routed when due
		early, late := c.receiver("Events/Subscriptions/early", second(5)), c.receiver("Events/Subscriptions/late", second(5))
		b.Advance(time.Until(at) - time.Minute)
		if m := c.next(early); m != nil {
			t.Fatal("early", m)
		}
		b.Advance(time.Until(at))
		c.want(early, "1")
		c.want(late, "1")
		if code := n.cancel(numbers[0]); code != 404 {
			t.Error("it was routed:", code)
		}
		if code, numbers := n.schedule(n.scheduled("past", time.Now().Add(-time.Hour))); code != 200 || len(numbers) != 1 || numbers[0] == 0 {
			t.Error(code, numbers)
		}
		c.want(early, "past")
		c.want(late, "past")
		b.Advance(time.Hour)
		c.want(early, "3")
		c.want(late, "3")
	})
}

// Messages that a topic holds survive a restart and a crash, with their numbers.
func TestEntity_ScheduledToTopic_Restart_DLY15(t *testing.T) {
	for name, start := range map[string]func(*testkit.Bubble, time.Duration){"stop": (*testkit.Bubble).Restart, "crash": (*testkit.Bubble).Crash} {
		t.Run(name, func(t *testing.T) {
			testkit.RunStored(t, nil, func(b *testkit.Bubble) {
				topicWith(b, "t", "s")
				n := connect(b, nil).node("t")
				code, numbers := n.schedule(n.scheduled("overdue", time.Now().Add(time.Hour)), n.scheduled("1", time.Now().Add(3*time.Hour)), n.scheduled("2", time.Now().Add(3*time.Hour)))
				if code != 200 || len(numbers) != 3 {
					t.Fatal(code, numbers)
				}
				start(b, 2*time.Hour)
				c := connect(b, nil)
				defer func() { _ = c.conn.Close() }()
				if code := c.node("t").cancel(numbers[1]); code != 200 {
					t.Error(code)
				}
				r := c.receiver("t/Subscriptions/s", second(5))
				c.want(r, "overdue")
				b.Advance(time.Hour)
				c.want(r, "2")
			})
		})
	}
}

// A message that cannot be scheduled is refused, and no other message of its request is scheduled either.
func TestEntity_ScheduledRefusals(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		ch := b.Connect().Open()
		if _, err := ch.QueueDeclare("plain", true, false, false, false, amqp091.Table{}); err != nil {
			t.Fatal(err)
		}
		if err := ch.ExchangeDeclare("topic", "fanout", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		args := amqp091.Table{"x-delayed-messages": true, "x-max-length": int32(1), "x-overflow": "reject-publish"}
		if _, err := ch.QueueDeclare("full", true, false, false, false, args); err != nil {
			t.Fatal(err)
		}
		if _, err := ch.QueueDeclare("topic/Subscriptions/s", true, false, false, false, amqp091.Table{"x-delayed-messages": true}); err != nil {
			t.Fatal(err)
		}
		c.put(c.sender("full", nil), "1")
		n, at := c.node("q"), time.Now().Add(time.Hour)
		for _, entries := range [][]any{
			{},
			{"x"},
			{map[string]any{"message": "text"}},
			{map[string]any{"message": []byte("none")}},
			{n.scheduled("1", at), n.scheduled("2", at.AddDate(20, 0, 0))},
		} {
			if code, _ := n.schedule(entries...); code != 400 {
				t.Errorf("%v: %d", entries, code)
			}
		}
		if code := n.cancel(); code != 400 {
			t.Error(code)
		}
		if code := n.cancel(1); code != 404 {
			t.Error("it was published:", code)
		}
		for entity, want := range map[string]int32{"plain": 400, "topic": 501, "none": 404, "full": 403, "topic/Subscriptions/s": 400, "q/$deadletterqueue": 400} {
			n := c.node(entity)
			if code, _ := n.schedule(n.scheduled("1", time.Now())); code != want {
				t.Errorf("%s: %d, want %d", entity, code, want)
			}
			if err := n.requests.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Clients that may only receive cannot schedule or cancel; clients that may only send cannot receive deferred messages.
func TestEntity_NodeRights(t *testing.T) {
	run(t, func(b *testkit.Bubble, _ *client) {
		entity(b)
		grants := map[string]auth.Grant{"listen": {Read: ".*"}, "send": {Write: ".*"}}
		for name, g := range grants {
			g.User, g.VHost = name, "/"
			_, err1 := b.Users.PutAccount(auth.Account{Name: name, Hash: auth.HashPassword("x")})
			if _, err2 := b.Users.PutGrant(g); err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			c := connect(b, func(o *amqp.ConnOptions) { o.SASLType = amqp.SASLTypePlain(name, "x") })
			n := c.node("q")
			sends, receives := int32(401), int32(404)
			if name == "send" {
				sends, receives = 200, 401
			}
			code, numbers := n.schedule(n.scheduled("1", time.Now().Add(time.Hour)))
			if code != sends {
				t.Errorf("%s schedules: %d", name, code)
			}
			if code := n.cancel(append(numbers, 1)[0]); code != sends {
				t.Errorf("%s cancels: %d", name, code)
			}
			if code, _, _ := n.numbered(1); code != receives {
				t.Errorf("%s receives: %d", name, code)
			}
			_ = c.conn.Close() // error of a closed pipe
		}
	})
}
