package transactions

import (
	"encoding/binary"
	"slices"

	"candlemark/actors/system/mail"
	"candlemark/internal/servicebus/dialect/transactions"
	"candlemark/protocol/amqp10"
)

// Limits (TXN-7).
const (
	// MaxOpen is the maximum number of open transactions of a connection.
	MaxOpen = 64
	// Life is the time, in ms, that a transaction may take from its declaration until it is discharged and all sessions
	// are prepared.
	Life = 120_000
)

// Table holds the transactions of a connection. The zero value is empty.
type Table struct {
	Known  transactions.Known // transactions that can get more work
	Out    mail.Posts         // in order; emptied by the sender
	open   []*transaction     // in the order of declaration, and so of deadline
	serial uint64
}

// transaction is one transaction of a connection.
type transaction struct {
	id       string
	session  mail.Address // the session that declared it,
	link     uint32       // on this link
	deadline int64        // wall ms
	step     mail.TransactionStep
	over     bool                       // expired; kept to answer its discharge
	broken   bool                       // a session with work for it has ended
	asked    *mail.DischargeTransaction // nil while active
	waits    []mail.Address             // sessions with outstanding answers
	workers  []mail.Address             // sessions with work
	err      error                      // why it cannot be committed
}

// Declare opens a transaction. Times are in wall ms.
func (t *Table) Declare(m *mail.DeclareTransaction, now int64) {
	if len(t.open) >= MaxOpen { // expired ones make room
		t.open = slices.DeleteFunc(t.open, func(x *transaction) bool { return x.over })
	}
	if len(t.open) >= MaxOpen {
		t.Out.Send(m.ReplyTo, &mail.DeclareTransactionReply{
			Reply: m.Done(amqp10.Errorf(amqp10.ResourceLimitExceeded, "a connection may have at most %d open transactions", MaxOpen)),
		})
		return
	}
	t.serial++
	id := binary.BigEndian.AppendUint64(nil, t.serial)
	t.open = append(t.open, &transaction{id: string(id), session: m.Session, link: m.Link, deadline: now + Life})
	t.Known.Set(id, true)
	t.Out.Send(m.ReplyTo, &mail.DeclareTransactionReply{Reply: m.Done(nil), ID: id})
}

// Discharge commits or rolls back a transaction. sessions are all sessions of the connection.
func (t *Table) Discharge(m *mail.DischargeTransaction, sessions []mail.Address) {
	x := t.find(string(m.ID))
	switch {
	case x == nil || x.asked != nil:
		t.Out.Send(m.ReplyTo, &mail.DischargeTransactionReply{Reply: m.Done(transactions.ErrUnknown())})
	case x.over:
		x.asked, x.err = m, amqp10.Errorf(transactions.Timeout, "the transaction exceeded its time limit of %d s", Life/1000)
		t.end(x, sessions)
	case m.Fail:
		x.asked = m
		t.end(x, sessions)
	case x.broken:
		x.asked, x.err = m, transactions.ErrRollback("a session ended")
		t.end(x, sessions)
	default:
		x.asked = m
		t.begin(x, mail.PrepareTransaction, sessions, sessions)
	}
}

// begin starts a step in some sessions.
func (t *Table) begin(x *transaction, step mail.TransactionStep, who, sessions []mail.Address) {
	x.step, x.waits = step, slices.Clone(who)
	for _, s := range who {
		t.Out.Send(s, &mail.StepTransaction{ID: x.id, Step: step})
	}
	t.proceed(x, sessions)
}

// Stepped handles the answer of a session.
func (t *Table) Stepped(m *mail.StepTransactionReply, sessions []mail.Address) {
	x := t.find(m.ID)
	if x == nil || x.step != m.Step || !x.answered(m.Session) {
		return
	}
	if m.Work && m.Step == mail.PrepareTransaction {
		x.workers = append(x.workers, m.Session)
	}
	if x.err == nil {
		x.err = m.Err
	}
	t.proceed(x, sessions)
}

// answered removes a session from the sessions with outstanding answers, and reports whether it was one of them.
func (x *transaction) answered(session mail.Address) bool {
	n := len(x.waits)
	x.waits = slices.DeleteFunc(x.waits, func(a mail.Address) bool { return mail.Same(a, session) })
	return len(x.waits) < n
}

