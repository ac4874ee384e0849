package main

import "candlemark/protocol"

var alternateScripts = []script{
	s("alternate/unroutable-goes-there", exchange("~ae", "fanout"), exchange("~x", "direct", arg("alternate-exchange", "~ae")), declare("~q"), bind("~q", "~ae", ""),
		publish("~x", "k", "m", mandatory), settle(), get("~q", noAck)),
	s("alternate/routable-does-not", exchange("~ae", "fanout"), exchange("~x", "direct", arg("alternate-exchange", "~ae")), declare("~q"), declare("~r"),
		bind("~q", "~ae", ""), bind("~r", "~x", "k"), publish("~x", "k", "m"), settle(), get("~q"), get("~r", noAck)),
	s("alternate/missing", exchange("~x", "direct", arg("alternate-exchange", "~ae")), publish("~x", "k", "m", mandatory), settle()),
	s("alternate/empty-too", exchange("~ae", "direct"), exchange("~x", "direct", arg("alternate-exchange", "~ae")), publish("~x", "k", "m", mandatory), settle()),
	s("alternate/chain", exchange("~c", "fanout"), exchange("~b", "direct", arg("alternate-exchange", "~c")), exchange("~x", "direct", arg("alternate-exchange", "~b")),
		declare("~q"), bind("~q", "~c", ""), publish("~x", "k", "m"), get("~q", noAck)),
	s("alternate/loop", exchange("~b", "direct", arg("alternate-exchange", "~x")), exchange("~x", "direct", arg("alternate-exchange", "~b")),
		publish("~x", "k", "m", mandatory), settle()),
	s("alternate/to-itself", exchange("~x", "direct", arg("alternate-exchange", "~x")), publish("~x", "k", "m", mandatory), settle()),
	s("alternate/of-bound-exchange", exchange("~ae", "fanout"), exchange("~y", "direct", arg("alternate-exchange", "~ae")), exchange("~x", "fanout"),
		bindExchange("~y", "~x", ""), declare("~q"), bind("~q", "~ae", ""), publish("~x", "k", "m", mandatory), settle(), get("~q", noAck)),
	s("alternate/default-exchange", exchange("~x", "direct", arg("alternate-exchange", "")), declare("~q"), publish("~x", "~q", "m", mandatory), settle(), get("~q", noAck)),
	s("alternate/internal", exchange("~ae", "fanout", internal), exchange("~x", "direct", arg("alternate-exchange", "~ae")), declare("~q"), bind("~q", "~ae", ""),
		publish("~x", "k", "m"), get("~q", noAck)),
	s("alternate/bound-to-an-exchange-without-queue", exchange("~ae", "fanout"), exchange("~dead-end", "fanout"), exchange("~x", "direct", arg("alternate-exchange", "~ae")),
		bindExchange("~dead-end", "~x", "k"), declare("~q"), bind("~q", "~ae", ""), publish("~x", "k", "m", mandatory), settle(), get("~q")),
}

// topic binds one pattern and publishes keys; the bodies are the keys, so the messages that arrive show which keys
// matched.
func topic(pattern string, keys ...string) script {
	steps := []step{exchange("~x", "topic"), declare("~q"), bind("~q", "~x", pattern)}
	for _, key := range keys {
		steps = append(steps, publish("~x", key, "<"+key+">"))
	}
	return s("topic/"+pattern, append(steps, settle(), drain("~q", len(keys)+1))...)
}

var keys = []string{"", "a", "a.b", "a.b.c", "b", "b.a", "a.", ".a", ".", "..", "a..b", "a.b.c.d", "A", "*", "#", "a.#", "ä"}

// matches binds with arguments and publishes headers.
func matches(id string, bound, sent []option, second ...option) script {
	steps := []step{
		exchange("~x", "headers"), declare("~q"), bind("~q", "~x", "", bound...), publish("~x", "k", "first", sent...), settle(), get("~q", noAck),
	}
	if second != nil {
		steps = append(steps, publish("~x", "k", "second", second...), settle(), get("~q", noAck))
	}
	return s("headers/"+id, steps...)
}

