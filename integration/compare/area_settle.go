package main

import "candlemark/protocol"

// three has messages 1 to 3 unacked on the channel, tags 1 to 3.
var three = do(fill, get("~q"), get("~q"), get("~q"))

var settleScripts = []script{
	s("ack/one", three, ack(2), settle(), declare("~q", passive), closeChannel(), settle(), drain("~q", 5)),
	s("ack/multiple", three, ack(2, multiple), settle(), closeChannel(), settle(), drain("~q", 4)),
	s("ack/zero-multiple", three, ack(0, multiple), settle(), closeChannel(), settle(), drain("~q", 3)),
	s("ack/zero-multiple-with-nothing", declare("~q"), ack(0, multiple), settle(), declare("~q", passive)),
	s("ack/zero", three, ack(0), settle()),
	s("ack/unknown", three, ack(9), settle()),
	s("ack/unknown-multiple", three, ack(9, multiple), settle(), drain("~q", 1)),
	s("ack/with-nothing", ack(1), settle()),
	s("ack/with-nothing-multiple", ack(1, multiple), settle()),
	s("ack/twice", three, ack(1), settle(), ack(1), settle()),
	s("ack/multiple-twice", three, ack(2, multiple), settle(), ack(2, multiple), settle()),
	s("ack/multiple-below-settled", three, ack(3), settle(), ack(3, multiple), settle()),
	s("ack/multiple-over-gap", three, ack(2), settle(), ack(3, multiple), settle(), declare("~q", passive), closeChannel(), drain("~q", 3)),
	s("ack/no-ack-delivery", fill, get("~q", noAck), ack(1), settle()),
	s("ack/other-channel", three, on(1, 2, ack(1), settle()), declare("~q", passive)),
	s("ack/largest-tag", three, ack(1<<64-1), settle()),
	s("ack/error-requeues", three, ack(9), settle(), drain("~q", 5)),

	s("reject/drops", three, reject(1), settle(), declare("~q", passive), closeChannel(), settle(), drain("~q", 5)),
	s("reject/requeues-to-position", three, reject(2, requeue), settle(), get("~q"), get("~q")),
	s("reject/unknown", reject(1), settle()),
	s("reject/zero", three, reject(0), settle()),
	s("reject/zero-requeue-with-nothing", reject(0, requeue), settle()),
	s("nack/drops", three, nack(1), settle(), closeChannel(), settle(), drain("~q", 5)),
	s("nack/requeues", three, nack(1, requeue), settle(), get("~q")),
	s("nack/multiple-requeues", three, nack(2, multiple, requeue), settle(), drain("~q", 5)),
	s("nack/multiple-drops", three, nack(3, multiple), settle(), drain("~q", 3)),
	s("nack/zero-multiple-requeues", three, nack(0, multiple, requeue), settle(), drain("~q", 6)),
	s("nack/zero-multiple-with-nothing", nack(0, multiple), settle(), declare("~q")),
	s("nack/zero", three, nack(0), settle()),
	s("nack/unknown", nack(5), settle()),
	s("nack/unknown-multiple", three, nack(5, multiple), settle()),
	s("nack/requeue-order-of-many", three, nack(3, requeue), nack(1, requeue), nack(2, requeue), settle(), drain("~q", 6)),
	s("nack/requeue-behind-consumer", fill, qos(1), consume("~q", "t"), settle(), nack(1, requeue), settle(), nack(2), settle()),

	s("recover/requeue", three, recoverAll(), settle(), drain("~q", 6)),
	s("recover/to-consumer", fill, qos(2), consume("~q", "t"), settle(), recoverAll(), settle()),
	s("recover/nothing", recoverAll()),
	s("recover/no-requeue", three, call(&protocol.BasicRecover{}), settle()),
	s("recover/async", three, send(&protocol.BasicRecoverAsync{Requeue: true}), settle(), drain("~q", 6)),
	s("recover/async-no-requeue", three, send(&protocol.BasicRecoverAsync{}), settle()),
	s("recover/tags-are-gone", three, recoverAll(), ack(1), settle()),

	s("close/channel-requeues", three, closeChannel(), settle(), drain("~q", 6)),
	s("close/connection-requeues", declare("~q"), on(2, 1, fill, get("~q"), get("~q"), closeConnection()), settle(), drain("~q", 6)),
	s("close/socket-requeues", declare("~q"), on(2, 1, fill, get("~q"), get("~q"), hangUp()), settle(), drain("~q", 6)),
	s("close/requeued-go-to-other-consumer", fill, on(1, 2, qos(2), consume("~q", "a")), settle(), on(1, 3, consume("~q", "b")), settle(),
		on(1, 2, closeChannel()), settle()),
}

