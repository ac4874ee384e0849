package queue

import (
	"errors"
	"strings"
	"testing"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/sessions"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/filter"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
	"candlemark/protocol"
)

// by publishes messages as copies of a rule of the topic "t".
func (c *core) by(rule, text string, messages ...message.Message) {
	c.t.Helper()
	c.of("t", rule, text, messages...)
}

// of publishes messages as copies of a rule of a topic.
func (c *core) of(topic, rule, text string, messages ...message.Message) {
	c.t.Helper()
	a, err := filter.ParseAction(text, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	a.Rule, a.ID = rule, topic+"/"+rule
	for i := range messages {
		c.number++
		messages[i].Number = c.number
	}
	c.feed(&mail.Enqueue{From: publisher, Messages: messages, Action: a})
}

// TestActions_SBR6: a copy is stored as the action changes it, in the session that it names then; a copy that cannot be made is
// dropped.
func TestActions_SBR6(t *testing.T) {
	c := newSessions(t)
	c.by("r", "SET sys.SessionId = 'new'", ofSession("old", "1"), ofSession("other", "2"))
	c.by("r", "REMOVE sys.SessionId", ofSession("old", "3"))
	c.by("r", "SET sys.SessionId = '"+strings.Repeat("x", 256)+"'", ofSession("old", "4"))
	acks, nacks := c.confirmed()
	c.wantNumbers("acks", acks, 1, 2, 3, 4)
	c.wantNumbers("nacks", nacks)
	c.want("ready", c.ready(), "1", "2")
	c.Backlog.Walk(func(h uint32) bool {
		var r backlog.Record
		c.Backlog.Get(h, &r)
		p, err := protocol.DecodeProperties(r.Header)
		id, _ := sessions.IDOf(r.Header)
		if rule, _ := p.Headers.Get(filter.RuleName); err != nil || rule != "r" || id != "new" {
			t.Errorf("%+v, %v", p, err)
		}
		return true
	})
}

// TestActionsAreNoDuplicates_SBR6: copies of one message by several rules are not duplicates of each other, but of the
// copies made when the publisher sends the message again, for any message-id that the action sets.
func TestActionsAreNoDuplicates_SBR6(t *testing.T) {
	c := newCore(t, window(1000))
	for range 2 {
		c.publish(named("plain", "id", false))
		c.by("one", "SET a = 1", named("one", "id", false))
		c.by("two", "SET sys.MessageId = newid()", named("two", "id", false))
		c.by("", "SET a = 1", named("three", "id", false))
	}
	c.want("ready", c.ready(), "plain", "one", "two", "three")
	if acks, _ := c.confirmed(); len(acks) != 8 || c.Counts.Duplicates != 4 {
		t.Errorf("%v confirmed, %d duplicates", acks, c.Counts.Duplicates)
	}
}

// TestActionsOfTopicsAreNoDuplicates_SBR6: copies by rules with the same name on two topics are not duplicates of each other.
func TestActionsOfTopicsAreNoDuplicates_SBR6(t *testing.T) {
	c := newCore(t, window(1000))
	for range 2 {
		c.of("one", "r", "SET a = 1", named("one", "id", false))
		c.of("two", "r", "SET a = 1", named("two", "id", false))
	}
	c.want("ready", c.ready(), "one", "two")
}

// TestFailedRules_SBR7: a message to which a rule cannot be applied is dead-lettered if the settings say so. Otherwise it is
// dropped if the rule failed on its way, and refused if the action fails here.
func TestFailedRules_SBR7(t *testing.T) {
	impossible := "SET sys.Label = '" + strings.Repeat("x", 256) + "'"
	failed := &filter.Action{Rule: "r", ID: "failed", Failed: true}
	on := func(s *policies.QueueSettings) { s.DeadLetterFailedRules = true }
	for _, whole := range []bool{false, true} {
		c := newCore(t, dlx, on, maxLength(1, "reject-publish"), ttl(100))
		stats := topology.NewVHost("/").NewQueueStats("q")
		c.put("full")
		c.by("r", impossible, msg("1", message.NoTTL))
		c.feed(&mail.Enqueue{From: publisher, Messages: []message.Message{{Number: 3, Body: []byte("2"), TTL: message.NoTTL}}, Action: failed, AllOrNone: whole})
		acks, nacks := c.confirmed()
		c.wantNumbers("acks", acks, 1, 2, 3)
		c.wantNumbers("nacks", nacks)
		c.want("dead", c.seenOff(), "rule_failed 1", "rule_failed 2")
		c.want("ready", c.ready(), "full")
		if stats.TakesFailures() {
			t.Error("on by default")
		}
	}
	for _, with := range []func(*policies.QueueSettings){dlx, on} {
		c := newCore(t, with)
		c.by("r", impossible, msg("1", message.NoTTL))
		c.feed(&mail.Enqueue{From: publisher, Messages: []message.Message{{Number: 2, Body: []byte("2"), TTL: message.NoTTL}}, Action: failed})
		acks, nacks := c.confirmed()
		c.wantNumbers("acks", acks, 1, 2) // the publisher cannot help it
		c.wantNumbers("nacks", nacks)
		c.want("dead", c.seenOff())
		c.want("ready", c.ready())
	}
}

// TestImpossibleCopies_SBR6: a copy that cannot be made, or that names no session, is dropped (mail.ErrCopy), but not refused; or
// dead-lettered as it was published (SBR-7).
func TestImpossibleCopies_SBR6(t *testing.T) {
	c := newSessions(t)
	for text, want := range map[string]error{
		"REMOVE sys.SessionId": mail.ErrCopy, "SET a = a + sys.MessageId; SET sys.Label = '" + strings.Repeat("x", 256) + "'": mail.ErrCopy, "SET a = 1": nil,
	} {
		c.by("r", text, ofSession("s", "1"))
		if got := one[*mail.EnqueueReply](c); got.Refused || !errors.Is(got.Why, want) || c.Backlog.Len() != 0 && want != nil {
			t.Errorf("%q: %+v", text, got)
		}
		c.feed(&mail.Purge{})
	}
	c = newSessions(t, dlx, func(s *policies.QueueSettings) { s.DeadLetterFailedRules = true })
	c.by("r", "SET made = 1; REMOVE sys.SessionId", ofSession("s", "1"))
	dead := one[*mail.DeadLetter](c)
	if p, err := protocol.DecodeProperties(dead.Messages[0].Header); err != nil || dead.Reason != "rule_failed" || p.AppID != "s" || p.Headers != nil {
		t.Errorf("%+v: %+v, %v", dead, p, err)
	}
}

// TestEnlargedCopiesArePaid_SBR6: the memory of a queue includes what actions add to its copies.
func TestEnlargedCopiesArePaid_SBR6(t *testing.T) {
	c := newCore(t)
	a := "SET a = 'x'" + strings.Repeat("; SET a = a + a", 12) + "; SET b = a; SET c = a; SET d = a"
	before := c.Backlog.Held()
	for range 10 {
		c.by("r", a, named("small", "id", false))
	}
	if taken := c.Backlog.Held() - before; taken < 10*4*filter.MaxText {
		t.Errorf("10 copies with 4 texts of %d bytes take %d", filter.MaxText, taken)
	}
}
