package transactions

import (
	"cmp"
	"slices"

	"candlemark/actors/client/session10/dialects"
	"candlemark/actors/client/session10/entities"
	"candlemark/actors/client/session10/settlement"
	"candlemark/actors/client/session10/window"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/servicebus/dialect/transactions"
	"candlemark/internal/transport/budget"
	"candlemark/internal/transport/seqmap"
	"candlemark/protocol/amqp10"
)

// Session does a session's part of transactions. The exported fields connect it to the session. Link is the session's
// type of links; its zero value is no link.
type Session[Link comparable] struct {
	Table[Link]
	Self, Connection mail.Address
	Known            *transactions.Known
	Arrivals         *budget.Arrivals
	Clock            *clock.Clock
	Unacked          *unacked.Deliveries
	Owners           *seqmap.Map[Link] // links of the unacked deliveries
	Elsewhere        *settlement.Elsewhere
	Send             func(to mail.Address, what any)
	Reply            func(amqp10.Composite)
	// Wait returns a request for whose answer input waits, without time limit, and then calls done; Resume ends the
	// wait without an answer. Number returns a request for which nothing waits.
	Wait   func(done func(reply any, err error)) mail.Request
	Resume func()
	Number func() mail.Request
	// Attached reports whether a link on which the client receives is still attached, and returns its dialect.
	Attached func(l Link) (there bool, d dialects.Dialect)
	// Permitted calls then when that many copies may be made, perhaps at once; input waits until then.
	Permitted func(copies int, then func())
	// Publish publishes messages; queues confirm the messages of b.
	Publish func(all []Publish, b *settlement.Batch)

	asks       map[uint64]*Transaction[Link]       // unanswered by queues, by request
	discharges map[uint64]func(state amqp10.State) // unanswered by the connection, by request
	ending     *Transaction[Link]                  // the transaction for which input waits, nil for none
}

// Rejected returns the outcome for a refusal.
func Rejected(err error) amqp10.State {
	return amqp10.State{Kind: amqp10.Rejected, Error: entities.ErrorOf(err)}
}

// Attached answers the attach of a coordinator.
func Attached(answer *amqp10.Attach) *amqp10.Attach {
	answer.Coordinator = &amqp10.Coordinator{Capabilities: transactions.Capabilities}
	return answer
}

// Coordinate declares or discharges a transaction, for a message on a coordinator's link, and calls answer with the
// outcome (TXN-1).
func (s *Session[Link]) Coordinate(link uint32, message []byte, answer func(amqp10.State)) {
	r, err := transactions.Read(message)
	switch {
	case err != nil:
		answer(Rejected(err))
	case r.ID == nil:
		s.Send(s.Connection, &mail.DeclareTransaction{Request: s.Wait(func(reply any, err error) {
			if declared, ok := reply.(*mail.DeclareTransactionReply); ok && err == nil {
				answer(amqp10.State{Kind: amqp10.Declared, TxnID: declared.ID})
				return
			}
			answer(Rejected(err))
		}), Session: s.Self, Link: link})
	default:
		s.Close(r.ID, s.Known)
		request := s.Number()
		if s.discharges == nil {
			s.discharges = map[uint64]func(amqp10.State){}
		}
		s.discharges[request.ID] = answer
		s.Send(s.Connection, &mail.DischargeTransaction{Request: request, ID: r.ID, Fail: r.Fail})
	}
}

// Discharged sends the result of a transaction to the client.
func (s *Session[Link]) Discharged(m *mail.DischargeTransactionReply) {
	answer := s.discharges[m.Number()]
	delete(s.discharges, m.Number())
	switch {
	case answer == nil:
	case m.Err != nil:
		answer(Rejected(m.Err))
	default:
		answer(amqp10.State{Kind: amqp10.Accepted})
	}
}

// Of returns the transaction of a message, nil for none. takes is false for links that do not allow transactions
// (TXN-5).
func (s *Session[Link]) Of(id []byte, takes bool) (*Transaction[Link], error) {
	if id == nil {
		return nil, nil
	}
	x, err := s.Join(id, s.Known, s.Arrivals)
	if err == nil && !takes {
		e := amqp10.Errorf(amqp10.NotImplemented, "requests are not supported in transactions: send them without one")
		x.Break(e)
		err = e
	}
	return x, err
}

// Keep stores a message with its outcome for the commit, and returns the provisional one (TXN-2, TXN-8).
func (x *Transaction[Link]) Keep(p Publish, outcome amqp10.StateKind) amqp10.State {
	if err := x.Publish(p); err != nil {
		return Rejected(err)
	}
	if outcome != amqp10.Accepted {
		x.Break(amqp10.Errorf(amqp10.PreconditionFailed, "a message was unroutable"))
	}
	return transactions.Provisional(x.ID, outcome)
}

