package entities

import (
	"reflect"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/protocol/amqp10"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSettlement(t *testing.T) {
	for _, c := range []struct {
		state amqp10.State
		how   mail.Settlement
		more  bool
	}{
		{amqp10.State{Kind: amqp10.Accepted}, mail.Ack, false},
		{amqp10.State{Kind: amqp10.Released}, mail.Release, false},
		{amqp10.State{}, mail.Release, false},
		{amqp10.State{Kind: amqp10.Rejected}, mail.ToDeadLetters, false},
		{amqp10.State{Kind: amqp10.Rejected, Error: &amqp10.Error{Info: amqp10.Map{{Key: "DeadLetterReason", Value: "r"}}}}, mail.ToDeadLetters, true},
		{amqp10.State{Kind: amqp10.Modified}, mail.Requeue, false},
		{amqp10.State{Kind: amqp10.Modified, MessageAnnotations: amqp10.Map{{Key: "k", Value: "v"}}}, mail.Requeue, true},
		{amqp10.State{Kind: amqp10.Modified, UndeliverableHere: true}, mail.Defer, false},
	} {
		how, outcome, err := Settlement(&c.state, clock.New())
		if err != nil || how != c.how || (outcome != nil) != c.more {
			t.Errorf("%+v: %v, %v", c.state, how, outcome)
		}
	}
}

func TestRanges(t *testing.T) {
	want := []mail.SettleRange{{First: 1, Last: 2, How: mail.Reject}, {First: 4, Last: 4, How: mail.Reject}}
	if got := Ranges([]uint64{1, 2, 4}, mail.Reject, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}
