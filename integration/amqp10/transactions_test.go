package amqp10

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/protocol/amqp10"
)

// transactor is a client that writes frames: session 1 has the coordinator, session 2 has a sender (handle 0) to the queue q and
// a receiver (handle 1) from the queue held.
type transactor struct {
	*raw
	t       *testing.T
	ids     [3]uint32 // next delivery-id by channel
	settled bool      // its transfers are settled
}

func transacts(t *testing.T, b *testkit.Bubble, sendTo, receiveFrom string) *transactor {
	t.Helper()
	x := &transactor{raw: openRaw(b, opening()), t: t}
	for channel := range uint16(2) {
		x.send(channel+1, beginning())
		x.want(amqp10.CodeBegin)
	}
	x.send(1, &amqp10.Attach{
		Name: "coordinator", Role: amqp10.RoleSender, InitialDeliveryCount: amqp10.Some(uint32(0)), Source: &amqp10.Source{},
		Coordinator: &amqp10.Coordinator{Capabilities: []amqp10.Symbol{"amqp:local-transactions"}},
	})
	if a := x.want(amqp10.CodeAttach).(*amqp10.Attach); a.Coordinator == nil || !slices.Contains(a.Coordinator.Capabilities, "amqp:multi-ssns-per-txn") {
		t.Fatalf("%+v", a)
	}
	s := sending(0, "")
	s.Target.Address = amqp10.Some(sendTo)
	x.send(2, s)
	x.want(amqp10.CodeAttach)
	x.receives(1, receiveFrom)
	return x
}

// transfer sends a message, in a transaction unless txn is nil, and returns its outcome.
func (x *transactor) transfer(channel uint16, txn []byte, message []byte) amqp10.State {
	x.t.Helper()
	x.post(channel, txn, message)
	return x.want(amqp10.CodeDisposition).(*amqp10.Disposition).State
}

// post is transfer without waiting for the outcome.
func (x *transactor) post(channel uint16, txn []byte, message []byte) {
	x.postTo(0, channel, txn, message)
}

// postTo is post for a link with another handle.
func (x *transactor) postTo(handle uint32, channel uint16, txn []byte, message []byte) {
	id := x.ids[channel]
	x.ids[channel]++
	tr := &amqp10.Transfer{Handle: handle, DeliveryID: amqp10.Some(id), DeliveryTag: binary.BigEndian.AppendUint32(nil, id), Settled: x.settled}
	if txn != nil {
		tr.State = amqp10.State{Kind: amqp10.Transactional, TxnID: txn}
	}
	b := append(amqp10.AppendFrame(nil, channel, tr), message...)
	binary.BigEndian.PutUint32(b, uint32(len(b)))
	x.say(b)
}

// coordinate returns a message for the coordinator.
func (x *transactor) coordinate(code uint64, fields ...any) []byte {
	v, err := amqp10.Append(nil, amqp10.Described{Descriptor: code, Value: amqp10.List(fields)})
	if err != nil {
		x.t.Fatal(err)
	}
	return amqp10.AppendSection(nil, amqp10.SectionValue, v)
}

func (x *transactor) declare() []byte {
	x.t.Helper()
	s := x.transfer(1, nil, x.coordinate(0x31))
	if s.Kind != amqp10.Declared || len(s.TxnID) == 0 {
		x.t.Fatalf("%+v", s)
	}
	return slices.Clone(s.TxnID)
}

// discharge returns the condition of a refusal, or "".
func (x *transactor) discharge(txn []byte, fail bool) string {
	x.t.Helper()
	return x.outcome(x.transfer(1, nil, x.coordinate(0x32, txn, fail)))
}

func (x *transactor) outcome(s amqp10.State) string {
	x.t.Helper()
	switch {
	case s.Kind == amqp10.Accepted:
		return ""
	case s.Kind == amqp10.Rejected && s.Error != nil:
		return string(s.Error.Condition)
	}
	return fmt.Sprintf("%x", s.Kind)
}

