package queue

import (
	"errors"
	"strings"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/filter"
	"candlemark/internal/routing/message"
	"candlemark/policies"
	"candlemark/protocol"
)

// whole publishes messages as one all-or-none batch, and returns the numbers of acks and nacks.
func (c *core) whole(messages ...message.Message) (acks, nacks int) {
	for i := range messages {
		c.number++
		messages[i].Number = c.number
	}
	c.feed(&mail.Enqueue{From: publisher, AllOrNone: true, Messages: messages})
	a, n := c.confirmed()
	return len(a), len(n)
}

func texts(bodies ...string) (list []message.Message) {
	for _, b := range bodies {
		list = append(list, msg(b, message.NoTTL))
	}
	return list
}

// An all-or-none batch is accepted or refused as a whole, and dead-lettered as a whole.
func TestWhole_DL10(t *testing.T) {
	bytes := func(s *policies.QueueSettings) { s.MaxLengthBytes, s.Overflow = 3, "reject-publish" }
	for _, tt := range []struct {
		name   string
		change func(*policies.QueueSettings)
		dead   int
	}{
		{"messages", maxLength(3, "reject-publish"), 0},
		{"bytes", bytes, 0},
		{"dead letters", maxLength(3, "reject-publish-dlx"), 3},
	} {
		c := newCore(t, dlx, tt.change)
		c.put("a")
		c.confirmed()
		if acks, nacks := c.whole(texts("1", "2", "3")...); acks != 0 || nacks != 3 || len(c.seenOff()) != tt.dead {
			t.Errorf("%s: %d, %d", tt.name, acks, nacks)
		}
		c.want(tt.name, c.ready(), "a")
		if acks, nacks := c.whole(texts("4", "5")...); acks != 2 || nacks != 0 {
			t.Errorf("%s: %d, %d", tt.name, acks, nacks)
		}
		c.want(tt.name, c.ready(), "a", "4", "5")
	}
	c := newCore(t, maxLength(2, "drop-head"))
	c.whole(texts("1", "2", "3")...)
	c.want("drop-head", c.ready(), "2", "3")
}

// Duplicates, of accepted messages and within the batch, and scheduled messages need no room.
func TestWholeCountsWhatComes_DL10(t *testing.T) {
	c := newCore(t, window(1000), delaying, maxLength(3, "reject-publish"))
	c.publish(named("1", "a", false))
	c.confirmed()
	batch := func() []message.Message {
		return []message.Message{named("no", "a", false), named("2", "b", false), named("no", "b", false), heldBack("later", 500), named("3", "", false)}
	}
	if acks, nacks := c.whole(append(batch(), named("4", "", false))...); acks != 0 || nacks != 6 || c.Scheduled.Len() != 0 {
		t.Errorf("too many: %d, %d", acks, nacks)
	}
	if acks, nacks := c.whole(batch()...); acks != 5 || nacks != 0 || c.Scheduled.Len() != 1 {
		t.Errorf("%d, %d", acks, nacks)
	}
	c.want("ready", c.ready(), "1", "2", "3")
}

// Of a batch that does not fit, the messages that need room are dead-lettered, as changed by the rule's action.
func TestWholeOverflow_DL10(t *testing.T) {
	c := newCore(t, window(1000), delaying, dlx, maxLength(3, "reject-publish-dlx"))
	c.publish(named("1", "a", false))
	c.confirmed()
	a, err := filter.ParseAction("SET made = 'yes'", nil)
	if err != nil {
		t.Fatal(err)
	}
	for by, want := range map[*filter.Action]string{nil: "", a: "yes"} {
		list := []message.Message{named("2", "b", false), named("no", "b", false), heldBack("later", 500), named("3", "", false), named("4", "", false)}
		if by == nil {
			list = append(list, named("no", "a", false))
		}
		for i := range list {
			c.number++
			list[i].Number = c.number
		}
		c.feed(&mail.Enqueue{From: publisher, AllOrNone: true, Messages: list, Action: by})
		if acks, nacks := c.confirmed(); len(acks) != 0 || len(nacks) != len(list) || c.Scheduled.Len() != 0 {
			t.Errorf("%d, %d", len(acks), len(nacks))
		}
		d := one[*mail.DeadLetter](c)
		var dead []string
		for i := range d.Messages {
			p, err := protocol.DecodeProperties(d.Messages[i].Header)
			made, _ := p.Headers.Get("made")
			if text, _ := made.(string); err != nil || text != want {
				t.Errorf("%+v, %v", p, err)
			}
			dead = append(dead, string(d.Messages[i].Body))
		}
		c.want("dead", dead, "2", "3", "4")
		c.takenCareOf(d.Messages[0].Number, d.Messages[1].Number, d.Messages[2].Number)
	}
}

