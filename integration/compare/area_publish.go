package main

import (
	"bytes"

	"candlemark/protocol"
)

// expirations of TTL-5 and TTL-6.
var expirations = []one{
	{"zero", "0"},
	{"minus-zero", "-0"},
	{"plus", "+5000"},
	{"leading-zeros", "007000"},
	{"five", "5000"},
	{"largest", "315360000000"},
	{"above-largest", "315360000001"},
	{"minus-one", "-1"},
	{"word", "abc"},
	{"empty", ""},
	{"blank-before", " 5"},
	{"blank-after", "5 "},
	{"unit", "10x"},
	{"fraction", "1.5"},
	{"exponent", "1e3"},
	{"hex", "0x10"},
	{"sign-only", "-"},
	{"two-signs", "+-5"},
	{"quote", "5'"},
	{"beyond-64-bits", "99999999999999999999"},
	{"non-ascii", "5ü"},
	{"newline", "5\n"},
	{"word-of-200", string(makeName(200))},
	{"digits-of-200", "1" + string(bytes.Repeat([]byte("0"), 200))},
}

func full(p *protocol.Properties) {
	*p = protocol.Properties{
		ContentType: "text/plain", ContentEncoding: "gzip", DeliveryMode: 1, Priority: 7, CorrelationID: "c", ReplyTo: "r",
		MessageID: "m", Timestamp: 1234567890, Type: "t", UserID: "guest", AppID: "a", ClusterID: "cl",
		Headers: protocol.Table{
			{Key: "bool", Value: true},
			{Key: "byte", Value: int8(-1)},
			{Key: "ubyte", Value: uint8(200)},
			{Key: "short", Value: int16(-2)},
			{Key: "ushort", Value: uint16(60000)},
			{Key: "int", Value: int32(-3)},
			{Key: "uint", Value: uint32(4000000000)},
			{Key: "long", Value: int64(-4)},
			{Key: "float", Value: float32(1.5)},
			{Key: "double", Value: 2.5},
			{Key: "decimal", Value: protocol.Decimal{Scale: 2, Value: 314}},
			{Key: "text", Value: "ü"},
			{Key: "bytes", Value: []byte{0, 1}},
			{Key: "time", Value: protocol.Timestamp(99)},
			{Key: "table", Value: protocol.Table{{Key: "k", Value: "v"}}},
			{Key: "array", Value: protocol.Array{int32(1), "x", nil}},
			{Key: "void", Value: nil},
		},
	}
	p.Flags = 0xFFFC &^ protocol.FlagExpiration
}

var publishScripts = join(
	each("publish/expiration", expirations, func(v any) []step {
		return []step{declare("~q"), publish("", "~q", "m", expiration(v.(string))), settle(), get("~q", noAck)}
	}),
	each("publish/expiration-unroutable", expirations[7:9], func(v any) []step {
		return []step{publish("", "~q", "m", expiration(v.(string)), mandatory), settle()}
	}),
	[]script{
		s("publish/plain", declare("~q"), publish("", "~q", "m"), get("~q", noAck), get("~q", noAck)),
		s("publish/empty-body", declare("~q"), publish("", "~q", ""), get("~q", noAck)),
		s("publish/all-properties", declare("~q"), publish("", "~q", "m", prop(full)), get("~q", noAck)),
		s("publish/large-body", declare("~q"), publish("", "~q", string(bytes.Repeat([]byte("0123456789"), 50_000))), get("~q", noAck)),
		s("publish/name-not-utf8", exchange("~x", "fanout"), declare("~q"), bind("~q", "~x", ""), publish("~x", "\xc3\x28", "m"), get("~q", noAck)),
		s("publish/line-ends-in-names", declare("~q"), exchange("~x", "direct"), bind("~q", "~x", "k"), publish("~x\n", "k", "m"), settle()),

		s("publish/missing-exchange", publish("~x", "k", "m"), settle()),
		s("publish/missing-exchange-twice", publish("~x", "k", "m"), bare(publish("~x", "k", "m")), settle()),
		s("publish/unroutable", publish("", "~q", "m"), settle(), exchange("~x", "direct"), publish("~x", "k", "m"), settle()),
		s("publish/mandatory/default-exchange", publish("", "~q", "m", mandatory), settle()),
		s("publish/mandatory/no-binding", exchange("~x", "topic"), publish("~x", "k", "body", mandatory, prop(full)), settle()),
		s("publish/mandatory/routed", declare("~q"), publish("", "~q", "m", mandatory), settle(), get("~q", noAck)),
		s("publish/mandatory/large-body-comes-back", publish("", "~q", string(bytes.Repeat([]byte("x"), 200_000)), mandatory), settle()),
		s("publish/mandatory/expiration-comes-back", publish("", "~q", "m", mandatory, expiration("10")), settle()),
		s("publish/immediate/routed", declare("~q"), publish("", "~q", "m", immediate), settle()),
		s("publish/immediate/unroutable", publish("", "~q", "m", immediate), settle()),
		s("publish/immediate/with-mandatory", publish("", "~q", "m", immediate, mandatory), settle()),

		s("publish/order/immediate-before-exchange", publish("~x", "k", "m", immediate), settle()),
		s("publish/order/exchange-before-expiration", publish("~x", "k", "m", expiration("abc")), settle()),
		s("publish/order/internal-before-expiration", exchange("~x", "fanout", internal), publish("~x", "k", "m", expiration("abc")), settle()),
		s("publish/order/expiration-before-cc", declare("~q"), publish("", "~q", "m", expiration("abc"), header("CC", "text")), settle()),
		s("publish/order/cc-before-user-id", declare("~q"), publish("", "~q", "m", userID("other"), header("CC", "text")), settle()),
		s("publish/order/expiration-before-user-id", declare("~q"), publish("", "~q", "m", userID("other"), expiration("abc")), settle()),
		s("publish/order/user-id-before-route", publish("", "~q", "m", userID("other"), mandatory), settle()),

		s("publish/user-id/own", declare("~q"), publish("", "~q", "m", userID("guest")), get("~q", noAck)),
		s("publish/user-id/other", declare("~q"), publish("", "~q", "m", userID("other")), settle()),
		s("publish/user-id/empty", declare("~q"), publish("", "~q", "m", userID("")), settle()),
		s("publish/pipelined-error-and-good", declare("~q"), publish("", "~q", "1"), publish("~x", "", "2"), bare(publish("", "~q", "3")), settle(),
			get("~q", noAck), get("~q", noAck)),
		s("publish/size/16-mib", declare("~q"), publish("", "~q", string(make([]byte, 16<<20))), get("~q", noAck)),
		s("publish/size/above-16-mib", declare("~q"), publish("", "~q", string(make([]byte, 16<<20+1))), settle(), declare("~q", passive)),
	},
)

