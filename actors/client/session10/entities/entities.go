package entities

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/servicebus/dialect"
	"candlemark/internal/servicebus/dialect/servicebus"
	"candlemark/internal/servicebus/numbers"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// RefusedAttach returns the attach of a link without source or target, which is then detached.
func RefusedAttach(m *amqp10.Attach) *amqp10.Attach {
	n := &amqp10.Attach{Name: m.Name, Handle: m.Handle, Role: !m.Role, SndSettleMode: m.SndSettleMode, RcvSettleMode: m.RcvSettleMode}
	if m.Role == amqp10.RoleSender {
		n.Source = m.Source
	} else {
		n.Target, n.InitialDeliveryCount = m.Target, amqp10.Some(uint32(0))
	}
	return n
}

// DeliveryOf returns the broker's additions to a delivery from a queue with those numbers. deadLetters is set if it comes from a dead-letter queue.
func DeliveryOf(d *mail.Delivery, from numbers.Of, deadLetters bool) dialect.Outgoing {
	to := dialect.Outgoing{Redelivered: d.Redelivered}
	if d.Facts != nil {
		to.Entity = servicebus.Describe(factsOf(d, from, deadLetters))
	}
	return to
}

func factsOf(d *mail.Delivery, from numbers.Of, deadLetters bool) servicebus.Facts {
	f := d.Facts
	facts := servicebus.Facts{Seq: from.Shown(f.Seq), Enqueued: f.Enqueued, Expires: f.Expires, Locked: f.Locked, DeliveryCount: f.DeliveryCount}
	if o := d.Message.Overlay; o != nil {
		facts.DiedIn, facts.DiedOf, facts.Scheduled = o.Last.Queue, o.Last.Reason, o.Held && !o.Dead()
	}
	if deadLetters { // deliveries from it are not counted (LOCK-8)
		facts.DeliveryCount = diedAfter(d.Message.Overlay)
	}
	return facts
}

func diedAfter(o *message.Overlay) uint32 {
	if o == nil {
		return 0
	}
	return o.DiedAfter
}

// Settlement converts a state to a queue's settlement: an abandoned message is requeued, and its delivery counts. The
// error is returned's.
func Settlement(state *amqp10.State, c *clock.Clock) (how mail.Settlement, outcome *mail.Outcome, err error) {
	switch {
	case state.Kind == amqp10.Accepted:
		return mail.Ack, nil, nil
	case state.Kind == amqp10.Rejected:
		return mail.ToDeadLetters, outcomeOf(servicebus.DeadLettering(state.Error), 0), nil
	case state.Kind == amqp10.Modified && state.UndeliverableHere:
		return returned(mail.Defer, state.MessageAnnotations, c)
	case state.Kind == amqp10.Modified:
		return returned(mail.Requeue, state.MessageAnnotations, c)
	}
	return mail.Release, nil, nil
}

// returned converts the properties of a message that the client abandons or defers. The error is an *amqp10.Error for a
// delay that is invalid, or not possible (RETRY-5).
func returned(how mail.Settlement, given amqp10.Map, c *clock.Clock) (mail.Settlement, *mail.Outcome, error) {
	until, err := servicebus.DelayIn(given, how == mail.Defer, c)
	return how, outcomeOf(servicebus.Modified(given), until), err
}

// outcomeOf returns the amendments to a message and the date of its next delivery, nil for none.
func outcomeOf(properties protocol.Table, until int64) *mail.Outcome {
	if len(properties) == 0 && until == 0 {
		return nil
	}
	return &mail.Outcome{Properties: properties, Until: until}
}

// Ranges converts ascending numbers of deliveries settled alike into ranges.
func Ranges(numbers []uint64, how mail.Settlement, outcome *mail.Outcome) (all []mail.SettleRange) {
	for _, n := range numbers {
		if k := len(all); k > 0 && all[k-1].Last+1 == n {
			all[k-1].Last = n
			continue
		}
		all = append(all, mail.SettleRange{First: n, Last: n, How: how, Outcome: outcome})
	}
	return all
}

// Unwritten returns settlements that return unwritten deliveries to their places.
func Unwritten(m *mail.Deliver) (all []mail.SettleRange) {
	for i := range m.Items[m.Written:] {
		if n := m.Items[m.Written+i].Number; n != 0 {
			all = append(all, mail.SettleRange{First: n, Last: n, How: mail.Requeue})
		}
	}
	return all
}

// Lost returns a function that reports whether numbers of deliveries are in ranges that a queue did not hold. The
// function has to be called for every number that the queue was asked to settle, in the order of the ranges.
func Lost(ranges []mail.Range) func(number uint64) bool {
	return func(n uint64) bool {
		if len(ranges) == 0 || n < ranges[0].First || n > ranges[0].Last {
			return false
		}
		if n == ranges[0].Last {
			ranges = ranges[1:]
		}
		return true
	}
}
