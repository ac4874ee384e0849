package main

import "candlemark/protocol"

// nowaitScripts: every method that may go without an answer, done and refused. A refusal comes all the same.
var nowaitScripts = []script{
	s("nowait/exchange-declare/twice", exchange("~x", "topic", noWait), exchange("~x", "topic", noWait), exchange("~x", "topic", passive)),
	s("nowait/exchange-declare/other-type", exchange("~x", "topic"), exchange("~x", "fanout", noWait), settle()),
	s("nowait/exchange-declare/reserved-prefix", exchange("amq.~x", "direct", noWait), settle()),
	s("nowait/exchange-declare/default", exchange("", "direct", noWait), settle()),
	s("nowait/exchange-declare/bad-alternate", exchange("~x", "direct", noWait, arg("alternate-exchange", 5)), settle()),
	s("nowait/exchange-delete/missing", deleteExchange("~x", noWait), settle(), qos(0)),
	s("nowait/exchange-delete/default", deleteExchange("", noWait), settle()),
	s("nowait/exchange-delete/system", deleteExchange("amq.topic", noWait), settle()),
	s("nowait/exchange-delete/in-use", exchange("~x", "direct"), declare("~q"), bind("~q", "~x", "k"), deleteExchange("~x", noWait, ifUnused), settle(),
		exchange("~x", "direct", passive)),
	s("nowait/exchange-bind/missing-source", exchange("~x", "direct"), bindExchange("~x", "~y", "k", noWait), settle()),
	s("nowait/exchange-bind/missing-destination", exchange("~y", "direct"), bindExchange("~x", "~y", "k", noWait), settle()),
	s("nowait/exchange-bind/default", exchange("~x", "direct"), bindExchange("~x", "", "k", noWait), settle()),
	s("nowait/exchange-unbind/done", exchange("~x", "fanout"), exchange("~y", "fanout"), declare("~q"), bindExchange("~y", "~x", ""), bind("~q", "~y", ""),
		unbindExchange("~y", "~x", "", noWait), publish("~x", "k", "m", mandatory), settle()),
	s("nowait/exchange-unbind/missing-binding", exchange("~x", "fanout"), exchange("~y", "fanout"), unbindExchange("~y", "~x", "", noWait), settle(), qos(0)),
	s("nowait/exchange-unbind/missing-exchange", exchange("~y", "fanout"), unbindExchange("~y", "~x", "", noWait), settle(), qos(0)),
	s("nowait/exchange-unbind/default", exchange("~y", "fanout"), unbindExchange("~y", "", "", noWait), settle()),

	s("nowait/queue-declare/inequivalent", declare("~q"), declare("~q", noWait, arg("x-message-ttl", 5)), settle()),
	s("nowait/queue-declare/bad-argument", declare("~q", noWait, arg("x-message-ttl", -1)), settle(), declare("~q", passive)),
	s("nowait/queue-declare/reserved-prefix", declare("amq.~q", noWait), settle()),
	s("nowait/queue-declare/locked", on(2, 1, declare("~q", exclusive)), declare("~q", noWait, exclusive), settle()),
	s("nowait/queue-declare/server-named", declare("", noWait, exclusive), publish("", "~none", "m"), get("")),
	s("nowait/queue-bind/missing-queue", bind("~q", "amq.direct", "~k", noWait), settle()),
	s("nowait/queue-bind/default-exchange", declare("~q"), bind("~q", "", "~k", noWait), settle()),
	s("nowait/queue-bind/locked", on(2, 1, declare("~q", exclusive)), bind("~q", "amq.direct", "~k", noWait), settle()),
	s("nowait/queue-purge/done-in-order", fill, send(&protocol.QueuePurge{Queue: "~q", NoWait: true}), publish("", "~q", "after"), drain("~q", 2)),
	s("nowait/queue-purge/locked", on(2, 1, declare("~q", exclusive)), purge("~q", noWait), settle()),
	s("nowait/queue-delete/missing", deleteQueue("~q", noWait), settle(), qos(0)),
	s("nowait/queue-delete/done", fill, deleteQueue("~q", noWait), declare("~q", passive)),
	s("nowait/queue-delete/not-empty", fill, settle(), deleteQueue("~q", noWait, ifEmpty), settle(), declare("~q", passive)),
	s("nowait/queue-delete/in-use", declare("~q"), on(1, 2, consume("~q", "t")), deleteQueue("~q", noWait, ifUnused), settle(), declare("~q", passive)),
	s("nowait/queue-delete/locked", on(2, 1, declare("~q", exclusive)), deleteQueue("~q", noWait), settle()),
	s("nowait/queue-delete/no-last-queue", deleteQueue("", noWait), settle()),

	s("nowait/consume/tag-reuse", declare("~q"), consume("~q", "t"), consume("~q", "t", noWait), settle()),
	s("nowait/consume/exclusive-conflict", declare("~q"), on(1, 2, consume("~q", "a")), consume("~q", "b", noWait, exclusive), settle()),
	s("nowait/consume/locked", on(2, 1, declare("~q", exclusive)), consume("~q", "t", noWait), settle()),
	s("nowait/consume/bad-priority", declare("~q"), consume("~q", "t", noWait, arg("x-priority", "high")), settle()),
	s("nowait/consume/then-cancel", declare("~q"), consume("~q", "t", noWait), cancel("t"), declare("~q", passive)),
	s("nowait/confirm-select/publish-behind", declare("~q"), confirms(noWait), publish("", "~q", "m"), settle()),
	s("nowait/confirm-select/after-tx", txSelect(), confirms(noWait), settle()),
	s("nowait/pipeline", exchange("~x", "direct", noWait), declare("~q", noWait), bind("~q", "~x", "k", noWait), confirms(noWait), publish("~x", "k", "1"),
		consume("~q", "t", noWait), settle(), ack(1), cancel("t", noWait), deleteExchange("~x", noWait), deleteQueue("~q", noWait), settle(), declare("~q", passive)),
	s("nowait/error-then-methods-are-dropped", send(&protocol.QueueBind{Queue: "~none", Exchange: "amq.direct", NoWait: true}),
		bare(send(&protocol.QueueDeclare{Queue: "~q", NoWait: true}), send(&protocol.QueueDeclare{Queue: "~r"})), settle(), declare("~q", passive)),
}

