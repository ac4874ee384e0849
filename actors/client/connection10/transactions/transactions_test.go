package transactions

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/servicebus/dialect/transactions"
	"candlemark/protocol/amqp10"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connection has three sessions, a to c; the coordinator's link is on session c.
type connection struct {
	*testing.T
	Table
	sessions []mail.Address
}

func open(t *testing.T) *connection {
	c := &connection{T: t}
	for _, name := range "abc" {
		c.sessions = append(c.sessions, address.Named(name))
	}
	return c
}

// sent lists the mail since the last call: steps as "session step", answers as "declared" or "discharged" with their conditions.
func (c *connection) sent() (all []string) {
	for _, p := range c.Out {
		switch m := p.Mail.(type) {
		case *mail.StepTransaction:
			all = append(all, p.To.GetId()+" "+[...]string{"prepare", "publish", "settle", "forget"}[m.Step])
		case *mail.DeclareTransactionReply:
			all = append(all, "declared"+condition(m.Err))
		case *mail.DischargeTransactionReply:
			all = append(all, "discharged"+condition(m.Err))
		}
	}
	c.Out = nil
	return all
}

func condition(err error) string {
	var e *amqp10.Error
	if errors.As(err, &e) {
		return " " + string(e.Condition)
	}
	return ""
}

func (c *connection) want(what string, want ...string) {
	c.Helper()
	if got := c.sent(); !slices.Equal(got, want) {
		c.Errorf("%s: %q, want %q", what, got, want)
	}
}

// declare declares a transaction at a given time, on a link of session c.
func (c *connection) declare(link uint32, now int64) []byte {
	c.Helper()
	c.Declare(&mail.DeclareTransaction{Request: mail.Request{ReplyTo: c.sessions[2]}, Session: c.sessions[2], Link: link}, now)
	id := c.Out[0].Mail.(*mail.DeclareTransactionReply).ID
	c.want("declare", "declared")
	if !c.Known.Has(id) {
		c.Error("not known")
	}
	return id
}

func (c *connection) discharge(id []byte, fail bool) {
	c.Discharge(&mail.DischargeTransaction{Request: mail.Request{ReplyTo: c.sessions[2]}, ID: id, Fail: fail}, c.sessions)
}

func (c *connection) step(session int, id []byte, step mail.TransactionStep, work bool, err error) {
	c.Stepped(&mail.StepTransactionReply{ID: string(id), Step: step, Session: c.sessions[session], Work: work, Err: err}, c.sessions)
}

var forgotten = []string{"a forget", "b forget", "c forget"}

func TestCommit_TXN6(t *testing.T) {
	c := open(t)
	id := c.declare(0, 0)
	c.discharge(id, false)
	c.want("discharge", "a prepare", "b prepare", "c prepare")
	c.step(0, id, mail.PrepareTransaction, true, nil)
	c.step(0, id, mail.PrepareTransaction, true, nil) // a duplicate
	c.step(2, id, mail.PrepareTransaction, false, nil)
	c.want("one is missing")
	if !c.Known.Has(id) {
		t.Error("what was sent before the discharge is refused")
	}
	c.step(1, id, mail.PrepareTransaction, true, nil)
	c.want("prepared", "a publish", "b publish")
	if _, ok := c.Next(); ok || c.Known.Has(id) {
		t.Error("it is decided, and may expire or grow")
	}
	c.Expire(Life, c.sessions)
	c.step(1, id, mail.PublishTransaction, true, nil)
	c.want("one is missing")
	c.step(0, id, mail.PublishTransaction, true, nil)
	c.want("published", "a settle", "b settle")
	c.step(0, id, mail.SettleTransaction, true, nil)
	c.step(1, id, mail.SettleTransaction, true, nil)
	c.want("settled", append(forgotten, "discharged")...)
	c.discharge(id, false)
	c.want("again", "discharged amqp:transaction:unknown-id")
}

func TestCommitOfNothing_TXN6(t *testing.T) {
	c := open(t)
	id := c.declare(0, 0)
	c.discharge(id, false)
	for i := range 3 {
		c.step(i, id, mail.PrepareTransaction, false, nil)
	}
	c.want("nothing", append([]string{"a prepare", "b prepare", "c prepare"}, append(forgotten, "discharged")...)...)
}

func TestRollback_TXN4(t *testing.T) {
	c := open(t)
	id := c.declare(0, 0)
	c.discharge(id, true)
	c.want("fail", append(forgotten, "discharged")...)
	c.discharge(id, true)
	c.want("again", "discharged amqp:transaction:unknown-id")
	if c.Known.Has(id) {
		t.Error("still known")
	}
	id = c.declare(0, 0)
	c.discharge(id, false)
	c.sent()
	c.discharge(id, true)
	c.want("while it ends", "discharged amqp:transaction:unknown-id")
	c.step(1, id, mail.PrepareTransaction, true, transactions.ErrRollback("it has to be"))
	c.want("one cannot", append(forgotten, "discharged amqp:transaction:rollback")...)
	c.step(0, id, mail.PrepareTransaction, true, nil)
	c.want("late")
}

