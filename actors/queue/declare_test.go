package queue

import (
	"strings"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/policies"
	"candlemark/protocol"
)

func policy(t *testing.T, definition string) *policies.Policy {
	t.Helper()
	p, err := policies.Parse("/", "p", false, []byte(`{"pattern":".*","definition":`+definition+`}`))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDeclare_DEC1_DEC5(t *testing.T) {
	args := func(a protocol.Table) func(*mail.DeclareQueue) { return func(m *mail.DeclareQueue) { m.Arguments = a } }
	foreign := func(m *mail.DeclareQueue) { m.Connection = other }
	tests := []struct {
		name      string
		exclusive bool
		change    []func(*mail.DeclareQueue)
		want      string // a prefix of the text
	}{
		{"the same", false, nil, ""},
		{"passive, whatever it says", false, []func(*mail.DeclareQueue){passive, durable}, ""},
		{"durable", false, []func(*mail.DeclareQueue){durable}, "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'q' in vhost '/': received 'true' but current is 'false'"},
		{"durable before arguments", false, []func(*mail.DeclareQueue){durable, args(protocol.Table{{Key: "x-expires", Value: int32(1)}})}, "PRECONDITION_FAILED - inequivalent arg 'durable'"},
		{"auto_delete", false, []func(*mail.DeclareQueue){func(m *mail.DeclareQueue) { m.AutoDelete = true }}, "PRECONDITION_FAILED - inequivalent arg 'auto_delete'"},
		{"arguments", false, []func(*mail.DeclareQueue){args(protocol.Table{{Key: "x-message-ttl", Value: int32(-10)}})}, "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received the value '-10'"},
		{"exclusive flag", false, []func(*mail.DeclareQueue){func(m *mail.DeclareQueue) { m.Exclusive = true }}, "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'q' in vhost '/'."},
		{"exclusive, its owner", true, []func(*mail.DeclareQueue){func(m *mail.DeclareQueue) { m.Exclusive = true }}, ""},
		{"exclusive, a stranger", true, []func(*mail.DeclareQueue){foreign, durable}, "RESOURCE_LOCKED"},
		{"exclusive, a stranger asks passively", true, []func(*mail.DeclareQueue){foreign, passive}, "RESOURCE_LOCKED"},
	}
	for _, tt := range tests {
		cfg := testConfig(settings())
		if tt.exclusive {
			cfg.Queue.Exclusive, cfg.Queue.Owner = true, owner
		}
		c := newCoreOf(t, cfg)
		c.put("a", "b")
		c.feed(redeclare(tt.change...))
		r := one[*mail.DeclareQueueReply](c)
		if got := code(r.Err); (got == "") != (tt.want == "") || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q", tt.name, got)
		}
		if tt.want == "" && r.MessageCount != 2 {
			t.Errorf("%s: %d messages", tt.name, r.MessageCount)
		}
	}
}

func TestExclusiveAccess_DEC5(t *testing.T) {
	cfg := testConfig(settings())
	cfg.Queue.Exclusive, cfg.Queue.Owner = true, owner
	c := newCoreOf(t, cfg)
	c.put("a")
	r := mail.Request{ReplyTo: ch2}
	c.feed(&mail.Consume{Request: r, Channel: ch2, Connection: other}, &mail.Get{Request: r, Channel: ch2, Connection: other},
		&mail.Purge{Request: r, Connection: other}, &mail.DeleteQueue{Request: r, Connection: other})
	for what, err := range map[string]error{
		"consume": one[*mail.ConsumeReply](c).Err, "get": one[*mail.GetReply](c).Err,
		"purge": one[*mail.PurgeReply](c).Err, "delete": one[*mail.DeleteQueueReply](c).Err,
	} {
		if !strings.HasPrefix(code(err), "RESOURCE_LOCKED") {
			t.Errorf("%s: %v", what, err)
		}
	}
	one[*mail.QueueDeleteRefused](c)
	c.want("ready", c.ready(), "a")
	c.feed(&mail.DeleteQueue{}) // sent by the broker itself
	one[*mail.QueueRetiring](c)
}

