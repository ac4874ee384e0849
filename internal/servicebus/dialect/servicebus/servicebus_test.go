package servicebus

import (
	"errors"
	"testing"

	"candlemark/protocol/amqp10"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLockToken(t *testing.T) {
	token := NewLockToken(0x0102030405060708, 9)
	if u := token.UUID(); u != (amqp10.UUID{4, 3, 2, 1, 6, 5, 8, 7, 0, 0, 0, 0, 0, 0, 0, 9}) || TokenOf(u) != token {
		t.Errorf("%x", u)
	}
	if lock, seq := token.Delivery(); lock != 0x0102030405060708 || seq != 9 {
		t.Error(lock, seq)
	}
}

// A batch with too many messages is refused with the same condition as one with too many bytes.
func TestBatch_SBE7(t *testing.T) {
	section := func(b []byte, data string) []byte { return append(amqp10.AppendDataHead(b, len(data)), data...) }
	got, err := Batch(section(section(nil, "one"), ""))
	if err != nil || len(got) != 2 || string(got[0]) != "one" || len(got[1]) != 0 {
		t.Error(got, err)
	}
	var many []byte
	for range MaxBatchMessages + 1 {
		many = section(many, "")
	}
	var large *amqp10.Error
	if _, err := Batch(many); !errors.As(err, &large) || large.Condition != amqp10.MessageSizeExceeded {
		t.Error(err)
	}
	for _, b := range [][]byte{nil, {0x40}, amqp10.AppendSection(nil, amqp10.SectionValue, amqp10.AppendNull(nil))} {
		var refused *amqp10.Error
		if _, err := Batch(b); !errors.As(err, &refused) {
			t.Error(err)
		}
	}
}

func TestOutcomes(t *testing.T) {
	info := amqp10.Map{{Key: amqp10.Symbol("DeadLetterReason"), Value: "bad"}, {Key: "DeadLetterErrorDescription", Value: nil}, {Key: "other", Value: "x"}}
	if got := DeadLettering(&amqp10.Error{Info: info}); len(got) != 2 || got[0].Value != "bad" || got[1].Key != "other" {
		t.Error(got)
	}
	if got := DeadLettering(nil); got != nil {
		t.Error(got)
	}
	if got := Modified(amqp10.Map{{Key: amqp10.Symbol("x-opt-delivery-delay"), Value: int64(3)}, {Key: "n", Value: int64(3)}}); len(got) != 1 || got[0].Value != int64(3) {
		t.Error(got)
	}
}

func TestParseAudience(t *testing.T) {
	for audience, want := range map[string][2]string{
		"amqp://host:5/q": {"q", "q"}, "sb://host/a/b/$management": {"a/b", "a/b"}, "sb://host/t/Subscriptions/s": {"t/Subscriptions/s", "t"}, "sb://host/": {},
		"q/$DeadLetterQueue": {"q.dlq", "q"}, "": {},
	} {
		if queue, topic := ParseAudience(audience); queue != want[0] || topic != want[1] {
			t.Errorf("%s: %q, %q", audience, queue, topic)
		}
	}
}

func TestIs(t *testing.T) {
	for address, want := range map[string]bool{"q": true, "t/Subscriptions/s": true, "$cbs": true, "": false, "/queues/q": false, "/management": false} {
		if Is(address) != want {
			t.Error(address)
		}
	}
}