// put sends a body in a transaction, and fails the test unless it is provisionally accepted.
func (x *transactor) put(txn []byte, body string) {
	x.t.Helper()
	s := x.transfer(2, txn, append(amqp10.AppendDataHead(nil, len(body)), body...))
	if s.Kind != amqp10.Transactional || string(s.TxnID) != string(txn) || string(s.Outcome) != "\x00\x53\x24\x45" {
		x.t.Fatalf("%+v", s)
	}
}

// settle settles a delivery in a transaction, and returns the answer.
func (x *transactor) settle(txn []byte, id uint32, how amqp10.StateKind) *amqp10.Disposition {
	x.t.Helper()
	x.send(2, &amqp10.Disposition{Role: amqp10.RoleReceiver, First: id, State: amqp10.State{
		Kind: amqp10.Transactional, TxnID: txn, Outcome: amqp10.AppendComposite(nil, &amqp10.State{Kind: how}),
	}})
	return x.want(amqp10.CodeDisposition).(*amqp10.Disposition)
}

// transacting runs a test with a broker with messages in the queue held, a client that inspects queues, and one for transactions.
func transacting(t *testing.T, test func(b *testkit.Bubble, c *client, x *transactor)) {
	t.Helper()
	run(t, func(b *testkit.Bubble, c *client) {
		ch := b.Connect().Open()
		for _, q := range []string{"q", "held"} {
			if _, err := ch.QueueDeclare(q, true, false, false, false, nil); err != nil {
				t.Fatal(err)
			}
		}
		c.put(c.sender("/queues/held", nil), "1", "2")
		x := transacts(t, b, "/queues/q", "/queues/held")
		defer func() { _ = x.Close() }()
		for range 2 {
			x.want(amqp10.CodeTransfer)
		}
		test(b, c, x)
	})
}

// TestCommit_TXN1: a transaction of the connection takes sends and settlements of another session than its coordinator's. None
// takes effect before the discharge, and all of them do then.
func TestCommit_TXN1(t *testing.T) {
	transacting(t, func(_ *testkit.Bubble, c *client, x *transactor) {
		r := c.receiver("/queues/q", nil)
		txn, other := x.declare(), x.declare()
		x.put(txn, "a")
		x.put(other, "other")
		x.put(txn, "b")
		if d := x.settle(txn, 0, amqp10.Accepted); d.Settled || d.State.Kind != amqp10.Transactional {
			t.Errorf("%+v", d)
		}
		if m := c.next(r); m != nil {
			t.Fatalf("%s is there before the commit", m.GetData())
		}
		x.post(1, nil, x.coordinate(0x32, txn, false))
		if d := x.want(amqp10.CodeDisposition).(*amqp10.Disposition); d.Role != amqp10.RoleSender || !d.Settled || d.State.Kind != amqp10.Accepted {
			t.Errorf("%+v", d)
		}
		if s := x.outcome(x.want(amqp10.CodeDisposition).(*amqp10.Disposition).State); s != "" {
			t.Error(s)
		}
		c.want(r, "a", "b")
		if s := x.discharge(other, true); s != "" {
			t.Error(s)
		}
		if m := c.next(r); m != nil {
			t.Errorf("%s was rolled back", m.GetData())
		}
		_ = x.Close()
		c.want(c.receiver("/queues/held", nil), "2") // message 1 is settled
	})
}

// TestPresettled_TXN8: a settled send is not answered, and takes effect with its transaction or not at all.
func TestPresettled_TXN8(t *testing.T) {
	transacting(t, func(_ *testkit.Bubble, c *client, x *transactor) {
		r := c.receiver("/queues/q", nil)
		for _, fail := range []bool{true, false} {
			txn := x.declare()
			x.settled = true
			x.post(2, txn, append(amqp10.AppendDataHead(nil, 1), 'a'))
			x.settled = false
			if s := x.discharge(txn, fail); s != "" {
				t.Error(s)
			}
			if !fail {
				c.want(r, "a")
			} else if m := c.next(r); m != nil {
				t.Errorf("%s was rolled back", m.GetData())
			}
		}
		txn := x.declare()
		x.put(txn, "b")
		x.settled = true
		x.post(2, txn, []byte{1}) // not a message
		x.settled = false
		if s := x.discharge(txn, false); s != "amqp:transaction:rollback" {
			t.Error(s)
		}
		if m := c.next(r); m != nil {
			t.Errorf("%s was rolled back", m.GetData())
		}
	})
}

