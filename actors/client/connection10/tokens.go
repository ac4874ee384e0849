package connection10

import (
	"cmp"
	"time"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/access/grants"
	"candlemark/internal/measure/clock"
)

// tokens are the client's tokens, and the timer for their expiry.
type tokens struct {
	table grants.Table
	timer *clock.Timer // for the next expiry
}

// tokenDue: a token may have expired.
type tokenDue struct{}

// tokenPatience is how late the expiry of a token may be noticed if the machine has slept, in ms; a client that sends
// or attaches is always checked at once.
const tokenPatience = int64(time.Minute / time.Millisecond)

// putToken stores a token that a session has checked.
func (c *connection) putToken(m *mail.PutToken) {
	g := &grants.Grant{User: auth.User{Name: m.User, Tags: m.Tags}, Ends: cmp.Or(m.Ends, grants.Never)}
	err := c.tokens.table.Put(m.Scope, g)
	if err == nil {
		c.announceAccess(m.Scope) // before the client gets the answer
		c.tokenDue()
	}
	actorlib.Send(c.Root, m.ReplyTo, &mail.PutTokenReply{Reply: m.Done(err)})
}

// tokenDue informs sessions of expired tokens, and waits for the next one.
func (c *connection) tokenDue() {
	t := &c.tokens
	now := c.cfg.Clock.Real().Now().Floor()
	if ended := t.table.Ended(now); len(ended) > 0 {
		c.announceAccess(ended...)
	}
	t.stop()
	if next := t.table.Next(); next != grants.Never {
		t.timer = c.cfg.Clock.Real().At(min(next, now+tokenPatience), func() { c.Post(&tokenDue{}) })
	}
}

// announceAccess makes the sessions check links to addresses in the given scopes again.
func (c *connection) announceAccess(scopes ...string) {
	for _, l := range c.Children {
		c.Root.Send(l.PID, &mail.AccessChanged{Scopes: scopes})
	}
}

func (t *tokens) stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}