var routingScripts = join([]script{
	topic("", keys...), topic("#", keys...), topic("*", keys...), topic("a", keys...), topic("a.#", keys...), topic("#.a", keys...), topic("a.*", keys...),
	topic("*.b", keys...), topic("*.*", keys...), topic("#.*", keys...), topic("*.#", keys...), topic("#.#", keys...), topic("a.#.c", keys...),
	topic("a.*.c", keys...), topic("#.b.#", keys...), topic("*.#.*", keys...), topic(".", keys...), topic("a.", keys...), topic("a..b", keys...),
	topic("a*", keys...), topic("#a", keys...), topic("a.#.#.d", keys...), topic("ä", keys...),
	s("topic/two-queues", exchange("~x", "topic"), declare("~q"), declare("~r"), bind("~q", "~x", "a.*"), bind("~r", "~x", "#.b"), publish("~x", "a.b", "1"),
		publish("~x", "a.c", "2"), publish("~x", "c.b", "3"), settle(), drain("~q", 3), drain("~r", 3)),
	s("topic/unbind-one-of-overlapping", exchange("~x", "topic"), declare("~q"), bind("~q", "~x", "a.#"), bind("~q", "~x", "a.*"), unbind("~q", "~x", "a.#"),
		publish("~x", "a", "1"), publish("~x", "a.b", "2"), settle(), drain("~q", 2)),
	s("direct/keys", exchange("~x", "direct"), declare("~q"), bind("~q", "~x", "a.*"), publish("~x", "a.b", "1"), publish("~x", "a.*", "2"), settle(), drain("~q", 2)),
	s("fanout/keys-do-not-matter", exchange("~x", "fanout"), declare("~q"), bind("~q", "~x", "a"), bind("~q", "~x", "b"), publish("~x", "c", "1"), settle(), drain("~q", 2)),

	matches("all", with(arg("x-match", "all"), arg("a", 1), arg("b", "x")), with(header("a", 1), header("b", "x"), header("c", 3)), header("a", 1)),
	matches("any", with(arg("x-match", "any"), arg("a", 1), arg("b", "x")), with(header("a", 1)), header("a", 2), header("b", "y")),
	matches("default-is-all", with(arg("a", 1), arg("b", 2)), with(header("a", 1)), header("a", 1), header("b", 2)),
	matches("no-arguments", nil, with(header("a", 1)), header("b", 1)),
	matches("no-arguments-no-headers", nil, nil),
	matches("all-without-fields", with(arg("x-match", "all")), nil, header("a", 1)),
	matches("any-without-fields", with(arg("x-match", "any")), nil, header("a", 1)),
	matches("any-no-headers", with(arg("x-match", "any"), arg("a", 1)), nil),
	matches("void-means-present", with(arg("x-match", "all"), arg("a", nil)), with(header("a", 5)), header("b", 5)),
	matches("void-header-against-value", with(arg("a", 5)), with(header("a", nil))),
	matches("x-fields-are-ignored", with(arg("x-match", "all"), arg("x-a", 1), arg("b", 2)), with(header("b", 2)), header("x-a", 1)),
	matches("x-fields-are-ignored-by-any", with(arg("x-match", "any"), arg("x-a", 1)), with(header("x-a", 1))),
	matches("all-with-x", with(arg("x-match", "all-with-x"), arg("x-a", 1), arg("b", 2)), with(header("b", 2)), header("x-a", 1), header("b", 2)),
	matches("any-with-x", with(arg("x-match", "any-with-x"), arg("x-a", 1), arg("b", 2)), with(header("x-a", 1)), header("c", 2)),
	matches("integer-types-are-equal", with(arg("a", int32(5))), with(header("a", int64(5))), header("a", int8(5))),
	matches("double-is-not-integer", with(arg("a", int32(5))), with(header("a", 5.0))),
	matches("string-is-not-integer", with(arg("a", int32(5))), with(header("a", "5"))),
	matches("bool", with(arg("a", true)), with(header("a", true)), header("a", false)),
	matches("timestamp-is-not-integer", with(arg("a", int64(5))), with(header("a", protocol.Timestamp(5)))),
	matches("table", with(arg("a", protocol.Table{{Key: "k", Value: int32(1)}})), with(header("a", protocol.Table{{Key: "k", Value: int32(1)}}))),
	matches("bytes-and-string", with(arg("a", "x")), with(header("a", []byte("x")))),
	matches("header-twice", with(arg("a", 2)), with(header("a", 1), header("a", 2))),
	s("headers/x-match/unknown", exchange("~x", "headers"), declare("~q"), bind("~q", "~x", "", arg("x-match", "most"), arg("a", 1))),
	s("headers/x-match/int", exchange("~x", "headers"), declare("~q"), bind("~q", "~x", "", arg("x-match", 5), arg("a", 1))),
	s("headers/x-match/bool", exchange("~x", "headers"), declare("~q"), bind("~q", "~x", "", arg("x-match", true))),
	s("headers/x-match/void", exchange("~x", "headers"), declare("~q"), bind("~q", "~x", "", arg("x-match", nil))),
	s("headers/x-match/empty", exchange("~x", "headers"), declare("~q"), bind("~q", "~x", "", arg("x-match", ""))),
	s("headers/x-match/unknown-in-exchange-bind", exchange("~x", "headers"), exchange("~y", "fanout"), bindExchange("~y", "~x", "", arg("x-match", "most"))),
	s("headers/x-match/unknown-in-unbind", exchange("~x", "headers"), declare("~q"), unbind("~q", "~x", "", arg("x-match", "most"))),
	s("headers/x-match/unknown-on-direct", exchange("~x", "direct"), declare("~q"), bind("~q", "~x", "k", arg("x-match", "most"))),
	s("headers/x-match/unknown-but-missing-queue", exchange("~x", "headers"), bind("~q", "~x", "", arg("x-match", "most"))),
})