// Disposition stores settlements for the commit (TXN-3). The error ends the session.
func (s *Session[Link]) Disposition(m *amqp10.Disposition) error {
	outcome, err := transactions.Outcome(&m.State)
	if err != nil {
		return err
	}
	first, last, ok := window.Tags(m.First, m.Last.Or(m.First), s.Unacked.Last())
	if !ok {
		return nil
	}
	x, err := s.Join(m.State.TxnID, s.Known, s.Arrivals)
	if s.Elsewhere.Take(first, last, m.Settled, s.Reply) && err == nil {
		x.Break(amqp10.Errorf(transactions.Rollback, "%v", mail.ErrDeliveryLost))
	}
	dispositions := settlement.Dispositions{Send: s.Reply}
	state := transactions.Provisional(m.State.TxnID, outcome.Kind)
	if err != nil {
		state = Rejected(err)
	}
	for _, tag := range s.tags(first, last) {
		if err == nil {
			if err = s.keep(x, tag, m, &outcome); err != nil {
				state = Rejected(err)
			}
		} else if m.Settled {
			s.Owners.Take(tag)
			s.Unacked.SettleWith(tag, tag, mail.Release, nil)
		}
		if !m.Settled {
			dispositions.Add(uint32(tag-1), false, state)
		}
	}
	dispositions.Flush()
	s.Unacked.Flush()
	return nil
}

// tags returns the tags of the unsettled deliveries of a range.
func (s *Session[Link]) tags(first, last uint64) (all []uint64) {
	for next := first; next != 0 && next <= last; {
		next = s.Owners.Some(next, 1, func(tag uint64, _ Link) {
			if tag <= last {
				all = append(all, tag)
			}
		})
	}
	return all
}

// keep stores a settlement. On an error the delivery is unchanged.
func (s *Session[Link]) keep(x *Transaction[Link], tag uint64, m *amqp10.Disposition, outcome *amqp10.State) (err error) {
	l, _ := s.Owners.Take(tag)
	one := Settlement[Link]{Tag: tag, Link: l, State: amqp10.State{Kind: outcome.Kind}, Settled: m.Settled}
	_, d := s.Attached(l)
	one.How, one.Outcome, _, err = d.Settlement(outcome, true, s.Clock)
	if err != nil {
		s.Owners.Restore(tag, l)
		x.Break(entities.ErrorOf(err))
		return err
	}
	s.Unacked.Take(tag, tag, func(_ uint64, u unacked.Unacked) { one.Delivery = u })
	if err = x.Settle(one, len(m.State.Outcome)); err != nil {
		s.restore(&one)
	}
	return err
}

// Settling returns the numbers of a link's deliveries that transactions will settle, in ascending order.
func (s *Session[Link]) Settling(l Link) (numbers []uint64) {
	for _, x := range s.byID {
		for i := range x.Settles {
			if x.Settles[i].Link == l {
				_, n := x.Settles[i].Delivery.Of()
				numbers = append(numbers, n)
			}
		}
	}
	slices.Sort(numbers)
	return numbers
}

// restore undoes the settlement of a delivery, if the client still holds it.
func (s *Session[Link]) restore(x *Settlement[Link]) {
	there, d := s.Attached(x.Link)
	switch {
	case x.Settled:
		s.Unacked.Settle(x.Delivery, mail.Release, nil)
	case !there:
		s.Unacked.Settle(x.Delivery, d.Left(), nil)
	default:
		s.Unacked.Restore(x.Tag, x.Delivery)
		s.Owners.Restore(x.Tag, x.Link)
	}
}

// Step executes the session's part of a step, except the preparation, which waits for earlier input.
func (s *Session[Link]) Step(m *mail.StepTransaction) {
	x := s.Find([]byte(m.ID))
	switch {
	case x == nil: // the session has already ended it
	case m.Step == mail.ForgetTransaction:
		s.forget(s.Delete(m.ID))
	case m.Step == mail.PublishTransaction:
		s.publish(x)
	default:
		s.settle(x)
	}
}

// settle settles the deliveries. Queues answer when they have stored that (DUR-3).
func (s *Session[Link]) settle(x *Transaction[Link]) {
	for i := range x.Settles {
		s.Unacked.SettleDurably(x.Settles[i].Delivery, x.Settles[i].How, x.Settles[i].Outcome, func() mail.Request { return s.ask(x) })
	}
	x.settled, x.Settles, x.Prepared, x.ending = x.Settles, nil, nil, false
	s.Unacked.Flush()
	if x.Waits == 0 {
		s.settled(x, nil)
	}
}

