package protocol

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"testing"
)

var kv = Table{{Key: "k", Value: "v"}}

// methodSamples has every method at least once, and methods with several bits once per bit. The bytes were derived from
// the specification without this package.
var methodSamples = []struct {
	name   string
	method Method
	golden string // class, method and arguments
}{
	{
		"connection.start", &ConnectionStart{VersionMajor: 7, VersionMinor: 7, ServerProperties: kv, Mechanisms: "long mechanisms", Locales: "long locales"},
		"000a000a070700000008016b5300000001760000000f6c6f6e67206d656368616e69736d730000000c6c6f6e67206c6f63616c6573",
	},
	{
		"connection.start-ok", &ConnectionStartOk{ClientProperties: kv, Mechanism: "mechanism", Response: []byte("long response"), Locale: "locale"},
		"000a000b00000008016b530000000176096d656368616e69736d0000000d6c6f6e6720726573706f6e7365066c6f63616c65",
	},
	{
		"connection.secure", &ConnectionSecure{Challenge: []byte("long challenge")},
		"000a00140000000e6c6f6e67206368616c6c656e6765",
	},
	{
		"connection.secure-ok", &ConnectionSecureOk{Response: []byte("long response")},
		"000a00150000000d6c6f6e6720726573706f6e7365",
	},
	{
		"connection.tune", &ConnectionTune{ChannelMax: 0x0102, FrameMax: 0x01020304, Heartbeat: 0x0102},
		"000a001e0102010203040102",
	},
	{
		"connection.tune-ok", &ConnectionTuneOk{ChannelMax: 0x0102, FrameMax: 0x01020304, Heartbeat: 0x0102},
		"000a001f0102010203040102",
	},
	{
		"connection.open", &ConnectionOpen{VirtualHost: "virtual-host"},
		"000a00280c7669727475616c2d686f73740000",
	},
	{
		"connection.open-ok", &ConnectionOpenOk{},
		"000a002900",
	},
	{
		"connection.close", &ConnectionClose{ReplyCode: 0x0102, ReplyText: "reply-text", Class: 0x0102, Method: 0x0102},
		"000a003201020a7265706c792d7465787401020102",
	},
	{
		"connection.close-ok", &ConnectionCloseOk{},
		"000a0033",
	},
	{
		"connection.blocked", &ConnectionBlocked{Reason: "reason"},
		"000a003c06726561736f6e",
	},
	{
		"connection.unblocked", &ConnectionUnblocked{},
		"000a003d",
	},
	{
		"connection.update-secret", &ConnectionUpdateSecret{NewSecret: []byte("long new-secret"), Reason: "reason"},
		"000a00460000000f6c6f6e67206e65772d73656372657406726561736f6e",
	},
	{
		"connection.update-secret-ok", &ConnectionUpdateSecretOk{},
		"000a0047",
	},
	{
		"channel.open", &ChannelOpen{},
		"0014000a00",
	},
	{
		"channel.open-ok", &ChannelOpenOk{},
		"0014000b00000000",
	},
	{
		"channel.flow", &ChannelFlow{Active: true},
		"0014001401",
	},
	{
		"channel.flow-ok", &ChannelFlowOk{Active: true},
		"0014001501",
	},
	{
		"channel.close", &ChannelClose{ReplyCode: 0x0102, ReplyText: "reply-text", Class: 0x0102, Method: 0x0102},
		"0014002801020a7265706c792d7465787401020102",
	},
	{
		"channel.close-ok", &ChannelCloseOk{},
		"00140029",
	},
	{
		"access.request", &AccessRequest{Realm: "realm", Exclusive: true, Active: true, Read: true},
		"001e000a057265616c6d15",
	},
	{
		"access.request", &AccessRequest{Realm: "realm", Passive: true},
		"001e000a057265616c6d02",
	},
	{
		"access.request", &AccessRequest{Realm: "realm", Active: true},
		"001e000a057265616c6d04",
	},
	{
		"access.request", &AccessRequest{Realm: "realm", Write: true},
		"001e000a057265616c6d08",
	},
	{
		"access.request", &AccessRequest{Realm: "realm", Read: true},
		"001e000a057265616c6d10",
	},
	{
		"access.request-ok", &AccessRequestOk{Ticket: 0x0102},
		"001e000b0102",
	},
	{
		"exchange.declare", &ExchangeDeclare{Exchange: "exchange", Type: "type", Passive: true, AutoDelete: true, NoWait: true, Arguments: kv},
		"0028000a00000865786368616e676504747970651500000008016b530000000176",
	},
	{
		"exchange.declare", &ExchangeDeclare{Exchange: "exchange", Type: "type", Durable: true, Arguments: kv},
		"0028000a00000865786368616e676504747970650200000008016b530000000176",
	},
	{
		"exchange.declare", &ExchangeDeclare{Exchange: "exchange", Type: "type", AutoDelete: true, Arguments: kv},
		"0028000a00000865786368616e676504747970650400000008016b530000000176",
	},
	{
		"exchange.declare", &ExchangeDeclare{Exchange: "exchange", Type: "type", Internal: true, Arguments: kv},
		"0028000a00000865786368616e676504747970650800000008016b530000000176",
	},
	{
		"exchange.declare", &ExchangeDeclare{Exchange: "exchange", Type: "type", NoWait: true, Arguments: kv},
		"0028000a00000865786368616e676504747970651000000008016b530000000176",
	},
	{
		"exchange.declare-ok", &ExchangeDeclareOk{},
		"0028000b",
	},
	{
		"exchange.delete", &ExchangeDelete{Exchange: "exchange", IfUnused: true},
		"0028001400000865786368616e676501",
	},
	{
		"exchange.delete", &ExchangeDelete{Exchange: "exchange", NoWait: true},
		"0028001400000865786368616e676502",
	},
	{
		"exchange.delete-ok", &ExchangeDeleteOk{},
		"00280015",
	},
	{
		"exchange.bind", &ExchangeBind{Destination: "destination", Source: "source", RoutingKey: "routing-key", NoWait: true, Arguments: kv},
		"0028001e00000b64657374696e6174696f6e06736f757263650b726f7574696e672d6b65790100000008016b530000000176",
	},
	{
		"exchange.bind-ok", &ExchangeBindOk{},
		"0028001f",
	},
	{
		"exchange.unbind", &ExchangeUnbind{Destination: "destination", Source: "source", RoutingKey: "routing-key", NoWait: true, Arguments: kv},
		"0028002800000b64657374696e6174696f6e06736f757263650b726f7574696e672d6b65790100000008016b530000000176",
	},
	{
		"exchange.unbind-ok", &ExchangeUnbindOk{},
		"00280033",
	},
	{
		"queue.declare", &QueueDeclare{Queue: "queue", Passive: true, Exclusive: true, NoWait: true, Arguments: kv},
		"0032000a00000571756575651500000008016b530000000176",
	},
	{
		"queue.declare", &QueueDeclare{Queue: "queue", Durable: true, Arguments: kv},
		"0032000a00000571756575650200000008016b530000000176",
	},
	{
		"queue.declare", &QueueDeclare{Queue: "queue", Exclusive: true, Arguments: kv},
		"0032000a00000571756575650400000008016b530000000176",
	},
	{
		"queue.declare", &QueueDeclare{Queue: "queue", AutoDelete: true, Arguments: kv},
		"0032000a00000571756575650800000008016b530000000176",
	},
	{
		"queue.declare", &QueueDeclare{Queue: "queue", NoWait: true, Arguments: kv},
		"0032000a00000571756575651000000008016b530000000176",
	},
	{
		"queue.declare-ok", &QueueDeclareOk{Queue: "queue", MessageCount: 0x01020304, ConsumerCount: 0x01020304},
		"0032000b0571756575650102030401020304",
	},
	{
		"queue.bind", &QueueBind{Queue: "queue", Exchange: "exchange", RoutingKey: "routing-key", NoWait: true, Arguments: kv},
		"0032001400000571756575650865786368616e67650b726f7574696e672d6b65790100000008016b530000000176",
	},
	{
		"queue.bind-ok", &QueueBindOk{},
		"00320015",
	},
	{
		"queue.purge", &QueuePurge{Queue: "queue", NoWait: true},
		"0032001e000005717565756501",
	},
	{
		"queue.purge-ok", &QueuePurgeOk{MessageCount: 0x01020304},
		"0032001f01020304",
	},
	{
		"queue.delete", &QueueDelete{Queue: "queue", IfUnused: true, NoWait: true},
		"00320028000005717565756505",
	},
	{
		"queue.delete", &QueueDelete{Queue: "queue", IfEmpty: true},
		"00320028000005717565756502",
	},
	{
		"queue.delete", &QueueDelete{Queue: "queue", NoWait: true},
		"00320028000005717565756504",
	},
	{
		"queue.delete-ok", &QueueDeleteOk{MessageCount: 0x01020304},
		"0032002901020304",
	},
	{
		"queue.unbind", &QueueUnbind{Queue: "queue", Exchange: "exchange", RoutingKey: "routing-key", Arguments: kv},
		"0032003200000571756575650865786368616e67650b726f7574696e672d6b657900000008016b530000000176",
	},
	{
		"queue.unbind-ok", &QueueUnbindOk{},
		"00320033",
	},
	{
		"basic.qos", &BasicQos{PrefetchSize: 0x01020304, PrefetchCount: 0x0102, Global: true},
		"003c000a01020304010201",
	},
	{
		"basic.qos-ok", &BasicQosOk{},
		"003c000b",
	},
	{
		"basic.consume", &BasicConsume{Queue: "queue", ConsumerTag: "consumer-tag", NoLocal: true, Exclusive: true, Arguments: kv},
		"003c001400000571756575650c636f6e73756d65722d7461670500000008016b530000000176",
	},
	{
		"basic.consume", &BasicConsume{Queue: "queue", ConsumerTag: "consumer-tag", NoAck: true, Arguments: kv},
		"003c001400000571756575650c636f6e73756d65722d7461670200000008016b530000000176",
	},
	{
		"basic.consume", &BasicConsume{Queue: "queue", ConsumerTag: "consumer-tag", Exclusive: true, Arguments: kv},
		"003c001400000571756575650c636f6e73756d65722d7461670400000008016b530000000176",
	},
	{
		"basic.consume", &BasicConsume{Queue: "queue", ConsumerTag: "consumer-tag", NoWait: true, Arguments: kv},
		"003c001400000571756575650c636f6e73756d65722d7461670800000008016b530000000176",
	},
	{
		"basic.consume-ok", &BasicConsumeOk{ConsumerTag: "consumer-tag"},
		"003c00150c636f6e73756d65722d746167",
	},
	{
		"basic.cancel", &BasicCancel{ConsumerTag: "consumer-tag", NoWait: true},
		"003c001e0c636f6e73756d65722d74616701",
	},
	{
		"basic.cancel-ok", &BasicCancelOk{ConsumerTag: "consumer-tag"},
		"003c001f0c636f6e73756d65722d746167",
	},
	{
		"basic.publish", &BasicPublish{Exchange: "exchange", RoutingKey: "routing-key", Mandatory: true},
		"003c002800000865786368616e67650b726f7574696e672d6b657901",
	},
	{
		"basic.publish", &BasicPublish{Exchange: "exchange", RoutingKey: "routing-key", Immediate: true},
		"003c002800000865786368616e67650b726f7574696e672d6b657902",
	},
	{
		"basic.return", &BasicReturn{ReplyCode: 0x0102, ReplyText: "reply-text", Exchange: "exchange", RoutingKey: "routing-key"},
		"003c003201020a7265706c792d746578740865786368616e67650b726f7574696e672d6b6579",
	},
	{
		"basic.deliver", &BasicDeliver{ConsumerTag: "consumer-tag", DeliveryTag: 0x0102030405060708, Redelivered: true, Exchange: "exchange", RoutingKey: "routing-key"},
		"003c003c0c636f6e73756d65722d7461670102030405060708010865786368616e67650b726f7574696e672d6b6579",
	},
	{
		"basic.get", &BasicGet{Queue: "queue", NoAck: true},
		"003c0046000005717565756501",
	},
	{
		"basic.get-ok", &BasicGetOk{DeliveryTag: 0x0102030405060708, Redelivered: true, Exchange: "exchange", RoutingKey: "routing-key", MessageCount: 0x01020304},
		"003c00470102030405060708010865786368616e67650b726f7574696e672d6b657901020304",
	},
	{
		"basic.get-empty", &BasicGetEmpty{},
		"003c004800",
	},
	{
		"basic.ack", &BasicAck{DeliveryTag: 0x0102030405060708, Multiple: true},
		"003c0050010203040506070801",
	},
	{
		"basic.reject", &BasicReject{DeliveryTag: 0x0102030405060708, Requeue: true},
		"003c005a010203040506070801",
	},
	{
		"basic.recover-async", &BasicRecoverAsync{Requeue: true},
		"003c006401",
	},
	{
		"basic.recover", &BasicRecover{Requeue: true},
		"003c006e01",
	},
	{
		"basic.recover-ok", &BasicRecoverOk{},
		"003c006f",
	},
	{
		"basic.nack", &BasicNack{DeliveryTag: 0x0102030405060708, Multiple: true},
		"003c0078010203040506070801",
	},
	{
		"basic.nack", &BasicNack{DeliveryTag: 0x0102030405060708, Requeue: true},
		"003c0078010203040506070802",
	},
	{
		"confirm.select", &ConfirmSelect{NoWait: true},
		"0055000a01",
	},
	{
		"confirm.select-ok", &ConfirmSelectOk{},
		"0055000b",
	},
	{
		"tx.select", &TxSelect{},
		"005a000a",
	},
	{
		"tx.select-ok", &TxSelectOk{},
		"005a000b",
	},
	{
		"tx.commit", &TxCommit{},
		"005a0014",
	},
	{
		"tx.commit-ok", &TxCommitOk{},
		"005a0015",
	},
	{
		"tx.rollback", &TxRollback{},
		"005a001e",
	},
	{
		"tx.rollback-ok", &TxRollbackOk{},
		"005a001f",
	},
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// payload returns the payload of m's method frame.
func payload(m Method) []byte {
	b := appendU16(appendU16(nil, m.Key().Class()), m.Key().Method())
	return m.Append(b)
}

func TestMethodsGolden(t *testing.T) {
	for _, s := range methodSamples {
		golden := unhex(t, s.golden)
		if s.method.Key().String() != s.name {
			t.Errorf("%s is named %s", s.name, s.method.Key().String())
		}
		if got := payload(s.method); !bytes.Equal(got, golden) {
			t.Errorf("%s encodes to\n%x, want\n%x", s.name, got, golden)
		}
		m, err := DecodeMethod(golden)
		if err != nil || !reflect.DeepEqual(m, s.method) {
			t.Errorf("%s decodes to %+v, %v, want %+v", s.name, m, err, s.method)
		}
		if class, method, ok := MethodKey(golden); !ok || class != m.Key().Class() || method != m.Key().Method() {
			t.Errorf("%s: MethodKey %d %d %v", s.name, class, method, ok)
		}
	}
}

func TestMethodsDoNotAliasTheirPayload(t *testing.T) {
	for _, s := range methodSamples {
		b := unhex(t, s.golden)
		m, err := DecodeMethod(b)
		if err != nil {
			t.Fatal(err)
		}
		clear(b)
		if !reflect.DeepEqual(m, s.method) {
			t.Errorf("%s changed with its payload: %+v", s.name, m)
		}
	}
}

// connectionError asserts that err is a *ConnectionError with this code, class and method, and returns its text.
func connectionError(t *testing.T, err error, code, class, method uint16) string {
	t.Helper()
	var e *ConnectionError
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a connection error", err)
	}
	if e.Code != code || e.Class != class || e.Method != method {
		t.Errorf("got %d %d/%d (%s), want %d %d/%d", e.Code, e.Class, e.Method, e.Text, code, class, method)
	}
	return e.Text
}