// TestWholeOfCopies_DL10: the messages of a batch are checked as changed by the rule's action. Copies that cannot be made are no
// reason to refuse the others.
func TestWholeOfCopies_DL10(t *testing.T) {
	long := strings.Repeat("x", 200)
	for text, want := range map[string]int{"SET sys.SessionId = color": 1, "REMOVE sys.SessionId": 0, "SET sys.Label = color + '" + long + "'": 2, "SET a = 1": 3} {
		c := newSessions(t)
		a, err := filter.ParseAction(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		colored := func(color, body string) message.Message {
			m := ofSession("s", body)
			p, _ := protocol.DecodeProperties(m.Header)
			if color != "" {
				p.Flags, p.Headers = p.Flags|protocol.FlagHeaders, protocol.Table{{Key: "color", Value: color}}
			}
			m.Header = p.Append(nil)
			c.number++
			m.Number = c.number
			return m
		}
		c.feed(&mail.Enqueue{From: publisher, AllOrNone: true, Action: a, Messages: []message.Message{colored("red", "1"), colored("", "2"), colored(long, "3")}})
		acks, nacks := c.confirmed()
		if taken := c.Backlog.Len(); taken != want || len(acks) != 3 || len(nacks) != 0 {
			t.Errorf("%q: %v, %v, %d messages", text, acks, nacks, taken)
		}
	}
	c := newCore(t, delaying, maxLength(1, "reject-publish"))
	a, _ := filter.ParseAction("SET \"x-delay\" = 500", nil)
	c.number += 2
	c.feed(&mail.Enqueue{From: publisher, AllOrNone: true, Action: a, Messages: texts("1", "2")})
	if c.Scheduled.Len() != 2 {
		t.Errorf("%d scheduled: those need no room", c.Scheduled.Len())
	}
}

// One message that cannot be accepted causes all to be refused: one without a session, or a persistent one when the disk is full.
func TestWholeIsRefusedForOne_DL10(t *testing.T) {
	c := newSessions(t)
	if acks, nacks := c.whole(ofSession("a", "1"), msg("2", -1), ofSession("a", "3")); acks != 0 || nacks != 3 || c.Backlog.Len() != 0 {
		t.Errorf("%d, %d, %d messages", acks, nacks, c.Backlog.Len())
	}
	if acks, _ := c.whole(ofSession("a", "1"), ofSession("b", "2")); acks != 2 {
		t.Errorf("%d", acks)
	}
	c = durableCore(t)
	c.disk.err = errors.New("disk full")
	persistent := func(body string) message.Message { return named(body, "", true) }
	c.publish(persistent("lost"))
	c.confirmed()
	before := c.Backlog.Len()
	if acks, nacks := c.whole(msg("1", -1), persistent("2")); acks != 0 || nacks != 2 || c.Backlog.Len() != before {
		t.Errorf("%d, %d, %d messages", acks, nacks, c.Backlog.Len())
	}
	if acks, nacks := c.whole(msg("1", -1), msg("2", -1)); acks != 2 || nacks != 0 {
		t.Errorf("%d, %d", acks, nacks)
	}
}
