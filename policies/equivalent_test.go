package policies

import (
	"testing"

	"candlemark/protocol"
)

func TestEquivalent(t *testing.T) {
	differs := func(text string) string { return "PRECONDITION_FAILED - inequivalent arg " + text }
	args := func(pairs ...any) QueueDeclaration { return QueueDeclaration{Arguments: table(pairs...)} }
	const locked = "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'q' in vhost '/'. It could be originally " +
		"declared on another connection or the exclusive property value does not match that of the original declaration."
	tests := []struct {
		name              string
		current, received QueueDeclaration
		want              string
	}{
		{"DEC-1 same", QueueDeclaration{Durable: true}, QueueDeclaration{Durable: true}, ""},
		{
			"DEC-1 durable",
			QueueDeclaration{},
			QueueDeclaration{Durable: true, AutoDelete: true},
			differs("'durable' for queue 'q' in vhost '/': received 'true' but current is 'false'"),
		},
		{
			"DEC-1 auto_delete",
			QueueDeclaration{AutoDelete: true},
			args("x-message-ttl", int32(-10)),
			differs("'auto_delete' for queue 'q' in vhost '/': received 'false' but current is 'true'"),
		},
		{"DEC-5 exclusive", QueueDeclaration{}, QueueDeclaration{Exclusive: true, Durable: true}, locked},
		{"DEC-5 exclusive queues are not durable", QueueDeclaration{Exclusive: true}, QueueDeclaration{Exclusive: true, Durable: true}, ""},
		{
			"DEC-1 values are not validated", args("x-message-ttl", int32(10)), args("x-message-ttl", int32(-10)),
			differs("'x-message-ttl' for queue 'q' in vhost '/': received '-10' but current is '10'"),
		},
		{"DEC-2 unknown arguments", args("x-foo", int32(1)), args("x-bar", "x"), ""},
		{"DEC-2 arguments of other types", args("x-delivery-limit", int32(1)), args(), ""},
		{
			"DEC-2 order", args("x-message-ttl", int32(1), "x-expires", int32(1)), args("x-message-ttl", int32(2), "x-expires", int32(2)),
			differs("'x-expires' for queue 'q' in vhost '/': received '2' but current is '1'"),
		},
		{"DEC-3 integers by value", args("x-message-ttl", int8(10)), args("x-message-ttl", int64(10)), ""},
		{
			"DEC-3 double", args("x-message-ttl", int32(10)), args("x-message-ttl", 10.0),
			differs("'x-message-ttl' for queue 'q' in vhost '/': received '10.0' but current is '10'"),
		},
		{
			"DEC-3 string", args("x-overflow", "a"), args("x-overflow", int32(1)),
			differs("'x-overflow' for queue 'q' in vhost '/': received '1' but current is 'a'"),
		},
		{"DEC-3 classic equals absent", args(), args("x-queue-type", "classic"), ""},
		{"DEC-3 absent equals classic", args("x-queue-type", "classic"), args(), ""},
		{
			"DEC-3 other type", args("x-queue-type", "classic"), args("x-queue-type", "quorum"),
			differs("'x-queue-type' for queue 'q' in vhost '/': received 'quorum' but current is 'classic'"),
		},
		{
			"DEC-4 missing now", args("x-message-ttl", int32(10)), args(),
			differs("'x-message-ttl' for queue 'q' in vhost '/': received none but current is the value '10' of type 'signedint'"),
		},
		{
			"DEC-4 void now", args("x-message-ttl", int32(10)), args("x-message-ttl", nil),
			differs("'x-message-ttl' for queue 'q' in vhost '/': received none but current is '10'"),
		},
		{
			"DEC-4 extra now", args(), args("x-message-ttl", int64(10)),
			differs("'x-message-ttl' for queue 'q' in vhost '/': received the value '10' of type 'long' but current is none"),
		},
		{
			"DEC-4 missing string", args("x-dead-letter-exchange", "dlx"), args(),
			differs("'x-dead-letter-exchange' for queue 'q' in vhost '/': received none but current is the value 'dlx' of type 'longstr'"),
		},
		{
			"DEC-4 bool", args("x-single-active-consumer", true), args("x-single-active-consumer", false),
			differs("'x-single-active-consumer' for queue 'q' in vhost '/': received 'false' but current is 'true'"),
		},
		{
			"DEC-2 forward-to", args("x-forward-to", "a"), args("x-forward-to", "b"),
			differs("'x-forward-to' for queue 'q' in vhost '/': received 'b' but current is 'a'"),
		},
		{
			"DLY-8 delayed-messages", args("x-delayed-messages", true), args(),
			differs("'x-delayed-messages' for queue 'q' in vhost '/': received none but current is the value 'true' of type 'bool'"),
		},
		{
			"DEC-2 own", args("x-queue-type", "quorum", "x-sessions", true), args("x-queue-type", "quorum"),
			differs("'x-sessions' for queue 'q' in vhost '/': received none but current is the value 'true' of type 'bool'"),
		},
		{
			"DEC-4 quorum", args("x-queue-type", "quorum", "x-delivery-limit", int32(1)), args("x-queue-type", "quorum", "x-delivery-limit", int32(2)),
			differs("'x-delivery-limit' for queue 'q' in vhost '/': received '2' but current is '1'"),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := text(Equivalent("q", "/", test.current, test.received)); got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
		})
	}
	if err := ResourceLocked("q", "/"); err.Code != protocol.ResourceLocked {
		t.Errorf("DEC-5 code %d", err.Code)
	}
}

