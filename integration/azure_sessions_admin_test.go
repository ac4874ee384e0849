package integration

import (
	"context"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
)

// A queue and a subscription that the administration client creates with RequiresSession keep their sessions as long as they
// exist. (SESSION-1)
func TestAzureClient_SessionsAdministration(t *testing.T) {
	t.Parallel()
	b := start(t, "--servicebus-http", "127.0.0.1:0", "--servicebus-emulator")
	b.put("/api/x/access-keys/%2F/root", `{"rights":["manage"],"primary_key":"secret of root"}`)
	ctx, c := context.Background(), administrator(b, "root", "secret of root")
	books := &entityBooks{T: t}
	a, cancel := books.connect(b)
	defer cancel()
	created, err := c.CreateQueue(ctx, "orders", &admin.CreateQueueOptions{Properties: &admin.QueueProperties{RequiresSession: to.Ptr(true)}})
	if err != nil || created.RequiresSession == nil || !*created.RequiresSession {
		t.Fatal(err, created)
	}
	if _, err := c.CreateTopic(ctx, "t", nil); err != nil {
		t.Fatal(err)
	}
	sub, err := c.CreateSubscription(ctx, "t", "s", &admin.CreateSubscriptionOptions{Properties: &admin.SubscriptionProperties{RequiresSession: to.Ptr(true)}})
	if err != nil || sub.RequiresSession == nil || !*sub.RequiresSession {
		t.Fatal(err, sub)
	}
	created.RequiresSession = to.Ptr(false)
	if _, err := c.UpdateQueue(ctx, "orders", created.QueueProperties, nil); status(err) != 400 {
		t.Error("a queue without sessions after all:", err)
	}
	sub.RequiresSession = to.Ptr(false)
	if _, err := c.UpdateSubscription(ctx, "t", "s", sub.SubscriptionProperties, nil); status(err) != 400 {
		t.Error("a subscription without sessions after all:", err)
	}
	if _, err := c.CreateQueue(ctx, "orders", nil); status(err) != 409 {
		t.Error("again, without sessions:", err)
	}
	created.RequiresSession, created.LockDuration = to.Ptr(true), to.Ptr("PT2M")
	if _, err := c.UpdateQueue(ctx, "orders", created.QueueProperties, nil); err != nil {
		t.Error("another lock duration:", err)
	}
	if got, err := c.GetQueue(ctx, "orders", nil); err != nil || !*got.RequiresSession || *got.LockDuration != "PT2M" {
		t.Error(got, err)
	}
	if _, err := c.CreateQueue(ctx, "forwards", &admin.CreateQueueOptions{
		Properties: &admin.QueueProperties{RequiresSession: to.Ptr(true), ForwardTo: to.Ptr("orders")},
	}); status(err) != 400 {
		t.Error("with ForwardTo:", err)
	}
	if err := a.sender("orders").SendMessage(a.ctx, &azservicebus.Message{Body: []byte("without")}, nil); err == nil {
		t.Error("a message without session is taken")
	}
	for entity, accept := range map[string]func() (*azservicebus.SessionReceiver, error){
		"orders": func() (*azservicebus.SessionReceiver, error) {
			return a.client.AcceptNextSessionForQueue(a.ctx, "orders", nil)
		},
		"t": func() (*azservicebus.SessionReceiver, error) {
			return a.client.AcceptSessionForSubscription(a.ctx, "t", "s", "one", nil)
		},
	} {
		a.sends(entity, "one", "1", "2")
		r, err := accept()
		a.ok(err)
		if r.SessionID() != "one" {
			t.Errorf("%s: session %q", entity, r.SessionID())
		}
		for _, m := range a.gets(r, "1", "2") {
			a.ok(r.CompleteMessage(a.ctx, m, nil))
		}
		a.ok(r.Close(a.ctx))
	}
	a.diesInSession("t", "s")
}

// diesInSession lists the only session of a subscription, locks it as the next session, and dead-letters its message.
func (a *azure) diesInSession(topic, subscription string) {
	a.Helper()
	a.sends(topic, "two", "3")
	a.lists(a.client.NewListSessionsForSubscriptionPager(topic, subscription, nil), "two")
	r, err := a.client.AcceptNextSessionForSubscription(a.ctx, topic, subscription, nil)
	a.ok(err)
	a.ok(r.DeadLetterMessage(a.ctx, a.gets(r, "3")[0], &azservicebus.DeadLetterOptions{Reason: to.Ptr("bad"), PropertiesToModify: map[string]any{"code": int64(8)}}))
	dead, err := a.client.NewReceiverForSubscription(topic, subscription, &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter})
	a.ok(err)
	if m := a.receive(dead, "3"); *m.DeadLetterReason != "bad" || m.ApplicationProperties["code"] != int64(8) || *m.SessionID != "two" {
		a.Errorf("%+v", m)
	}
}
