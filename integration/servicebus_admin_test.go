package integration

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
)

// plainly is an address to which HTTPS requests are sent over plain HTTP.
type plainly string

// Do implements policy.Transporter.
func (p plainly) Do(r *http.Request) (*http.Response, error) {
	plain := r.Clone(r.Context())
	plain.URL.Scheme, plain.URL.Host, plain.Host = "http", string(p), ""
	return http.DefaultClient.Do(plain)
}

// administrator returns the administration client of the Go SDK, with the key of that name.
func administrator(b *broker, name, key string) *admin.Client {
	b.Helper()
	c, err := admin.NewClientFromConnectionString("Endpoint=sb://localhost/;SharedAccessKeyName="+name+";SharedAccessKey="+key, &admin.ClientOptions{
		ClientOptions: azcore.ClientOptions{
			Transport: plainly(b.log.address("Service Bus listener started")), Retry: policy.RetryOptions{MaxRetries: -1},
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func (b *broker) put(path, body string) {
	b.Helper()
	method := http.MethodPut
	if path == "/api/definitions" {
		method = http.MethodPost
	}
	r, err := http.NewRequest(method, "http://"+b.http+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.SetBasicAuth("guest", "guest")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	if answer.Body.Close(); answer.StatusCode/100 != 2 {
		b.Fatal(path, answer.Status)
	}
}

func status(err error) int {
	if failed := (*azcore.ResponseError)(nil); errors.As(err, &failed) {
		return failed.StatusCode
	}
	return 0
}

// With a key, the Go SDK creates, changes, lists and deletes entities.
func TestServiceBusGoAdministration(t *testing.T) {
	t.Parallel()
	b := start(t, "--servicebus-http", "127.0.0.1:0")
	for name, right := range map[string]string{"root": "manage", "app": "send"} {
		b.put("/api/x/access-keys/"+url.PathEscape("/")+"/"+name, `{"rights":["`+right+`"],"primary_key":"secret of `+name+`"}`)
	}
	ctx, c := context.Background(), administrator(b, "root", "secret of root")
	for _, other := range [][2]string{{"root", "another"}, {"nobody", "secret"}, {"app", "secret of app"}} {
		if _, err := administrator(b, other[0], other[1]).GetQueue(ctx, "q", nil); status(err) != 401 && status(err) != 403 {
			t.Errorf("%v: %v", other, err)
		}
	}
	created, err := c.CreateQueue(ctx, "q", &admin.CreateQueueOptions{Properties: &admin.QueueProperties{
		LockDuration: to.Ptr("PT30S"), MaxDeliveryCount: to.Ptr(int32(3)), UserMetadata: to.Ptr("<mine>"), DeadLetteringOnMessageExpiration: to.Ptr(true),
	}})
	if err != nil || *created.LockDuration != "PT30S" || *created.MaxDeliveryCount != 3 || *created.UserMetadata != "<mine>" {
		t.Fatal(err, created)
	}
	if _, err := c.CreateQueue(ctx, "q", nil); status(err) != 409 {
		t.Error(err)
	}
	created.LockDuration, created.MaxDeliveryCount = to.Ptr("PT2M"), to.Ptr(int32(20))
	if _, err := c.UpdateQueue(ctx, "q", created.QueueProperties, nil); err != nil {
		t.Error(err)
	}
	got, err := c.GetQueue(ctx, "Q", nil)
	if err != nil || got == nil || *got.LockDuration != "PT2M" || *got.MaxDeliveryCount != 20 || *got.UserMetadata != "<mine>" || *got.Status != admin.EntityStatusActive {
		t.Fatalf("%+v, %v", got, err)
	}
	if none, err := c.GetQueue(ctx, "none", nil); none != nil || err != nil {
		t.Error(none, err)
	}
	if seen, err := c.GetQueueRuntimeProperties(ctx, "q", nil); err != nil || seen.ActiveMessageCount != 0 || seen.CreatedAt.Year() < 2020 {
		t.Errorf("%+v, %v", seen, err)
	}
	goTopics(t, c)
	for pager := c.NewListQueuesPager(nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil || len(page.Queues) > 1 {
			t.Fatal(page, err)
		}
	}
	if _, err := c.DeleteQueue(ctx, "q", nil); err != nil {
		t.Error(err)
	}
	if _, err := c.DeleteQueue(ctx, "q", nil); status(err) != 404 {
		t.Error(err)
	}
	if _, err := c.GetNamespaceProperties(ctx, nil); err != nil {
		t.Error(err)
	}
}

// goTopics creates a topic with a subscription that forwards to the queue q.
func goTopics(t *testing.T, c *admin.Client) {
	t.Helper()
	ctx := context.Background()
	properties := admin.TopicProperties{DefaultMessageTimeToLive: to.Ptr("PT1H"), MaxSizeInMegabytes: to.Ptr(int32(2048))}
	if sized, err := c.CreateTopic(ctx, "t", &admin.CreateTopicOptions{Properties: &properties}); err != nil || *sized.MaxSizeInMegabytes != 2048 {
		t.Fatal(err, sized)
	}
	made, err := c.CreateSubscription(ctx, "t", "s", &admin.CreateSubscriptionOptions{Properties: &admin.SubscriptionProperties{
		ForwardTo:   to.Ptr("q"),
		DefaultRule: &admin.RuleProperties{Name: "first", Filter: &admin.SQLFilter{Expression: "a = @x", Parameters: map[string]any{"@x": int64(5)}}},
	}})
	if err != nil || !strings.HasPrefix(*made.ForwardTo, "https://") || !strings.HasSuffix(*made.ForwardTo, "/q") {
		t.Fatal(made, err)
	}
	_, err = c.CreateRule(ctx, "t", "s", &admin.CreateRuleOptions{Name: to.Ptr("second"), Filter: &admin.CorrelationFilter{
		Subject: to.Ptr("label"), ApplicationProperties: map[string]any{"color": "red", "n": int64(5), "ok": true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.GetRule(ctx, "t", "s", "second", nil)
	if err != nil {
		t.Fatal(err)
	}
	filter, ok := got.Filter.(*admin.CorrelationFilter)
	if !ok || *filter.Subject != "label" || filter.ApplicationProperties["color"] != "red" || filter.ApplicationProperties["n"] != int64(5) || filter.ApplicationProperties["ok"] != true {
		t.Errorf("%+v", got.Filter)
	}
	first, err := c.GetRule(ctx, "t", "s", "first", nil)
	if sql, ok := first.Filter.(*admin.SQLFilter); err != nil || !ok || sql.Expression != "a = @x" || sql.Parameters["@x"] != int64(5) {
		t.Errorf("%+v, %v", first, err)
	}
	if _, err := c.UpdateRule(ctx, "t", "s", admin.RuleProperties{Name: "first", Filter: &admin.TrueFilter{}}); err != nil {
		t.Error(err)
	}
	if _, err := c.CreateRule(ctx, "t", "s", &admin.CreateRuleOptions{Name: to.Ptr("bad"), Filter: &admin.SQLFilter{Expression: "a ="}}); status(err) != 400 {
		t.Error(err)
	}
	rules := 0
	for pager := c.NewListRulesPager("t", "s", nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		rules += len(page.Rules)
	}
	if rules != 2 {
		t.Errorf("%d rules", rules)
	}
	if seen, err := c.GetTopicRuntimeProperties(ctx, "t", nil); err != nil || seen.SubscriptionCount != 1 {
		t.Errorf("%+v, %v", seen, err)
	}
	changeTopics(t, c)
	if _, err := c.DeleteTopic(ctx, "t", nil); err != nil {
		t.Error(err)
	}
	if s, err := c.GetSubscription(ctx, "t", "s", nil); s != nil || err != nil {
		t.Error(s, err)
	}
}

// counted returns the number of items in all pages of a pager.
func counted[P any](t *testing.T, pager *runtime.Pager[P], of func(P) int) (n int) {
	t.Helper()
	for pager.More() {
		page, err := pager.NextPage(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		n += of(page)
	}
	return n
}

// changeTopics changes and lists the topic t and its subscription s, and lists the queue q.
func changeTopics(t *testing.T, c *admin.Client) {
	t.Helper()
	ctx := context.Background()
	topic, err := c.GetTopic(ctx, "t", nil)
	if err != nil || *topic.DefaultMessageTimeToLive != "PT1H" {
		t.Fatal(topic, err)
	}
	topic.DefaultMessageTimeToLive, topic.UserMetadata, topic.AutoDeleteOnIdle = to.Ptr("PT2H"), to.Ptr("mine"), to.Ptr("P1D")
	if _, err := c.UpdateTopic(ctx, "t", topic.TopicProperties, nil); err != nil {
		t.Error(err)
	}
	if topic, err = c.GetTopic(ctx, "T", nil); err != nil || *topic.DefaultMessageTimeToLive != "PT2H" || *topic.UserMetadata != "mine" || *topic.AutoDeleteOnIdle != "P1D" {
		t.Error(topic, err)
	}
	s, err := c.GetSubscription(ctx, "t", "s", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.ForwardTo, s.LockDuration, s.MaxDeliveryCount, s.ForwardDeadLetteredMessagesTo = nil, to.Ptr("PT30S"), to.Ptr(int32(4)), to.Ptr("q")
	if _, err := c.UpdateSubscription(ctx, "t", "s", s.SubscriptionProperties, nil); err != nil {
		t.Error(err)
	}
	s, err = c.GetSubscription(ctx, "t", "S", nil)
	if err != nil || s.ForwardTo != nil || *s.LockDuration != "PT30S" || *s.MaxDeliveryCount != 4 || !strings.HasSuffix(*s.ForwardDeadLetteredMessagesTo, "/q") {
		t.Error(s, err)
	}
	for what, n := range map[string]int{
		"queues":             counted(t, c.NewListQueuesRuntimePropertiesPager(nil), func(p admin.ListQueuesRuntimePropertiesResponse) int { return len(p.QueueRuntimeProperties) }),
		"topics":             counted(t, c.NewListTopicsPager(nil), func(p admin.ListTopicsResponse) int { return len(p.Topics) }),
		"topics with counts": counted(t, c.NewListTopicsRuntimePropertiesPager(nil), func(p admin.ListTopicsRuntimePropertiesResponse) int { return len(p.TopicRuntimeProperties) }),
		"subscriptions":      counted(t, c.NewListSubscriptionsPager("t", nil), func(p admin.ListSubscriptionsResponse) int { return len(p.Subscriptions) }),
		"subscriptions, counted": counted(t, c.NewListSubscriptionsRuntimePropertiesPager("t", nil), func(p admin.ListSubscriptionsRuntimePropertiesResponse) int {
			return len(p.SubscriptionRuntimeProperties)
		}),
	} {
		if n != 1 {
			t.Errorf("%d %s", n, what)
		}
	}
	if r, err := c.CreateRule(ctx, "t", "s", &admin.CreateRuleOptions{Name: to.Ptr("never"), Filter: &admin.FalseFilter{}}); err != nil {
		t.Error(err)
	} else if _, is := r.Filter.(*admin.FalseFilter); !is {
		t.Errorf("%T", r.Filter)
	}
}

// The npm package's administration client does the same, with the emulator's setting.
func TestServiceBusNodeAdministration(t *testing.T) {
	t.Parallel()
	f := foreign{
		name: "@azure/service-bus", where: npm,
		probe: []string{"node", "-e", "require('@azure/service-bus')"}, run: []string{"node"},
	}
	f.want(t)
	b := start(t, "--servicebus-http", "127.0.0.1:0", "--servicebus-emulator")
	_, port, err := net.SplitHostPort(b.log.address("Service Bus listener started"))
	if err != nil {
		t.Fatal(err)
	}
	f.do(t, "node/servicebus_admin.js", port)
}