func TestDeleteConditions_DEC6(t *testing.T) {
	t.Run("if-unused", func(t *testing.T) {
		c := newCore(t)
		c.consume(ch1, "x", 1)
		c.feed(&mail.DeleteQueue{Request: mail.Request{ReplyTo: ch1}, IfUnused: true})
		if got := code(one[*mail.DeleteQueueReply](c).Err); got != "PRECONDITION_FAILED - queue 'q' in vhost '/' in use" {
			t.Error(got)
		}
		if m := one[*mail.QueueDeleteRefused](c); m.Name != "q" || m.Incarnation != 7 {
			t.Errorf("%+v", m)
		}
	})
	t.Run("if-empty", func(t *testing.T) {
		c := newCore(t)
		c.put("a")
		c.feed(&mail.DeleteQueue{Request: mail.Request{ReplyTo: ch1}, IfEmpty: true})
		if got := code(one[*mail.DeleteQueueReply](c).Err); got != "PRECONDITION_FAILED - queue 'q' in vhost '/' not empty" {
			t.Error(got)
		}
	})
	t.Run("if-empty is looked at first", func(t *testing.T) {
		c := newCore(t)
		c.put("a", "b")
		c.consume(ch1, "x", 1)
		c.feed(&mail.DeleteQueue{Request: mail.Request{ReplyTo: ch1}, IfUnused: true, IfEmpty: true})
		if got := code(one[*mail.DeleteQueueReply](c).Err); got != "PRECONDITION_FAILED - queue 'q' in vhost '/' not empty" {
			t.Error(got)
		}
	})
	t.Run("if-empty, unacked do not count", func(t *testing.T) {
		c := newCore(t)
		c.put("a")
		c.get(ch1)
		c.feed(&mail.DeleteQueue{IfEmpty: true})
		one[*mail.QueueRetiring](c)
	})
	t.Run("if-empty, expired do not count", func(t *testing.T) {
		c := newCore(t, ttl(10))
		c.put("a")
		c.now += 10_000_000
		c.feed(&mail.DeleteQueue{IfEmpty: true})
		one[*mail.QueueRetiring](c)
	})
}

func TestExclusiveConsumer_DEC15(t *testing.T) {
	const inUse = "ACCESS_REFUSED - queue 'q' in vhost '/' in exclusive use"
	exclusive := func(m *mail.Consume) { m.Exclusive = true }
	c := newCore(t)
	c.consume(ch1, "a", 1)
	if got := code(c.consume(ch2, "b", 1, exclusive).Err); got != inUse {
		t.Errorf("exclusive beside another: %q", got)
	}
	c.feed(&mail.CancelConsumer{Channel: ch1, Tag: "a"})
	if r := c.consume(ch2, "b", 1, exclusive); r.Err != nil {
		t.Error(r.Err)
	}
	if got := code(c.consume(ch1, "c", 1).Err); got != inUse {
		t.Errorf("beside an exclusive one: %q", got)
	}
	c.feed(&mail.PeerGone{Who: ch2})
	if r := c.consume(ch1, "c", 1); r.Err != nil {
		t.Error(r.Err)
	}
}

func TestDescribe_LEASE4(t *testing.T) {
	c := newCore(t, expires(900), ttl(50))
	c.put("aa", "b")
	c.get(ch1)
	c.feed(&mail.DescribeQueue{Request: mail.Request{ReplyTo: ch1, ID: 3}})
	i := one[*mail.QueueInfo](c)
	if i.ID != 3 || i.Name != "q" || i.Ready != 1 || i.Unacked != 1 || i.ReadyBytes != 1 ||
		i.Expiring.Next != start+50 || i.Settings.MessageTTL != 50 {
		t.Fatalf("%+v", i)
	}
	if i.Lease.Ends != start+900 {
		t.Fatalf("lease until %d", i.Lease.Ends-start)
	}
}
