package main

import "candlemark/protocol"

// wrongTypes are values of other types than integer.
var wrongTypes = []one{
	{"longstr", "5"},
	{"empty-longstr", ""},
	{"bool", true},
	{"double", 5.0},
	{"float", float32(5)},
	{"timestamp", protocol.Timestamp(5)},
	{"decimal", protocol.Decimal{Scale: 1, Value: 50}},
	{"void", nil},
	{"table", protocol.Table{{Key: "a", Value: int32(1)}}},
	{"array", protocol.Array{int32(1)}},
	{"binary", []byte("5")},
}

// integers are the integer types, and ends of ranges.
var integers = []one{
	{"byte", int8(120)},
	{"unsigned-byte", uint8(120)},
	{"short", int16(500)},
	{"unsigned-short", uint16(500)},
	{"int", int32(50_000)},
	{"unsigned-int", uint32(50_000)},
	{"long", int64(50_000)},
	{"zero", 0},
	{"minus-one", -1},
	{"minus-one-byte", int8(-1)},
	{"ten-years", 315360000000},
	{"above-ten-years", 315360000001},
	{"2-to-32", 1 << 32},
	{"largest", maxInt64},
	{"smallest", -maxInt64 - 1},
}

// argument declares a queue with one argument; more has further options.
func argument(key string, values []one, more ...option) []script {
	return each("argument/"+key, values, func(v any) []step {
		return []step{declare("~q", append([]option{arg(key, v)}, more...)...), declare("~q", passive)}
	})
}

var argumentScripts = join(
	argument("x-message-ttl", append(wrongTypes, integers...)),
	argument("x-expires", append(wrongTypes, integers...)),
	argument("x-max-length", append(wrongTypes, integers...)),
	argument("x-max-length-bytes", append(wrongTypes, integers...)),
	argument("x-max-priority", append(wrongTypes, one{"zero", 0}, one{"one", 1}, one{"ten", int8(10)}, one{"255", 255}, one{"256", 256},
		one{"minus-one", -1}, one{"largest", maxInt64})),
	argument("x-dead-letter-exchange", append(wrongTypes[2:], one{"int", 5}, one{"name", "~x"}, one{"empty", ""}, one{"long-name", string(make([]byte, 300))})),
	argument("x-dead-letter-routing-key", append(wrongTypes, one{"int", 5}), arg("x-dead-letter-exchange", "~x")),
	argument("x-dead-letter-routing-key/without-exchange", []one{{"name", "k"}}),
	argument("x-dead-letter-strategy", []one{{"at-most-once", "at-most-once"}, {"at-least-once", "at-least-once"}, {"other", "x"}, {"int", 5}}),
	argument("x-overflow", append(wrongTypes[2:], one{"drop-head", "drop-head"}, one{"reject-publish", "reject-publish"},
		one{"reject-publish-dlx", "reject-publish-dlx"}, one{"other", "drop-tail"}, one{"empty", ""}, one{"int", 5})),
	argument("x-queue-type", append(wrongTypes[2:], one{"classic", "classic"}, one{"unknown", "foo"}, one{"upper-case", "CLASSIC"}, one{"int", 5})),
	argument("x-queue-mode", append(wrongTypes[2:], one{"default", "default"}, one{"lazy", "lazy"}, one{"other", "bad"}, one{"int", 5})),
	argument("x-queue-version", append(wrongTypes, one{"one", 1}, one{"two", 2}, one{"three", 3}, one{"zero", 0})),
	argument("x-single-active-consumer", append(wrongTypes[3:], one{"true", true}, one{"false", false}, one{"longstr", "true"}, one{"int", 1})),
	argument("x-queue-leader-locator", []one{{"balanced", "balanced"}, {"client-local", "client-local"}, {"other", "x"}, {"int", 5}}),
	argument("x-queue-master-locator", []one{{"min-masters", "min-masters"}, {"other", "x"}, {"int", 5}}),
	argument("x-consumer-timeout", []one{{"int", 60_000}, {"zero", 0}, {"minus-one", -1}, {"longstr", "x"}}),
	[]script{
		s("argument/other-type/delivery-limit", declare("~q", arg("x-delivery-limit", 5))),
		s("argument/other-type/quorum-initial-group-size", declare("~q", arg("x-quorum-initial-group-size", 3))),
		s("argument/other-type/max-age", declare("~q", arg("x-max-age", "1h"))),
		s("argument/other-type/stream-max-segment-size-bytes", declare("~q", arg("x-stream-max-segment-size-bytes", 1000))),
		s("argument/other-type/initial-cluster-size", declare("~q", arg("x-initial-cluster-size", 3))),
		s("argument/other-type/max-in-memory-length", declare("~q", arg("x-max-in-memory-length", 5))),
		s("argument/other-type/max-in-memory-bytes", declare("~q", arg("x-max-in-memory-bytes", 5))),
		s("argument/other-type/delivery-limit-wrong-type", declare("~q", arg("x-delivery-limit", "x"))),

		s("argument/order/expires-before-ttl", declare("~q", arg("x-message-ttl", -1), arg("x-expires", 0))),
		s("argument/order/ttl-before-length", declare("~q", arg("x-max-length", -1), arg("x-message-ttl", -1))),
		s("argument/order/dlx-type-before-expires", declare("~q", arg("x-expires", 0), arg("x-dead-letter-exchange", 5))),
		s("argument/order/queue-type-before-all", declare("~q", arg("x-dead-letter-exchange", 5), arg("x-expires", 0), arg("x-queue-type", "foo"))),
		s("argument/order/values-before-other-type", declare("~q", arg("x-delivery-limit", 5), arg("x-expires", 0))),
		s("argument/order/length-before-bytes", declare("~q", arg("x-max-length-bytes", -1), arg("x-max-length", -2))),
		s("argument/order/bytes-before-priority", declare("~q", arg("x-max-priority", 300), arg("x-max-length-bytes", -2))),
		s("argument/order/priority-before-overflow", declare("~q", arg("x-overflow", "x"), arg("x-max-priority", 300))),
		s("argument/order/overflow-before-mode", declare("~q", arg("x-queue-mode", "x"), arg("x-overflow", "x"))),
		s("argument/order/mode-and-single-active", declare("~q", arg("x-single-active-consumer", 5), arg("x-queue-mode", "x"))),
		s("argument/order/reserved-name-and-bad-argument", declare("amq.~q", arg("x-message-ttl", -1))),
		s("argument/nowait", declare("~q", noWait, arg("x-message-ttl", -1)), settle(), declare("~q", passive)),
		s("argument/name-in-text-with-quote", declare("~'q", arg("x-message-ttl", -1))),
		s("argument/text-longer-than-255", declare("~"+string(makeName(200)), arg("x-message-ttl", -1))),
		s("argument/exchange/alternate-int", exchange("~x", "direct", arg("alternate-exchange", int64(5)))),
		s("argument/exchange/alternate-bool", exchange("~x", "direct", arg("alternate-exchange", true))),
		s("argument/exchange/alternate-empty", exchange("~x", "direct", arg("alternate-exchange", ""))),
	},
)

func makeName(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'n'
	}
	return b
}