// TestPermission_TXN2: permissions are checked when a send is received; a refused send has the whole transaction rolled back.
func TestPermission_TXN2(t *testing.T) {
	transacting(t, func(b *testkit.Bubble, c *client, x *transactor) {
		b.Log.Allow("link detached")
		may := func(write string) {
			if _, err := b.Users.PutGrant(auth.Grant{User: "guest", VHost: "/", Configure: ".*", Write: write, Read: ".*"}); err != nil {
				t.Fatal(err)
			}
		}
		r := c.receiver("/queues/q", nil)
		taken, refused := x.declare(), x.declare()
		x.put(taken, "taken")
		x.put(refused, "refused")
		may("^$")
		s := x.transfer(2, refused, append(amqp10.AppendDataHead(nil, 1), 'b'))
		if s.Kind == amqp10.Transactional || s.Kind == amqp10.Accepted {
			t.Errorf("%+v", s)
		}
		may(".*")
		if s := x.discharge(refused, false); s != "amqp:transaction:rollback" {
			t.Error(s)
		}
		if s := x.discharge(taken, false); s != "" {
			t.Error(s)
		}
		c.want(r, "taken")
		if m := c.next(r); m != nil {
			t.Errorf("%s was rolled back", m.GetData())
		}
	})
}

// TestRollback_TXN3: work that is rolled back has no effect, and deliveries may be settled again.
func TestRollback_TXN3(t *testing.T) {
	transacting(t, func(_ *testkit.Bubble, c *client, x *transactor) {
		txn := x.declare()
		x.put(txn, "a")
		x.settle(txn, 0, amqp10.Accepted)
		x.settle(txn, 1, amqp10.Rejected)
		if s := x.discharge(txn, true); s != "" {
			t.Error(s)
		}
		if m := c.next(c.receiver("/queues/q", nil)); m != nil {
			t.Errorf("%s was rolled back", m.GetData())
		}
		x.send(2, &amqp10.Disposition{Role: amqp10.RoleReceiver, First: 0, State: amqp10.State{Kind: amqp10.Accepted}})
		if d := x.want(amqp10.CodeDisposition).(*amqp10.Disposition); !d.Settled || d.State.Kind != amqp10.Accepted {
			t.Errorf("%+v", d)
		}
		_ = x.Close()
		c.want(c.receiver("/queues/held", nil), "2")
	})
}

// TestEnds_TXN4: a transaction is rolled back when the coordinator's link, its session, a session with work or the connection
// ends, when it times out, and when a send is refused.
func TestEnds_TXN4(t *testing.T) {
	for name, row := range map[string]struct {
		do   func(x *transactor)
		want string // condition of the discharge; "gone" if none is possible
	}{
		"link": {func(x *transactor) {
			x.send(1, &amqp10.Detach{Closed: true})
			x.want(amqp10.CodeDetach)
		}, "gone"},
		"session of the coordinator": {func(x *transactor) {
			x.send(1, &amqp10.End{})
			x.want(amqp10.CodeEnd)
		}, "gone"},
		"session with work": {func(x *transactor) {
			x.send(2, &amqp10.End{})
			x.want(amqp10.CodeEnd)
		}, "amqp:transaction:rollback"},
		"connection": {func(x *transactor) { _ = x.Close() }, "gone"},
		"time":       {nil, "amqp:transaction:timeout"},
		"refused send": {func(x *transactor) {
			if s := x.outcome(x.transfer(2, []byte{0, 0, 0, 0, 0, 0, 0, 1}, []byte{1})); s != string(amqp10.DecodeError) {
				x.t.Error(s)
			}
		}, "amqp:transaction:rollback"},
	} {
		transacting(t, func(b *testkit.Bubble, c *client, x *transactor) {
			txn := x.declare()
			x.put(txn, "a")
			x.settle(txn, 0, amqp10.Accepted)
			if row.do == nil {
				b.Advance(2 * time.Minute)
			} else {
				row.do(x)
			}
			if row.want != "gone" {
				if s := x.discharge(txn, false); s != row.want {
					t.Errorf("%s: %s", name, s)
				}
				if s := x.discharge(txn, false); s != "amqp:transaction:unknown-id" {
					t.Errorf("%s: then %s", name, s)
				}
			}
			if m := c.next(c.receiver("/queues/q", nil)); m != nil {
				t.Errorf("%s: %s is there", name, m.GetData())
			}
			_ = x.Close()
			c.want(c.receiver("/queues/held", nil), "1", "2")
		})
	}
}

