package integration

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
)

// rule returns an authorization rule whose primary key is derived from its name and its entity.
func rule(entity, name string, rights ...admin.AccessRight) admin.AuthorizationRule {
	return admin.AuthorizationRule{
		KeyName: to.Ptr(name), AccessRights: rights, PrimaryKey: to.Ptr("primary " + entity + " " + name), SecondaryKey: to.Ptr("secondary " + entity + " " + name),
	}
}

// keyed is a client with a key.
type keyed struct {
	*broker
	name, key string
}

// may returns the operations that the key permits.
func (k *keyed) may(operations []string) string {
	k.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := azservicebus.NewClientFromConnectionString("Endpoint=sb://"+k.amqp+";SharedAccessKeyName="+k.name+";SharedAccessKey="+k.key+";UseDevelopmentEmulator=true;",
		&azservicebus.ClientOptions{RetryOptions: azservicebus.RetryOptions{MaxRetries: -1}})
	if err != nil {
		k.Fatal(err)
	}
	defer func() { _ = client.Close(context.Background()) }()
	var good []string
	for _, o := range operations {
		verb, at, _ := strings.Cut(o, " ")
		switch verb {
		case "send":
			var s *azservicebus.Sender
			if s, err = client.NewSender(at, nil); err == nil {
				err = s.SendMessage(ctx, &azservicebus.Message{Body: []byte("hello")}, nil)
			}
		case "peek":
			var r *azservicebus.Receiver
			if topic, subscription, is := strings.Cut(at, "/"); is {
				r, err = client.NewReceiverForSubscription(topic, subscription, nil)
			} else {
				r, err = client.NewReceiverForQueue(at, nil)
			}
			if err == nil {
				_, err = r.PeekMessages(ctx, 1, nil)
			}
		case "get":
			_, err = administrator(k.broker, k.name, k.key).GetQueue(ctx, at, nil)
		case "list":
			_, err = administrator(k.broker, k.name, k.key).NewListSubscriptionsPager(at, nil).NextPage(ctx)
		}
		if err == nil {
			good = append(good, o)
		}
	}
	return strings.Join(good, ", ")
}

// TestServiceBus_EntityKeys_SBT5: each key of an entity grants its rights there, and none elsewhere.
func TestServiceBus_EntityKeys_SBT5(t *testing.T) {
	t.Parallel()
	b := start(t, "--servicebus-http", "127.0.0.1:0")
	b.put("/api/x/access-keys/%2F/root", `{"rights":["manage"],"primary_key":"secret"}`)
	ctx, c := context.Background(), administrator(b, "root", "secret")
	rules := func(of string) []admin.AuthorizationRule {
		return []admin.AuthorizationRule{
			rule(of, "all", admin.AccessRightManage, admin.AccessRightSend, admin.AccessRightListen), rule(of, "in", admin.AccessRightSend), rule(of, "out", admin.AccessRightListen),
		}
	}
	for _, name := range []string{"Q", "other"} {
		got, err := c.CreateQueue(ctx, name, &admin.CreateQueueOptions{Properties: &admin.QueueProperties{AuthorizationRules: rules(name)}})
		if err != nil || !slices.EqualFunc(got.AuthorizationRules, rules(name), sameRule) {
			t.Fatal(got, err)
		}
	}
	got, err := c.CreateTopic(ctx, "t", &admin.CreateTopicOptions{Properties: &admin.TopicProperties{AuthorizationRules: rules("t")}})
	if err != nil || !slices.EqualFunc(got.AuthorizationRules, rules("t"), sameRule) {
		t.Fatal(got, err)
	}
	if _, err := c.CreateSubscription(ctx, "t", "s", nil); err != nil {
		t.Fatal(err)
	}
	operations := []string{"send Q", "peek Q", "get Q", "send other", "peek other", "get other", "send t", "peek t/s", "list t"}
	for _, k := range []struct{ name, key, want string }{
		{"root", "secret", strings.Join(operations, ", ")},
		{"all", "primary Q all", "send Q, peek Q, get Q"},
		{"in", "primary Q in", "send Q"},
		{"out", "primary Q out", "peek Q"},
		{"all", "primary other all", "send other, peek other, get other"},
		{"all", "primary t all", "send t, peek t/s, list t"},
		{"in", "primary t in", "send t"},
		{"out", "secondary t out", "peek t/s"},
	} {
		if may := (&keyed{b, k.name, k.key}).may(operations); may != k.want {
			t.Errorf("%s with %q may %s; want %s", k.name, k.key, may, k.want)
		}
	}
	for _, wrong := range []keyed{{b, "out", "primary Q in"}, {b, "none", "primary Q in"}, {b, "Q/in", "another"}} {
		if may := wrong.may(operations[:2]); may != "" {
			t.Errorf("%s with %q may %s", wrong.name, wrong.key, may)
		}
	}
}

func sameRule(a, b admin.AuthorizationRule) bool {
	return *a.KeyName == *b.KeyName && *a.PrimaryKey == *b.PrimaryKey && *a.SecondaryKey == *b.SecondaryKey && slices.Equal(a.AccessRights, b.AccessRights)
}

