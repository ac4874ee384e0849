package integration

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/Azure/go-amqp"
)

// azureTo connects Azure's own client to a broker that runs with --servicebus-emulator.
func azureTo(t *testing.T, b *broker) *azure {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	client, err := azservicebus.NewClientFromConnectionString("Endpoint=sb://"+b.amqp+";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	return &azure{t, ctx, client}
}

// isDisabled reports whether an error says that the status of an entity forbids the operation.
func isDisabled(err error) bool {
	var own *amqp.Error
	return err != nil && (errors.As(err, &own) && own.Condition == "com.microsoft:entity-disabled" || strings.Contains(err.Error(), "entity-disabled"))
}

// change sets the status of a queue.
func (a *azure) change(c *admin.Client, queue string, s admin.EntityStatus) {
	a.Helper()
	q, err := c.GetQueue(a.ctx, queue, nil)
	a.ok(err)
	q.Status = to.Ptr(s)
	_, err = c.UpdateQueue(a.ctx, queue, q.QueueProperties, nil)
	a.ok(err)
}

// The status that the administration client of the Go SDK sets on a queue applies to its messaging client, after a restart with
// the emulator's file, and at another broker that imports the definitions.
func TestAzureClient_Status_SBE1(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	flags := []string{"--servicebus-config", sampleConfig, "--servicebus-http", "127.0.0.1:0", "--servicebus-emulator"}
	b := startIn(t, folder, flags...)
	a, c := azureTo(t, b), administrator(b, "RootManageSharedAccessKey", "any")
	send := func(a *azure) error {
		return a.sender("orders").SendMessage(a.ctx, &azservicebus.Message{Body: []byte("m")}, nil)
	}
	receive := func(a *azure) error {
		_, err := a.receiver("orders", nil).ReceiveMessages(a.ctx, 1, nil)
		return err
	}
	a.ok(send(a))
	a.change(c, "orders", admin.EntityStatusReceiveDisabled)
	if err := receive(a); !isDisabled(err) {
		t.Error("received:", err)
	}
	a.ok(send(a))
	a.change(c, "orders", admin.EntityStatusSendDisabled)
	if err := send(a); !isDisabled(err) {
		t.Error("sent:", err)
	}
	a.ok(receive(a))
	a.change(c, "orders", admin.EntityStatusDisabled)
	definitions := b.asked("/api/definitions")
	b.stop()
	b = startIn(t, folder, flags...)
	other := start(t, "--servicebus-http", "127.0.0.1:0", "--servicebus-emulator")
	other.put("/api/definitions", definitions)
	for _, b := range []*broker{b, other} {
		a, c := azureTo(t, b), administrator(b, "RootManageSharedAccessKey", "any")
		if got, err := c.GetQueue(a.ctx, "orders", nil); err != nil || *got.Status != admin.EntityStatusDisabled {
			t.Errorf("%+v, %v", got, err)
		}
		if one, two := send(a), receive(a); !isDisabled(one) || !isDisabled(two) {
			t.Errorf("%v, %v", one, two)
		}
		a.change(c, "orders", admin.EntityStatusActive)
		a.ok(send(a))
		a.ok(receive(a))
	}
}
