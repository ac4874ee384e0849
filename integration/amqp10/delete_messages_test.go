package amqp10

import (
	"context"
	"testing"
	"time"

	"candlemark/integration/testkit"
)

// deletes asks a node to delete messages, and returns the code and their number.
func (n *node) deletes(count int32, before any) (code, deleted int32) {
	n.Helper()
	body := map[string]any{"message-count": count}
	if before != nil {
		body["enqueued-time-utc"] = before
	}
	code, answer := n.ask("batch-delete-messages", body)
	deleted, _ = answer["message-count"].(int32)
	return code, deleted
}

// Messages that no receiver holds are deleted by operation, the oldest first.
func TestEntity_DeleteMessages_SBE8(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		s, n, r := c.sender("q", nil), c.node("q"), c.receiver("q", second(1))
		c.put(s, "locked", "1", "2", "3")
		locked := c.next(r)
		if code, numbers := n.schedule(n.scheduled("later", time.Now().Add(time.Hour))); code != 200 || len(numbers) != 1 {
			t.Fatal(code, numbers)
		}
		b.Advance(time.Second)
		cutoff := time.Now()
		c.put(s, "4")
		for _, want := range []struct {
			count         int32
			before        any
			code, deleted int32
		}{
			{0, nil, 400, 0},
			{4001, nil, 400, 0},
			{1, "now", 400, 0},
			{2, cutoff, 200, 2},
			{4000, cutoff, 200, 1},
			{4000, cutoff, 204, 0},
			{4000, nil, 200, 1},
			{4000, nil, 204, 0},
		} {
			if code, deleted := n.deletes(want.count, want.before); code != want.code || deleted != want.deleted {
				t.Errorf("%+v: %d, %d", want, code, deleted)
			}
		}
		if err := r.AcceptMessage(context.Background(), locked); err != nil {
			t.Error(err)
		}
		b.Advance(time.Hour)
		c.want(r, "later")
		if code, _ := c.node("q/$DeadLetterQueue").deletes(1, nil); code != 204 {
			t.Error("they are not dead-lettered:", code)
		}
		if code, _ := c.node("q/$Transfer/$DeadLetterQueue").deletes(1, nil); code != 204 {
			t.Error(code)
		}
		if code, _ := c.node("none").deletes(1, nil); code != 404 {
			t.Error(code)
		}
	})
}

// In a queue with sessions, only messages of a session that the connection has locked are deleted.
func TestEntity_DeleteMessages_Sessions_SBE8(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		sessions(b)
		c.sendsTo("s", "a", "1", "2")
		c.sendsTo("s", "b", "3")
		n := c.node("s")
		if code, _ := n.deletes(9, nil); code != 400 {
			t.Error(code)
		}
		of := map[string]any{"message-count": int32(9), "session-id": "a"}
		if code, _ := n.ask("batch-delete-messages", of); code != 410 {
			t.Error("nobody has locked it:", code)
		}
		o := ofSession("a")
		o.Credit = -1
		c.receiver("s", o)
		if code, answer := n.ask("batch-delete-messages", of); code != 200 || answer["message-count"] != int32(2) {
			t.Error(code, answer)
		}
		other := ofSession("b")
		other.Credit = 1
		c.want(c.receiver("s", other), "3")
	})
}

// Deleted messages do not reappear after a restart or a crash.
func TestEntity_DeleteMessages_Restart_SBE8(t *testing.T) {
	for name, start := range map[string]func(*testkit.Bubble, time.Duration){"stop": (*testkit.Bubble).Restart, "crash": (*testkit.Bubble).Crash} {
		t.Run(name, func(t *testing.T) {
			testkit.RunStored(t, nil, func(b *testkit.Bubble) {
				entity(b)
				c := connect(b, nil)
				c.put(c.sender("q", nil), "1", "2", "3")
				if code, deleted := c.node("q").deletes(2, nil); code != 200 || deleted != 2 {
					t.Fatal(code, deleted)
				}
				start(b, time.Second)
				c = connect(b, nil)
				defer func() { _ = c.conn.Close() }()
				c.want(c.receiver("q", second(5)), "3")
			})
		})
	}
}
