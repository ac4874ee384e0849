package settlement

import (
	"testing"

	"candlemark/actors/mail"
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
		if how, outcome, final, err := Of(&c.state, c.settled); how != c.how || final != c.final || outcome != nil || err != nil {
			t.Errorf("%+v: %v, %v, %v, %v", c.state, how, outcome, final, err)
		}
	}
	if _, _, _, err := Of(&amqp10.State{Kind: amqp10.Transactional}, true); err == nil {
		t.Error("a transaction")
	}
}
