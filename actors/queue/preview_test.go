package queue

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/policies"
	"candlemark/policies/changes"
)

func retroactive(s *policies.QueueSettings) { s.RetroactiveTTL = true }

// preview requests a preview of changed settings.
func (c *core) preview(change ...func(*policies.QueueSettings)) changes.Messages {
	c.t.Helper()
	c.feed(&mail.PreviewSettings{Request: mail.Request{ReplyTo: other}, Settings: settings(change...)})
	return one[*mail.SettingsPreview](c).Messages
}

// TestPreview_POL20: the preview shows the effects of the settings when they are applied.
func TestPreview_POL20(t *testing.T) {
	begun := func() *core {
		c := newCore(t, ttl(60_000))
		for i, own := range []int64{-1, 5_000, 90_000, -1} {
			c.at(int64(i) * 1000)
			c.publish(msg("m", own))
		}
		c.at(4000)
		return c
	}
	for name, tc := range map[string]struct {
		change []func(*policies.QueueSettings)
		want   changes.Messages
	}{
		"not retroactive":  {[]func(*policies.QueueSettings){ttl(10)}, changes.Messages{}},
		"shorter":          {[]func(*policies.QueueSettings){ttl(20_000), retroactive}, changes.Messages{Retimed: 3, Earliest: start + 20_000, Undoable: 3, UndoableUntil: start + 20_000}},
		"gone for some":    {[]func(*policies.QueueSettings){ttl(2_500), retroactive}, changes.Messages{Retimed: 4, Expiring: 2, Earliest: start + 2_500, Undoable: 2, UndoableUntil: start + 4_500}},
		"longer":           {[]func(*policies.QueueSettings){ttl(80_000), retroactive}, changes.Messages{Retimed: 3, Earliest: start + 80_000, Undoable: 3, UndoableUntil: start + 80_000}},
		"none":             {[]func(*policies.QueueSettings){retroactive}, changes.Messages{Retimed: 3, Earliest: start + 92_000, Undoable: 3, UndoableUntil: start + 92_000}},
		"strict":           {[]func(*policies.QueueSettings){ttl(2_500), retroactive, strict}, changes.Messages{Retimed: 4, Expiring: 2, AtMost: true, Earliest: start + 2_500, Undoable: 2, UndoableUntil: start + 4_500}},
		"fewer":            {[]func(*policies.QueueSettings){ttl(60_000), maxLength(1, "drop-head")}, changes.Messages{Dropped: 3}},
		"fewer, some gone": {[]func(*policies.QueueSettings){ttl(2_500), retroactive, maxLength(1, "drop-head")}, changes.Messages{Retimed: 4, Expiring: 2, Dropped: 1, Earliest: start + 2_500, Undoable: 2, UndoableUntil: start + 4_500}},
		"refused":          {[]func(*policies.QueueSettings){ttl(60_000), maxLength(1, "reject-publish")}, changes.Messages{}},
	} {
		t.Run(name, func(t *testing.T) {
			c := begun()
			got := c.preview(tc.change...)
			if got != tc.want {
				t.Errorf("got %+v\nwant %+v", got, tc.want)
			}
			if c.Backlog.Ready() != 4 {
				t.Error("the preview has changed something")
			}
			c.feed(&mail.Configure{Settings: settings(tc.change...)})
			if gone := 4 - c.Backlog.Ready(); gone != got.Expiring+got.Dropped {
				t.Errorf("%d of 4 are gone", gone)
			}
		})
	}
}

// TestPreviewOfUndo_POL20: the preview of the end of a retroactive TTL counts the messages that get back the deadline of
// their entry, and undoing it would give them the present one again; expired messages are not among them.
func TestPreviewOfUndo_POL20(t *testing.T) {
	c := newCore(t, dlx, ttl(60_000))
	c.publish(msg("a", -1), msg("b", 5_000), msg("c", 100), msg("d", -1))
	c.get(ch1)
	c.become(dlx, ttl(2_000), retroactive)
	c.at(1000) // c has expired, and waits for its dead-letter exchange
	c.at(1999)
	if got, want := c.preview(dlx, ttl(60_000)), (changes.Messages{Retimed: 3, Restored: 3, Earliest: start + 5_000, Undoable: 3, UndoableUntil: start + 5_000}); got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got, want := c.preview(dlx, ttl(3_000), retroactive), (changes.Messages{Retimed: 3, Earliest: start + 3_000, Undoable: 3, UndoableUntil: start + 3_000}); got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	c.at(2000)
	if got, want := c.preview(dlx, ttl(60_000)), (changes.Messages{Retimed: 1, Restored: 1, Earliest: start + 60_000, Undoable: 1, UndoableUntil: start + 60_000}); got != want {
		t.Errorf("only the unacknowledged one is left: got %+v\nwant %+v", got, want)
	}
}

// TestPreviewInTurns: a limited number of messages is examined per turn, and the queue handles other mail in between.
func TestPreviewInTurns(t *testing.T) {
	c := newCore(t, ttl(60_000))
	for range 1000 {
		c.publish(msg("m", -1))
	}
	c.slow, c.turnLimit = true, 64
	c.feed(&mail.PreviewSettings{Request: mail.Request{ReplyTo: other, ID: 1}, Settings: settings(ttl(50_000), retroactive)})
	turns := 1
	for c.posts = nil; c.waiting; turns++ {
		if turns == 3 {
			c.publish(msg("meanwhile", -1))
			if c.Backlog.Ready() != 1001 {
				t.Error("a publish waits for the preview")
			}
		}
		c.waiting = false
		c.feed(again{})
	}
	if m := one[*mail.SettingsPreview](c); m.ID != 1 || m.Retimed < 1000 || m.Retimed > 1001 || turns < 1000/64 {
		t.Errorf("%+v in %d turns", m, turns)
	}
}

// TestPreviewsOneAtATime: a new request replaces a waiting one, and each of them is answered.
func TestPreviewsOneAtATime(t *testing.T) {
	c := newCore(t, ttl(60_000))
	for range 300 {
		c.publish(msg("m", -1))
	}
	c.slow, c.turnLimit, c.posts = true, 64, nil
	for id := uint64(1); id <= 2; id++ {
		c.feed(&mail.PreviewSettings{Request: mail.Request{ReplyTo: other, ID: id}, Settings: settings(ttl(50_000), retroactive)})
	}
	if m := one[*mail.SettingsPreview](c); m.ID != 1 || m.Err == nil {
		t.Errorf("%+v", m)
	}
	c.slow = false
	c.feed(&mail.DeleteQueue{Request: mail.Request{ReplyTo: ch1}}, &mail.QueueForgotten{})
	for _, p := range c.posts {
		if m, ok := p.Mail.(*mail.SettingsPreview); ok {
			if m.ID != 2 {
				t.Errorf("%+v", m)
			}
			return
		}
	}
	t.Errorf("the preview was forgotten: %+v", c.posts)
}
