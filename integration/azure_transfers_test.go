package integration

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
)

// A message that cannot be forwarded waits in its queue and is counted as a transfer message; the transfer dead-letter queue is
// empty and gives no access to other messages. (SBE-4)
func TestAzureClient_Transfers(t *testing.T) {
	t.Parallel()
	b := start(t, "--servicebus-http", "127.0.0.1:0", "--servicebus-emulator")
	b.put("/api/x/access-keys/%2F/root", `{"rights":["manage"],"primary_key":"secret of root"}`)
	ctx, c := context.Background(), administrator(b, "root", "secret of root")
	books := &entityBooks{T: t}
	a, cancel := books.connect(b)
	defer cancel()
	for name, properties := range map[string]*admin.QueueProperties{"sessions": {RequiresSession: to.Ptr(true)}, "plain": {}} {
		_, err := c.CreateQueue(ctx, name, &admin.CreateQueueOptions{Properties: properties})
		a.ok(err)
	}
	_, err := c.CreateQueue(ctx, "source", &admin.CreateQueueOptions{Properties: &admin.QueueProperties{ForwardTo: to.Ptr("sessions")}})
	a.ok(err)
	counts := func(queue string, active, transfers int32) {
		t.Helper()
		var got *admin.GetQueueRuntimePropertiesResponse
		for end := time.Now().Add(patience); time.Now().Before(end); <-time.After(10 * time.Millisecond) {
			got, err = c.GetQueueRuntimeProperties(ctx, queue, nil)
			a.ok(err)
			if got.ActiveMessageCount == active && got.TransferMessageCount == transfers {
				if got.TotalMessageCount != int64(active+transfers) || got.TransferDeadLetterMessageCount != 0 {
					t.Errorf("%s: %+v", queue, got.QueueRuntimeProperties)
				}
				return
			}
		}
		t.Fatalf("%s: %+v", queue, got.QueueRuntimeProperties)
	}
	a.send("source", "no session")
	a.send("plain", "there")
	counts("source", 0, 1)
	counts("plain", 1, 0)
	for _, queue := range []string{"source", "plain"} {
		r := a.receiver(queue, &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueTransfer})
		if got, err := r.PeekMessages(a.ctx, 10, nil); err != nil || len(got) > 0 {
			t.Error(queue, "peeked at its transfer dead-letter queue:", len(got), err)
		}
		soon, cancel := context.WithTimeout(a.ctx, 200*time.Millisecond)
		if got, err := r.ReceiveMessages(soon, 1, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(queue, "received from its transfer dead-letter queue:", len(got), err)
		}
		cancel()
	}
	got, err := c.GetQueue(ctx, "source", nil)
	a.ok(err)
	got.ForwardTo = to.Ptr("plain")
	_, err = c.UpdateQueue(ctx, "source", got.QueueProperties, nil)
	a.ok(err)
	counts("source", 0, 0)
	counts("plain", 2, 0)
}