// recent returns a channel that has been used, in error, and opened again under its number.
func recent(id string, before, after step) script {
	return s("channel/reuse/"+id, declare("~q"), on(1, 2, before, fail, after), settle(), declare("~q", passive))
}

// reuseScripts: nothing of the channel that had a number before holds for the one that has it now.
var reuseScripts = []script{
	recent("tags-start-anew", do(publish("", "~q", "1"), get("~q"), nack(1, requeue), get("~q")), do(get("~q"), ack(1))),
	recent("consumers-are-gone", consume("~q", "t"), do(consume("~q", "t"), publish("", "~q", "m"))),
	recent("confirms-are-off", do(confirms(), publish("", "~q", "1"), settle()), publish("", "~q", "2")),
	recent("confirm-numbers-start-anew", do(confirms(), publish("", "~q", "1"), publish("", "~q", "2"), settle()), do(confirms(), publish("", "~q", "3"))),
	recent("transaction-is-gone", do(txSelect(), publish("", "~q", "1")), do(publish("", "~q", "2"), settle(), txSelect(), txCommit())),
	recent("transaction-becomes-confirms", txSelect(), do(confirms(), publish("", "~q", "1"))),
	recent("qos-is-gone", do(publish("", "~q", "1"), publish("", "~q", "2"), qos(1)), consume("~q", "t")),
	recent("global-qos-is-gone", do(publish("", "~q", "1"), publish("", "~q", "2"), qos(1, global), consume("~q", "t"), settle()), consume("~q", "t")),
	recent("last-queue-is-forgotten", declare("~q"), get("")),
	recent("half-a-publish-is-gone", do(), do(declare("~r"), publish("", "~r", "m"), get("~r", noAck))),
	s("channel/reuse/close-and-open-many-times", do(reopened, reopened, reopened, reopened, reopened, reopened), declare("~q", passive)),
	s("channel/reuse/numbers-out-of-order", on(1, 9, declare("~q")), on(1, 4, declare("~q")), on(1, 9, closeChannel()), on(1, 7, declare("~q")), on(1, 9, declare("~q"))),
	s("channel/close/odd-code-and-long-text", declare("~q"), call(&protocol.ChannelClose{ReplyCode: 65535, ReplyText: string(makeName(255)), Class: 60, Method: 40}), declare("~q")),
	s("channel/close/inside-a-publish-then-open", openChannelFirst, publishMethod("", "~q"), frame(2, contentHeader(60, 0, 5, 0, 0)), frame(3, []byte("he")),
		settle(), on(1, 3, declare("~r")), settle()),
}

// reopened closes the channel and opens it again.
var reopened = do(declare("~q"), closeChannel())