// A transaction is rolled back when the link that declared it, or its session, ends.
func TestAbandon_TXN4(t *testing.T) {
	c := open(t)
	first, second, third := c.declare(1, 0), c.declare(2, 0), c.declare(2, 0)
	c.discharge(third, false) // not rolled back
	c.sent()
	c.Abandon(&mail.AbandonTransactions{Session: c.sessions[0], Link: 2}, c.sessions)
	c.want("another's link")
	c.Abandon(&mail.AbandonTransactions{Session: c.sessions[2], Link: 2}, c.sessions)
	c.want("link", forgotten...)
	c.Abandon(&mail.AbandonTransactions{Session: c.sessions[2], Ends: true}, c.sessions)
	c.want("session", forgotten...)
	for i, id := range [][]byte{first, second} {
		if c.Known.Has(id) {
			t.Errorf("%d is known", i)
		}
	}
	for i := range 3 {
		c.step(i, third, mail.PrepareTransaction, false, nil)
	}
	c.want("what was discharged before", append(forgotten, "discharged")...)
}

// A transaction is rolled back when a session with work in it ends; a session without work is not waited for.
func TestSessionEnds_TXN4(t *testing.T) {
	rollback := append(forgotten, "discharged amqp:transaction:rollback")
	for _, before := range []bool{true, false} {
		c := open(t)
		id := c.declare(0, 0)
		ends := func() {
			c.Abandon(&mail.AbandonTransactions{Session: c.sessions[0], Ends: true, IDs: []string{string(id)}}, c.sessions)
			c.Gone(c.sessions[0], c.sessions)
		}
		if before {
			ends()
			c.want("nothing yet")
		}
		c.discharge(id, false)
		if !before {
			c.sent()
			ends()
		}
		c.want(fmt.Sprint("before ", before), rollback...)
	}
	c := open(t)
	id := c.declare(0, 0)
	c.discharge(id, false)
	c.step(1, id, mail.PrepareTransaction, true, nil)
	c.step(2, id, mail.PrepareTransaction, false, nil)
	c.sent()
	c.Gone(c.sessions[0], c.sessions)
	c.want("without work", "b publish")
	c.Abandon(&mail.AbandonTransactions{Session: c.sessions[1], Ends: true, IDs: []string{string(id)}}, c.sessions)
	c.want("nobody knows", append(forgotten, "discharged amqp:internal-error")...)
}

func TestTime_TXN7(t *testing.T) {
	c := open(t)
	first, second := c.declare(0, 5), c.declare(0, 6)
	if at, ok := c.Next(); at != Life+5 || !ok {
		t.Error(at, ok)
	}
	c.discharge(second, false)
	c.sent()
	c.Expire(Life+4, c.sessions)
	c.want("early")
	c.Expire(Life+5, c.sessions)
	c.want("in time", forgotten...)
	c.Expire(Life+5, c.sessions)
	c.want("once")
	c.Expire(Life+6, c.sessions)
	c.want("while it is prepared", append(forgotten, "discharged amqp:transaction:timeout")...)
	if _, ok := c.Next(); ok || c.Known.Has(first) {
		t.Error("it is still open")
	}
	c.discharge(first, false)
	c.want("discharge", append(forgotten, "discharged amqp:transaction:timeout")...)
	c.discharge(first, false)
	c.want("again", "discharged amqp:transaction:unknown-id")
}

func TestLimit_TXN7(t *testing.T) {
	c := open(t)
	for i := range MaxOpen {
		c.declare(0, int64(i))
	}
	c.Declare(&mail.DeclareTransaction{Request: mail.Request{ReplyTo: c.sessions[2]}, Session: c.sessions[2]}, 0)
	c.want("one more", "declared amqp:resource-limit-exceeded")
	c.Expire(Life, c.sessions)
	c.sent()
	c.declare(0, 0)
	if len(c.open) != MaxOpen {
		t.Errorf("%d are kept", len(c.open))
	}
}

// When a session ends while it publishes, the rest of the commit is not carried out: its messages may be lost.
func TestGoneWhilePublishing_TXN4(t *testing.T) {
	c := open(t)
	id := c.declare(0, 0)
	c.discharge(id, false)
	c.step(0, id, mail.PrepareTransaction, true, nil)
	c.step(1, id, mail.PrepareTransaction, true, nil)
	c.step(2, id, mail.PrepareTransaction, false, nil)
	c.sent()
	c.step(1, id, mail.PublishTransaction, true, nil)
	c.Gone(c.sessions[0], c.sessions[1:])
	c.want("nobody knows", "b forget", "c forget", "discharged amqp:internal-error")
}

// When a prepared session ends or fails, the transaction is rolled back.
func TestLostBehindPrepare_TXN4(t *testing.T) {
	for _, ends := range []func(c *connection, id []byte){
		func(c *connection, id []byte) {
			c.Abandon(&mail.AbandonTransactions{Session: c.sessions[0], Ends: true, IDs: []string{string(id)}}, c.sessions)
		},
		func(c *connection, _ []byte) { c.Failed(c.sessions[0], c.sessions) },
	} {
		c := open(t)
		id := c.declare(0, 0)
		c.discharge(id, false)
		c.sent()
		c.step(0, id, mail.PrepareTransaction, true, nil)
		ends(c, id)
		c.want("one is lost", append(forgotten, "discharged amqp:transaction:rollback")...)
	}
}
