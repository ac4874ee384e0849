package settlement

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/servicebus/dialect"
	"candlemark/protocol/amqp10"
)

// Of converts a state to a queue's settlement, with amendments. final is false if the state does not settle the
// delivery. Errors: amqp:not-implemented, for states of transactions; with final, those of dialect.DelayOf and
// dialect.Delay.Until (RETRY-2).
func Of(state *amqp10.State, settled bool, c *clock.Clock) (how mail.Settlement, outcome *mail.Outcome, final bool, err error) {
	switch state.Kind {
	case amqp10.Accepted:
		return mail.Ack, nil, true, nil
	case amqp10.Rejected:
		return mail.Reject, nil, true, nil
	case amqp10.Released:
		return mail.Release, nil, true, nil
	case amqp10.Modified:
		how = mail.Release
		if state.UndeliverableHere {
			if how = mail.Discard; state.DeliveryFailed {
				how = mail.Reject
			}
		} else if state.DeliveryFailed {
			how = mail.Requeue
		}
		until, err := dialect.DelayedUntil(state.MessageAnnotations, c)
		if given := dialect.Given(state.MessageAnnotations); len(given) > 0 {
			outcome = &mail.Outcome{Annotations: given, Until: until}
		}
		return how, outcome, true, err
	case amqp10.NoState, amqp10.Received: // settled: the default outcome
		return mail.Release, nil, settled, nil
	case amqp10.Declared, amqp10.Transactional:
	}
	return 0, nil, false, amqp10.Errorf(amqp10.NotImplemented, "transactions are not supported")
}
