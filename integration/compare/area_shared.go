package main

import "candlemark/protocol"

// prefers consumes with a priority.
func prefers(n int) option { return arg("x-priority", n) }

// sharedLimitScripts: basic.qos with global, where consumers of a channel share one limit.
var sharedLimitScripts = []script{
	s("qos/global/priority-high-first", declare("~q"), qos(1, global), consume("~q", "low", prefers(1)), consume("~q", "high", prefers(5)),
		publish("", "~q", "1"), settle(), publish("", "~q", "2"), settle(), ack(1), settle(), ack(2), settle()),
	s("qos/global/priority-of-other-channel", declare("~q"), on(1, 2, qos(1, global), consume("~q", "low", prefers(1))), on(1, 3, qos(1, global), consume("~q", "high", prefers(5))),
		publish("", "~q", "1"), settle(), publish("", "~q", "2"), settle(), publish("", "~q", "3"), settle(), on(1, 3, ack(1)), settle()),
	s("qos/global/priority-burst", declare("~q"), qos(3, global), consume("~q", "low", prefers(1)), consume("~q", "high", prefers(5)), fill, settle()),
	s("qos/global/round-robin", declare("~q"), qos(4, global), consume("~q", "a"), consume("~q", "b"), publish("", "~q", "1"), settle(), publish("", "~q", "2"), settle(),
		publish("", "~q", "3"), settle(), publish("", "~q", "4"), settle(), publish("", "~q", "5"), settle(), ack(4, multiple), settle()),
	s("qos/global/other-channel-has-its-own", fill, qos(1, global), consume("~q", "a"), settle(), on(1, 2, qos(1, global), consume("~q", "b")), settle()),
	s("qos/global/set-after-consumers", fill, qos(1), consume("~q", "a"), settle(), consume("~q", "b"), settle(), qos(1, global), ack(1), settle(), ack(2), settle()),
	s("qos/global/cancel-keeps-unacked-counted", fill, qos(1, global), consume("~q", "a"), settle(), cancel("a"), consume("~q", "b"), settle(), ack(1), settle()),
	s("qos/global/nack-frees", fill, qos(1, global), consume("~q", "a"), settle(), nack(1), settle(), reject(2), settle()),
	s("qos/global/requeue-comes-back", fill, qos(1, global), consume("~q", "a"), settle(), nack(1, requeue), settle()),
	s("qos/global/recover", fill, qos(2, global), consume("~q", "a"), settle(), recoverAll(), settle()),
	s("qos/global/get-is-not-stopped", fill, qos(1, global), consume("~q", "a"), settle(), get("~q"), get("~q"), ack(1), settle(), ack(2), settle(), ack(3), settle()),
	s("qos/global/zero-at-first", fill, qos(0, global), consume("~q", "a"), settle()),
	s("qos/global/largest", fill, qos(65535, global), consume("~q", "a"), settle()),
	s("qos/global/tx-ack-frees-at-commit", fillOutside, txSelect(), qos(1, global), consume("~q", "a"), settle(), ack(1), settle(), txCommit(), settle()),
	s("qos/global/exclusive-consumer", fill, qos(2, global), consume("~q", "a", exclusive), settle(), ack(1), settle()),
	s("qos/global/single-active", declare("~q", arg("x-single-active-consumer", true)), qos(1, global), consume("~q", "a"), consume("~q", "b"), publish("", "~q", "1"),
		publish("", "~q", "2"), settle(), cancel("a"), settle(), ack(1), settle()),
	s("qos/global/queue-deleted-frees", fill, declare("~r"), publish("", "~r", "r1"), qos(1, global), consume("~q", "a"), settle(), consume("~r", "b"), settle(),
		on(1, 2, deleteQueue("~q")), settle(), ack(1), settle()),
	s("qos/global/ttl-zero", declare("~q"), qos(1, global), consume("~q", "a"), settle(), publish("", "~q", "m", expiration("0")), settle(), ack(1), settle()),
	s("qos/global/no-ack-of-lower-priority", declare("~q"), qos(1, global), consume("~q", "low", noAck, prefers(1)), consume("~q", "high", prefers(5)), publish("", "~q", "m"), settle()),
	s("qos/global/closed-channel-frees-nothing-elsewhere", fill, on(1, 2, qos(1, global), consume("~q", "a")), settle(), on(1, 3, qos(1, global), consume("~q", "b")), settle(),
		on(1, 2, closeChannel()), settle()),

	s("qos/each/raised-for-next-consumer", fill, qos(1), consume("~q", "a"), settle(), qos(2), consume("~q", "b"), settle()),
	s("qos/each/and-global-lower", fill, qos(1, global), qos(3), consume("~q", "a"), settle()),
	s("qos/each/global-then-removed", fill, qos(1, global), qos(2), consume("~q", "a"), settle(), qos(0, global), settle()),
	s("qos/each/ack-multiple-over-two-consumers", fill, qos(1), consume("~q", "a"), settle(), consume("~q", "b"), settle(), ack(2, multiple), settle()),
	s("qos/each/of-another-channel-is-untouched", fill, qos(1), on(1, 2, consume("~q", "a")), settle()),
	s("qos/each/reject-drops-and-frees", fill, qos(1), consume("~q", "a"), settle(), reject(1), settle()),
}

