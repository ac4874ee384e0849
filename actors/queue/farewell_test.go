package queue

import (
	"errors"
	"testing"

	"candlemark/actors/queue/deadletters"
	"candlemark/actors/queue/messages"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
)

func withBacklog(s *policies.QueueSettings) { s.ExpiresDeadLettersBacklog = true }

// TestKept_LEASE4: when a declare wins the race with the end of the lease, mail received during the race is handled in
// order, as if it had just arrived.
func TestKept_LEASE4(t *testing.T) {
	c := newCore(t, expires(900))
	c.at(900)
	if m := one[*mail.QueueRetiring](c); m.Handled != 0 {
		t.Fatalf("handled %d", m.Handled)
	}
	if at, ok := c.next(); ok {
		t.Fatalf("a timer is due at %d while the vhost decides", at-start)
	}
	c.feed(timerFired{}, again{})
	c.put("a")
	c.feed(redeclare())
	c.put("b")
	c.feed(&mail.Consume{Request: mail.Request{ReplyTo: ch1}, Channel: ch1, Tag: "x", Prefetch: 1, Connection: owner})
	if len(c.posts) != 0 {
		t.Fatalf("answered while retiring: %v", c.posts)
	}
	c.at(950)
	c.feed(&mail.QueueKept{})
	if r := one[*mail.DeclareQueueReply](c); r.Err != nil || r.MessageCount != 1 {
		t.Fatalf("%+v", r)
	}
	acks, _ := c.confirmed()
	c.wantNumbers("confirmed", acks, 1, 2)
	c.want("delivered", c.delivered("x"), "a")
	c.feed(&mail.CancelConsumer{Channel: ch1, Tag: "x"})
	c.at(1849)
	if c.phase != live {
		t.Fatal("the lease was not renewed")
	}
	c.at(1850)
	if m := one[*mail.QueueRetiring](c); m.Handled != 1 {
		t.Fatalf("handled %d", m.Handled)
	}
}

// TestKeptConfirmsEveryBatch_LEASE8: each parked batch of persistent messages is confirmed when it is stored.
func TestKeptConfirmsEveryBatch_LEASE8(t *testing.T) {
	cfg := testConfig(settings(expires(900)))
	cfg.Queue.Durable = true
	c := newCoreOf(t, cfg)
	c.hold = true
	c.at(900)
	for range 3 {
		c.publish(persistentMsg("m", -1))
	}
	c.feed(&mail.QueueKept{})
	for n := uint64(1); n <= 3; n++ {
		c.settleCommit()
		acks, _ := c.confirmed()
		c.wantNumbers("acks", acks, n)
	}
}

// TestKeptAndDeleted_LEASE8: when a delete is among the parked mail, the mail behind it waits again.
func TestKeptAndDeleted_LEASE8(t *testing.T) {
	c := newCore(t, expires(900))
	c.at(900)
	c.put("a")
	c.feed(&mail.DeleteQueue{Request: mail.Request{ReplyTo: ch1}})
	c.put("b")
	c.feed(&mail.QueueKept{})
	if r := all[*mail.QueueRetiring](c); len(r) != 2 || !r[1].Deleted || r[1].Handled != 1 {
		t.Fatalf("%+v", r)
	}
	acks, _ := c.confirmed()
	c.wantNumbers("before the delete", acks, 1)
	c.feed(&mail.QueueForgotten{})
	acks, _ = c.confirmed()
	c.wantNumbers("behind it", acks, 2)
	if r := one[*mail.DeleteQueueReply](c); r.MessageCount != 1 {
		t.Fatalf("%+v", r)
	}
	if n := len(all[*mail.QueueExpired](c)); n != 0 {
		t.Fatal("a deleted queue has not expired")
	}
}

// TestVHostFails_LEASE8: the farewell is answered on behalf of the vhost; the queue stays if the vhost failed, and ends if it is
// gone.
func TestVHostFails_LEASE8(t *testing.T) {
	c := newCore(t, expires(900))
	c.at(900)
	_, kept := one[*mail.QueueRetiring](c).Answer(mail.Failed)
	c.feed(kept)
	c.feed(&mail.DeleteQueue{Request: mail.Request{ReplyTo: ch1, ID: 4}})
	m := one[*mail.QueueRetiring](c)
	_, kept = m.Answer(mail.Failed)
	c.feed(kept)
	if r := one[*mail.DeleteQueueReply](c); r.Err == nil || r.ID != 4 || c.phase != live {
		t.Fatalf("%+v, phase %d", r, c.phase)
	}
	one[*mail.QueueDeleteRefused](c)
	c.at(1800)
	to, forgotten := one[*mail.QueueRetiring](c).Answer(mail.Gone)
	c.feed(forgotten)
	if c.phase != ended || to != queuePID {
		t.Fatalf("phase %d", c.phase)
	}
}

