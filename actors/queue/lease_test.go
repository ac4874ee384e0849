package queue

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/policies"
	"candlemark/protocol"
)

// redeclare returns a declare of the same queue.
func redeclare(change ...func(*mail.DeclareQueue)) *mail.DeclareQueue {
	m := &mail.DeclareQueue{Request: mail.Request{ReplyTo: ch1}, Name: "q", Connection: owner}
	for _, f := range change {
		f(m)
	}
	return m
}

func passive(m *mail.DeclareQueue) { m.Passive = true }
func noWait(m *mail.DeclareQueue)  { m.NoWait = true }
func durable(m *mail.DeclareQueue) { m.Durable = true }

// TestLease_LEASE4: x-expires 900, an action at 600 ms, is the queue alive at
// 1200 ms?
func TestLease_LEASE4(t *testing.T) {
	feed := func(mails ...any) func(*core) { return func(c *core) { c.feed(mails...) } }
	configure := func(change ...func(*policies.QueueSettings)) func(*core) {
		return feed(&mail.Configure{Settings: settings(change...)})
	}
	get := func(c *core) { c.get(ch1) }
	put := func(c *core) { c.put("m") }
	tests := []struct {
		name   string
		before func(*core) // at 0 ms
		action func(*core) // at 600 ms
		alive  bool
	}{
		{"nothing", nil, nil, false},
		{"declare", nil, feed(redeclare()), true},
		{"declare nowait", nil, feed(redeclare(noWait)), false},
		{"declare passive", nil, feed(redeclare(passive)), true},
		{"declare passive nowait", nil, feed(redeclare(passive, noWait)), false},
		{"declare inequivalent", nil, feed(redeclare(durable)), false},
		{"get from an empty queue", nil, get, true},
		{"get", put, get, true},
		{"describe", nil, feed(&mail.DescribeQueue{Request: mail.Request{ReplyTo: ch1}}), false},
		{"publish", nil, put, false},
		{"publish to a queue with messages", put, put, false},
		{"purge", put, feed(&mail.Purge{Request: mail.Request{ReplyTo: ch1}}), false},
		{"consumer attached", func(c *core) { c.consume(ch1, "a", 1) }, nil, true},
		{"consumer attaches", nil, func(c *core) { c.consume(ch1, "a", 1) }, true},
		{
			"last consumer cancelled", func(c *core) { c.consume(ch1, "a", 1) },
			feed(&mail.CancelConsumer{Channel: ch1, Tag: "a"}), true,
		},
		{"last consumer's channel gone", func(c *core) { c.consume(ch1, "a", 1) }, feed(&mail.ChannelGone{Channel: ch1}), true},
		{"last consumer's channel died", func(c *core) { c.consume(ch1, "a", 1) }, feed(&mail.PeerGone{Who: ch1}), true},
		{"cancel of an unknown consumer", nil, feed(&mail.CancelConsumer{Channel: ch1, Tag: "a"}), false},
		{"channel with an unacked get gone", func(c *core) { c.put("m"); c.get(ch1) }, feed(&mail.ChannelGone{Channel: ch1}), true},
		{
			"channel with an acked get gone",
			func(c *core) { c.put("m"); c.get(ch1); c.settle(ch1, mail.Ack, 1, 1) },
			feed(&mail.ChannelGone{Channel: ch1}), false,
		},
		{"channel without anything gone", nil, feed(&mail.ChannelGone{Channel: ch1}), false},
		{"ack", func(c *core) { c.put("m"); c.get(ch1) }, func(c *core) { c.settle(ch1, mail.Ack, 1, 1) }, false},
		{"requeue", func(c *core) { c.put("m"); c.get(ch1) }, func(c *core) { c.settle(ch1, mail.Requeue, 1, 1) }, false},
		{"reject", func(c *core) { c.put("m"); c.get(ch1) }, func(c *core) { c.settle(ch1, mail.Reject, 1, 1) }, false},
		{"delete refused", put, feed(&mail.DeleteQueue{IfEmpty: true}), false},
		{"policy, an unrelated key", nil, configure(expires(900), maxLength(5, "drop-head")), true},
		{"policy, a longer lease", nil, configure(expires(5000)), true},
		{"policy, no lease", nil, configure(), true},
		{"policy, a shorter lease", nil, configure(expires(500)), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCore(t, expires(900))
			if tt.before != nil {
				tt.before(c)
			}
			c.at(600)
			if tt.action != nil {
				tt.action(c)
			}
			c.at(1200)
			if alive := c.phase == live; alive != tt.alive {
				t.Errorf("alive: %v", alive)
			}
		})
	}
}