func TestMethodsCutShortOrTooLong(t *testing.T) {
	for _, s := range methodSamples {
		whole := unhex(t, s.golden)
		for n := 4; n < len(whole); n++ {
			_, err := DecodeMethod(whole[:n:n])
			connectionError(t, err, FrameErr, s.method.Key().Class(), s.method.Key().Method())
		}
		_, err := DecodeMethod(append(whole, 0))
		connectionError(t, err, FrameErr, s.method.Key().Class(), s.method.Key().Method())
	}
}

func TestDecodeMethodErrors(t *testing.T) {
	badName := (&QueueDeclare{Queue: "a\xffb"}).Append([]byte{0, 50, 0, 10})
	tests := []struct {
		name                string
		payload             []byte
		code, class, method uint16
		text                string
	}{
		{"too short for a key", []byte{0, 60, 0}, FrameErr, 0, 0, "FRAME_ERROR - cannot decode <<0,60,0>>"},
		{"unknown class", []byte{0, 99, 0, 10}, NotImplemented, 99, 10, "NOT_IMPLEMENTED - unknown method {99,10}"},
		{"unknown method", []byte{0, 60, 0, 99}, NotImplemented, 60, 99, "NOT_IMPLEMENTED - unknown method {60,99}"},
		{"arguments cut short", []byte{0, 60, 0, 80, 1, 2}, FrameErr, 60, 80, "FRAME_ERROR - cannot decode <<1,2>>"},
		{"no arguments expected", []byte{0, 90, 0, 10, 65}, FrameErr, 90, 10, "FRAME_ERROR - cannot decode <<65>>"},
		{"DEC-8", badName, FrameErr, 0, 0, "FRAME_ERROR - Malformed UTF-8 in shortstr"},
		{
			"unknown tag in a table",
			[]byte{0, 50, 0, 50, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 'Z'},
			FrameErr, 50, 50,
			"FRAME_ERROR - cannot decode <<0,0,0,0,0,0,0,0,2,0,90>>",
		},
		{
			"a table that claims 4 GiB",
			[]byte{0, 50, 0, 50, 0, 0, 0, 0, 0, 255, 255, 255, 255},
			FrameErr, 50, 50,
			"FRAME_ERROR - cannot decode <<0,0,0,0,0,255,255,255,255>>",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := DecodeMethod(tt.payload)
			if text := connectionError(t, err, tt.code, tt.class, tt.method); text != tt.text {
				t.Errorf("got %q, want %q", text, tt.text)
			}
		})
	}
}

