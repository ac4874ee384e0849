package queue

import (
	"fmt"
	"testing"

	"candlemark/actors/queue/deadletters"
	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/policies"
)

func TestReasons_DL9(t *testing.T) {
	limit := func(n int64) func(*policies.QueueSettings) {
		return func(s *policies.QueueSettings) { s.DeliveryLimit = n }
	}
	tests := []struct {
		name   string
		change []func(*policies.QueueSettings)
		act    func(c *core)
		want   []string
	}{
		{"expired", []func(*policies.QueueSettings){ttl(10)}, func(c *core) { c.put("m"); c.at(10) }, []string{"expired m"}},
		{"rejected", nil, func(c *core) { c.put("m"); c.get(ch1); c.settle(ch1, mail.Reject, 1, 1) }, []string{"rejected m"}},
		{"maxlen", []func(*policies.QueueSettings){maxLength(1, "drop-head")}, func(c *core) { c.put("a", "b") }, []string{"maxlen a"}},
		{"delivery limit", []func(*policies.QueueSettings){limit(1)}, func(c *core) {
			c.put("m")
			for n := uint64(1); n <= 2; n++ {
				c.get(ch1)
				c.settle(ch1, mail.Requeue, n, n)
			}
		}, []string{"delivery_limit m"}},
		{"acked", nil, func(c *core) { c.put("m"); c.get(ch1); c.settle(ch1, mail.Ack, 1, 1) }, nil},
		{"purged", nil, func(c *core) { c.put("m"); c.feed(&mail.Purge{}) }, nil},
		{"purge leaves what had expired", []func(*policies.QueueSettings){ttl(10)}, func(c *core) {
			c.put("m")
			c.now += 10_000_000
			c.feed(&mail.Purge{})
		}, []string{"expired m"}},
		{"deleted", nil, func(c *core) { c.put("m"); c.feed(&mail.DeleteQueue{}, &mail.QueueForgotten{}) }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCore(t, append(tt.change, dlx)...)
			tt.act(c)
			c.want("dead", c.seenOff(), tt.want...)
		})
	}
}

func TestOverflow_DL10(t *testing.T) {
	tests := []struct {
		overflow    string
		acks, nacks []uint64
		dead, ready []string
	}{
		{"drop-head", []uint64{1, 2}, nil, []string{"maxlen a"}, []string{"b"}},
		{"reject-publish", []uint64{1}, []uint64{2}, nil, []string{"a"}},
		{"reject-publish-dlx", []uint64{1}, []uint64{2}, []string{"maxlen b"}, []string{"a"}},
	}
	for _, tt := range tests {
		for _, batched := range []bool{true, false} {
			c := newCore(t, dlx, maxLength(1, tt.overflow))
			if batched {
				c.put("a", "b")
			} else {
				c.put("a")
				c.put("b")
			}
			acks, nacks := c.confirmed()
			c.wantNumbers(tt.overflow+" acks", acks, tt.acks...)
			c.wantNumbers(tt.overflow+" nacks", nacks, tt.nacks...)
			c.want(tt.overflow+" dead", c.seenOff(), tt.dead...)
			c.want(tt.overflow+" ready", c.ready(), tt.ready...)
		}
	}
}

// TestConfirmsDoNotWaitForOthers_DL10: a transient message behind a refused persistent one is confirmed without waiting for the
// journal.
func TestConfirmsDoNotWaitForOthers_DL10(t *testing.T) {
	cfg := testConfig(settings(dlx, func(s *policies.QueueSettings) { s.MaxLengthBytes, s.Overflow = 5, "reject-publish-dlx" }))
	cfg.Queue.Durable = true
	c := newCoreOf(t, cfg)
	c.hold = true
	long := msg("long one", -1)
	setPersistent(&long, true)
	c.publish(long, msg("b", -1))
	acks, nacks := c.confirmed()
	c.wantNumbers("acks", acks, 2)
	c.wantNumbers("nacks", nacks, 1)
}