// TestServiceBus_EntityKeysChange_SBT5: an update replaces the keys of an entity, users cannot grant rights that they lack, and
// keys are deleted with their entity.
func TestServiceBus_EntityKeysChange_SBT5(t *testing.T) {
	t.Parallel()
	b := start(t, "--servicebus-http", "127.0.0.1:0")
	b.put("/api/x/access-keys/%2F/root", `{"rights":["manage"],"primary_key":"secret"}`)
	b.put("/api/x/access-keys/%2F/narrow", `{"rights":["manage"],"primary_key":"narrow"}`)
	b.put("/api/permissions/%2F/narrow", `{"configure":".*","write":"","read":""}`)
	ctx, c := context.Background(), administrator(b, "root", "secret")
	created, err := c.CreateQueue(ctx, "q", &admin.CreateQueueOptions{Properties: &admin.QueueProperties{
		AuthorizationRules: []admin.AuthorizationRule{{KeyName: to.Ptr("in"), AccessRights: []admin.AccessRight{admin.AccessRightSend}}},
	}})
	if err != nil || len(created.AuthorizationRules) != 1 || len(*created.AuthorizationRules[0].PrimaryKey) != 44 || len(*created.AuthorizationRules[0].SecondaryKey) != 44 {
		t.Fatal(created, err)
	}
	first := keyed{b, "in", *created.AuthorizationRules[0].PrimaryKey}
	if may := first.may([]string{"send q"}); may != "send q" {
		t.Error(may)
	}
	low := administrator(b, "narrow", "narrow")
	if seen, err := low.GetQueue(ctx, "q", nil); err != nil || len(seen.AuthorizationRules) > 0 {
		t.Errorf("%+v, %v", seen, err)
	}
	if _, err := low.CreateQueue(ctx, "q2", &admin.CreateQueueOptions{Properties: &admin.QueueProperties{AuthorizationRules: created.AuthorizationRules}}); status(err) != 401 {
		t.Error(err)
	}
	b.put("/api/x/access-keys/%2F/q%2Ftaken", `{"rights":["manage"]}`)
	unseen := created.QueueProperties
	unseen.AuthorizationRules = nil
	if _, err := low.UpdateQueue(ctx, "q", unseen, nil); err != nil {
		t.Error(err)
	}
	if may := first.may([]string{"send q"}); may != "send q" {
		t.Error("keys that a client cannot see are gone")
	}
	for name, wrong := range map[string][]admin.AuthorizationRule{
		"no right": {{KeyName: to.Ptr("x")}}, "twice": {rule("q", "x", admin.AccessRightSend), rule("q", "x", admin.AccessRightSend)},
		"name": {rule("q", "a/b", admin.AccessRightSend)}, "right": {rule("q", "x", "Own")}, "another user": {rule("q", "taken", admin.AccessRightSend)}, "too many": slices.Repeat([]admin.AuthorizationRule{rule("q", "x", admin.AccessRightSend)}, 13),
	} {
		unseen.AuthorizationRules = wrong
		if _, err := c.UpdateQueue(ctx, "q", unseen, nil); status(err) != 400 {
			t.Errorf("%s: %v", name, err)
		}
	}
	unseen.AuthorizationRules = []admin.AuthorizationRule{rule("q", "out", admin.AccessRightListen)}
	if updated, err := c.UpdateQueue(ctx, "q", unseen, nil); err != nil || len(updated.AuthorizationRules) != 1 || !sameRule(updated.AuthorizationRules[0], unseen.AuthorizationRules[0]) {
		t.Error(updated, err)
	}
	second := keyed{b, "out", "primary q out"}
	if a, b := first.may([]string{"send q"}), second.may([]string{"send q", "peek q"}); a != "" || b != "peek q" {
		t.Errorf("%q, %q", a, b)
	}
	if _, err := c.DeleteQueue(ctx, "q", nil); err != nil {
		t.Error(err)
	}
	if _, err := c.CreateQueue(ctx, "q", nil); err != nil {
		t.Error(err)
	}
	if may := second.may([]string{"peek q"}); may != "" {
		t.Error("a key is left of the queue that was deleted")
	}
	if users := b.request("GET", "/api/users", "", 200); strings.Contains(users, "q/out") {
		t.Error(users)
	}
}

// TestServiceBus_KeysOfAnotherCase_SBT5: a queue whose name differs from an entity's only in case gives no access to the entity's
// keys.
func TestServiceBus_KeysOfAnotherCase_SBT5(t *testing.T) {
	t.Parallel()
	b := start(t, "--servicebus-http", "127.0.0.1:0")
	b.put("/api/x/access-keys/%2F/root", `{"rights":["manage"],"primary_key":"secret"}`)
	b.put("/api/x/access-keys/%2F/mallory", `{"rights":["manage"],"primary_key":"mallory"}`)
	b.put("/api/permissions/%2F/mallory", `{"configure":"^Orders([.]dlq|/[$]Forward)?$","write":"^Orders$","read":"^Orders([.]dlq)?$"}`)
	ctx, mallory := context.Background(), administrator(b, "mallory", "mallory")
	rules := []admin.AuthorizationRule{rule("orders", "all", admin.AccessRightManage, admin.AccessRightSend, admin.AccessRightListen)}
	if _, err := administrator(b, "root", "secret").CreateQueue(ctx, "orders", &admin.CreateQueueOptions{Properties: &admin.QueueProperties{AuthorizationRules: rules}}); err != nil {
		t.Fatal(err)
	}
	b.put("/api/queues/%2F/Orders", `{"durable":true}`) // as by queue.declare
	seen, err := mallory.GetQueue(ctx, "Orders", nil)
	if err != nil || len(seen.AuthorizationRules) > 0 {
		t.Errorf("%v, %d keys of another entity", err, len(seen.AuthorizationRules))
	}
	seen.AuthorizationRules = []admin.AuthorizationRule{rule("Orders", "all", admin.AccessRightSend)}
	if _, err := mallory.UpdateQueue(ctx, "Orders", seen.QueueProperties, nil); status(err) != 400 {
		t.Error(err)
	}
	if _, err := mallory.DeleteQueue(ctx, "Orders", nil); err != nil {
		t.Error(err)
	}
	if may := (&keyed{b, "all", "primary orders all"}).may([]string{"send orders", "get orders"}); may != "send orders, get orders" {
		t.Errorf("the key of orders is good for %q", may)
	}
}
