package transactions

import (
	"encoding/binary"
	"slices"

	"candlemark/actors/mail"
	"candlemark/internal/dialect/transactions"
	"candlemark/protocol/amqp10"
)

// Bounds (TXN-7).
const (
	// Most is how many transactions of a connection are open at most.
	Most = 64
	// Life is how many ms one may take from its declaration until it is discharged and all sessions are prepared.
	Life = 120_000
)

// Post is mail to be sent.
type Post struct {
	To   mail.Address
	What any
}

// Table has the transactions of a connection. The zero value has none.
type Table struct {
	Known  transactions.Known // those that work may be added to
	Out    []Post             // in order; who has sent it empties it
	open   []*transaction     // in the order of their declarations, which is that of their deadlines
	serial uint64
}

// transaction is one of them.
type transaction struct {
	id       string
	session  mail.Address // that has declared it,
	link     uint32       // on this link
	deadline int64        // wall ms
	step     mail.TransactionStep
	over     bool                       // its time is: it is kept so that the discharge is told
	broken   bool                       // a session that had work of it has ended
	asked    *mail.DischargeTransaction // nil while it is active
	waits    []mail.Address             // sessions that have yet to answer
	workers  []mail.Address             // that have work
	err      error                      // why it cannot be committed
}

// Declare opens a transaction. Times are in wall ms.
func (t *Table) Declare(m *mail.DeclareTransaction, now int64) {
	if len(t.open) >= Most { // those that nobody has discharged in time make room
		t.open = slices.DeleteFunc(t.open, func(x *transaction) bool { return x.over })
	}
	if len(t.open) >= Most {
		t.send(m.ReplyTo, &mail.TransactionDeclared{
			Reply: m.Done(amqp10.Errorf(amqp10.ResourceLimitExceeded, "a connection has at most %d transactions", Most)),
		})
		return
	}
	t.serial++
	id := binary.BigEndian.AppendUint64(nil, t.serial)
	t.open = append(t.open, &transaction{id: string(id), session: m.Session, link: m.Link, deadline: now + Life})
	t.Known.Set(id, true)
	t.send(m.ReplyTo, &mail.TransactionDeclared{Reply: m.Done(nil), ID: id})
}

// Discharge ends a transaction. Sessions are all that there are.
func (t *Table) Discharge(m *mail.DischargeTransaction, sessions []mail.Address) {
	x := t.find(string(m.ID))
	switch {
	case x == nil || x.asked != nil:
		t.send(m.ReplyTo, &mail.TransactionDischarged{Reply: m.Done(transactions.ErrUnknown())})
	case x.over:
		x.asked, x.err = m, amqp10.Errorf(transactions.Timeout, "the transaction has taken longer than %d s", Life/1000)
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

// begin has some sessions do a step.
func (t *Table) begin(x *transaction, step mail.TransactionStep, who, sessions []mail.Address) {
	x.step, x.waits = step, slices.Clone(who)
	for _, s := range who {
		t.send(s, &mail.StepTransaction{ID: x.id, Step: step})
	}
	t.goOn(x, sessions)
}

// Stepped takes the answer of a session.
func (t *Table) Stepped(m *mail.TransactionStepped, sessions []mail.Address) {
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
	t.goOn(x, sessions)
}

// answered notes that a session is not waited for any more. False: it was not.
func (x *transaction) answered(session mail.Address) bool {
	n := len(x.waits)
	x.waits = slices.DeleteFunc(x.waits, session.Equal)
	return len(x.waits) < n
}

// goOn begins the next step once the last one is done.
func (t *Table) goOn(x *transaction, sessions []mail.Address) {
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

// end has all sessions forget what is left of a transaction, and whoever has discharged it told.
func (t *Table) end(x *transaction, sessions []mail.Address) {
	t.forget(x, sessions)
	t.open = slices.DeleteFunc(t.open, func(y *transaction) bool { return x == y })
	if x.asked != nil {
		t.send(x.asked.ReplyTo, &mail.TransactionDischarged{Reply: x.asked.Done(x.err)})
	}
}

func (t *Table) forget(x *transaction, sessions []mail.Address) {
	t.Known.Set([]byte(x.id), false)
	for _, s := range sessions {
		t.send(s, &mail.StepTransaction{ID: x.id, Step: mail.ForgetTransaction})
	}
}

// Abandon rolls back what depends on a link or a session that ends, unless that is decided.
func (t *Table) Abandon(m *mail.AbandonTransactions, sessions []mail.Address) {
	for _, x := range slices.Clone(t.open) {
		own := x.session.Equal(m.Session) && (m.Ends || x.link == m.Link)
		switch {
		case m.Ends && slices.Contains(m.IDs, x.id):
			x.broken = true
			t.lost(x, m.Session, sessions)
		case x.asked == nil && own:
			t.end(x, sessions)
		}
	}
}

// lost notes that a session with work of a transaction will not go on with it. One that is not discharged yet is broken.
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
	t.goOn(x, sessions)
}

// Gone notes that a session has ended: it has said before what that does to its work. Sessions are those that are left.
func (t *Table) Gone(session mail.Address, sessions []mail.Address) {
	t.Abandon(&mail.AbandonTransactions{Session: session, Ends: true}, sessions)
	for _, x := range slices.Clone(t.open) {
		switch {
		case x.step != mail.PrepareTransaction && slices.ContainsFunc(x.waits, session.Equal):
			t.lost(x, session, sessions)
		case x.answered(session):
			t.goOn(x, sessions)
		}
	}
}

// Failed notes that a session has ended without a word: nobody knows what work it had.
func (t *Table) Failed(session mail.Address, sessions []mail.Address) {
	for _, x := range slices.Clone(t.open) {
		x.broken = true
		t.lost(x, session, sessions)
	}
}

// Expire rolls back what is not decided in time.
func (t *Table) Expire(now int64, sessions []mail.Address) {
	for _, x := range slices.Clone(t.open) {
		switch {
		case x.over || x.deadline > now || x.step != mail.PrepareTransaction:
		case x.asked != nil:
			x.err = amqp10.Errorf(transactions.Timeout, "the transaction has taken longer than %d s", Life/1000)
			t.end(x, sessions)
		default:
			x.over = true
			t.forget(x, sessions)
		}
	}
}

// Next is when Expire is to be called, in wall ms; false for never.
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

func (t *Table) send(to mail.Address, what any) { t.Out = append(t.Out, Post{to, what}) }
