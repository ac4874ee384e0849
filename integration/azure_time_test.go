package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
)

// withDeadlines returns an emulator configuration file with queues that expire messages, forward, limit deliveries and drop
// duplicates.
func withDeadlines(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "Config.json")
	err := os.WriteFile(path, []byte(`{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "plain"}, {"Name": "later"}, {"Name": "batches"},
		{"Name": "brief", "Properties": {"DefaultMessageTimeToLive": "PT1S", "DeadLetteringOnMessageExpiration": true}},
		{"Name": "once", "Properties": {"RequiresDuplicateDetection": true, "DuplicateDetectionHistoryTimeWindow": "PT1M"}},
		{"Name": "fragile", "Properties": {"MaxDeliveryCount": 2}}, {"Name": "hasty", "Properties": {"LockDuration": "PT1S"}},
		{"Name": "forwards", "Properties": {"ForwardTo": "plain"}}, {"Name": "to-topic", "Properties": {"ForwardTo": "posts"}},
		{"Name": "dies", "Properties": {"ForwardDeadLetteredMessagesTo": "posts"}}], "Topics": [{"Name": "posts", "Subscriptions": [{"Name": "s"}]},
		{"Name": "brief-topic", "Properties": {"DefaultMessageTimeToLive": "PT1S"}, "Subscriptions": [{"Name": "s", "Properties": {"DeadLetteringOnMessageExpiration": true}}]}]}]}}`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAzureClient_Deadlines: Azure's own client for Go sends messages that expire, are scheduled, are forwarded, are delivered
// too often, or are duplicates.
func TestAzureClient_Deadlines(t *testing.T) {
	t.Parallel()
	a := azureOf(t, withDeadlines(t))
	sends := func(queue string, m azservicebus.Message) {
		t.Helper()
		a.ok(a.sender(queue).SendMessage(a.ctx, &m, nil))
	}
	deadLettered := func(queue, body, reason string) *azservicebus.ReceivedMessage {
		t.Helper()
		m := a.receive(a.receiver(queue, &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter}), body)
		if m.DeadLetterReason == nil || *m.DeadLetterReason != reason || *m.DeadLetterSource != queue {
			t.Errorf("%s: dead-lettered as %+v", queue, m)
		}
		return m
	}

	sends("brief", azservicebus.Message{Body: []byte("capped"), TimeToLive: to.Ptr(time.Hour)}) // capped by the TTL of the queue
	deadLettered("brief", "capped", "TTLExpiredException")

	plain := a.receiver("plain", nil)
	sends("plain", azservicebus.Message{Body: []byte("gone"), TimeToLive: to.Ptr(100 * time.Millisecond)})
	eventually(t, "the end of a message", func() bool {
		peeked, err := plain.PeekMessages(a.ctx, 10, &azservicebus.PeekMessagesOptions{FromSequenceNumber: to.Ptr(int64(0))})
		return err == nil && len(peeked) == 0
	})
	at := time.Now().Add(700 * time.Millisecond)
	sends("plain", azservicebus.Message{Body: []byte("scheduled"), ScheduledEnqueueTime: &at})
	m := a.receive(plain, "scheduled")
	if now := time.Now(); now.Before(at.Truncate(time.Millisecond)) || m.EnqueuedTime.Before(at.Truncate(time.Millisecond)) || !m.ScheduledEnqueueTime.Equal(at.Truncate(time.Millisecond)) {
		t.Errorf("at %v, not at %v: %+v", now, at, m)
	}

	for _, body := range []string{"first", "again"} {
		sends("once", azservicebus.Message{Body: []byte(body), MessageID: to.Ptr("1")})
	}
	if peeked, err := a.receiver("once", nil).PeekMessages(a.ctx, 10, nil); err != nil || len(peeked) != 1 || string(peeked[0].Body) != "first" {
		t.Error(peeked, err)
	}

	sends("fragile", azservicebus.Message{Body: []byte("failing")})
	r := a.receiver("fragile", nil)
	for range 2 {
		a.ok(r.AbandonMessage(a.ctx, a.receive(r, "failing"), nil))
	}
	if m := deadLettered("fragile", "failing", "MaxDeliveryCountExceeded"); m.DeliveryCount != 3 {
		t.Errorf("delivered %d times", m.DeliveryCount)
	}

	sends("forwards", azservicebus.Message{Body: []byte("forwarded")})
	a.receive(a.receiver("plain", &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete}), "forwarded")
	a.leads()
}

