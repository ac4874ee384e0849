package queue

import (
	"fmt"
	"testing"

	"candlemark/actors/queue/deadletters"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/policies"
)

// insisting configures at-least-once dead-lettering (DL-30).
func insisting(s *policies.QueueSettings) {
	dlx(s)
	s.Overflow, s.DeadLetterAtLeastOnce, s.DeliveryLimit = "reject-publish", true, -1
}

func durableCore(t *testing.T, change ...func(*policies.QueueSettings)) *core {
	cfg := testConfig(settings(change...))
	cfg.Queue.Durable = true
	return newCoreOf(t, cfg)
}

// letters takes the messages sent to be dead-lettered.
func (c *core) letters() (bodies []string, ids []uint64, care mail.Guarantee) {
	for _, l := range all[*mail.DeadLetter](c) {
		care = l.Guarantee
		for _, d := range l.Messages {
			bodies, ids = append(bodies, string(d.Body)), append(ids, d.Number)
		}
	}
	return bodies, ids, care
}

// keep answers as the dead-letter actor that these messages are retained.
func (c *core) keep(ids ...uint64) {
	m := &mail.DeadLetterReply{Incarnation: 7}
	for _, id := range ids {
		m.Retained = append(m.Retained, mail.Retained{ID: id})
	}
	c.feed(m)
}

func (c *core) takenCareOf(ids ...uint64) {
	m := &mail.DeadLetterReply{Incarnation: 7}
	for _, id := range ids {
		m.Add(id)
	}
	c.feed(m)
}

// TestRetry_DL30: messages that could not be enqueued are sent again, with growing delays, and at once when one of them was
// taken.
func TestRetry_DL30(t *testing.T) {
	c := newQuorum(t, insisting, ttl(10))
	c.put("a", "b")
	c.at(10)
	dead, ids, care := c.letters()
	c.want("dead", dead, "a", "b")
	if care != mail.AtLeastOnce {
		t.Errorf("care %d", care)
	}
	at, wait := int64(10), int64(deadletters.MinRetryDelay)
	for range 10 {
		c.keep(ids...)
		c.at(at + wait - 1)
		if dead, _, _ := c.letters(); len(dead) > 0 {
			t.Fatalf("%v after less than %d ms", dead, wait)
		}
		at += wait
		c.at(at)
		dead, ids, _ = c.letters()
		c.want("again", dead, "a", "b")
		wait = min(2*wait, deadletters.MaxRetryDelay)
	}
	c.put("c")
	c.at(at + 10)
	dead, more, _ := c.letters()
	c.want("a new one is sent at once", dead, "c")
	c.keep(ids[1])
	c.keep(more...)
	c.takenCareOf(ids[0])
	c.at(at + 11)
	dead, ids, _ = c.letters()
	c.want("at once", dead, "b", "c")
	c.takenCareOf(ids...)
	if c.at(at + 100_000); c.Backlog.Len() != 0 || c.DeadLetters.Counts().Bytes != 0 || c.DeadLetters.Counts().UnderWay != 0 {
		t.Errorf("%d left, %d bytes, %d out", c.Backlog.Len(), c.DeadLetters.Counts().Bytes, c.DeadLetters.Counts().UnderWay)
	}
}

// TestRetained_DL30: retained messages count towards the limits, in messages and bytes.
func TestRetained_DL30(t *testing.T) {
	for name, limit := range map[string]func(*policies.QueueSettings){
		"messages": func(s *policies.QueueSettings) { s.MaxLength = 2 },
		"bytes":    func(s *policies.QueueSettings) { s.MaxLengthBytes = 2 },
	} {
		c := newQuorum(t, insisting, ttl(10), limit)
		c.put("a", "b")
		c.at(10)
		_, ids, _ := c.letters()
		c.keep(ids...)
		c.confirmed()
		c.put("c")
		if _, nacks := c.confirmed(); len(nacks) != 1 {
			t.Errorf("%s: taken above the limit", name)
		}
		c.at(1010)
		_, ids, _ = c.letters()
		c.takenCareOf(ids[0])
		c.put("d")
		if acks, _ := c.confirmed(); len(acks) != 1 {
			t.Errorf("%s: refused below the limit", name)
		}
	}
}

