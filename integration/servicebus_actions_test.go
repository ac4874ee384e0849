package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	amqp "github.com/rabbitmq/amqp091-go"
)

// acting has a subscription with five rules, two of them with an action.
const acting = `{"UserConfig": {"Namespaces": [{"Name": "n", "Topics": [{"Name": "t", "Subscriptions": [{"Name": "s", "Rules": [
	{"Name": "one", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "1=1"}}},
	{"Name": "two", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "n > 0"}}},
	{"Name": "three", "Properties": {"FilterType": "Correlation", "CorrelationFilter": {"Label": "order"}}},
	{"Name": "half", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "n > 5"}, "Action": {"SqlExpression": "SET n = n / 2; SET sys.Label = 'half of ' + sys.Label"}}},
	{"Name": "bare", "Properties": {"FilterType": "Correlation", "CorrelationFilter": {"Label": "order"}, "Action": {"SqlExpression": "REMOVE n; REMOVE sys.Label"}}}
]}]}]}]}}`

func (b *broker) azure() *azure {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	b.Cleanup(cancel)
	client, err := azservicebus.NewClientFromConnectionString("Endpoint=sb://"+b.amqp+";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=any;UseDevelopmentEmulator=true;", nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close(context.Background()) })
	return &azure{b.T, ctx, client}
}

// copies receives count messages from the subscription.
func (a *azure) copies(topic string, count int) (all []string) {
	a.Helper()
	r, err := a.client.NewReceiverForSubscription(topic, "s", &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete})
	a.ok(err)
	for len(all) < count {
		got, err := r.ReceiveMessages(a.ctx, count-len(all), nil)
		a.ok(err)
		for _, m := range got {
			subject := "-"
			if m.Subject != nil {
				subject = *m.Subject
			}
			all = append(all, fmt.Sprintf("%s: %s %v %v", m.Body, subject, m.ApplicationProperties["n"], m.ApplicationProperties["RuleName"]))
		}
	}
	a.ok(r.Close(a.ctx))
	slices.Sort(all)
	return all
}

func (a *azure) wants(topic string, want ...string) {
	a.Helper()
	if got := a.copies(topic, len(want)); !slices.Equal(got, want) {
		a.Errorf("%q\nwant %q", got, want)
	}
}

// A message selected by five rules, two of them with an action, is delivered three times: also after a restart, and if it is
// published by a client of RabbitMQ.
func TestServiceBusActions(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file, data := filepath.Join(folder, "Config.json"), filepath.Join(folder, "data")
	if err := os.WriteFile(file, []byte(acting), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--servicebus-http", "127.0.0.1:0", "--servicebus-emulator"}
	t.Run("first", func(t *testing.T) {
		b := startIn(t, data, append(flags, "--servicebus-config", file)...)
		a := b.azure()
		send := func(body string) {
			a.ok(a.sender("t").SendMessage(a.ctx, &azservicebus.Message{
				Body: []byte(body), Subject: to.Ptr("order"), ApplicationProperties: map[string]any{"n": int64(10)},
			}, nil))
		}
		send("a")
		a.wants("t", "a: - <nil> bare", "a: half of order 5 half", "a: order 10 <nil>")
		send("b") // kept over the restart
	})
	b := startIn(t, data, flags...)
	a := b.azure()
	a.wants("t", "b: - <nil> bare", "b: half of order 5 half", "b: order 10 <nil>")
	ch := b.dial()
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	confirm, err := ch.PublishWithDeferredConfirm("t", "any", true, false, amqp.Publishing{Type: "order", Headers: amqp.Table{"n": int32(7)}, Body: []byte("c"), DeliveryMode: 2})
	if err != nil || !confirm.Wait() {
		t.Fatal(err)
	}
	var got []string
	for range 3 {
		d, ok, err := ch.Get("t/Subscriptions/s", true)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		got = append(got, fmt.Sprintf("%s: %s %v %v", d.Body, d.Type, d.Headers["n"], d.Headers["RuleName"]))
	}
	slices.Sort(got)
	if want := []string{"c:  <nil> bare", "c: half of order 3 half", "c: order 7 <nil>"}; !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	administerActions(t, b)
	all := b.asked("/api/definitions")
	other := start(t, flags...)
	other.put("/api/definitions", all)
	a = other.azure()
	a.ok(a.sender("t").SendMessage(a.ctx, &azservicebus.Message{Body: []byte("d"), Subject: to.Ptr("order"), ApplicationProperties: map[string]any{"n": int64(1)}}, nil))
	a.wants("t", "d: - <nil> bare", "d: order 1 <nil>", "d: order 5 given")
}

// administerActions adds a rule with an action by the administration client, and reads it back.
func administerActions(t *testing.T, b *broker) {
	t.Helper()
	ctx, c := context.Background(), administrator(b, "RootManageSharedAccessKey", "any")
	made, err := c.CreateRule(ctx, "t", "s", &admin.CreateRuleOptions{
		Name: to.Ptr("given"), Filter: &admin.TrueFilter{}, Action: &admin.SQLAction{Expression: "SET n = @n", Parameters: map[string]any{"@n": int64(5)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.GetRule(ctx, "t", "s", "given", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, action := range []admin.RuleAction{made.Action, got.Action} {
		if sql, ok := action.(*admin.SQLAction); !ok || sql.Expression != "SET n = @n" || sql.Parameters["@n"] != int64(5) {
			t.Errorf("%+v", action)
		}
	}
	_, err = c.CreateRule(ctx, "t", "s", &admin.CreateRuleOptions{Name: to.Ptr("bad"), Action: &admin.SQLAction{Expression: "SET n 5"}})
	if status(err) != 400 || !errors.As(err, new(interface{ Error() string })) {
		t.Error(err)
	}
}
