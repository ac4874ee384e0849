package queue

import (
	"errors"
	"fmt"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
)

func (c *core) deletes(m mail.DeleteMessages) (int, error) {
	c.t.Helper()
	m.ReplyTo = ch1
	c.feed(&m)
	r := one[*mail.DeleteMessagesReply](c)
	return r.Count, r.Err
}

// TestDeleteMessages_SBE8: the oldest ready messages are deleted; locked, deferred and too recent ones stay.
func TestDeleteMessages_SBE8(t *testing.T) {
	for _, limit := range []uint16{1, 3, workLimit} {
		c := newCore(t)
		c.state.turnLimit = limit
		c.put("1", "2")
		c.deferring(1)
		c.get(ch1)
		c.put("3", "4", "5")
		c.at(10)
		c.put("6", "7")
		if n, err := c.deletes(mail.DeleteMessages{Limit: 2}); n != 2 || err != nil {
			t.Error(n, err)
		}
		c.want("ready", c.ready(), "5", "6", "7")
		if n, err := c.deletes(mail.DeleteMessages{Limit: mail.MaxDeleted, Before: start + 10}); n != 1 || err != nil {
			t.Error(n, err)
		}
		c.want("ready", c.ready(), "6", "7")
		if n, err := c.deletes(mail.DeleteMessages{Limit: 1, Before: start + 10}); n != 0 || err != nil {
			t.Error(n, err)
		}
		if n, err := c.deletes(mail.DeleteMessages{Limit: mail.MaxDeleted}); n != 2 || err != nil {
			t.Error(n, err)
		}
		if d := c.describe1(); d.Unacked != 1 || d.Deferred != 1 {
			t.Errorf("%+v", d)
		}
		if dead, _ := c.died(); len(dead) > 0 {
			t.Error(dead)
		}
	}
}

// TestDeleteMessages_Sessions_SBE8: in a queue with sessions, only messages of a session locked by the requesting connection are
// deleted.
func TestDeleteMessages_Sessions_SBE8(t *testing.T) {
	c := newSessions(t)
	c.sends("A 1", "B 2", "A 3", "A 4")
	a := "A"
	if _, err := c.deletes(mail.DeleteMessages{Limit: 9, Connection: owner}); !errors.Is(err, mail.ErrSessionNeeded) {
		t.Error(err)
	}
	if _, err := c.deletes(mail.DeleteMessages{Limit: 9, Connection: owner, Session: &a}); !errors.Is(err, mail.ErrSessionLost) {
		t.Error(err)
	}
	c.wants(ch1, "a", "A", 0)
	holder := c.state.consumers.Unacked()
	if n, err := c.deletes(mail.DeleteMessages{Limit: 9, Connection: owner, Session: &a}); n+holder != 3 || err != nil {
		t.Error(n, err)
	}
	c.want("ready", c.ready(), "2")
	d := c.restartedAs(sessionConfig())
	if n := d.describe1().Ready; n != 1+holder {
		t.Error(n, "messages after a restart")
	}
}

// TestDeleteMessages_Turns_SBE8: a turn examines a limited number of messages, of any sessions.
func TestDeleteMessages_Turns_SBE8(t *testing.T) {
	c := newSessions(t)
	var batch []message.Message
	for n := range many {
		session := "B"
		if n%500 == 0 {
			session = "A"
		}
		batch = append(batch, ofSession(session, fmt.Sprint(n)))
	}
	c.publish(batch...)
	c.wants(ch1, "a", "A", 0)
	held := c.state.consumers.Unacked()
	a, deleted := "A", (many+499)/500-held
	all[*mail.EnqueueReply](c)
	turns := c.inTurns(&mail.DeleteMessages{
		Request: mail.Request{ReplyTo: ch1}, Limit: mail.MaxDeleted, Connection: owner, Session: &a,
	})
	if turns < many/workLimit {
		t.Errorf("%d messages were examined in %d turns", many, turns)
	}
	if r := one[*mail.DeleteMessagesReply](c); r.Count != deleted || r.Err != nil {
		t.Errorf("%+v, not %d", r, deleted)
	}
	if n := c.describe1().Ready; n != many-deleted-held {
		t.Error(n, "messages are left")
	}
}
