package queue

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"candlemark/actors/queue/deadletters"
	"candlemark/actors/queue/paging"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
	"candlemark/policies"
)

// pressedCore returns a durable queue that pages out all contents in every turn.
func pressedCore(t *testing.T, change ...func(*policies.QueueSettings)) *core {
	c := durableCore(t, change...)
	c.pressed = func() bool { return true }
	return c
}

// trust publishes persistent messages with the same TTL.
func (c *core) trust(ttl int64, bodies ...string) {
	batch := make([]message.Message, len(bodies))
	for i, b := range bodies {
		batch[i] = msg(b, ttl)
		setPersistent(&batch[i], true)
	}
	c.publish(batch...)
}

// damage makes a message unreadable.
func (c *core) damage(body string, err error) {
	for seq, r := range c.disk.puts {
		if string(r.Body) == body {
			if c.disk.bad == nil {
				c.disk.bad = map[uint64]error{}
			}
			c.disk.bad[seq] = err
		}
	}
}

// reasonsOf lists the reasons for removals, from the records.
func (c *core) reasonsOf() (why []store.Reason) {
	for _, r := range c.records {
		for n := r.First; r.Kind == store.Remove && n <= r.Last; n++ {
			why = append(why, r.Why)
		}
	}
	return why
}

func TestDamagedIsNeverServed(t *testing.T) {
	for _, err := range []error{store.ErrDamaged, store.ErrUnknown} {
		c := pressedCore(t)
		c.trust(-1, "a", "b", "c", "d")
		c.damage("a", err)
		c.damage("c", err)
		c.consume(ch1, "x", 0)
		c.want("delivered", c.delivered("x"), "b", "d")
		if c.Counts.Damaged != 2 || c.Backlog.Len() != 2 || !slices.Equal(c.reasonsOf(), []store.Reason{store.Damaged, store.Damaged}) {
			t.Errorf("%v: %d damaged of %d, removed: %v", err, c.Counts.Damaged, c.Backlog.Len(), c.reasonsOf())
		}
	}
}

func TestDamagedAmongTheDead_DL9(t *testing.T) {
	c := pressedCore(t, dlx)
	c.trust(10, "a", "b", "c")
	c.damage("a", store.ErrDamaged)
	c.damage("c", store.ErrDamaged)
	c.at(10)
	c.want("dead", c.seenOff(), "expired b")
	if c.Backlog.Len() != 0 || c.DeadLetters.Counts().UnderWay != 0 || c.DeadLetters.Counts().Bytes != 0 || c.DeadLetters.Counts().Len != 0 {
		t.Errorf("%d messages, %d with the dead-letter actor", c.Backlog.Len(), c.DeadLetters.Counts().UnderWay)
	}
}

func TestUnreadableForNow(t *testing.T) {
	c := pressedCore(t)
	c.trust(-1, "a", "b")
	c.damage("a", errors.New("the disk is slow to wake"))
	c.consume(ch1, "x", 0)
	c.at(paging.ReadPause - 1)
	c.want("delivered", c.delivered("x"))
	clear(c.disk.bad)
	c.at(paging.ReadPause + 1)
	c.want("delivered", c.delivered("x"), "a", "b")
}

// TestGetsWait: gets wait for contents, in order; gets of an ended channel are dropped.
func TestGetsWait(t *testing.T) {
	c := pressedCore(t)
	c.disk.late = true
	c.trust(-1, "a", "b", "c")
	for _, ch := range []mail.Address{ch1, ch2, ch1} {
		c.feed(&mail.Get{Request: mail.Request{ReplyTo: ch}, Channel: ch, Connection: owner})
	}
	c.feed(&mail.ChannelGone{Channel: ch2})
	if n := len(all[*mail.GetReply](c)); n != 0 {
		t.Fatalf("%d answers", n)
	}
	c.disk.late = false
	c.arrive()
	var bodies []string
	for _, r := range all[*mail.GetReply](c) {
		bodies = append(bodies, text(r.Delivery))
	}
	c.want("got", bodies, "a", "b")
}