// TestRetryRemembersTargets_DL30: a retry names the targets that already have the message.
func TestRetryRemembersTargets_DL30(t *testing.T) {
	c := newQuorum(t, insisting, ttl(10))
	c.put("a")
	c.at(10)
	_, ids, _ := c.letters()
	c.feed(&mail.DeadLetterReply{Incarnation: 7, Retained: []mail.Retained{{ID: ids[0], Taken: []mail.Target{{Actor: ch1.GetId()}}}}})
	c.at(1010)
	if l := one[*mail.DeadLetter](c); len(l.Taken[l.Messages[0].Number]) != 1 || l.Taken[l.Messages[0].Number][0].Actor != ch1.GetId() {
		t.Errorf("%+v", l.Taken)
	}
}

// TestRetryClassic_DL29: a durable classic queue retries a limited number of times, a transient one not at all.
func TestRetryClassic_DL29(t *testing.T) {
	c := durableCore(t, dlx, ttl(10))
	c.put("a")
	c.at(10)
	for i := range deadletters.RetryLimit {
		dead, ids, care := c.letters()
		if len(dead) != 1 || care != mail.RetryRefused {
			t.Fatalf("attempt %d: %v, care %d", i, dead, care)
		}
		c.keep(ids...)
		c.at(c.ms() + deadletters.MaxRetryDelay)
	}
	dead, ids, care := c.letters()
	if len(dead) != 1 || care != mail.Drop {
		t.Fatalf("the last: %v, care %d", dead, care)
	}
	if c.takenCareOf(ids...); c.Backlog.Len() != 0 {
		t.Error("it is still there")
	}
	c = newCore(t, dlx, ttl(10))
	c.put("a")
	c.at(10)
	if _, _, care := c.letters(); care != mail.Drop {
		t.Errorf("transient: care %d", care)
	}
}

// TestRetriesTakeTheirTime_DL29: rounds that begin at once, because a full target takes one dead letter after the other, do not use
// up the retries of the others.
func TestRetriesTakeTheirTime_DL29(t *testing.T) {
	c := durableCore(t, dlx, ttl(10))
	c.put(bodies(1, 30)...)
	c.at(10)
	_, ids, _ := c.letters()
	c.keep(ids...)
	c.at(1010)
	for i := range 20 {
		dead, ids, care := c.letters()
		if len(dead) != 30-i || care != mail.RetryRefused {
			t.Fatalf("round %d: %d, care %d", i, len(dead), care)
		}
		c.keep(ids[1:]...)
		c.takenCareOf(ids[0])
		c.at(c.ms() + 1)
	}
	for {
		dead, ids, care := c.letters()
		if len(dead) != 10 || care != mail.Drop && c.ms() > 2*deadletters.RetrySpan {
			t.Fatalf("after %d ms: %d, care %d", c.ms(), len(dead), care)
		}
		if care == mail.Drop {
			break
		}
		c.keep(ids...)
		c.at(c.ms() + deadletters.MaxRetryDelay)
	}
	if c.ms() < deadletters.RetrySpan {
		t.Errorf("given up after %d ms", c.ms())
	}
}

// TestRetryRounds_DL30: each round sends at most Limit messages, in turn.
func TestRetryRounds_DL30(t *testing.T) {
	c := newQuorum(t, insisting, ttl(10))
	c.put(bodies(1, deadletters.Limit)...)
	c.at(10)
	_, ids, _ := c.letters()
	c.keep(ids...)
	c.put(bodies(deadletters.Limit+1, deadletters.Limit+5)...)
	c.at(20)
	_, ids, _ = c.letters()
	c.keep(ids...)
	c.at(1010)
	dead, ids, _ := c.letters()
	if len(dead) != deadletters.Limit || dead[0] != "1" {
		t.Fatalf("%d, the first %s", len(dead), dead[0])
	}
	c.keep(ids...)
	c.at(3010)
	dead, _, _ = c.letters()
	if len(dead) != deadletters.Limit || dead[0] != fmt.Sprint(deadletters.Limit+1) || dead[5] != "1" {
		t.Fatalf("%d, the first %s", len(dead), dead[0])
	}
}

