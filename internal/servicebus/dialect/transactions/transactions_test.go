package transactions

import (
	"bytes"
	"errors"
	"testing"

	"candlemark/protocol/amqp10"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// message returns a message whose body is a described list.
func message(t *testing.T, descriptor any, fields ...any) []byte {
	t.Helper()
	v, err := amqp10.Append(nil, amqp10.Described{Descriptor: descriptor, Value: amqp10.List(fields)})
	if err != nil {
		t.Fatal(err)
	}
	return amqp10.AppendSection(nil, amqp10.SectionValue, v)
}

func TestRead(t *testing.T) {
	id := []byte{1, 2}
	for _, row := range []struct {
		message []byte
		want    Request
		err     amqp10.Symbol
	}{
		{message(t, uint64(0x31)), Request{}, ""},
		{message(t, amqp10.Symbol("amqp:declare:list"), nil), Request{}, ""},
		{message(t, uint64(0x31), []byte("global")), Request{}, amqp10.NotImplemented},
		{message(t, uint64(0x32), id), Request{ID: id}, ""},
		{message(t, amqp10.Symbol("amqp:discharge:list"), id, true), Request{ID: id, Fail: true}, ""},
		{message(t, uint64(0x32)), Request{}, amqp10.InvalidField},
		{message(t, uint64(0x32), "text"), Request{}, amqp10.InvalidField},
		{message(t, uint64(0x33), id), Request{}, amqp10.NotImplemented},
		{[]byte{0, 0x53, amqp10.SectionValue, 0x40}, Request{}, amqp10.NotImplemented},
		{amqp10.AppendDataHead(nil, 0), Request{}, amqp10.NotImplemented},
		{nil, Request{}, amqp10.NotImplemented},
		{[]byte{1}, Request{}, amqp10.DecodeError},
	} {
		got, err := Read(row.message)
		if condition(err) != row.err || !bytes.Equal(got.ID, row.want.ID) || got.Fail != row.want.Fail {
			t.Errorf("%x: %+v, %v", row.message, got, err)
		}
	}
}

func condition(err error) amqp10.Symbol {
	var e *amqp10.Error
	if errors.As(err, &e) {
		return e.Condition
	}
	return ""
}

func TestOutcome(t *testing.T) {
	for kind, err := range map[amqp10.StateKind]amqp10.Symbol{
		amqp10.Accepted: "", amqp10.Released: "", amqp10.Rejected: "", amqp10.Modified: "", amqp10.Received: amqp10.InvalidField,
		amqp10.Declared: amqp10.InvalidField, amqp10.Transactional: amqp10.InvalidField,
	} {
		state := Provisional([]byte{7}, kind)
		got, e := Outcome(&state)
		if condition(e) != err || err == "" && got.Kind != kind || state.Kind != amqp10.Transactional {
			t.Errorf("%x: %+v, %v", kind, got, e)
		}
	}
	for _, none := range []amqp10.Value{nil, {0x40}, {0x43}} {
		if _, err := Outcome(&amqp10.State{Kind: amqp10.Transactional, Outcome: none}); condition(err) != amqp10.InvalidField {
			t.Errorf("%x: %v", none, err)
		}
	}
	rejected := amqp10.State{Kind: amqp10.Rejected, Error: amqp10.Errorf("reason", "text")}
	got, err := Outcome(&amqp10.State{Kind: amqp10.Transactional, Outcome: amqp10.AppendComposite(nil, &rejected)})
	if err != nil || got.Error == nil || got.Error.Condition != "reason" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestKnown(t *testing.T) {
	var none *Known
	var k Known
	id := []byte{1}
	if none.Has(id) || k.Has(id) {
		t.Error("known")
	}
	k.Set(id, true)
	if !k.Has([]byte{1}) || k.Has([]byte{2}) {
		t.Error("not known")
	}
	if k.Set(id, false); k.Has(id) {
		t.Error("still known")
	}
}
