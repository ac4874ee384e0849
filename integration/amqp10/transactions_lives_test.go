package amqp10

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit"
	"candlemark/protocol/amqp10"
	"candlemark/supervision"

	"github.com/Azure/go-amqp"
	"github.com/asynkron/protoactor-go/actor"
)

// life is a queue that ends while a transaction has work for it: by a panic, after which it is restarted, or by deletion.
type life struct {
	queue   string
	deleted bool
	poison  atomic.Bool
}

func (l *life) fault(who *actor.PID, what any) bool {
	_, ok := what.(*mail.Get)
	return ok && strings.Contains(who.Id, "/queue/"+l.queue+"/") && l.poison.CompareAndSwap(true, false)
}

func (l *life) ends(b *testkit.Bubble) {
	ch := b.Connect().Open()
	if l.deleted {
		if _, err := ch.QueueDelete(l.queue, false, false, false); err != nil {
			b.Fatal(err)
		}
	} else {
		l.poison.Store(true)
		_, _, _ = ch.Get(l.queue, false)
	}
	b.Advance(time.Second)
}

// TestQueueGone_TXN6: work for a queue that has ended or crashed since is not committed, even if the queue is back by now, and
// the work that other queues had prepared is rolled back.
func TestQueueGone_TXN6(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		for _, name := range []string{"q", "held"} {
			l := &life{queue: name, deleted: deleted}
			testkit.RunStored(t, func(cfg *supervision.Config) { cfg.Fault = l.fault }, l.test)
		}
	}
}

func (l *life) test(b *testkit.Bubble) {
	b.Log.Allow("actor panicked", "a queue ended", "closing connection")
	c := connect(b, nil)
	defer func() { _ = c.conn.Close() }()
	x := l.begin(b, c)
	txn := x.declare()
	if x.settle(txn, 1, amqp10.Accepted); l.queue == "held" {
		x.settle(txn, 0, amqp10.Accepted)
	} else {
		x.put(txn, "a")
	}
	l.ends(b)
	if s := x.discharge(txn, false); s != "amqp:transaction:rollback" {
		b.Errorf("%s, deleted %v: %q", l.queue, l.deleted, s)
	}
	txn = x.declare()
	if d := x.settle(txn, 1, amqp10.Accepted); d.State.Kind != amqp10.Transactional {
		b.Errorf("%s, deleted %v: %+v", l.queue, l.deleted, d)
	}
	if s := x.discharge(txn, false); s != "" {
		b.Errorf("%s, deleted %v: then %q", l.queue, l.deleted, s)
	}
	_ = x.Close()
	if m := c.next(c.receiver("/queues/safe", nil)); m != nil {
		b.Error("what was committed comes again")
	}
	if l.deleted {
		return
	}
	if m := c.next(c.receiver("/queues/q", nil)); m != nil {
		b.Errorf("%s was rolled back", m.GetData())
	}
	c.want(c.receiver("/queues/held", nil), "1")
}

// begin returns a client that holds a message of the queue held, delivery 0, and one of the queue safe, delivery 1.
func (l *life) begin(b *testkit.Bubble, c *client) *transactor {
	ch := b.Connect().Open()
	for _, q := range []string{"q", "held", "safe"} {
		if _, err := ch.QueueDeclare(q, true, false, false, false, nil); err != nil {
			b.Fatal(err)
		}
	}
	c.put(c.sender("/queues/held", nil), "1")
	c.put(c.sender("/queues/safe", nil), "1")
	x := transacts(b.T, b, "/queues/q", "/queues/held")
	x.want(amqp10.CodeTransfer)
	x.receives(2, "/queues/safe")
	x.want(amqp10.CodeTransfer)
	return x
}

// receives attaches another receiver to session 2, with credit.
func (x *transactor) receives(handle uint32, from string) {
	r := receiving(handle, "")
	r.Name, r.Source.Address, r.RcvSettleMode = from, amqp10.Some(from), amqp10.ReceiverFirst
	x.send(2, r)
	x.want(amqp10.CodeAttach)
	x.send(2, &amqp10.Flow{
		NextIncomingID: amqp10.Some(uint32(0)), IncomingWindow: 1000, OutgoingWindow: 100, Handle: amqp10.Some(handle),
		DeliveryCount: amqp10.Some(uint32(0)), LinkCredit: amqp10.Some(uint32(100)),
	})
}

// TestRange_TXN3: a range of deliveries is answered by ranges, also if one of them was settled elsewhere: that one is lost, and
// the transaction is rolled back.
func TestRange_TXN3(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		if _, err := b.Connect().Open().QueueDeclare("other", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		var bodies []string
		for i := range 50 {
			bodies = append(bodies, fmt.Sprint(i))
		}
		c.put(c.sender("q", nil), bodies...)
		x := transacts(t, b, "/queues/other", "q")
		var token amqp.UUID
		for i := range 50 {
			tr := x.want(amqp10.CodeTransfer).(*amqp10.Transfer)
			if i == 20 {
				token = tokenOf(&amqp.Message{DeliveryTag: tr.DeliveryTag})
			}
		}
		settle := func(txn []byte) (received string) {
			x.send(2, &amqp10.Disposition{
				Role: amqp10.RoleReceiver, First: 0, Last: amqp10.Some(uint32(49)),
				State: amqp10.State{Kind: amqp10.Transactional, TxnID: txn, Outcome: amqp10.AppendComposite(nil, &amqp10.State{Kind: amqp10.Accepted})},
			})
			for n := 0; n < 50; {
				d := x.want(amqp10.CodeDisposition).(*amqp10.Disposition)
				n += int(d.Last.Or(d.First)-d.First) + 1
				received += fmt.Sprintf("%d-%d %x %v, ", d.First, d.Last.Or(d.First), d.State.Kind, d.Settled)
			}
			return received
		}
		if got, want := settle([]byte{9}), "0-49 25 false, "; got != want {
			t.Errorf("unknown: %s, want %s", got, want)
		}
		txn := x.declare()
		if got, want := settle(txn), "0-49 34 false, "; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		x.discharge(txn, true)
		if code := c.node("q").dispose("completed", []amqp.UUID{token}, nil); code != 200 {
			t.Error(code)
		}
		txn = x.declare()
		if got, want := settle(txn), "20-20 25 true, 0-19 34 false, 21-49 34 false, "; got != want {
			t.Errorf("with one that is lost: %s, want %s", got, want)
		}
		if s := x.discharge(txn, false); s != "amqp:transaction:rollback" {
			t.Error(s)
		}
	})
}
