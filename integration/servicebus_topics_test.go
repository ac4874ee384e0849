package integration

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// TestServiceBus_ScheduledToTopic_DLY15: the administration API counts the messages that a topic holds, and they are
// listed and cancelled over HTTP.
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
	holds := func(count int32, bytes int64) {
		t.Helper()
		p, err := c.GetTopicRuntimeProperties(a.ctx, "t", nil)
		a.ok(err)
		if p.ScheduledMessageCount != count || p.SizeInBytes != bytes || p.SubscriptionCount != 1 {
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
