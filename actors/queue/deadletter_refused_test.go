package queue

import (
	"errors"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/policies"
)

// A queue without a place for dead letters refuses ToDeadLetters, and the delivery stays until its deadline; a client that does
// not wait for the answer gets the message again. As soon as there is a dead-letter exchange, the message is dead-lettered.
func TestToDeadLetters_SBE14(t *testing.T) {
	c := newCore(t, timeout(1000))
	c.put("1", "2")
	c.get(ch1)
	c.get(ch1)
	c.feed(&mail.Settle{Channel: ch1, Asked: &mail.Request{ReplyTo: ch1}, Ranges: []mail.SettleRange{{First: 1, Last: 2, How: mail.ToDeadLetters}}})
	var refused *mail.NotDeadLettered
	if r := one[*mail.SettleReply](c); !errors.As(r.Err, &refused) || refused.Again || refused.Queue != c.queue.Name || len(r.Lost) > 0 {
		t.Errorf("%+v", r)
	}
	if n := c.consumers.Unacked(); n != 2 {
		t.Errorf("%d unacked", n)
	}
	c.settle(ch1, mail.ToDeadLetters, 1, 1)
	if c.Backlog.Ready() != 1 || c.consumers.Unacked() != 1 {
		t.Errorf("%d ready, %d unacked", c.Backlog.Ready(), c.consumers.Unacked())
	}
	c.feed(&mail.SettleLocked{Request: mail.Request{ReplyTo: ch1}, How: mail.ToDeadLetters})
	if r := one[*mail.SettleLockedReply](c); !errors.As(r.Err, &refused) {
		t.Errorf("%+v", r)
	}
	c.feed(&mail.PrepareWork{Request: mail.Request{ReplyTo: ch1}, Channel: ch1, Numbers: []uint64{2}, DeadLetters: true})
	if r := one[*mail.PrepareWorkReply](c); !errors.As(r.Err, &refused) {
		t.Errorf("%+v", r)
	}
	c.at(1000)
	if c.Backlog.Ready() != 2 {
		t.Errorf("%d ready after the deadline", c.Backlog.Ready())
	}

	settings := c.Settings
	settings.HasDLX, settings.DeadLetterExchange = true, "x"
	c.feed(&mail.Configure{Settings: settings, Effective: policies.Effective{}})
	c.get(ch1)
	c.settle(ch1, mail.ToDeadLetters, 3, 3)
	if sent := all[*mail.DeadLetter](c); len(sent) != 1 {
		t.Errorf("%d mails with dead letters", len(sent))
	}
}