func TestLeaseSetting_LEASE2(t *testing.T) {
	args := protocol.Table{{Key: "x-expires", Value: int32(900)}}
	set := policies.NewSet("/").With(policy(t, `{"expires":300}`))
	s := policies.SettingsFor(args, set.Effective(policies.KindClassicQueue, "q"))
	c := newCoreOf(t, testConfig(s))
	c.at(299)
	if c.phase != live {
		t.Fatal("ended early")
	}
	c.at(300)
	if c.phase != retiring {
		t.Fatal("did not end")
	}
}

func TestLeaseHeld_LEASE3(t *testing.T) {
	c := newCore(t, expires(900))
	c.consume(ch1, "a", 1)
	c.consume(ch2, "b", 1)
	c.at(100_000)
	c.feed(&mail.CancelConsumer{Channel: ch1, Tag: "a"})
	c.at(200_000)
	if c.phase != live {
		t.Fatal("ended though it is consumed")
	}
	c.feed(&mail.PeerGone{Who: ch2})
	c.at(200_899)
	if c.phase != live {
		t.Fatal("ended before a full period")
	}
	c.at(200_900)
	m := one[*mail.QueueRetiring](c)
	if m.Name != "q" || m.Incarnation != 7 || m.Deleted || m.Queue != queuePID {
		t.Fatalf("%+v", m)
	}
}

func TestForeignPassiveDeclareRenews_LEASE5(t *testing.T) {
	cfg := testConfig(settings(expires(900)))
	cfg.Queue.Exclusive, cfg.Queue.Owner = true, owner
	c := newCoreOf(t, cfg)
	c.at(600)
	c.feed(redeclare(passive, func(m *mail.DeclareQueue) { m.Connection = other }))
	if one[*mail.DeclareQueueReply](c).Err == nil {
		t.Fatal("not refused")
	}
	c.at(1200)
	if c.phase != live {
		t.Fatal("not renewed")
	}
	c.feed(redeclare(func(m *mail.DeclareQueue) { m.Connection = other }))
	c.feed(&mail.Get{Channel: ch2, Connection: other})
	c.at(1500)
	if c.phase == live {
		t.Fatal("renewed by what was refused")
	}
}

func TestExclusiveExpires_LEASE11(t *testing.T) {
	cfg := testConfig(settings(expires(900)))
	cfg.Queue.Exclusive, cfg.Queue.Owner = true, owner
	c := newCoreOf(t, cfg)
	c.at(900)
	if c.phase != retiring {
		t.Fatal("still there")
	}
}

// TestFullQueueExpires_LEASE6_LEASE7: ready and unacknowledged messages do not keep a queue from expiring, and are discarded.
func TestFullQueueExpires_LEASE6_LEASE7(t *testing.T) {
	c := newCore(t, expires(900), dlx)
	c.put("a", "b", "c")
	c.get(ch1)
	c.at(900)
	c.settle(ch1, mail.Ack, 1, 1) // parked
	c.feed(&mail.QueueForgotten{})
	if c.phase != ended {
		t.Fatalf("phase %d", c.phase)
	}
	c.want("dead", c.seenOff())
	if m := one[*mail.QueueExpired](c); m.Discarded != 3 || m.Queue != "q" || m.Incarnation != 7 || m.Time != start/1000 {
		t.Fatalf("%+v", m)
	}
	c.settle(ch1, mail.Ack, 1, 1)
}

func TestConfirmsOfTheGone_LEASE8(t *testing.T) {
	cfg := testConfig(settings(expires(900)))
	cfg.Queue.Durable = true
	c := newCoreOf(t, cfg)
	c.hold = true
	c.publish(persistentMsg("m", -1))
	c.at(900)
	c.put("late")
	acks, _ := c.confirmed()
	c.wantNumbers("before", acks)
	c.feed(&mail.QueueForgotten{})
	acks, nacks := c.confirmed()
	c.wantNumbers("acks", acks, 1, 2)
	c.wantNumbers("nacks", nacks)
}