// TestExpiresWhileItIsRead_TTL17: a message that expires while it is read is not delivered, and is dead-lettered once.
func TestExpiresWhileItIsRead_TTL17(t *testing.T) {
	c := pressedCore(t, dlx)
	c.disk.late = true
	c.trust(10, "a")
	c.trust(-1, "b")
	c.consume(ch1, "x", 0)
	c.at(11)
	c.disk.late = false
	c.arrive()
	c.want("dead", c.seenOff(), "expired a")
	c.want("delivered", c.delivered("x"), "b")
}

// TestDeadWaitAndComeBack_DL29: dead letters that were not taken are paged out, and read for the next attempt.
func TestDeadWaitAndComeBack_DL29(t *testing.T) {
	c := pressedCore(t, dlx)
	c.trust(10, "a", "b")
	c.at(10)
	dead, ids := c.died()
	c.want("dead", dead, "expired a", "expired b")
	c.feed(&mail.DeadLetterReply{Incarnation: 7, Retained: []mail.Retained{{ID: ids[0].First}, {ID: ids[1].First}}})
	if c.Backlog.Paged() != 2 {
		t.Fatalf("%d paged out", c.Backlog.Paged())
	}
	c.at(10 + deadletters.MinRetryDelay + 1)
	c.want("dead", c.seenOff(), "expired a", "expired b")
	if c.Backlog.Len() != 0 {
		t.Errorf("%d left", c.Backlog.Len())
	}
}

// TestSpill: transient messages are paged out, too, and the journal removes them with their queue.
func TestSpill(t *testing.T) {
	c := newCore(t)
	c.pressed = func() bool { return true }
	c.put("a", "b", "c")
	if c.Backlog.Paged() != 3 || c.Backlog.Contents() != 0 {
		t.Fatalf("%d paged out, %d bytes in memory", c.Backlog.Paged(), c.Backlog.Contents())
	}
	acks, _ := c.confirmed()
	c.wantNumbers("acks", acks, 1, 2, 3)
	c.consume(ch1, "x", 2)
	c.want("delivered", c.delivered("x"), "a", "b")
	c.settle(ch1, mail.Ack, 1, 1)
	c.want("delivered", c.delivered("x"), "c")
	c.feed(&mail.ChannelGone{Channel: ch1})
	c.want("ready", c.ready(), "b", "c")
	if len(c.disk.puts) != 2 {
		t.Errorf("the journal has %d", len(c.disk.puts))
	}
	c.feed(&mail.DeleteQueue{}, &mail.QueueForgotten{})
	if last := c.records[len(c.records)-1]; last.Kind != store.Retire {
		t.Errorf("the last record is %+v", last)
	}
}

// TestFarewellOfWhatIsPaged_LEASE13: a paged-out backlog is read to be dead-lettered; a get that waits for a content gets an
// error when the queue ends.
func TestFarewellOfWhatIsPaged_LEASE13(t *testing.T) {
	c := pressedCore(t, dlx, expires(1000), func(s *policies.QueueSettings) { s.ExpiresDeadLettersBacklog = true })
	c.trust(-1, "a", "b")
	c.at(1000)
	c.vhostAnswers()
	c.want("dead", c.seenOff(), "expired a", "expired b")
	if c.vhostAnswers(); c.phase != ended {
		t.Errorf("phase %d", c.phase)
	}

	c = pressedCore(t)
	c.trust(-1, "a")
	c.disk.late = true
	c.feed(&mail.Get{Request: mail.Request{ReplyTo: ch1}, Channel: ch1, Connection: owner}, &mail.DeleteQueue{}, &mail.QueueForgotten{})
	if r := one[*mail.GetReply](c); r.Err == nil {
		t.Error("the get was answered")
	}
}