// DEC-8: RabbitMQ does not validate the names in methods that carry content.
func TestContentMethodsMayHoldAnyBytesDEC8(t *testing.T) {
	for _, m := range []Method{
		&BasicPublish{Exchange: "\xff", RoutingKey: "\xfe"},
		&BasicReturn{ReplyText: "\xff", Exchange: "\xff", RoutingKey: "\xfe"},
		&BasicDeliver{ConsumerTag: "\xff", Exchange: "\xff", RoutingKey: "\xfe"},
		&BasicGetOk{Exchange: "\xff", RoutingKey: "\xfe"},
	} {
		if got, err := DecodeMethod(payload(m)); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%s: %+v, %v", m.Key().String(), got, err)
		}
	}
}

func TestReservedArgumentsAreForgotten(t *testing.T) {
	tests := []struct {
		golden string
		want   Method
	}{
		{"000a0028" + "012f" + "0163" + "01", &ConnectionOpen{VirtualHost: "/"}},
		{"000a0029" + "0163", &ConnectionOpenOk{}},
		{"0014000a" + "0163", &ChannelOpen{}},
		{"0014000b" + "0000000163", &ChannelOpenOk{}},
		{"003c0048" + "0163", &BasicGetEmpty{}},
		{"003c0046" + "0007" + "0171" + "01", &BasicGet{Queue: "q", NoAck: true}},
		{"003c0050" + "0000000000000001" + "fe", &BasicAck{DeliveryTag: 1}},
	}
	for _, tt := range tests {
		if got, err := DecodeMethod(unhex(t, tt.golden)); err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, %v", tt.want.Key().String(), got, err)
		}
	}
}

// Short strings that the broker composes are truncated instead of being sent malformed.
func TestShortStringsAreCut(t *testing.T) {
	long := string(bytes.Repeat([]byte("é"), 200))
	m, err := DecodeMethod(payload(&ConnectionClose{ReplyText: long}))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.(*ConnectionClose).ReplyText; got != long[:254] {
		t.Errorf("cut to %d bytes", len(got))
	}
}