func TestConsumersAreInformed_LEASE9(t *testing.T) {
	c := newCore(t)
	c.consume(ch1, "a", 1)
	c.consume(ch2, "b", 0, noAck)
	c.put("x")
	c.feed(&mail.DeleteQueue{Request: mail.Request{ReplyTo: ch1, ID: 9}}, &mail.QueueForgotten{})
	informed := map[string]bool{}
	for _, m := range all[*mail.ConsumerCancelled](c) {
		informed[m.Tag] = true
	}
	if len(informed) != 2 || !informed["a"] || !informed["b"] {
		t.Fatalf("informed %v, want a and b", informed)
	}
	if r := one[*mail.DeleteQueueReply](c); r.ID != 9 || r.Err != nil {
		t.Fatalf("%+v", r)
	}
}

func TestAutoDelete_LEASE10(t *testing.T) {
	autoDelete := func(t *testing.T, change ...func(*policies.QueueSettings)) *core {
		cfg := testConfig(settings(change...))
		cfg.Queue.AutoDelete = true
		return newCoreOf(t, cfg)
	}
	gone := func(t *testing.T, c *core, want bool) {
		t.Helper()
		if got := len(all[*mail.QueueRetiring](c)) == 1; got != want {
			t.Fatalf("retires: %v, want %v", got, want)
		}
	}
	t.Run("when the last consumer is cancelled", func(t *testing.T) {
		c := autoDelete(t)
		c.consume(ch1, "a", 1)
		c.consume(ch2, "b", 1)
		c.feed(&mail.CancelConsumer{Channel: ch1, Tag: "a"})
		gone(t, c, false)
		c.feed(&mail.CancelConsumer{Channel: ch2, Tag: "b"})
		gone(t, c, true)
	})
	t.Run("when its channel is gone", func(t *testing.T) {
		c := autoDelete(t)
		c.consume(ch1, "a", 1)
		c.feed(&mail.PeerGone{Who: ch1})
		gone(t, c, true)
	})
	t.Run("not without a consumer", func(t *testing.T) {
		c := autoDelete(t)
		c.put("m")
		c.get(ch1)
		c.feed(&mail.ChannelGone{Channel: ch1}, &mail.CancelConsumer{Channel: ch2, Tag: "x"})
		gone(t, c, false)
	})
	t.Run("the lease ends it without a consumer", func(t *testing.T) {
		c := autoDelete(t, expires(900))
		c.at(900)
		gone(t, c, true)
	})
}

// TestExpiresIfEmpty_LEASE13: the lease of a queue with messages starts again.
func TestExpiresIfEmpty_LEASE13(t *testing.T) {
	c := newCore(t, expires(900), func(s *policies.QueueSettings) { s.ExpiresIfEmpty = true })
	c.at(500)
	c.put("a", "b")
	c.at(1000)
	c.feed(&mail.Purge{})
	c.put("c")
	c.at(2000)
	if c.phase != live {
		t.Fatal("ended with a ready message")
	}
	c.get(ch1)
	c.at(3000)
	if c.phase != live {
		t.Fatal("ended with an unacknowledged message")
	}
	c.settle(ch1, mail.Ack, 1, 1)
	c.at(3799)
	if c.phase != live {
		t.Fatal("ended before the renewed lease did")
	}
	c.at(3800) // renewed because of messages at 900, 1800 and 2900 (after the get at 2000)
	if c.phase == live {
		t.Fatal("still there")
	}
}

func TestLeaseRearms_LEASE13(t *testing.T) {
	c := newCore(t, expires(1000))
	for ms := int64(10); ms <= 100_000; ms += 10 {
		c.at(ms)
		c.feed(redeclare())
	}
	c.at(100_999)
	if c.phase != live {
		t.Fatal("ended early")
	}
	c.at(101_000)
	if c.phase == live {
		t.Fatal("did not end")
	}
}

// TestRenewedBy_LEASE4: x-expires 900, an action at 600 ms, does the queue exist at 1200 ms?
func TestRenewedBy_LEASE4(t *testing.T) {
	actions := map[policies.Renewals]func(c *core){
		policies.RenewedByPublish: func(c *core) { c.put("m") },
		policies.RenewedByPeek:    func(c *core) { c.feed(&mail.Peek{}) },
		policies.RenewedByUpdate:  func(c *core) { c.feed(&mail.Purge{}) },
	}
	for use, act := range actions {
		for by := range policies.Renewals(16) {
			c := newCore(t, expires(900), func(s *policies.QueueSettings) { s.RenewedBy = by })
			c.at(600)
			act(c)
			c.at(1200)
			if lives := c.phase == live; lives != by.Has(use) {
				t.Errorf("use %d under %d: there at 1200 ms: %v", use, by, lives)
			}
			if c.at(1500); c.phase == live {
				t.Errorf("use %d under %d: there for ever", use, by)
			}
		}
	}
}