var txScripts = []script{
	s("tx/select-twice", txSelect(), txSelect()),
	s("tx/commit-empty", txSelect(), txCommit(), txRollback()),
	s("tx/commit-without-select", txCommit(), settle()),
	s("tx/rollback-without-select", txRollback(), settle()),
	s("tx/select-after-confirm", confirms(), txSelect(), settle()),
	s("tx/publish-commit", txSelect(), declare("~q"), publish("", "~q", "m"), settle(), get("~q"), txCommit(), get("~q", noAck)),
	s("tx/publish-rollback", txSelect(), declare("~q"), publish("", "~q", "m"), txRollback(), get("~q")),
	s("tx/order", txSelect(), declare("~q"), publish("", "~q", "1"), publish("", "~q", "2"), publish("", "~q", "3"), txCommit(), drain("~q", 3)),
	s("tx/ack-commit", txSelect(), three, txCommit(), settle(), get("~q"), ack(1), declare("~q", passive), txCommit(), closeChannel(), settle(), drain("~q", 1)),
	s("tx/ack-rollback", fillOutside, txSelect(), get("~q"), ack(1), txRollback(), ack(1), txCommit(), closeChannel(), settle(), drain("~q", 5)),
	s("tx/ack-rollback-then-close", fillOutside, txSelect(), get("~q"), ack(1), txRollback(), closeChannel(), settle(), drain("~q", 6)),
	s("tx/ack-without-commit-then-close", fillOutside, txSelect(), get("~q"), ack(1), closeChannel(), settle(), drain("~q", 6)),
	s("tx/ack-twice", fillOutside, txSelect(), get("~q"), ack(1), ack(1), settle()),
	s("tx/ack-unknown", txSelect(), ack(1), settle()),
	s("tx/nack-commit", fillOutside, txSelect(), get("~q"), nack(1, requeue), settle(), declare("~q", passive), txCommit(), settle(), declare("~q", passive)),
	s("tx/reject-drop-commit", fillOutside, txSelect(), get("~q"), reject(1), txCommit(), settle(), drain("~q", 5)),
	s("tx/publish-and-ack-commit", fillOutside, txSelect(), get("~q"), publish("", "~q", "6"), ack(1), txCommit(), settle(), drain("~q", 6)),
	s("tx/mandatory-unroutable", txSelect(), publish("", "~q", "m", mandatory), settle(), txCommit(), settle()),
	s("tx/missing-exchange", txSelect(), publish("~x", "k", "m"), settle()),
	s("tx/bad-expiration", txSelect(), publish("", "~q", "m", expiration("abc")), settle()),
	s("tx/queue-gone-before-commit", txSelect(), declare("~q"), publish("", "~q", "m"), deleteQueue("~q"), txCommit()),
	s("tx/exchange-gone-before-commit", txSelect(), exchange("~x", "fanout"), publish("~x", "", "m"), deleteExchange("~x"), txCommit()),
	s("tx/binding-at-publish-or-commit", txSelect(), exchange("~x", "fanout"), declare("~q"), publish("~x", "", "m"), bind("~q", "~x", ""), txCommit(), get("~q")),
	s("tx/ttl-starts-at-commit", txSelect(), declare("~q"), publish("", "~q", "m", expiration("300")), pause(500), txCommit(), get("~q", noAck)),
	s("tx/close-without-commit", declare("~q"), on(1, 2, txSelect(), publish("", "~q", "m"), closeChannel()), settle(), get("~q")),
	s("tx/reject-publish", txSelect(), declare("~q", arg("x-max-length", 0), arg("x-overflow", "reject-publish")), publish("", "~q", "m"), txCommit(), settle()),
	s("tx/consumer-gets-after-commit", declare("~q"), consume("~q", "t", noAck), on(1, 2, txSelect(), publish("", "~q", "m"), settle(), txCommit()), settle()),
	s("tx/recover", fillOutside, txSelect(), get("~q"), ack(1), recoverAll(), get("~q"), txCommit()),
}

// fillOutside fills ~q on another channel, so that it is no part of the transaction.
var fillOutside = on(1, 9, fill, settle())
