package amqp10

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
)

// node is a pair of links to ENTITY/$management.
type node struct {
	*client
	requests *amqp.Sender
	answers  *amqp.Receiver
}

func (c *client) node(entity string) *node {
	c.Helper()
	return &node{c, c.sender(entity+"/$management", nil), c.receiver(entity+"/$management", &amqp.ReceiverOptions{TargetAddress: "mine"})}
}

// ask runs a request and returns the code and the body of its answer.
func (n *node) ask(operation string, body map[string]any) (code int32, answer map[string]any) {
	n.Helper()
	m := n.answerTo(operation, body)
	code, _ = m.ApplicationProperties["statusCode"].(int32)
	answer, _ = m.Value.(map[string]any)
	return code, answer
}

// status runs a request and returns the code and the description of its answer.
func (n *node) status(operation string, body map[string]any) string {
	n.Helper()
	m := n.answerTo(operation, body)
	return fmt.Sprint(m.ApplicationProperties["statusCode"], " ", m.ApplicationProperties["statusDescription"])
}

func (n *node) answerTo(operation string, body map[string]any) *amqp.Message {
	n.Helper()
	to, ctx := "mine", context.Background()
	err := n.requests.Send(ctx, &amqp.Message{
		Properties: &amqp.MessageProperties{MessageID: "id", ReplyTo: &to}, Value: body,
		ApplicationProperties: map[string]any{"operation": "com.microsoft:" + operation},
	}, nil)
	if err != nil {
		n.Fatal(err)
	}
	m := n.next(n.answers)
	if m == nil {
		n.Fatal("no answer to", operation)
	}
	if err := n.answers.AcceptMessage(ctx, m); err != nil {
		n.Fatal(err)
	}
	return m
}

// messages returns the messages of an answer, with their lock tokens.
func (n *node) messages(answer map[string]any) (all []*amqp.Message, tokens []amqp.UUID) {
	n.Helper()
	list, _ := answer["messages"].([]any)
	for _, e := range list {
		entry, _ := e.(map[string]any)
		encoded, _ := entry["message"].([]byte)
		var m amqp.Message
		if err := m.UnmarshalBinary(encoded); err != nil {
			n.Fatal(err)
		}
		all = append(all, &m)
		if token, ok := entry["lock-token"].(amqp.UUID); ok {
			tokens = append(tokens, token)
			if m.DeliveryAnnotations["x-opt-lock-token"] != token {
				n.Errorf("token %v, but %v", token, m.DeliveryAnnotations)
			}
		}
	}
	return all, tokens
}

// numbered receives deferred messages by their sequence numbers, with locks, and returns the status code, too.
func (n *node) numbered(numbers ...int64) (code int32, all []*amqp.Message, tokens []amqp.UUID) {
	n.Helper()
	code, answer := n.ask("receive-by-sequence-number", map[string]any{"sequence-numbers": numbers, "receiver-settle-mode": uint32(1)})
	all, tokens = n.messages(answer)
	return code, all, tokens
}

// dispose settles messages by their lock tokens and returns the code.
func (n *node) dispose(status string, tokens []amqp.UUID, more map[string]any) int32 {
	n.Helper()
	body := map[string]any{"disposition-status": status, "lock-tokens": tokens}
	for k, v := range more {
		body[k] = v
	}
	code, _ := n.ask("update-disposition", body)
	return code
}

// deferAll receives n messages, defers them, and returns their sequence numbers.
func (c *client) deferAll(r *amqp.Receiver, n int) (numbers []int64) {
	c.Helper()
	for range n {
		m := c.next(r)
		if m == nil {
			c.Fatal("nothing to defer")
		}
		if err := r.ModifyMessage(context.Background(), m, &amqp.ModifyMessageOptions{UndeliverableHere: true, Annotations: amqp.Annotations{"why": "later"}}); err != nil {
			c.Fatal(err)
		}
		number, _ := m.Annotations["x-opt-sequence-number"].(int64)
		numbers = append(numbers, number)
	}
	return numbers
}

// Deferred messages are visible to a peek, are delivered only when requested by sequence number, and are settled by their lock
// tokens.
func TestEntity_Deferred(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entityOf(b, 9)
		c.put(c.sender("q", nil), "1", "2", "3", "4")
		r, n := c.receiver("q", second(4)), c.node("q")
		at := c.deferAll(r, 4)
		if m := c.next(r); m != nil {
			t.Fatal("it came back", m)
		}
		_, answer := n.ask("peek-message", map[string]any{"from-sequence-number": int64(1), "message-count": int32(10)})
		if all, _ := n.messages(answer); len(all) != 4 || all[0].Annotations["x-opt-message-state"] != int32(1) || all[0].ApplicationProperties["why"] != "later" {
			t.Fatalf("%+v", all)
		}
		code, all, tokens := n.numbered(at[1], at[0], 999)
		if code != 200 || len(all) != 2 || len(tokens) != 2 || string(all[0].GetData()) != "2" || all[0].Annotations["x-opt-sequence-number"] != at[1] || all[0].Header.DeliveryCount != 1 {
			t.Fatalf("%d: %+v %v", code, all, tokens)
		}
		if until, _ := all[0].Annotations["x-opt-locked-until"].(time.Time); time.Until(until).Round(time.Second) != time.Minute {
			t.Error(until)
		}
		if code, _, _ := n.numbered(at[0], at[1]); code != 404 {
			t.Error("locked ones:", code)
		}
		_, answer = n.ask("peek-message", map[string]any{"from-sequence-number": at[0], "message-count": int32(1)})
		if all, _ := n.messages(answer); len(all) != 1 || all[0].Annotations["x-opt-message-state"] != int32(1) {
			t.Errorf("a locked one is shown as deferred: %+v", all)
		}
		if code := n.dispose("completed", append(slices.Clone(tokens), amqp.UUID{1}), nil); code != 410 {
			t.Error("with one that is not held:", code)
		}
		if code := n.dispose("completed", tokens[:1], nil); code != 200 {
			t.Error(code)
		}
		if code := n.dispose("completed", tokens[:1], nil); code != 410 {
			t.Error("again:", code)
		}
		if code := n.dispose("abandoned", tokens[1:], map[string]any{"properties-to-modify": map[string]any{"again": "yes"}}); code != 200 {
			t.Error(code)
		}
		code, all, tokens = n.numbered(at[0])
		if code != 200 || all[0].Header.DeliveryCount != 2 || all[0].ApplicationProperties["again"] != "yes" || all[0].ApplicationProperties["why"] != "later" {
			t.Fatalf("%d: %+v", code, all)
		}
		if code := n.dispose("defered", tokens, nil); code != 200 {
			t.Error(code)
		}
		leaves(n, r, at)
	})
}