// leads sends messages that reach a subscription by the topic, at a scheduled time, forwarded, or as dead letters. Messages
// expire by the TTL of the topic, and a lock that was not renewed is lost.
func (a *azure) leads() {
	a.Helper()
	a.send("hasty", "m")
	one, other := a.receiver("hasty", nil), a.receiver("hasty", nil)
	m := a.receive(one, "m")
	late := make(chan error, 1)
	go func() {
		_, err := other.ReceiveMessages(a.ctx, 1, nil) // once the lock has expired
		if early := time.Until(*m.LockedUntil); err == nil && early > 0 {
			err = fmt.Errorf("received %v early", early)
		}
		late <- err
	}()

	a.ok(a.sender("brief-topic").SendMessage(a.ctx, &azservicebus.Message{Body: []byte("capped"), TimeToLive: to.Ptr(time.Hour)}, nil))
	a.send("to-topic", "forwarded")
	a.send("dies", "dead")
	dies := a.receiver("dies", nil)
	a.ok(dies.DeadLetterMessage(a.ctx, a.receive(dies, "dead"), &azservicebus.DeadLetterOptions{Reason: to.Ptr("bad")}))
	at := time.Now().Add(500 * time.Millisecond).Truncate(time.Millisecond)
	a.ok(a.sender("posts").SendMessage(a.ctx, &azservicebus.Message{Body: []byte("scheduled"), ScheduledEnqueueTime: &at}, nil))
	posts, err := a.client.NewReceiverForSubscription("posts", "s", nil)
	a.ok(err)
	got := map[string]*azservicebus.ReceivedMessage{}
	for len(got) < 3 {
		all, err := posts.ReceiveMessages(a.ctx, 3, nil)
		a.ok(err)
		for _, m := range all {
			got[string(m.Body)] = m
			a.ok(posts.CompleteMessage(a.ctx, m, nil))
		}
	}
	if m := got["scheduled"]; m == nil || m.EnqueuedTime.Before(at) || time.Now().Before(at) {
		a.Errorf("scheduled: %+v", m)
	}
	if m := got["dead"]; m == nil || *m.DeadLetterReason != "bad" || *m.DeadLetterSource != "dies" {
		a.Errorf("dead-lettered: %+v", m)
	}
	if got["forwarded"] == nil {
		a.Error("not forwarded")
	}

	expired, err := a.client.NewReceiverForSubscription("brief-topic", "s", &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter})
	a.ok(err)
	if m := a.receive(expired, "capped"); *m.DeadLetterReason != "TTLExpiredException" {
		a.Errorf("%+v", m)
	}
	a.ok(<-late)
	var lost *azservicebus.Error
	if err := one.CompleteMessage(a.ctx, m, nil); !errors.As(err, &lost) || lost.Code != azservicebus.CodeLockLost {
		a.Errorf("completed too late: %v", err)
	}
}

// TestAzureClient_DeadlinesJavaScript tests the same with Azure's client for JavaScript.
func TestAzureClient_DeadlinesJavaScript(t *testing.T) {
	doAzureJavaScript(t, withDeadlines(t), "node/servicebus_time.js")
}

// jsonOf returns v as JSON, so that equal times in different zones, and nil and empty slices, compare equal.
func (a *azure) jsonOf(v any) string {
	a.Helper()
	text, err := json.Marshal(v)
	a.ok(err)
	return string(text)
}

// TestAzureClient_Kinds: bodies and properties of all kinds are received as they were sent.
func TestAzureClient_Kinds(t *testing.T) {
	t.Parallel()
	a := azureOf(t, withDeadlines(t), smallMessages...)
	r := a.receiver("plain", &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete})
	now := time.Now().UTC().Truncate(time.Millisecond)
	for _, body := range []azservicebus.AMQPAnnotatedMessageBody{
		{Value: "text"}, {Value: map[string]any{"a": int64(1)}}, {Sequence: [][]any{{int32(1), "b"}, {true}}}, {Data: [][]byte{[]byte("one"), []byte("two")}},
	} {
		sent := &azservicebus.AMQPAnnotatedMessage{
			Body: body,
			ApplicationProperties: map[string]any{
				"i": int32(-1), "u": uint64(1), "f": 1.5, "s": "s", "t": now, "b": true, "n": nil,
			},
			Properties: &azservicebus.AMQPAnnotatedMessageProperties{
				MessageID: "id", CorrelationID: uint64(7), ContentType: to.Ptr("text/plain"), ContentEncoding: to.Ptr("utf-8"), GroupID: to.Ptr("g"),
				GroupSequence: to.Ptr(uint32(3)), ReplyTo: to.Ptr("here"), ReplyToGroupID: to.Ptr("h"), Subject: to.Ptr("s"), To: to.Ptr("there"), CreationTime: &now,
			},
			MessageAnnotations: map[any]any{"x-opt-mine": "1"},
		}
		a.ok(a.sender("plain").SendAMQPAnnotatedMessage(a.ctx, sent, nil))
		got, err := r.ReceiveMessages(a.ctx, 1, nil)
		a.ok(err)
		raw := got[0].RawAMQPMessage
		for _, pair := range [][2]any{
			{raw.Body, sent.Body}, {raw.ApplicationProperties, sent.ApplicationProperties}, {raw.Properties, sent.Properties}, {raw.MessageAnnotations["x-opt-mine"], "1"},
		} {
			if got, want := a.jsonOf(pair[0]), a.jsonOf(pair[1]); got != want {
				t.Errorf("got %s, sent %s", got, want)
			}
		}
		for key, v := range sent.ApplicationProperties {
			if got := raw.ApplicationProperties[key]; reflect.TypeOf(got) != reflect.TypeOf(v) {
				t.Errorf("%s is %T, sent %T", key, got, v)
			}
		}
	}
	a.annotated(r)
}