func TestMaxLength_DL12(t *testing.T) {
	t.Run("counts ready messages only", func(t *testing.T) {
		c := newCore(t, maxLength(2, "drop-head"))
		c.put("a", "b", "c")
		c.want("ready", c.ready(), "b", "c")
		c.get(ch1)
		c.put("d")
		c.want("ready", c.ready(), "c", "d")
	})
	t.Run("0 with a consumer that can take it", func(t *testing.T) {
		c := newCore(t, maxLength(0, "drop-head"))
		c.consume(ch1, "x", 1)
		c.put("a", "b")
		c.want("delivered", c.delivered("x"), "a")
		c.want("ready", c.ready())
	})
	for _, how := range []string{"requeue", "channel gone"} {
		t.Run("the head goes on "+how, func(t *testing.T) {
			c := newCore(t, dlx, maxLength(1, "drop-head"))
			c.put("a")
			c.get(ch1)
			c.put("b")
			if how == "requeue" {
				c.settle(ch1, mail.Requeue, 1, 1)
			} else {
				c.feed(&mail.ChannelGone{Channel: ch1})
			}
			c.want("ready", c.ready(), "b")
			c.want("dead", c.seenOff(), "maxlen a")
		})
	}
	t.Run("bytes of bodies", func(t *testing.T) {
		c := newCore(t, func(s *policies.QueueSettings) { s.MaxLengthBytes = 5 })
		c.put("aa", "bb", "c")
		c.want("ready", c.ready(), "aa", "bb", "c")
		c.put("d")
		c.want("ready", c.ready(), "bb", "c", "d")
		c.put("longer")
		c.want("a body above the limit", c.ready())
	})
}

// TestMaxLengthInTurns_DL12_TTL33: a policy's limit applies at once, with at most TurnLimit messages dropped per turn.
func TestMaxLengthInTurns_DL12_TTL33(t *testing.T) {
	c := newCore(t)
	batch := make([]message.Message, 3*messages.TurnLimit)
	for i := range batch {
		batch[i] = msg(fmt.Sprint(i), -1)
	}
	c.publish(batch...)
	c.slow = true
	c.feed(&mail.Configure{Settings: settings(maxLength(1, "drop-head"))})
	for left := len(batch) - messages.TurnLimit; ; left = max(left-messages.TurnLimit, 1) {
		if n := c.Backlog.Ready(); n != left || c.waiting != (n > 1) {
			t.Fatalf("%d are left after a turn, want %d; more to do: %v", n, left, c.waiting)
		}
		if !c.waiting {
			break
		}
		c.waiting = false
		c.feed(again{})
	}
	c.want("ready", c.ready(), fmt.Sprint(len(batch)-1))
}

// TestRejecting_DL10: a full queue rejects even with a waiting consumer, and by bytes.
func TestRejecting_DL10(t *testing.T) {
	t.Run("rejecting, whoever waits", func(t *testing.T) {
		c := newCore(t, maxLength(0, "reject-publish"))
		c.consume(ch1, "x", 1)
		c.put("a")
		_, nacks := c.confirmed()
		c.wantNumbers("nacks", nacks, 1)
	})
	t.Run("bytes, rejecting", func(t *testing.T) {
		c := newCore(t, func(s *policies.QueueSettings) { s.MaxLengthBytes, s.Overflow = 5, "reject-publish" })
		c.put("aaa", "bbb", "cc")
		c.want("ready", c.ready(), "aaa", "cc")
	})
}