// TestRetryEnds_LEASE7: retries end with the queue, or with its dead-letter exchange.
func TestRetryEnds_LEASE7(t *testing.T) {
	waiting := func(t *testing.T) *core {
		c := newQuorum(t, insisting, ttl(10), expires(5000))
		c.put("a")
		c.at(10)
		_, ids, _ := c.letters()
		c.keep(ids...)
		return c
	}
	t.Run("lost", func(t *testing.T) {
		c := waiting(t)
		c.feed(&mail.DeadLetterReply{Incarnation: 7, Lost: true})
		dead, ids, _ := c.letters()
		c.want("all again", dead, "a")
		c.takenCareOf(ids...)
		c.at(2000)
		dead, _, _ = c.letters()
		c.want("once", dead)
	})
	t.Run("no exchange any more", func(t *testing.T) {
		c := waiting(t)
		c.feed(&mail.Configure{Settings: settings()})
		if c.Backlog.Len() != 0 || c.DeadLetters.Counts().Bytes != 0 {
			t.Errorf("%d left", c.Backlog.Len())
		}
	})
	t.Run("no at-least-once any more", func(t *testing.T) {
		c := waiting(t)
		c.feed(&mail.Configure{Settings: settings(dlx)})
		c.at(1010)
		if _, ids, care := c.letters(); len(ids) != 1 || care != mail.Drop && care != mail.RetryRefused {
			t.Errorf("%v, care %d", ids, care)
		}
	})
	for _, refused := range []bool{false, true} {
		t.Run(fmt.Sprint("the queue goes, refused ", refused), func(t *testing.T) {
			c := waiting(t)
			c.feed(&mail.DeleteQueue{Request: mail.Request{ReplyTo: ch1}})
			_, ids, care := c.letters()
			if len(ids) != 1 || care != mail.Drop || c.phase != closing {
				t.Fatalf("%v, care %d, phase %d", ids, care, c.phase)
			}
			want := 0
			if refused { // the answer to an attempt with a stronger guarantee
				c.keep(ids...)
				want = 1
			} else {
				c.takenCareOf(ids...)
			}
			if m := one[*mail.QueueRetiring](c); !m.Deleted || m.Ending != "" || m.Lost != want {
				t.Errorf("%+v", m)
			}
			c.feed(&mail.QueueForgotten{})
			if r := one[*mail.DeleteQueueReply](c); c.phase != ended || r.MessageCount != want {
				t.Errorf("phase %d, %d messages", c.phase, r.MessageCount)
			}
		})
	}
}

// TestRefusedIsDeadLettered_DL29: a full target with reject-publish-dlx confirms a dead letter, so that it is not sent again.
func TestRefusedIsDeadLettered_DL29(t *testing.T) {
	c := newCore(t, maxLength(0, "reject-publish-dlx"), dlx)
	m := msg("a", -1)
	m.Number = 1
	c.feed(&mail.Enqueue{From: deadLetterPID, Messages: []message.Message{m}})
	acks, nacks := c.confirmed()
	c.wantNumbers("acks", acks, 1)
	c.wantNumbers("nacks", nacks)
	c.want("dead", c.seenOff(), "maxlen a")
}

// TestDeadLetterQueue_DL30: dead letters are retained until the dead-letter queue takes them, even in a transient queue, and do
// not count towards its limit.
func TestDeadLetterQueue_DL30(t *testing.T) {
	c := newCore(t, ttl(10), maxLength(2, ""), func(s *policies.QueueSettings) {
		s.DeadLetterQueue = true
		*s = s.Routed("q")
	})
	c.put("a", "b")
	c.at(10)
	dead, ids, care := c.letters()
	c.want("dead", dead, "a", "b")
	if care != mail.AtLeastOnce {
		t.Errorf("care %d", care)
	}
	c.keep(ids...)
	c.put("c")
	c.want("behind the limit", c.ready(), "c")
	c.at(1010)
	dead, ids, _ = c.letters()
	c.want("again", dead, "c", "a", "b")
	c.takenCareOf(ids...)
	if c.Backlog.Len() != 0 {
		t.Errorf("%d left", c.Backlog.Len())
	}
}
