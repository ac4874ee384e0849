package settlement

import (
	"errors"
	"math"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/protocol/amqp10"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOf(t *testing.T) {
	for _, c := range []struct {
		state          amqp10.State
		settled, final bool
		how            mail.Settlement
	}{
		{amqp10.State{Kind: amqp10.Accepted}, false, true, mail.Ack},
		{amqp10.State{Kind: amqp10.Rejected}, false, true, mail.Reject},
		{amqp10.State{Kind: amqp10.Released}, false, true, mail.Release},
		{amqp10.State{Kind: amqp10.Modified}, false, true, mail.Release},
		{amqp10.State{Kind: amqp10.Modified, DeliveryFailed: true}, false, true, mail.Requeue},
		{amqp10.State{Kind: amqp10.Modified, DeliveryFailed: true, UndeliverableHere: true}, false, true, mail.Reject},
		{amqp10.State{Kind: amqp10.Modified, UndeliverableHere: true}, false, true, mail.Discard},
		{amqp10.State{Kind: amqp10.Received}, false, false, mail.Release},
		{amqp10.State{}, true, true, mail.Release},
	} {
		if how, outcome, final, err := Of(&c.state, c.settled, clock.New()); how != c.how || final != c.final || outcome != nil || err != nil {
			t.Errorf("%+v: %v, %v, %v, %v", c.state, how, outcome, final, err)
		}
	}
	for v, until := range map[any]int64{ // RETRY-2; 0 if refused
		int64(1800000000000): 1800000000000, uint64(1800000000001): 1800000000001, float64(1800000000002): 1800000000002, amqp10.Timestamp(100000000000): 100000000000,
		uint64(math.MaxUint64): 0, uint32(8): 0, "7": 0, int32(-7): 0, int64(1800000000): 0, int64(math.MaxInt64): 0,
	} {
		state := amqp10.State{Kind: amqp10.Modified, MessageAnnotations: amqp10.Map{{Key: amqp10.Symbol("x-opt-delivery-time"), Value: v}}}
		_, outcome, final, err := Of(&state, false, clock.New())
		var refused *amqp10.Error
		if !final || outcome == nil || outcome.Until != until || (until == 0) != (errors.As(err, &refused) && refused.Condition == amqp10.PreconditionFailed) {
			t.Errorf("%v: %+v, %v", v, outcome, err)
		}
	}
	c := clock.New()
	for v, ms := range map[any]int64{int32(5000): 5000, uint64(6000): 6000} { // RETRY-2
		state := amqp10.State{Kind: amqp10.Modified, MessageAnnotations: amqp10.Map{{Key: amqp10.Symbol("x-opt-delivery-delay"), Value: v}}}
		from := c.Wall() + ms
		if _, outcome, _, _ := Of(&state, false, c); outcome == nil || outcome.Until < from || outcome.Until > c.Wall()+1+ms {
			t.Errorf("%v: %+v", v, outcome)
		}
	}
	if _, _, _, err := Of(&amqp10.State{Kind: amqp10.Transactional}, true, clock.New()); err == nil {
		t.Error("a transaction")
	}
}