// TestLetter_DL31: the source keeps its copy until the answer, sends in order, with a limited number under way, and sends again
// after a loss.
func TestLetter_DL31(t *testing.T) {
	const n = deadletters.Limit + 100
	c := newCore(t, dlx, func(s *policies.QueueSettings) { s.HasDLK, s.DeadLetterRoutingKey = true, "rk" })
	batch := make([]message.Message, n)
	for i := range batch {
		batch[i] = msg(fmt.Sprint(i), 1)
	}
	c.publish(batch...)
	c.at(5000)
	letters := all[*mail.DeadLetter](c)
	var ids []mail.Range
	for _, l := range letters {
		if l.Exchange != "dlx" || l.RoutingKey != "rk" || !l.HasKey || l.Reason != "expired" || l.Time != start/1000 ||
			l.From != queuePID || l.Queue != "q" || l.Incarnation != 7 {
			t.Fatalf("%+v", *l)
		}
		for _, d := range l.Messages {
			if want := fmt.Sprint(len(ids)); string(d.Body) != want {
				t.Fatalf("%s in the place of %s", d.Body, want)
			}
			ids = append(ids, mail.Range{First: d.Number, Last: d.Number})
		}
	}
	if len(ids) != deadletters.Limit || c.Backlog.Len() != n || c.Backlog.Ready() != 0 {
		t.Fatalf("%d sent, %d kept", len(ids), c.Backlog.Len())
	}
	c.feed(&mail.DeadLetterReply{Incarnation: 6, IDs: ids}) // of an earlier incarnation of the queue
	if c.Backlog.Len() != n {
		t.Fatal("another incarnation's answer counted")
	}
	c.feed(&mail.DeadLetterReply{Incarnation: 7, IDs: ids[50:60]})
	if dead, _ := c.died(); len(dead) != 10 || c.Backlog.Len() != n-10 {
		t.Fatalf("%d more sent, %d kept", len(dead), c.Backlog.Len())
	}
	c.feed(&mail.DeadLetterReply{Incarnation: 7, Lost: true})
	dead, again := c.died()
	if len(dead) != deadletters.Limit || dead[49] != "expired 49" || dead[50] != "expired 60" {
		t.Fatalf("%d sent again, %q", len(dead), dead[50])
	}
	c.feed(&mail.DeadLetterReply{Incarnation: 7, IDs: ids}, &mail.DeadLetterReply{Incarnation: 7, IDs: again})
	c.seenOff()
	if c.Backlog.Len() != 0 || c.DeadLetters.Counts().UnderWay != 0 {
		t.Fatalf("%d left, %d out", c.Backlog.Len(), c.DeadLetters.Counts().UnderWay)
	}
}

// TestExchangeRemoved_DL13: waiting dead letters are not sent to the default exchange when the policy that named an exchange is
// removed.
func TestExchangeRemoved_DL13(t *testing.T) {
	c := newCore(t, dlx, ttl(10))
	batch := make([]message.Message, deadletters.Limit+10)
	for i := range batch {
		batch[i] = msg("m", -1)
	}
	c.publish(batch...)
	c.at(10)
	c.feed(&mail.Configure{Settings: settings()})
	_, ids := c.died()
	if len(ids) != deadletters.Limit || c.Backlog.Len() != deadletters.Limit {
		t.Fatalf("%d sent, %d kept", len(ids), c.Backlog.Len())
	}
	c.feed(&mail.DeadLetterReply{Incarnation: 7, IDs: ids[:1]}, &mail.DeadLetterReply{Incarnation: 7, Lost: true})
	if len(all[*mail.DeadLetter](c)) != 0 || c.Backlog.Len() != 0 {
		t.Fatalf("%d kept", c.Backlog.Len())
	}
}

// TestLetterKeepsTheMessage_DL18: a dead letter keeps the fields of its message, including its own priority.
func TestLetterKeepsTheMessage_DL18(t *testing.T) {
	c := newCore(t, dlx)
	overlay := (*message.Overlay)(nil).Died(message.Death{Queue: "before", Reason: "rejected"})
	m := message.Message{
		Exchange: []byte("x"), RoutingKey: []byte("rk"), Header: []byte{0x18, 0x00, 2, 9}, Body: []byte("b"),
		Overlay: overlay, TTL: 10, Priority: 9,
	}
	c.publish(m)
	c.at(10)
	d := one[*mail.DeadLetter](c).Messages[0]
	if string(d.Exchange) != "x" || string(d.RoutingKey) != "rk" || string(d.Body) != "b" || d.Overlay != overlay ||
		d.TTL != 10 || d.Priority != 9 || !d.Persistent() || !d.Owned || string(d.Header) != string(m.Header) {
		t.Fatalf("%+v", d)
	}
}