// settled informs the client, and the connection.
func (s *Session[Link]) settled(x *Transaction[Link], err error) {
	dispositions := settlement.Dispositions{Send: s.Reply}
	for i := range x.settled {
		if one := &x.settled[i]; !one.Settled && err == nil {
			dispositions.Add(uint32(one.Tag-1), true, one.State)
		}
	}
	dispositions.Flush()
	x.settled = nil
	s.stepped(string(x.ID), mail.SettleTransaction, true, err)
}

// ask returns a request to a queue, whose answer the transaction awaits.
func (s *Session[Link]) ask(x *Transaction[Link]) mail.Request {
	r := s.Number()
	if s.asks == nil {
		s.asks = map[uint64]*Transaction[Link]{}
	}
	s.asks[r.ID] = x
	x.Waits++
	return r
}

func (s *Session[Link]) stepped(id string, step mail.TransactionStep, has bool, err error) {
	s.Send(s.Connection, &mail.StepTransactionReply{ID: id, Step: step, Session: s.Self, Work: has, Err: err})
}

// Prepare asks queues whether the work will succeed (TXN-6). Input waits from then on.
func (s *Session[Link]) Prepare(m *mail.StepTransaction) {
	s.Close([]byte(m.ID), s.Known)
	x := s.Find([]byte(m.ID))
	if x == nil || !x.HasWork() {
		s.stepped(m.ID, m.Step, false, nil)
		return
	}
	s.Wait(nil)
	s.ending, x.ending = x, true
	err := x.Err()
	if err == nil {
		x.Prepare(s.Self, func(queue mail.Address, p *mail.PrepareWork) {
			p.Request = s.ask(x)
			s.Send(queue, p)
		})
	}
	if err != nil || x.Waits == 0 {
		s.stepped(m.ID, m.Step, true, cmp.Or(err, x.Err()))
	}
}

// Answered handles the answer of a queue to a preparation or a settlement. A settlement that a queue could not store is an
// error of the discharge.
func (s *Session[Link]) Answered(number uint64, err error) {
	x := s.asks[number]
	if x == nil {
		return
	}
	delete(s.asks, number)
	if x.Waits--; err != nil && x.err == nil {
		condition := transactions.Rollback
		if x.settled != nil {
			condition = amqp10.InternalError
		}
		x.Break(amqp10.Errorf(condition, "%v", err))
	}
	switch {
	case x.Waits > 0:
	case x.settled == nil:
		s.stepped(string(x.ID), mail.PrepareTransaction, true, x.Err())
	case x.err != nil:
		s.settled(x, x.err)
	default:
		s.settled(x, nil)
	}
}

// publish publishes the messages, which queues have agreed to accept, when their copies are permitted (DL-33), and waits for
// their confirms.
func (s *Session[Link]) publish(x *Transaction[Link]) {
	s.Permitted(x.Copies(), func() { s.publishNow(x) })
}

func (s *Session[Link]) publishNow(x *Transaction[Link]) {
	if x.dead {
		return
	}
	s.Wait(nil)
	b := &settlement.Batch{Left: x.Confirms()}
	if b.Left > 0 {
		b.Asked = s.Wait(func(_ any, err error) {
			if s.Wait(nil); err != nil {
				err = amqp10.Errorf(amqp10.InternalError, "a queue failed while the transaction was committed")
			}
			s.stepped(string(x.ID), mail.PublishTransaction, true, err)
		}).ID
	}
	s.Publish(x.Publishes, b)
	x.Forget()
	if b.Left == 0 {
		s.stepped(string(x.ID), mail.PublishTransaction, true, nil)
	}
}

// forget rolls back the remaining work, and resumes input (TXN-4).
func (s *Session[Link]) forget(x *Transaction[Link]) {
	x.Release(s.Self, s.Send)
	for i := range x.Settles {
		s.restore(&x.Settles[i])
	}
	x.Forget()
	s.Unacked.Flush()
	if s.ending == x {
		s.ending = nil
		s.Resume()
	}
}

// Drop abandons the transactions of a session that ends.
func (s *Session[Link]) Drop() {
	for _, x := range s.byID {
		for i := range x.Settles {
			one := &x.Settles[i]
			if _, d := s.Attached(one.Link); d.Left() == mail.Leave && !one.Settled {
				s.Unacked.Settle(one.Delivery, mail.Leave, nil)
			}
		}
	}
	if ids := s.Clear(); len(ids) > 0 {
		s.Send(s.Connection, &mail.AbandonTransactions{Session: s.Self, Ends: true, IDs: ids})
	}
	s.ending, s.asks, s.discharges = nil, nil, nil
}