// TestMemoryIsBounded: only the next messages of a long queue stay in memory, with and without consumers.
func TestMemoryIsBounded(t *testing.T) {
	for _, persistent := range []bool{true, false} {
		t.Run(fmt.Sprintf("persistent=%v", persistent), func(t *testing.T) {
			c := durableCore(t)
			body := make([]byte, 1000)
			for range 20_000 / 50 {
				var batch []message.Message
				for range 50 {
					m := message.Message{Header: []byte{0, 0}, Body: body, TTL: -1}
					setPersistent(&m, persistent)
					batch = append(batch, m)
				}
				c.OverLimit = c.Backlog.Contents() > 4<<20
				c.publish(batch...)
			}
			c.OverLimit = true
			c.feed(&mail.Trim{})
			if n := c.Backlog.Contents(); n > 2*paging.WindowIdle {
				t.Errorf("%d bytes in memory without consumers", n)
			}
			c.consume(ch1, "x", 0)
			seen, most := 0, int64(0)
			for m := 0; ; {
				d := all[*mail.Deliver](c)
				if len(d) == 0 {
					break
				}
				bytes := 0
				for _, x := range d {
					seen += len(x.Items)
					m += len(x.Items)
					bytes += len(x.Items) * len(body)
				}
				c.settle(ch1, mail.Ack, 1, uint64(seen))
				c.feed(&mail.ReturnWindow{Channel: ch1, Tag: "x", Messages: m, Bytes: bytes})
				m = 0
				most = max(most, c.Backlog.Contents())
			}
			if seen != 20_000 || most > 2*paging.WindowBusy {
				t.Errorf("%d delivered, up to %d bytes in memory", seen, most)
			}
		})
	}
}

// TestWrittenAndGone: a message that arrives and ends in one turn is not written.
func TestWrittenAndGone(t *testing.T) {
	c := durableCore(t, maxLength(2, ""))
	c.hold = true
	c.trust(-1, "a", "b", "c", "d", "e")
	var put []string
	for _, r := range c.records {
		if r.Kind != store.Put {
			t.Fatalf("record %+v", r)
		}
		put = append(put, string(r.Body))
	}
	c.want("written", put, "d", "e")
	acks, _ := c.confirmed()
	c.wantNumbers("before the journal has it", acks)
	c.settleCommit()
	acks, _ = c.confirmed()
	c.wantNumbers("acks", acks, 1, 2, 3, 4, 5)
	if c.Backlog.Place(func() uint32 { h, _ := c.Backlog.First(); return h }()) == 0 {
		t.Error("the first has no place")
	}

	c = durableCore(t, maxLength(0, ""))
	c.hold = true
	c.trust(-1, "a", "b")
	acks, _ = c.confirmed()
	if c.wantNumbers("acks", acks, 1, 2); len(c.records) != 0 {
		t.Errorf("%d records", len(c.records))
	}
}

// TestCreditUntilItIsStored: a publisher's bytes are charged until the journal has stored them.
func TestCreditUntilItIsStored(t *testing.T) {
	c := durableCore(t)
	c.hold = true
	gate := message.NewGate(1000)
	publish := func(persistent bool) {
		m := msg("m", -1)
		setPersistent(&m, persistent)
		m.Owned = false
		c.feed(&mail.Enqueue{From: publisher, Messages: []message.Message{m}, Chunk: gate.NewChunk(500)})
	}
	publish(false)
	if gate.Used() != 0 {
		t.Errorf("%d bytes are under way", gate.Used())
	}
	publish(true)
	if gate.Used() != 500 {
		t.Errorf("%d bytes are under way", gate.Used())
	}
	c.settleCommit()
	if gate.Used() != 0 {
		t.Errorf("%d bytes stay", gate.Used())
	}
	publish(true)
	c.fail(nil)
	if gate.Used() != 0 {
		t.Errorf("%d bytes stay with a queue that failed", gate.Used())
	}
}

// TestNobodyOvertakes_TTL20: while the first message is read from the disk, a new one waits behind it even if a consumer has
// room; one with a TTL of 0 expires.
func TestNobodyOvertakes_TTL20(t *testing.T) {
	c := pressedCore(t)
	c.trust(-1, "a", "b")
	c.disk.late = true
	c.consume(ch1, "x", 0)
	c.trust(-1, "c")
	c.put("d")
	c.publish(own("now or never"))
	c.want("while it is read", c.delivered("x"))
	c.disk.late = false
	c.arrive()
	c.want("delivered", c.delivered("x"), "a", "b", "c", "d")
}