// waitsFor reports whether an answer of a session is outstanding.
func (x *transaction) waitsFor(session mail.Address) bool {
	return slices.ContainsFunc(x.waits, func(a mail.Address) bool { return mail.Same(a, session) })
}

// proceed starts the next step once the last one is done.
func (t *Table) proceed(x *transaction, sessions []mail.Address) {
	switch {
	case len(x.waits) > 0 && (x.err == nil || x.step != mail.PrepareTransaction):
	case x.err != nil || x.step == mail.SettleTransaction:
		t.end(x, sessions)
	case x.step == mail.PrepareTransaction:
		t.Known.Set([]byte(x.id), false)
		t.begin(x, mail.PublishTransaction, x.workers, sessions)
	default:
		t.begin(x, mail.SettleTransaction, x.workers, sessions)
	}
}

// end makes all sessions forget the rest of a transaction, and answers its discharge.
func (t *Table) end(x *transaction, sessions []mail.Address) {
	t.forget(x, sessions)
	t.open = slices.DeleteFunc(t.open, func(y *transaction) bool { return x == y })
	if x.asked != nil {
		t.Out.Send(x.asked.ReplyTo, &mail.DischargeTransactionReply{Reply: x.asked.Done(x.err)})
	}
}

func (t *Table) forget(x *transaction, sessions []mail.Address) {
	t.Known.Set([]byte(x.id), false)
	for _, s := range sessions {
		t.Out.Send(s, &mail.StepTransaction{ID: x.id, Step: mail.ForgetTransaction})
	}
}

// Abandon rolls back the undecided transactions of a link or session that ends.
func (t *Table) Abandon(m *mail.AbandonTransactions, sessions []mail.Address) {
	for _, x := range slices.Clone(t.open) {
		own := mail.Same(x.session, m.Session) && (m.Ends || x.link == m.Link)
		switch {
		case m.Ends && slices.Contains(m.IDs, x.id):
			x.broken = true
			t.lost(x, m.Session, sessions)
		case x.asked == nil && own:
			t.end(x, sessions)
		}
	}
}

// lost handles the loss of a session with work for a transaction. A transaction that is not discharged yet becomes
// broken.
func (t *Table) lost(x *transaction, session mail.Address, sessions []mail.Address) {
	x.answered(session)
	switch {
	case x.asked == nil:
		return
	case x.err != nil:
	case x.step == mail.PrepareTransaction:
		x.err = transactions.ErrRollback("a session ended")
	default:
		x.err = amqp10.Errorf(amqp10.InternalError, "a session ended while the transaction was committed")
	}
	t.proceed(x, sessions)
}

// Gone handles the end of a session that has already reported the effect on its work. sessions are the remaining ones.
func (t *Table) Gone(session mail.Address, sessions []mail.Address) {
	t.Abandon(&mail.AbandonTransactions{Session: session, Ends: true}, sessions)
	for _, x := range slices.Clone(t.open) {
		switch {
		case x.step != mail.PrepareTransaction && x.waitsFor(session):
			t.lost(x, session, sessions)
		case x.answered(session):
			t.proceed(x, sessions)
		}
	}
}

// Failed handles the end of a session that has not reported this: its work is unknown.
func (t *Table) Failed(session mail.Address, sessions []mail.Address) {
	for _, x := range slices.Clone(t.open) {
		x.broken = true
		t.lost(x, session, sessions)
	}
}

// Expire rolls back transactions that clients have not decided in time.
func (t *Table) Expire(now int64, sessions []mail.Address) {
	for _, x := range slices.Clone(t.open) {
		switch {
		case x.over || x.deadline > now || x.step != mail.PrepareTransaction:
		case x.asked != nil:
			x.err = amqp10.Errorf(transactions.Timeout, "the transaction exceeded its time limit of %d s", Life/1000)
			t.end(x, sessions)
		default:
			x.over = true
			t.forget(x, sessions)
		}
	}
}

// Next returns when Expire has to be called, in wall ms; false for never.
func (t *Table) Next() (at int64, ok bool) {
	for _, x := range t.open {
		if !x.over && x.step == mail.PrepareTransaction {
			return x.deadline, true
		}
	}
	return 0, false
}

func (t *Table) find(id string) *transaction {
	for _, x := range t.open {
		if x.id == id {
			return x
		}
	}
	return nil
}
