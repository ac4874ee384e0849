package queue

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// newest is the number after which recovered queues number their messages.
const newest = 1 << 40

// recovered returns a queue started with the content of a journal; the bodies are a, b and so on.
func recovered(t *testing.T, s policies.QueueSettings, recovering bool, messages ...store.Recovered) *core {
	cfg := testConfig(s)
	cfg.Queue.Durable, cfg.Recovering = true, recovering
	disk := disk{puts: map[uint64]store.Record{}}
	for i := range messages {
		m := &messages[i]
		body := string(rune('a' + i))
		m.Seq, m.At, m.Body = uint64(10*i+1), store.Position(i+1), uint32(len(body))
		disk.puts[m.Seq] = store.Record{Kind: store.Put, First: m.Seq, Last: m.Seq, Body: []byte(body), Header: []byte{0, 0}, Position: m.At}
	}
	cfg.Recovered, cfg.Newest = messages, newest
	c := newCoreOf(t, cfg)
	c.disk = disk
	return c
}

func TestRecovered_TTL26(t *testing.T) {
	c := recovered(
		t, settings(dlx, maxLength(3, "")), false,
		store.Recovered{Time: start - 500, TTL: 100, Deadline: start - 400},
		store.Recovered{Time: start - 500, TTL: -1, Deadline: store.Never, Redelivered: true, Returns: 2},
		store.Recovered{Time: start - 300, TTL: 50, Deadline: start - 250},
		store.Recovered{Time: start - 300, TTL: 400, Deadline: start + 100},
		store.Recovered{Time: start - 300, TTL: -1, Deadline: store.Never},
	)
	c.feed(again{})
	c.want("dead", c.seenOff(), "expired a", "expired c")
	c.trust(-1, "f")
	c.want("dropped by max-length", c.seenOff(), "maxlen b")
	if c.Seq <= newest {
		t.Errorf("number %d could have been given out before", c.Seq)
	}
	c.at(100)
	c.want("dead", c.seenOff(), "expired d")
	c.consume(ch1, "x", 0)
	c.want("delivered", c.delivered("x"), "e", "f")
}

func TestRecoveredKnowsItsDeliveries_DL9(t *testing.T) {
	c := recovered(t, settings(), false, store.Recovered{Deadline: store.Never, TTL: -1, Redelivered: true, Returns: 3})
	c.consume(ch1, "x", 0)
	c.want("delivered", c.delivered("x"), "a*")
	if len(c.records) != 0 {
		t.Errorf("records %+v: it is known already", c.records)
	}
	c.settle(ch1, mail.Requeue, 1, 1)
	c.want("delivered", c.delivered("x"), "a*")
	if len(c.records) != 1 || c.records[0].Kind != store.Returned {
		t.Errorf("records %+v", c.records)
	}
}

func TestRecoveredRetroactively_TTL25(t *testing.T) {
	retroactive := func(s *policies.QueueSettings) { s.MessageTTL, s.RetroactiveTTL = 1000, true }
	old := store.Recovered{Time: start - 900, TTL: -1, Deadline: start - 500}
	own := store.Recovered{Time: start - 900, TTL: 950, Deadline: store.Never}
	t.Run("at the start", func(t *testing.T) {
		c := recovered(t, settings(dlx, retroactive), false, old, own)
		c.at(50)
		c.want("dead", c.seenOff(), "expired b")
		c.at(100)
		c.want("dead", c.seenOff(), "expired a")
	})
	t.Run("by a policy that comes into force", func(t *testing.T) {
		c := recovered(t, settings(dlx), true, old, own)
		c.feed(&mail.Configure{Settings: settings(dlx, retroactive)}, &mail.Activate{})
		c.at(99)
		c.want("dead", c.seenOff(), "expired b")
		c.at(100)
		c.want("dead", c.seenOff(), "expired a")
	})
}

// TestRecovering_LEASE4: a queue that is recovering does nothing by itself and keeps mail for later; its lease starts when it wakes.
func TestRecovering_LEASE4(t *testing.T) {
	c := recovered(t, settings(dlx, expires(1000)), true, store.Recovered{Time: start - 10, TTL: 5, Deadline: start - 5})
	c.put("b")
	c.at(5000)
	c.want("dead", c.seenOff())
	c.feed(&mail.Trim{}, &mail.DescribeQueue{Request: mail.Request{ReplyTo: ch1}})
	if i := one[*mail.QueueInfo](c); i.Ready != 1 || i.Paged != 1 {
		t.Errorf("%+v", i)
	}
	c.feed(&mail.Activate{})
	c.want("dead", c.seenOff(), "expired a")
	c.want("ready", c.ready(), "b")
	c.at(5999)
	if c.phase != live {
		t.Error("it ended")
	}
	if c.at(6000); c.phase != retiring {
		t.Error("it did not end")
	}
}

// Lists of queues show a policy that changed while the queue was recovering.
func TestPolicyWhileRecovering(t *testing.T) {
	cfg := testConfig(settings())
	cfg.Queue.Durable, cfg.Recovering, cfg.Queue.Stats = true, true, new(topology.QueueStats)
	c := newCoreOf(t, cfg)
	p, err := policies.Parse("/", "p", false, []byte(`{"pattern":"^q","definition":{"max-length":5}}`))
	if err != nil {
		t.Fatal(err)
	}
	effective := policies.NewSet("/").With(p).Effective(policies.KindClassicQueue, "q")
	c.feed(&mail.Configure{Effective: effective, Settings: policies.SettingsFor(nil, effective)}, &mail.Activate{})
	cfg.Queue.Stats.Set(&queuestats.Values{queuestats.Running: 1}) // like the shell after a turn
	if user, _ := cfg.Queue.Stats.Policies(); user != "p" || c.Settings.MaxLength != 5 {
		t.Errorf("lists show the policy %q, with %+v", user, c.Settings)
	}
}