// TestUnknown_TXN5: work for a transaction that is not open is refused and has no effect.
func TestUnknown_TXN5(t *testing.T) {
	transacting(t, func(_ *testkit.Bubble, c *client, x *transactor) {
		const unknown = "amqp:transaction:unknown-id"
		over := x.declare()
		x.discharge(over, false)
		for _, txn := range [][]byte{over, {9}, {}} {
			if s := x.outcome(x.transfer(2, txn, amqp10.AppendDataHead(nil, 0))); s != unknown {
				t.Errorf("%x: send: %s", txn, s)
			}
			if d := x.settle(txn, 0, amqp10.Accepted); d.Settled || x.outcome(d.State) != unknown {
				t.Errorf("%x: settle: %+v", txn, d)
			}
			if s := x.discharge(txn, false); s != unknown {
				t.Errorf("%x: discharge: %s", txn, s)
			}
		}
		_ = x.Close()
		c.want(c.receiver("/queues/held", nil), "1", "2")
	})
}

// TestFullQueue_TXN6: a message refused by a full queue has the whole transaction rolled back.
func TestFullQueue_TXN6(t *testing.T) {
	transacting(t, func(b *testkit.Bubble, c *client, x *transactor) {
		ch := b.Connect().Open()
		if _, err := ch.QueueDeclare("full", true, false, false, false, map[string]any{"x-max-length": 1, "x-overflow": "reject-publish"}); err != nil {
			t.Fatal(err)
		}
		if err := ch.ExchangeDeclare("both", "fanout", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{"q", "full"} {
			if err := ch.QueueBind(q, "", "both", false, nil); err != nil {
				t.Fatal(err)
			}
		}
		c.put(c.sender("/queues/full", nil), "there")
		s := sending(5, "")
		s.Name, s.Target.Address = "both", amqp10.Some("/exchanges/both")
		x.send(2, s)
		x.want(amqp10.CodeAttach)
		txn := x.declare()
		x.put(txn, "a")
		x.settle(txn, 0, amqp10.Accepted)
		tr := &amqp10.Transfer{Handle: 5, DeliveryID: amqp10.Some(x.ids[2]), DeliveryTag: []byte{1}, State: amqp10.State{Kind: amqp10.Transactional, TxnID: txn}}
		frame := append(amqp10.AppendFrame(nil, 2, tr), amqp10.AppendDataHead(nil, 0)...)
		binary.BigEndian.PutUint32(frame, uint32(len(frame)))
		x.say(frame)
		x.want(amqp10.CodeDisposition)
		if s := x.discharge(txn, false); s != "amqp:transaction:rollback" {
			t.Error(s)
		}
		if m := c.next(c.receiver("/queues/q", nil)); m != nil {
			t.Errorf("%s is there", m.GetData())
		}
		_ = x.Close()
		c.want(c.receiver("/queues/held", nil), "1", "2")
	})
}

// TestLimit_TXN7: the number of transactions of a connection is limited.
func TestLimit_TXN7(t *testing.T) {
	transacting(t, func(_ *testkit.Bubble, _ *client, x *transactor) {
		first := x.declare()
		for range 63 {
			x.declare()
		}
		if s := x.outcome(x.transfer(1, nil, x.coordinate(0x31))); s != string(amqp10.ResourceLimitExceeded) {
			t.Error(s)
		}
		x.discharge(first, true)
		x.declare()
	})
}