// TestParkedIsAnswered_LEASE8: all parked requests are answered when the queue ends.
func TestParkedIsAnswered_LEASE8(t *testing.T) {
	c := newCore(t, expires(900))
	c.at(900)
	r := mail.Request{ReplyTo: ch1}
	chunk := message.NewGate(100).NewChunk(10)
	chunk.Retain()
	c.feed(&mail.Enqueue{From: publisher, Messages: []message.Message{{Number: 5, Body: chunk.Buf}}, Chunk: chunk},
		&mail.Consume{Request: r, Queue: "q", VHost: "/"}, &mail.Get{Request: r, Queue: "q", VHost: "/"},
		&mail.Purge{Request: r, Queue: "q", VHost: "/"}, &mail.CancelConsumer{Request: r},
		&mail.QosAllow{Channel: ch1, Messages: 3}, &mail.Settle{Channel: ch1}, &mail.ChannelGone{Channel: ch1})
	c.feed(&mail.QueueForgotten{})
	for what, err := range map[string]error{
		"consume": one[*mail.ConsumeReply](c).Err, "get": one[*mail.GetReply](c).Err, "purge": one[*mail.PurgeReply](c).Err,
	} {
		if missed := (*mail.Missed)(nil); !errors.As(err, &missed) || missed.Queue != "q" { // the channel looks the queue up again
			t.Errorf("%s: %v", what, err)
		}
	}
	if one[*mail.CancelConsumerReply](c).Err != nil || one[*mail.QosUnused](c).Messages != 3 {
		t.Error("cancel or allow")
	}
	acks, nacks := c.confirmed()
	c.wantNumbers("acks", acks, 5)
	c.wantNumbers("nacks", nacks)
	chunk.Release() // the reader's own reference: a second release would panic
}

// TestDeadLettersOutliveTheQueue_DL31: messages that expired before their queue ended are dead-lettered, in any number.
func TestDeadLettersOutliveTheQueue_DL31(t *testing.T) {
	const n = deadletters.Limit + 10
	c := newCore(t, dlx, ttl(100), expires(200))
	batch := make([]message.Message, n)
	for i := range batch {
		batch[i] = msg("m", -1)
	}
	c.publish(batch...)
	c.at(200)
	c.confirmed()
	c.vhostAnswers()
	if c.phase != ending {
		t.Fatalf("phase %d with %d dead letters", c.phase, c.DeadLetters.Counts().Len)
	}
	c.put("late")
	acks, _ := c.confirmed()
	c.wantNumbers("late, acks", acks, n+1)
	// The first dead letters were under way: their answers make room for the rest.
	if got := len(c.seenOff()); got != deadletters.Limit {
		t.Fatalf("%d dead", got)
	}
	if got := len(c.seenOff()); got != n-deadletters.Limit {
		t.Fatalf("%d dead", got)
	}
	if c.vhostAnswers(); c.phase != ended || c.Backlog.Len() != 0 {
		t.Fatalf("phase %d, %d left", c.phase, c.Backlog.Len())
	}
}

// TestBacklogIsDeadLettered_LEASE13: if the settings say so, the backlog is dead-lettered in order, including unsettled
// deliveries and messages that arrive too late.
func TestBacklogIsDeadLettered_LEASE13(t *testing.T) {
	cfg := testConfig(settings(dlx, expires(900), withBacklog))
	cfg.Queue.Durable = true
	c := newCoreOf(t, cfg)
	c.put("a", "b", "c")
	c.get(ch1)
	c.at(900)
	c.put("parked")
	if m := one[*mail.QueueRetiring](c); m.Ending != topology.EndedLease {
		t.Fatalf("%+v", m)
	}
	c.feed(&mail.QueueEnding{})
	c.hold = true
	c.publish(persistentMsg("late", -1))
	acks, nacks := c.confirmed()
	c.wantNumbers("acks", acks, 1, 2, 3, 4)
	c.settleCommit()
	acks, _ = c.confirmed()
	c.wantNumbers("acks", acks, 5)
	c.wantNumbers("nacks", nacks)
	dead, ids := c.died()
	c.want("dead", dead, "expired a", "expired b", "expired c", "expired parked", "expired late")
	c.settle(ch1, mail.Ack, 1, 1)
	if c.phase != ending || c.Backlog.Len() != 5 {
		t.Fatalf("phase %d, %d messages", c.phase, c.Backlog.Len())
	}
	c.feed(&mail.DeadLetterReply{Incarnation: 7, IDs: ids})
	if m := one[*mail.QueueRetiring](c); m.Ending != "" || m.Deleted {
		t.Fatalf("%+v", m)
	}
	c.publish(persistentMsg("too late", -1))
	c.feed(&mail.QueueForgotten{})
	if m := one[*mail.QueueExpired](c); m.Discarded != 0 || c.phase != ended {
		t.Fatalf("discarded %d, phase %d", m.Discarded, c.phase)
	}
	c.handle(&mail.Enqueue{From: publisher, Messages: []message.Message{{Number: 7}}}, c.now)
	c.posts = append(c.posts, c.out.Posts...)
	acks, nacks = c.confirmed()
	c.wantNumbers("acks", acks)
	c.wantNumbers("nacks", nacks, 6, 7) // nothing can be promised any more
}

