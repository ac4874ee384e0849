package amqp10

import (
	"context"
	"testing"
	"time"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
)

// keyed returns a client without permissions of its own that has put tokens of a key for entities.
func keyed(b *testkit.Bubble, key string, entities ...string) *client {
	b.Helper()
	c := login(b, "nobody")
	tokens := c.cbs()
	for _, name := range entities {
		if code := tokens.put("amqp://host/"+name, token(key, name, time.Hour)); code != 202 {
			b.Fatal(name, code)
		}
	}
	return c
}

// requestsFor returns requests to a node, by operation, that name the messages and the session that a client holds.
func requestsFor(locks []amqp.UUID, numbers []int64, session string) map[string]map[string]any {
	return map[string]map[string]any{
		"peek-message":               {"from-sequence-number": int64(0), "message-count": int32(10), "session-id": session},
		"update-disposition":         {"disposition-status": "completed", "lock-tokens": locks, "session-id": session},
		"renew-lock":                 {"lock-tokens": locks},
		"receive-by-sequence-number": {"sequence-numbers": numbers, "receiver-settle-mode": uint32(0), "session-id": session},
		"batch-delete-messages":      {"message-count": int32(10), "session-id": session},
		"get-session-state":          {"session-id": session},
		"set-session-state":          {"session-id": session, "session-state": []byte("forged")},
		"renew-session-lock":         {"session-id": session},
		"get-message-sessions":       {"last-updated-time": everySession, "skip": int32(0), "top": int32(10)},
		"enumerate-rules":            {"top": int32(10), "skip": int32(0)},
		"remove-rule":                {"rule-name": "$Default"},
		"add-rule":                   {"rule-name": "r", "rule-description": map[string]any{"sql-filter": map[string]any{"expression": "1=1"}}},
	}
}

// mayNothing fails the test unless all requests and all receivers are refused for lack of rights.
func (c *client) mayNothing(requests map[string]map[string]any) {
	c.Helper()
	for _, name := range []string{"q", "q/$DeadLetterQueue", "q/$Transfer/$DeadLetterQueue", "s", "events/Subscriptions/audit"} {
		own := *c
		own.session = c.begin()
		n := own.node(name)
		for operation, body := range requests {
			if code, answer := n.ask(operation, body); code != 401 || answer != nil {
				c.Errorf("%s of %s: %d %v", operation, name, code, answer)
			}
		}
		if _, err := c.begin().NewReceiver(context.Background(), name, second(1)); condition(err) != amqp.ErrCondUnauthorizedAccess {
			c.Errorf("receives from %s: %v", name, err)
		}
	}
	for _, filter := range []any{"a", nil} {
		if _, err := c.begin().NewReceiver(context.Background(), "s", ofSession(filter)); condition(err) != amqp.ErrCondUnauthorizedAccess {
			c.Errorf("session %v: %v", filter, err)
		}
	}
}

// A client that may only send cannot affect messages and sessions held by others, even if it knows all lock tokens, numbers,
// sessions and links; a client that may receive elsewhere cannot use the node of its own entity for these actions.
// Messages and session states of others stay unchanged. (SBT-2)
func TestRights_OfWhatOthersHold_SBT2(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		sessions(b)
		topicWith(b, "events", "audit")
		b.Connect().Open().Declare("other", nil)
		user(b, "nobody", "", "", "")
		user(b, "sends", "", ".*", "")
		user(b, "elsewhere", "", ".*", "^other$")
		c.put(c.sender("q", nil), "deferred", "locked")
		r := c.receiver("q", second(-1))
		if err := r.IssueCredit(2); err != nil {
			t.Fatal(err)
		}
		numbers := c.deferAll(r, 1)
		m := c.next(r)
		locks := []amqp.UUID{tokenOf(m)}
		c.sendsTo("s", "a", "1")
		session := c.receiver("s", ofSession("a"))
		c.put(c.sender("events", nil), "event")
		requests := requestsFor(locks, numbers, "a")
		sends := keyed(b, "sends", "q", "s", "events")
		defer func() { _ = sends.conn.Close() }()
		sends.mayNothing(requests)
		elsewhere := keyed(b, "elsewhere", "other")
		defer func() { _ = elsewhere.conn.Close() }()
		n := elsewhere.node("other")
		for operation, want := range map[string]int32{"update-disposition": 410, "renew-lock": 410, "receive-by-sequence-number": 404} {
			if code, _ := n.ask(operation, requests[operation]); code != want {
				t.Errorf("%s by another node: %d", operation, code)
			}
		}
		if err := r.AcceptMessage(context.Background(), m); err != nil {
			t.Error("the lock is lost:", err)
		}
		if _, all, _ := c.node("q").numbered(numbers...); len(all) != 1 {
			t.Error("the deferred message is gone")
		}
		if code, answer := c.node("s").ask("get-session-state", map[string]any{"session-id": "a"}); code != 200 || answer["session-state"] != nil {
			t.Error("the state is forged:", code, answer)
		}
		if err := session.IssueCredit(1); err != nil {
			t.Fatal(err)
		}
		c.want(session, "1")
		c.want(c.receiver("events/Subscriptions/audit", second(1)), "event")
	})
}
