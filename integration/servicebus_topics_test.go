package integration

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
)

// TestServiceBus_ScheduledToTopic_DLY15: the administration API counts the messages that a topic holds, and they can be listed
// and cancelled over HTTP.
func TestServiceBus_ScheduledToTopic_DLY15(t *testing.T) {
	t.Parallel()
	b := start(t, "--servicebus-http", "127.0.0.1:0", "--servicebus-emulator")
	a := b.azure()
	c := administrator(b, "RootManageSharedAccessKey", "any")
	_, err := c.CreateTopic(a.ctx, "t", nil)
	a.ok(err)
	_, err = c.CreateSubscription(a.ctx, "t", "s", nil)
	a.ok(err)
	id := func(of string) *string { return &of }
	numbers, err := a.sender("t").ScheduleMessages(a.ctx, []*azservicebus.Message{
		{Body: []byte("one"), MessageID: id("1")}, {Body: []byte("three"), MessageID: id("3")}, {Body: []byte("two"), MessageID: id("2")},
	}, time.Now().Add(time.Hour), nil)
	if err != nil || len(numbers) != 3 {
		t.Fatal(numbers, err)
	}
	_, err = c.CreateRule(a.ctx, "t", "s", &admin.CreateRuleOptions{Name: id("r"), Filter: &admin.SQLFilter{Expression: "1=1"}})
	a.ok(err)
	_, err = c.CreateRule(a.ctx, "t", "s", &admin.CreateRuleOptions{Name: id("c"), Filter: &admin.CorrelationFilter{CorrelationID: id("c")}})
	a.ok(err)
	holds := func(count int32, bytes int64) {
		t.Helper()
		p, err := c.GetTopicRuntimeProperties(a.ctx, "t", nil)
		a.ok(err)
		if p.ScheduledMessageCount != count || p.SizeInBytes != bytes || p.SubscriptionCount != 1 || p.SQLFilterCount != 2 || p.CorrelationFilterCount != 1 {
			t.Errorf("%+v", p.TopicRuntimeProperties)
		}
	}
	holds(3, 11)
	const path = "/api/x/exchanges/%2F/t/scheduled"
	var list struct {
		Messages []struct {
			ID        string
			MessageID string `json:"message_id"`
		}
	}
	a.ok(json.Unmarshal([]byte(b.request(http.MethodGet, path, "", http.StatusOK)), &list))
	if len(list.Messages) != 3 || list.Messages[0].MessageID != "1" {
		t.Fatalf("%+v", list)
	}
	b.request(http.MethodDelete, path+"/"+list.Messages[0].ID, "", http.StatusOK)
	b.request(http.MethodDelete, path+"?message_id=2", "", http.StatusOK)
	holds(1, 5)
	a.ok(a.sender("t").CancelScheduledMessages(a.ctx, numbers[1:2], nil))
	holds(0, 0)
}

// TestServiceBus_Accessed_SBE10: queues and topics have no access time before their first use; subscriptions have one from their
// creation.
func TestServiceBus_Accessed_SBE10(t *testing.T) {
	t.Parallel()
	b := start(t, "--servicebus-http", "127.0.0.1:0", "--servicebus-emulator")
	begin := time.Now().Add(-time.Second)
	a := b.azure()
	c := administrator(b, "RootManageSharedAccessKey", "any")
	for _, name := range []string{"q", "q2", "q3"} {
		_, err := c.CreateQueue(a.ctx, name, nil)
		a.ok(err)
	}
	for _, name := range []string{"t", "t2", "t3"} {
		_, err := c.CreateTopic(a.ctx, name, nil)
		a.ok(err)
	}
	_, err := c.CreateSubscription(a.ctx, "t", "s", nil)
	a.ok(err)
	accessed := func(path string) time.Time {
		t.Helper()
		if path == "s" {
			p, err := c.GetSubscriptionRuntimeProperties(a.ctx, "t", path, nil)
			a.ok(err)
			return p.AccessedAt
		}
		if path[0] == 't' {
			p, err := c.GetTopicRuntimeProperties(a.ctx, path, nil)
			a.ok(err)
			return p.AccessedAt
		}
		p, err := c.GetQueueRuntimeProperties(a.ctx, path, nil)
		a.ok(err)
		return p.AccessedAt
	}
	for _, path := range []string{"q", "q2", "q3", "t", "t2", "t3"} {
		if at := accessed(path); !at.IsZero() {
			t.Errorf("%s, never used, was accessed at %s", path, at)
		}
	}
	hello := &azservicebus.Message{Body: []byte("hello")}
	a.ok(a.sender("q").SendMessage(a.ctx, hello, nil))
	a.ok(a.sender("t2").SendMessage(a.ctx, hello, nil)) // the topic has no subscription
	_, err = a.sender("t3").ScheduleMessages(a.ctx, []*azservicebus.Message{hello}, time.Now().Add(time.Hour), nil)
	a.ok(err)
	_, err = a.sender("q3").ScheduleMessages(a.ctx, []*azservicebus.Message{hello}, time.Now().Add(time.Hour), nil)
	a.ok(err)
	for _, path := range []string{"q", "q3", "s", "t2", "t3"} {
		if at := accessed(path); at.Before(begin) || at.After(time.Now().Add(time.Second)) {
			t.Errorf("%s was accessed at %s", path, at)
		}
	}
	for _, path := range []string{"q2", "t"} {
		if at := accessed(path); !at.IsZero() {
			t.Errorf("%s, never used, was accessed at %s", path, at)
		}
	}
}