var confirmScripts = []script{
	s("confirm/select-twice", confirms(), confirms(), declare("~q"), publish("", "~q", "m"), settle()),
	s("confirm/select-nowait", confirms(noWait), declare("~q"), publish("", "~q", "m"), settle()),
	s("confirm/each", confirms(), declare("~q"), publish("", "~q", "1"), settle(), publish("", "~q", "2"), settle(), publish("", "~q", "3"), settle()),
	s("confirm/burst", confirms(), declare("~q"), publish("", "~q", "1"), publish("", "~q", "2"), publish("", "~q", "3"), publish("", "~q", "4"), settle()),
	s("confirm/numbers-start-at-select", declare("~q"), publish("", "~q", "0"), confirms(), publish("", "~q", "1"), settle()),
	s("confirm/persistent", confirms(), declare("~q", durable), publish("", "~q", "1", persistent()), pause(500)),
	s("confirm/unroutable", confirms(), publish("", "~q", "m"), settle()),
	s("confirm/mandatory-return-first", confirms(), publish("", "~q", "m", mandatory), settle()),
	s("confirm/mandatory-between", confirms(), declare("~q"), publish("", "~q", "1", mandatory), settle(), publish("", "~none", "2", mandatory), settle(),
		publish("", "~q", "3", mandatory), settle()),
	s("confirm/missing-exchange", confirms(), publish("~x", "k", "m"), settle()),
	s("confirm/two-queues", confirms(), exchange("~x", "fanout"), declare("~q"), declare("~r"), bind("~q", "~x", ""), bind("~r", "~x", ""),
		publish("~x", "", "m"), settle()),
	s("confirm/reject-publish", confirms(), declare("~q", arg("x-max-length", 1), arg("x-overflow", "reject-publish")), publish("", "~q", "1"), settle(),
		publish("", "~q", "2"), settle(), get("~q", noAck), publish("", "~q", "3"), settle()),
	s("confirm/reject-publish-one-of-two", confirms(), exchange("~x", "fanout"), declare("~q", arg("x-max-length", 0), arg("x-overflow", "reject-publish")),
		declare("~r"), bind("~q", "~x", ""), bind("~r", "~x", ""), publish("~x", "", "m"), settle(), declare("~r", passive)),
	s("confirm/drop-head", confirms(), declare("~q", arg("x-max-length", 1)), publish("", "~q", "1"), settle(), publish("", "~q", "2"), settle(), get("~q", noAck)),
	s("confirm/ttl-0", confirms(), declare("~q"), publish("", "~q", "1", expiration("0")), settle(), publish("", "~q", "2", expiration("0"), mandatory), settle()),
	s("confirm/delivered-no-ack", confirms(), declare("~q"), consume("~q", "t", noAck), publish("", "~q", "1"), settle()),
	s("confirm/queue-deleted-before", confirms(), declare("~q"), deleteQueue("~q"), publish("", "~q", "1"), settle()),
	s("confirm/after-tx", txSelect(), confirms(), settle()),
	s("confirm/per-channel", confirms(), declare("~q"), on(1, 2, publish("", "~q", "no confirm"), settle()), publish("", "~q", "1"), settle()),
	s("confirm/ack-from-client-side", confirms(), declare("~q"), publish("", "~q", "1"), settle(), ack(1), settle()),
	s("confirm/renewed-with-channel", confirms(), declare("~q"), publish("", "~q", "1"), settle(), closeChannel(), confirms(), publish("", "~q", "1"), settle()),
}
