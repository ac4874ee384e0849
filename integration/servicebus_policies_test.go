package integration

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
)

// effective returns the merged policies of a queue, as JSON.
func (b *broker) effective(queue string) string {
	b.Helper()
	var shown struct {
		Definition map[string]any `json:"effective_policy_definition"`
	}
	if err := json.Unmarshal([]byte(b.request("GET", "/api/queues/%2F/"+queue, "", 200)), &shown); err != nil {
		b.Fatal(err)
	}
	text, _ := json.Marshal(shown.Definition)
	return string(text)
}

// TestServiceBus_Policies_SBE15: a key that may manage entities loosens no limit of an operator policy, neither when it creates
// an entity nor when it changes one; settings that an administrator has added to the policy of an entity stay; and a user policy that
// no longer applies is reported, in the log and in the answer.
func TestServiceBus_Policies_SBE15(t *testing.T) {
	t.Parallel()
	b := start(t, "--servicebus-http", "127.0.0.1:0")
	b.put("/api/x/access-keys/%2F/root", `{"rights":["manage"],"primary_key":"secret"}`)
	b.put("/api/operator-policies/%2F/limits", `{"pattern":"^[qt]$","apply-to":"queues","definition":{"message-ttl":60000,"expires":3600000,"max-length":10,"max-length-bytes":1000000,"delivery-limit":2,"overflow":"reject-publish"}}`)
	b.put("/api/operator-policies/%2F/caps", `{"pattern":"^t$","apply-to":"exchanges","definition":{"message-ttl":60000}}`)
	b.put("/api/policies/%2F/mine", `{"pattern":"^[qt]","priority":1,"definition":{"max-length":5,"message-ttl":1000}}`)
	c := administrator(b, "root", "secret")
	var answer *http.Response
	ctx := policy.WithCaptureResponse(context.Background(), &answer)
	loose := admin.QueueProperties{
		DefaultMessageTimeToLive: to.Ptr("P14D"), AutoDeleteOnIdle: to.Ptr("P7D"), MaxDeliveryCount: to.Ptr(int32(1000)), MaxSizeInMegabytes: to.Ptr(int32(5120)),
	}
	limited := func(when string) {
		t.Helper()
		got := b.effective("q")
		for _, want := range []string{`"message-ttl":60000`, `"expires":3600000`, `"max-length-bytes":1000000`, `"delivery-limit":2`, `"overflow":"reject-publish"`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s is not in %s", when, want, got)
			}
		}
		if strings.Contains(got, "expires-renewed-by") {
			t.Errorf("%s: more uses renew the lease: %s", when, got)
		}
		shown, err := c.GetQueue(context.Background(), "q", nil)
		if err != nil || *shown.DefaultMessageTimeToLive != "PT1M" || *shown.AutoDeleteOnIdle != "PT1H" || *shown.MaxDeliveryCount != 3 {
			t.Errorf("%s: shown as %+v, %v", when, shown, err)
		}
	}
	if _, err := c.CreateQueue(ctx, "q", &admin.CreateQueueOptions{Properties: &loose}); err != nil {
		t.Fatal(err)
	}
	limited("created")
	if got := b.effective("q"); !strings.Contains(got, `"max-length":10`) {
		t.Errorf("created: %s", got)
	}
	const text = "policy 'mine' does not apply to 'q', because the policy of the entity does, without its limits max-length, message-ttl"
	if got := answer.Header.Get("Warning"); !strings.Contains(got, text) {
		t.Errorf("the client is told %q", got)
	}
	if log := b.log.String(); !strings.Contains(log, text) {
		t.Errorf("the log says nothing of that: %s", log)
	}

	b.put("/api/policies/%2F/servicebus:q", strings.Replace(b.request("GET", "/api/policies/%2F/servicebus:q", "", 200), `"definition":{`, `"definition":{"max-length":7,`, 1))
	if _, err := c.UpdateQueue(ctx, "q", loose, nil); err != nil {
		t.Fatal(err)
	}
	limited("changed")
	if got := b.effective("q"); !strings.Contains(got, `"max-length":7`) {
		t.Errorf("changed: %s", got)
	}

	topic, err := c.CreateTopic(ctx, "t", &admin.CreateTopicOptions{Properties: &admin.TopicProperties{DefaultMessageTimeToLive: to.Ptr("P14D")}})
	if err != nil || *topic.DefaultMessageTimeToLive != "PT1M" {
		t.Errorf("the topic is shown as %+v, %v", topic, err)
	}
}