func TestEquivalentExchange(t *testing.T) {
	differs := func(text string) string { return "PRECONDITION_FAILED - inequivalent arg " + text }
	direct := ExchangeDeclaration{Type: "direct", Durable: true}
	tests := []struct {
		name     string
		received ExchangeDeclaration
		want     string
	}{
		{"DEC-4 same", direct, ""},
		{"DEC-4 type", ExchangeDeclaration{Type: "fanout"}, differs("'type' for exchange 'amq.direct' in vhost '/': received 'fanout' but current is 'direct'")},
		{"DEC-4 durable", ExchangeDeclaration{Type: "direct"}, differs("'durable' for exchange 'amq.direct' in vhost '/': received 'false' but current is 'true'")},
		{
			"DEC-4 auto_delete",
			ExchangeDeclaration{Type: "direct", Durable: true, AutoDelete: true, Internal: true},
			differs("'auto_delete' for exchange 'amq.direct' in vhost '/': received 'true' but current is 'false'"),
		},
		{
			"DEC-4 internal",
			ExchangeDeclaration{Type: "direct", Durable: true, Internal: true},
			differs("'internal' for exchange 'amq.direct' in vhost '/': received 'true' but current is 'false'"),
		},
		{
			"DEC-4 alternate-exchange",
			ExchangeDeclaration{Type: "direct", Durable: true, Arguments: table("alternate-exchange", "ae")},
			differs("'alternate-exchange' for exchange 'amq.direct' in vhost '/': received the value 'ae' of type 'longstr' but current is none"),
		},
		{
			"DLY-13 release-rate",
			ExchangeDeclaration{Type: "direct", Durable: true, Arguments: table("x-release-rate", int32(4))},
			differs("'x-release-rate' for exchange 'amq.direct' in vhost '/': received the value '4' of type 'signedint' but current is none"),
		},
		{"DLY-1 other arguments", ExchangeDeclaration{Type: "direct", Durable: true, Arguments: table("x-delayed-type", "topic")}, ""},
	}
	for _, test := range tests {
		if got := text(EquivalentExchange("amq.direct", "/", direct, test.received)); got != test.want {
			t.Errorf("%s: %s\nwant %s", test.name, got, test.want)
		}
	}
}
