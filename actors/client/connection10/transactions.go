package connection10

import (
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
)

// transactionDue: a transaction may have expired.
type transactionDue struct{}

// sessionFailed: a session has ended without reporting its transactions.
type sessionFailed struct{ pid mail.Address }

// transact handles mail about transactions, and waits for the next one to expire.
func transact(c *connection, m any) {
	t := &c.work
	now := c.cfg.Clock.Real().Now().Floor()
	sessions := make([]mail.Address, 0, len(c.Children))
	for _, l := range c.Children {
		sessions = append(sessions, l.PID)
	}
	switch m := m.(type) {
	case *mail.DeclareTransaction:
		t.Declare(m, now)
	case *mail.DischargeTransaction:
		c.PostMu.Lock() // until the reader has sent all input read with the discharge, to other sessions too
		c.PostMu.Unlock()
		t.Discharge(m, sessions)
	case *mail.StepTransactionReply:
		t.Stepped(m, sessions)
	case *mail.AbandonTransactions:
		t.Abandon(m, sessions)
	case *sessionFailed:
		t.Failed(m.pid, sessions)
	case *mail.ChannelClosed:
		t.Gone(m.Channel, sessions)
	case *transactionDue:
		t.Expire(now, sessions)
	}
	for _, p := range t.Out {
		actorlib.Send(c.Root, p.To, p.Mail)
	}
	t.Out = nil
	stopTransactions(c)
	if at, ok := t.Next(); ok {
		c.patient = c.cfg.Clock.Real().At(at, func() { c.Post(&transactionDue{}) })
	}
}

// stopTransactions stops the timer.
func stopTransactions(c *connection) {
	if c.patient != nil {
		c.patient.Stop()
		c.patient = nil
	}
}