func TestBacklogIsDiscarded_LEASE7_LEASE13(t *testing.T) {
	none := func(*policies.QueueSettings) {}
	ends := map[string]struct {
		exchange func(*policies.QueueSettings)
		end      func(c *core)
	}{
		"no exchange": {none, func(c *core) { c.at(900) }},
		"deleted":     {dlx, func(c *core) { c.feed(&mail.DeleteQueue{}) }},
	}
	for name, e := range ends {
		c := newCore(t, e.exchange, expires(900), withBacklog)
		c.put("a")
		e.end(c)
		c.vhostAnswers()
		if dead := c.seenOff(); c.phase != ended || len(dead) > 0 {
			t.Errorf("%s: phase %d, dead %q", name, c.phase, dead)
		}
	}
}

func TestBacklogDiesInTurns_LEASE13_TTL33(t *testing.T) {
	const n = 3*messages.TurnLimit + 1
	c := newCore(t, dlx, expires(900), withBacklog)
	batch := make([]message.Message, n)
	for i := range batch {
		batch[i] = msg("m", -1)
	}
	c.publish(batch...)
	c.at(900)
	c.slow = true
	c.vhostAnswers()
	if got := n - c.Backlog.Ready(); got != messages.TurnLimit {
		t.Fatalf("%d died in one turn", got)
	}
	dead := 0
	for c.phase != ended {
		c.vhostAnswers()
		dead += len(c.seenOff())
		if c.waiting {
			c.waiting = false
			c.feed(again{})
		}
	}
	if dead != n {
		t.Fatalf("%d dead", dead)
	}
}

// TestFailsInTheMiddle_LEASE8: mail posted by a turn before it failed is sent if it is still true.
func TestFailsInTheMiddle_LEASE8(t *testing.T) {
	cfg := testConfig(settings(dlx))
	cfg.Queue.Durable = true
	c := newCoreOf(t, cfg)
	c.hold = true
	stored := msg("m", -1)
	setPersistent(&stored, true)
	c.publish(stored)
	stored.Body = []byte("n")
	c.publish(stored)
	gate := message.NewGate(100)
	chunk := gate.NewChunk(10)
	c.consume(ch1, "a", 0, noAck)
	c.posts = nil
	c.commitDone(0, func(m any) { c.Written(m.(appendDone).commit, m.(appendDone).err) }) // runs the turn of a farewell up to its failure
	c.out.Posts = append(c.out.Posts, mail.Post{To: ch1, Mail: &mail.Deliver{Chunk: chunk}}, mail.Post{To: ch1, Mail: &mail.PurgeReply{}},
		mail.Post{To: deadLetterPID, Mail: &mail.DeadLetter{}})
	c.fail(&mail.QueueForgotten{})
	c.posts = c.out.Posts
	acks, nacks := c.confirmed()
	c.wantNumbers("acks", acks, 1)
	c.wantNumbers("nacks", nacks, 2)
	one[*mail.ConsumerCancelled](c)
	one[*mail.DeadLetter](c)
	if len(c.posts) != 0 || gate.Used() != 0 {
		t.Fatalf("%v, %d bytes charged", c.posts, gate.Used())
	}

	c.out.Posts = []mail.Post{{To: publisher, Mail: &mail.EnqueueReply{}}}
	c.fail(&mail.Enqueue{})
	if len(c.out.Posts) != 1 { // another ConsumerCancelled
		t.Fatalf("%v", c.out.Posts)
	}
}
