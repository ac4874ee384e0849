package main

import "candlemark/protocol"

// deadLetters makes ~d and ~q that dead-letters to it through the default exchange.
func deadLetters(more ...option) step {
	to := []option{arg("x-dead-letter-exchange", ""), arg("x-dead-letter-routing-key", "~d")}
	return do(declare("~d"), declare("~q", append(to, more...)...))
}

// through makes exchange ~dlx with queue ~d, and ~q that dead-letters there.
func through(more ...option) step {
	return do(exchange("~dlx", "fanout"), declare("~d"), bind("~d", "~dlx", ""),
		declare("~q", append([]option{arg("x-dead-letter-exchange", "~dlx")}, more...)...))
}

// died is an x-death header as a client might make it up.
var died = protocol.Array{protocol.Table{
	{Key: "count", Value: int64(7)},
	{Key: "reason", Value: "expired"},
	{Key: "queue", Value: "~q"},
	{Key: "time", Value: protocol.Timestamp(1)},
	{Key: "exchange", Value: ""},
	{Key: "routing-keys", Value: protocol.Array{"~q"}},
}}

var deadLetterScripts = []script{
	s("dead/rejected", through(), publish("", "~q", "m"), get("~q"), reject(1), settle(), get("~d", noAck)),
	s("dead/nacked", through(), publish("", "~q", "m"), get("~q"), nack(1), settle(), get("~d", noAck)),
	s("dead/nacked-multiple-in-order", through(), publish("", "~q", "1"), publish("", "~q", "2"), get("~q"), get("~q"), nack(2, multiple), settle(), drain("~d", 2)),
	s("dead/nacked-multiple-by-priority", through(arg("x-max-priority", 3)), consume("~q", "t"), publish("", "~q", "low"), settle(), publish("", "~q", "high", priority(2)), settle(),
		nack(2, multiple), settle(), drain("~d", 2)),
	s("dead/expired-by-queue", through(arg("x-message-ttl", hundred)), publish("", "~q", "m"), pause(300), get("~d", noAck)),
	s("dead/expired-by-message", through(), publish("", "~q", "m", expiration("100")), pause(300), get("~d", noAck)),
	s("dead/expired-both", through(arg("x-message-ttl", hundred)), publish("", "~q", "m", expiration("5000")), pause(300), get("~d", noAck)),
	s("dead/rejected-with-expiration", through(), publish("", "~q", "m", expiration("5000")), get("~q"), reject(1), settle(), get("~d", noAck)),
	s("dead/maxlen", through(arg("x-max-length", 1)), publish("", "~q", "1"), publish("", "~q", "2"), settle(), get("~d", noAck), get("~q", noAck)),
	s("dead/maxlen-bytes", through(arg("x-max-length-bytes", 5)), publish("", "~q", "1234"), publish("", "~q", "5678"), settle(), get("~d", noAck), get("~q", noAck)),
	s("dead/maxlen-with-expiration", through(arg("x-max-length", 0)), publish("", "~q", "1", expiration("5000")), settle(), get("~d", noAck)),
	s("dead/keeps-properties", through(), publish("", "~q", "m", prop(full)), get("~q"), reject(1), settle(), get("~d", noAck)),
	s("dead/keeps-headers", through(), publish("", "~q", "m", header("a", 1), header("b", "x")), get("~q"), reject(1), settle(), get("~d", noAck)),
	s("dead/from-exchange-with-key", through(), exchange("~x", "topic"), bind("~q", "~x", "#"), publish("~x", "a.b", "m"), get("~q"), reject(1), settle(), get("~d", noAck)),
	s("dead/own-key-is-kept", exchange("~dlx", "direct"), declare("~d"), bind("~d", "~dlx", "~q"), declare("~q", arg("x-dead-letter-exchange", "~dlx")),
		publish("", "~q", "m"), get("~q"), reject(1), settle(), get("~d", noAck)),
	s("dead/routing-key", through(arg("x-dead-letter-routing-key", "other")), publish("", "~q", "m"), get("~q"), reject(1), settle(), get("~d", noAck)),
	s("dead/routing-key-empty", through(arg("x-dead-letter-routing-key", "")), publish("", "~q", "m"), get("~q"), reject(1), settle(), get("~d", noAck)),
	s("dead/default-exchange", deadLetters(), publish("", "~q", "m"), get("~q"), reject(1), settle(), get("~d", noAck)),
	s("dead/no-exchange", declare("~q"), publish("", "~q", "m"), get("~q"), reject(1), settle(), declare("~q", passive)),
	s("dead/missing-exchange", declare("~q", arg("x-dead-letter-exchange", "~dlx")), publish("", "~q", "1"), get("~q"), reject(1), settle(),
		exchange("~dlx", "fanout"), declare("~d"), bind("~d", "~dlx", ""), publish("", "~q", "2"), get("~q"), reject(2), settle(), drain("~d", 2)),
	s("dead/unroutable", exchange("~dlx", "direct"), declare("~q", arg("x-dead-letter-exchange", "~dlx")), publish("", "~q", "m", mandatory), get("~q"), reject(1), settle()),
	s("dead/alternate-exchange-of-dlx", exchange("~ae", "fanout"), exchange("~dlx", "direct", arg("alternate-exchange", "~ae")), declare("~d"),
		bind("~d", "~ae", ""), declare("~q", arg("x-dead-letter-exchange", "~dlx")), publish("", "~q", "m"), get("~q"), reject(1), settle(), get("~d", noAck)),
	s("dead/internal-exchange", exchange("~dlx", "fanout", internal), declare("~d"), bind("~d", "~dlx", ""), declare("~q", arg("x-dead-letter-exchange", "~dlx")),
		publish("", "~q", "m"), get("~q"), reject(1), settle(), get("~d", noAck)),
	s("dead/headers-exchange-sees-x-death-fields", exchange("~dlx", "headers"), declare("~d"),
		bind("~d", "~dlx", "", arg("x-match", "any-with-x"), arg("x-first-death-reason", "rejected")),
		declare("~q", arg("x-dead-letter-exchange", "~dlx")), publish("", "~q", "m"), get("~q"), reject(1), settle(), get("~d", noAck)),
	s("dead/two-queues", through(), declare("~e"), bind("~e", "~dlx", ""), publish("", "~q", "m"), get("~q"), reject(1), settle(), get("~d", noAck), get("~e", noAck)),
	s("dead/same-queue-twice-by-headers", exchange("~dlx", "topic"), declare("~d"), bind("~d", "~dlx", "#"), bind("~d", "~dlx", "*"),
		declare("~q", arg("x-dead-letter-exchange", "~dlx")), publish("", "~q", "m"), get("~q"), reject(1), settle(), declare("~d", passive)),
	s("dead/consumer-gets-it", through(), on(1, 2, consume("~d", "t", noAck)), publish("", "~q", "m"), get("~q"), reject(1), settle()),
	s("dead/redelivered-is-reset", through(), publish("", "~q", "m"), get("~q"), nack(1, requeue), get("~q"), reject(2), settle(), get("~d", noAck)),
	s("dead/expiry-order-equal", through(arg("x-message-ttl", hundred)), publish("", "~q", "1"), publish("", "~q", "2"), publish("", "~q", "3"), pause(400), drain("~d", 3)),
	s("dead/expiry-order-mixed", through(), publish("", "~q", "300", expiration("300")), publish("", "~q", "100", expiration("100")), pause(700), drain("~d", 2)),
	s("dead/cc", through(), declare("~r"), publish("", "~q", "m", header("CC", protocol.Array{"~r"}), header("BCC", protocol.Array{"~s"})), get("~q"), reject(1),
		settle(), get("~d", noAck), get("~r", noAck)),
	s("dead/cc-with-routing-key", through(arg("x-dead-letter-routing-key", "other")), publish("", "~q", "m", header("CC", protocol.Array{"~r"})), get("~q"),
		reject(1), settle(), get("~d", noAck)),
	s("dead/bcc-keys-route-dead-letters", exchange("~dlx", "direct"), declare("~d"), bind("~d", "~dlx", "b"), declare("~q", arg("x-dead-letter-exchange", "~dlx")),
		publish("", "~q", "m", header("BCC", protocol.Array{"b"})), get("~q"), reject(1), settle(), get("~d", noAck)),

	s("dead/again/same-queue-and-reason", exchange("~dlx", "fanout"), declare("~q", arg("x-dead-letter-exchange", "~dlx")), bind("~q", "~dlx", ""), publish("", "~q", "m"),
		get("~q"), reject(1), settle(), get("~q"), reject(2), settle(), get("~q")),
	s("dead/again/other-reason", deadLetters(), declare("~back", arg("x-dead-letter-exchange", ""), arg("x-dead-letter-routing-key", "~q"),
		arg("x-message-ttl", hundred)), exchange("~x", "fanout"), publish("", "~q", "m"), get("~q"), reject(1), settle(), get("~d", noAck)),
	s("dead/again/two-hops", declare("~c"), declare("~b", arg("x-dead-letter-exchange", ""), arg("x-dead-letter-routing-key", "~c"), arg("x-message-ttl", hundred)),
		declare("~a", arg("x-dead-letter-exchange", ""), arg("x-dead-letter-routing-key", "~b")), publish("", "~a", "m", expiration("50")), pause(500), get("~c", noAck)),
	s("dead/again/retry-pattern", declare("~wait", arg("x-dead-letter-exchange", ""), arg("x-dead-letter-routing-key", "~q"), arg("x-message-ttl", hundred)),
		declare("~q", arg("x-dead-letter-exchange", ""), arg("x-dead-letter-routing-key", "~wait")), publish("", "~q", "m"), get("~q"), reject(1), pause(400),
		get("~q"), reject(2), pause(400), get("~q")),
	s("dead/again/first-death-stays", declare("~c"), declare("~b", arg("x-dead-letter-exchange", ""), arg("x-dead-letter-routing-key", "~c")),
		declare("~a", arg("x-dead-letter-exchange", ""), arg("x-dead-letter-routing-key", "~b")), publish("", "~a", "m"), get("~a"), reject(1), settle(), get("~b"),
		reject(2), settle(), get("~c", noAck)),
	s("dead/cycle/to-itself-by-ttl", declare("~q", arg("x-dead-letter-exchange", ""), arg("x-message-ttl", hundred)), publish("", "~q", "m"), pause(400), get("~q")),
	s("dead/cycle/to-itself-by-maxlen", declare("~q", arg("x-dead-letter-exchange", ""), arg("x-max-length", 1)), publish("", "~q", "1"), publish("", "~q", "2"), settle(),
		drain("~q", 2)),
	s("dead/cycle/two-queues-by-ttl", declare("~a", arg("x-dead-letter-exchange", ""), arg("x-dead-letter-routing-key", "~b"), arg("x-message-ttl", hundred)),
		declare("~b", arg("x-dead-letter-exchange", ""), arg("x-dead-letter-routing-key", "~a"), arg("x-message-ttl", hundred)), publish("", "~a", "m"), pause(700),
		get("~a"), get("~b")),
	s("dead/cycle/other-target-still-gets-it", exchange("~dlx", "fanout"), declare("~q", arg("x-dead-letter-exchange", "~dlx"), arg("x-message-ttl", hundred)),
		declare("~d"), bind("~q", "~dlx", ""), bind("~d", "~dlx", ""), publish("", "~q", "m"), pause(400), get("~d", noAck), get("~q")),
	s("dead/client-x-death/array", through(), publish("", "~q", "m", header("x-death", died)), get("~q"), reject(1), settle(), get("~d", noAck)),
	s("dead/client-x-death/string", through(), publish("", "~q", "m", header("x-death", "mine")), get("~q"), reject(1), settle(), get("~d", noAck)),
	s("dead/client-x-death/first-death", through(), publish("", "~q", "m", header("x-first-death-queue", "mine"), header("x-last-death-queue", "mine")), get("~q"),
		reject(1), settle(), get("~d", noAck)),
	s("dead/client-x-death/untouched-without-death", declare("~q"), publish("", "~q", "m", header("x-death", died)), get("~q", noAck)),
	s("dead/target/max-length", exchange("~dlx", "fanout"), declare("~d", arg("x-max-length", 1), arg("x-overflow", "reject-publish")), bind("~d", "~dlx", ""),
		declare("~q", arg("x-dead-letter-exchange", "~dlx")), publish("", "~q", "1"), publish("", "~q", "2"), get("~q"), get("~q"), nack(2, multiple), settle(), drain("~d", 2)),
	s("dead/target/ttl-applies-anew", through(), declare("~e", arg("x-message-ttl", hundred)), bind("~e", "~dlx", ""), publish("", "~q", "m"), get("~q"), reject(1),
		pause(300), get("~e"), get("~d", noAck)),
	s("dead/requeue-above-limit", through(arg("x-max-length", 1)), publish("", "~q", "1"), get("~q"), publish("", "~q", "2"), nack(1, requeue), settle(),
		drain("~q", 2), drain("~d", 1)),
}