// leaves has one deferred message dead-lettered, and receives another one without a lock.
func leaves(n *node, r *amqp.Receiver, at []int64) {
	n.Helper()
	_, all, tokens := n.numbered(at[0])
	if len(all) != 1 || all[0].Header.DeliveryCount != 3 {
		n.Fatalf("%+v", all)
	}
	if code := n.dispose("suspended", tokens, map[string]any{"deadletter-reason": "bad", "deadletter-description": "why"}); code != 200 {
		n.Error(code)
	}
	dead := n.receiver("q/$DeadLetterQueue", second(1))
	if m := n.next(dead); m == nil || string(m.GetData()) != "1" || m.ApplicationProperties["DeadLetterReason"] != "bad" || m.ApplicationProperties["DeadLetterErrorDescription"] != "why" {
		n.Fatalf("%+v", m)
	}
	code, answer := n.ask("receive-by-sequence-number", map[string]any{"sequence-numbers": at[2:3], "receiver-settle-mode": uint32(0)})
	if all, tokens = n.messages(answer); code != 200 || len(all) != 1 || len(tokens) != 0 {
		n.Errorf("%d: %+v %v", code, all, tokens)
	}
	if code, _, _ := n.numbered(at[2]); code != 404 {
		n.Error("deleted:", code)
	}
	if m := n.next(r); m != nil {
		n.Error(m)
	}
}

// A deferred message whose lock expires becomes deferred again, not earlier, even if the session ends (LOCK-10). Locks can be
// renewed.
func TestEntity_DeferredLocks(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entityOf(b, 9)
		b.Log.Allow("not settled in time")
		c.put(c.sender("q", nil), "m", "other")
		at := c.deferAll(c.receiver("q", second(2)), 2)
		n := c.node("q")
		_, all, tokens := n.numbered(at[0])
		if len(all) != 1 {
			t.Fatal(all)
		}
		b.Advance(40 * time.Second)
		if code, _ := n.ask("renew-lock", map[string]any{"lock-tokens": tokens}); code != 200 {
			t.Error(code)
		}
		b.Advance(40 * time.Second)
		if code, _, _ := n.numbered(at[0]); code != 404 {
			t.Error("it was renewed:", code)
		}
		b.Advance(time.Minute)
		if code := n.dispose("completed", tokens, nil); code != 410 {
			t.Error("too late:", code)
		}
		if _, all, tokens = n.numbered(at[1]); len(all) != 1 {
			t.Fatal(all)
		}
		if err := c.session.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		c.session = c.begin()
		n = c.node("q")
		if code, _, _ := n.numbered(at[1]); code != 404 {
			t.Error("it is locked:", code)
		}
		b.Advance(40 * time.Second)
		if code, _ := n.ask("renew-lock", map[string]any{"lock-tokens": tokens}); code != 200 {
			t.Error("renewed from another session:", code)
		}
		b.Advance(59 * time.Second)
		if code, _, _ := n.numbered(at[1]); code != 404 {
			t.Error("it is still locked:", code)
		}
		b.Advance(time.Second)
		_, all, tokens = n.numbered(at...)
		if len(all) != 2 || all[0].Header.DeliveryCount != 2 || all[1].Header.DeliveryCount != 2 {
			t.Fatalf("%+v", all)
		}
		if code := n.dispose("completed", tokens, nil); code != 200 {
			t.Error(code)
		}
	})
}

// Invalid requests are refused.
func TestEntity_DeferredRefusals(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		n := c.node("q")
		many := make([]int64, 1001)
		for i := range many {
			many[i] = int64(i + 1)
		}
		for _, body := range []map[string]any{
			nil,
			{"sequence-numbers": []int64{1}},
			{"sequence-numbers": []int64{1}, "receiver-settle-mode": uint32(2)},
			{"sequence-numbers": []int64{0}, "receiver-settle-mode": uint32(1)},
			{"sequence-numbers": []string{"1"}, "receiver-settle-mode": uint32(1)},
			{"sequence-numbers": many, "receiver-settle-mode": uint32(1)},
		} {
			if code, _ := n.ask("receive-by-sequence-number", body); code != 400 {
				t.Errorf("%v: %d", body, code)
			}
		}
		for _, body := range []map[string]any{
			{"disposition-status": "completed"}, {"disposition-status": "eaten", "lock-tokens": []amqp.UUID{{1}}}, {"lock-tokens": []amqp.UUID{{1}}},
		} {
			if code, _ := n.ask("update-disposition", body); code != 400 {
				t.Errorf("%v: %d", body, code)
			}
		}
		if code, _, _ := n.numbered(1, 2); code != 404 {
			t.Error(code)
		}
		if code := n.dispose("completed", []amqp.UUID{{1}}, nil); code != 410 {
			t.Error(code)
		}
	})
}