// inTx does the steps in a transaction and commits.
func inTx(id string, steps ...step) script {
	return s("tx/in/"+id, declare("~q"), declare("~r"), txSelect(), do(steps...), settle(), txCommit(), settle(), on(1, 5, drain("~q", 4), drain("~r", 2)))
}

// moreTxScripts show which methods a transaction holds back.
var moreTxScripts = []script{
	inTx("two-queues", publish("", "~q", "1"), publish("", "~r", "2"), publish("", "~q", "3")),
	inTx("expiration", publish("", "~q", "m", expiration("60000"))),
	inTx("cc", publish("", "~q", "m", header("CC", protocol.Array{"~r"}))),
	inTx("bad-cc", publish("", "~q", "m", header("CC", "~r"))),
	inTx("empty-body", publish("", "~q", "")),
	inTx("mandatory-routed-and-not", publish("", "~none", "1", mandatory), publish("", "~q", "2", mandatory)),
	inTx("rollback-then-more", publish("", "~q", "1"), txRollback(), publish("", "~q", "2")),
	inTx("declare-is-at-once", declare("~z"), on(1, 5, declare("~z", passive))),
	inTx("own-get-sees-nothing", publish("", "~q", "1"), get("~q")),
	inTx("other-user-id", publish("", "~q", "1", userID("other"))),
	inTx("channel-error-loses-it", publish("", "~q", "1"), fail, txSelect(), publish("", "~q", "2")),
	s("tx/acks/multiple", fillOutside, txSelect(), get("~q"), get("~q"), get("~q"), ack(2, multiple), settle(), txCommit(), ack(3), txCommit(), settle(), declare("~q", passive)),
	s("tx/acks/zero-multiple", fillOutside, txSelect(), get("~q"), get("~q"), ack(0, multiple), txCommit(), closeChannel(), settle(), declare("~q", passive)),
	s("tx/acks/unknown-behind-good", fillOutside, txSelect(), get("~q"), ack(1), ack(7), settle(), declare("~q", passive)),
	s("tx/acks/nack-multiple-requeue", fillOutside, txSelect(), get("~q"), get("~q"), nack(2, multiple, requeue), settle(), get("~q"), txCommit(), settle(), declare("~q", passive)),
	s("tx/acks/reject-requeue-rollback", fillOutside, txSelect(), get("~q"), reject(1, requeue), txRollback(), settle(), get("~q"), ack(1), txCommit(), declare("~q", passive)),
	s("tx/acks/dead-letter-at-commit", deadLetters(), publish("", "~q", "m"), settle(), on(1, 2, txSelect(), get("~q"), reject(1), settle(), on(1, 3, declare("~d", passive)),
		on(1, 2, txCommit())), settle(), declare("~d", passive)),
	s("tx/acks/consumer-limit-frees-at-commit", fillOutside, txSelect(), qos(1), consume("~q", "t"), settle(), ack(1), settle(), txCommit(), settle()),
	s("tx/acks/no-ack-get", fillOutside, txSelect(), get("~q", noAck), txRollback(), get("~q", noAck)),
	s("tx/state/publish-to-internal", exchange("~x", "fanout", internal), txSelect(), publish("~x", "", "m"), settle()),
	s("tx/state/immediate", txSelect(), declare("~q"), publish("", "~q", "m", immediate), settle()),
	s("tx/state/commit-on-other-channel", txSelect(), on(1, 2, txCommit()), settle()),
	s("tx/state/two-transactions", declare("~q"), txSelect(), on(1, 2, txSelect(), publish("", "~q", "2")), publish("", "~q", "1"), txCommit(), on(1, 2, txCommit()), settle(), drain("~q", 3)),
	s("tx/state/confirm-select-leaves-it-alone", txSelect(), confirms(), settle(), txSelect(), txCommit()),
}