// annotated sends a raw AMQP message in a batch, schedules one, and sends a too large one.
func (a *azure) annotated(r *azservicebus.Receiver) {
	a.Helper()
	s, value := a.sender("plain"), &azservicebus.AMQPAnnotatedMessage{Body: azservicebus.AMQPAnnotatedMessageBody{Value: "text"}}
	batch, err := s.NewMessageBatch(a.ctx, nil)
	a.ok(err)
	a.ok(batch.AddAMQPAnnotatedMessage(value, nil))
	a.ok(s.SendMessageBatch(a.ctx, batch, nil))
	numbers, err := s.ScheduleAMQPAnnotatedMessages(a.ctx, []*azservicebus.AMQPAnnotatedMessage{value}, time.Now().Add(200*time.Millisecond), nil)
	if a.ok(err); len(numbers) != 1 {
		a.Error(numbers)
	}
	for range 2 {
		got, err := r.ReceiveMessages(a.ctx, 1, nil)
		if a.ok(err); got[0].RawAMQPMessage.Body.Value != "text" {
			a.Errorf("%+v", got[0].RawAMQPMessage.Body)
		}
	}
	if err := s.SendMessage(a.ctx, &azservicebus.Message{Body: make([]byte, 2_000_000)}, nil); !errors.Is(err, azservicebus.ErrMessageTooLarge) {
		a.Error("a message that is too large:", err)
	}
	a.ok(s.SendMessage(a.ctx, &azservicebus.Message{Body: make([]byte, 1_900_000)}, nil))
}

// TestAzureClient_Idle: an unused queue is deleted automatically; subscriptions and rules are deleted.
func TestAzureClient_Idle(t *testing.T) {
	t.Parallel()
	b := start(t, "--servicebus-http", "127.0.0.1:0", "--servicebus-emulator")
	b.put("/api/x/access-keys/%2F/root", `{"rights":["manage"],"primary_key":"secret of root"}`)
	ctx, c := context.Background(), administrator(b, "root", "secret of root")
	books := &entityBooks{T: t}
	a, cancel := books.connect(b)
	defer cancel()
	_, err := c.CreateQueue(ctx, "idle", &admin.CreateQueueOptions{Properties: &admin.QueueProperties{AutoDeleteOnIdle: to.Ptr("PT10S")}})
	a.ok(err)
	used := time.Now()
	a.send("idle", "used")
	eventually(t, "the end of the queue", func() bool {
		got, err := c.GetQueue(ctx, "idle", nil)
		return err == nil && got == nil
	})
	if took := time.Since(used); took < 10*time.Second {
		t.Errorf("it ended %v after it was used", took)
	}
	var none *azservicebus.Error
	if err := a.sender("idle").SendMessage(a.ctx, &azservicebus.Message{}, nil); !errors.As(err, &none) || none.Code != azservicebus.CodeNotFound {
		t.Error(err)
	}

	_, err = c.CreateTopic(ctx, "t", nil)
	a.ok(err)
	_, err = c.CreateSubscription(ctx, "t", "s", nil)
	a.ok(err)
	_, err = c.DeleteRule(ctx, "t", "s", "$Default", nil)
	a.ok(err)
	a.send("t", "for nobody")
	if got, err := c.GetSubscriptionRuntimeProperties(ctx, "t", "s", nil); err != nil || got.TotalMessageCount != 0 {
		t.Error(got, err)
	}
	_, err = c.DeleteSubscription(ctx, "t", "s", nil)
	a.ok(err)
	if got, err := c.GetSubscription(ctx, "t", "s", nil); got != nil || err != nil {
		t.Error(got, err)
	}
}