// cc publishes to ~q with a header and shows what ~q, ~r and ~s got.
func cc(id string, headers ...option) script {
	return s("copy/"+id, confirms(), declare("~q"), declare("~r"), declare("~s"), publish("", "~q", "m", headers...), settle(),
		drain("~q", 2), drain("~r", 2), drain("~s", 2))
}

var copyScripts = []script{
	cc("cc", header("CC", protocol.Array{"~r"})),
	cc("bcc", header("BCC", protocol.Array{"~r"})),
	cc("both", header("CC", protocol.Array{"~r"}), header("BCC", protocol.Array{"~s"})),
	cc("same-queue-once", header("CC", protocol.Array{"~q", "~r", "~r"})),
	cc("empty-array", header("CC", protocol.Array{})),
	cc("items-of-other-types", header("CC", protocol.Array{int32(5), "~r", nil})),
	cc("lower-case-is-nothing", header("cc", protocol.Array{"~r"})),
	cc("bcc-is-the-only-header", header("BCC", protocol.Array{"~r"}), header("other", 1)),
	cc("wrong-type/longstr", header("CC", "~r")),
	cc("wrong-type/int", header("CC", 5)),
	cc("wrong-type/table", header("CC", protocol.Table{})),
	cc("wrong-type/bcc-longstr", header("BCC", "~r")),
	cc("wrong-type/bcc-bool", header("BCC", true)),
	cc("wrong-type/void", header("CC", nil)),
	cc("item-longer-than-a-key", header("CC", protocol.Array{string(makeName(300))})),
	s("copy/mandatory-when-only-copy-routes", declare("~r"), publish("", "~none", "m", mandatory, header("CC", protocol.Array{"~r"})), settle(), get("~r", noAck)),
	s("copy/mandatory-when-nothing-routes", publish("", "~none", "m", mandatory, header("CC", protocol.Array{"~r"}), header("BCC", protocol.Array{"~s"})), settle()),
	s("copy/through-topic", exchange("~x", "topic"), declare("~q"), declare("~r"), bind("~q", "~x", "a.*"), bind("~r", "~x", "b.*"),
		publish("~x", "a.1", "m", header("CC", protocol.Array{"b.2"})), settle(), get("~q", noAck), get("~r", noAck)),
	s("copy/routing-key-of-copy", exchange("~x", "direct"), declare("~r"), bind("~r", "~x", "second"), publish("~x", "first", "m", header("CC", protocol.Array{"second"})),
		settle(), get("~r", noAck)),
}
