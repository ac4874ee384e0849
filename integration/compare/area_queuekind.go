package main

import (
	"bytes"

	"candlemark/protocol"
)

var priorityScripts = []script{
	s("priority/order", declare("~q", arg("x-max-priority", 10)), publish("", "~q", "low", priority(1)), publish("", "~q", "none"), publish("", "~q", "high", priority(9)),
		publish("", "~q", "high2", priority(9)), settle(), drain("~q", 4)),
	s("priority/above-max", declare("~q", arg("x-max-priority", 5)), publish("", "~q", "5", priority(5)), publish("", "~q", "200", priority(200)),
		publish("", "~q", "6", priority(6)), publish("", "~q", "4", priority(4)), settle(), drain("~q", 4)),
	s("priority/without-argument", declare("~q"), publish("", "~q", "1", priority(1)), publish("", "~q", "9", priority(9)), settle(), drain("~q", 2)),
	s("priority/requeue", declare("~q", arg("x-max-priority", 5)), publish("", "~q", "a", priority(1)), publish("", "~q", "b", priority(5)), publish("", "~q", "c", priority(5)),
		get("~q"), publish("", "~q", "d", priority(5)), nack(1, requeue), settle(), drain("~q", 4)),
	s("priority/consumer", declare("~q", arg("x-max-priority", 5)), publish("", "~q", "a", priority(1)), publish("", "~q", "b", priority(5)), settle(),
		consume("~q", "t", noAck), settle()),
	s("priority/prefetched-stays", declare("~q", arg("x-max-priority", 5)), qos(1), consume("~q", "t"), publish("", "~q", "a", priority(1)), settle(),
		publish("", "~q", "b", priority(2)), publish("", "~q", "c", priority(3)), settle(), ack(1), settle(), ack(2), settle()),
	s("priority/counts", declare("~q", arg("x-max-priority", 5)), publish("", "~q", "a", priority(1)), publish("", "~q", "b", priority(5)), settle(), declare("~q", passive),
		get("~q"), purge("~q")),
	s("priority/max-length-drops-lowest", declare("~q", arg("x-max-priority", 5), arg("x-max-length", 2)), publish("", "~q", "high", priority(5)),
		publish("", "~q", "low", priority(1)), publish("", "~q", "mid", priority(3)), settle(), drain("~q", 3)),
	s("priority/ttl-behind-higher", deadLetters(arg("x-max-priority", 5)), publish("", "~q", "high", priority(5)),
		publish("", "~q", "low", priority(1), expiration("100")), pause(300), declare("~q", passive), get("~d", noAck)),
}

var overflowScripts = []script{
	s("overflow/drop-head", declare("~q", arg("x-max-length", 2)), publish("", "~q", "1"), publish("", "~q", "2"), publish("", "~q", "3"), settle(), drain("~q", 3)),
	s("overflow/zero", declare("~q", arg("x-max-length", 0)), publish("", "~q", "1"), settle(), get("~q")),
	s("overflow/zero-with-consumer", declare("~q", arg("x-max-length", 0)), consume("~q", "t"), publish("", "~q", "1"), settle()),
	s("overflow/bytes", declare("~q", arg("x-max-length-bytes", 10)), publish("", "~q", "12345"), publish("", "~q", "67890"), publish("", "~q", "x"), settle(), drain("~q", 3)),
	s("overflow/bytes-one-too-large", declare("~q", arg("x-max-length-bytes", 3)), publish("", "~q", "12345"), settle(), get("~q")),
	s("overflow/both-limits", declare("~q", arg("x-max-length-bytes", 100), arg("x-max-length", 1)), publish("", "~q", "1"), publish("", "~q", "2"), settle(), drain("~q", 2)),
	s("overflow/unacked-do-not-count", declare("~q", arg("x-max-length", 1)), publish("", "~q", "1"), get("~q"), publish("", "~q", "2"), settle(), declare("~q", passive)),
	s("overflow/requeue-drops-head", declare("~q", arg("x-max-length", 1)), publish("", "~q", "1"), get("~q"), publish("", "~q", "2"), nack(1, requeue), settle(), drain("~q", 2)),
	s("overflow/reject-publish", confirms(), declare("~q", arg("x-max-length", 1), arg("x-overflow", "reject-publish")), publish("", "~q", "1"), settle(),
		publish("", "~q", "2", mandatory), settle(), drain("~q", 2)),
	s("overflow/reject-publish-without-confirms", declare("~q", arg("x-max-length", 1), arg("x-overflow", "reject-publish")), publish("", "~q", "1"), publish("", "~q", "2"),
		settle(), drain("~q", 2)),
	s("overflow/reject-publish-bytes", confirms(), declare("~q", arg("x-max-length-bytes", 5), arg("x-overflow", "reject-publish")), publish("", "~q", "123"), settle(),
		publish("", "~q", "456"), settle(), publish("", "~q", "7"), settle(), drain("~q", 3)),
	s("overflow/reject-publish-dlx", confirms(), deadLetters(arg("x-max-length", 1), arg("x-overflow", "reject-publish-dlx")), publish("", "~q", "1"), settle(),
		publish("", "~q", "2"), settle(), drain("~q", 2), drain("~d", 2)),
	s("overflow/reject-publish-with-dlx", confirms(), deadLetters(arg("x-max-length", 1), arg("x-overflow", "reject-publish")), publish("", "~q", "1"), settle(),
		publish("", "~q", "2"), settle(), drain("~d", 1)),
	s("overflow/reject-publish-zero-with-consumer", confirms(), declare("~q", arg("x-max-length", 0), arg("x-overflow", "reject-publish")),
		on(1, 2, consume("~q", "t")), publish("", "~q", "1"), settle()),
}

// rpc sends a request from connection 1 and answers it from connection 2.
var rpc = do(consume("amq.rabbitmq.reply-to", "t", noAck), on(2, 1, declare("~rpc")))

var replyScripts = []script{
	s("reply-to/declare", declare("amq.rabbitmq.reply-to", passive)),
	s("reply-to/declare-active", declare("amq.rabbitmq.reply-to")),
	s("reply-to/consume", consume("amq.rabbitmq.reply-to", "t", noAck)),
	s("reply-to/consume-with-ack", consume("amq.rabbitmq.reply-to", "t")),
	s("reply-to/consume-twice", consume("amq.rabbitmq.reply-to", "t", noAck), consume("amq.rabbitmq.reply-to", "u", noAck)),
	s("reply-to/consume-on-two-channels", consume("amq.rabbitmq.reply-to", "t", noAck), on(1, 2, consume("amq.rabbitmq.reply-to", "t", noAck))),
	s("reply-to/consume-cancel-consume", consume("amq.rabbitmq.reply-to", "t", noAck), cancel("t"), consume("amq.rabbitmq.reply-to", "t", noAck)),
	s("reply-to/consume-exclusive", consume("amq.rabbitmq.reply-to", "t", noAck, exclusive)),
	s("reply-to/consume-nowait", consume("amq.rabbitmq.reply-to", "t", noAck, noWait), settle()),
	s("reply-to/server-named-tag", consume("amq.rabbitmq.reply-to", "", noAck)),
	s("reply-to/request-without-consumer", declare("~rpc"), publish("", "~rpc", "m", replyTo("amq.rabbitmq.reply-to")), settle()),
	s("reply-to/request-after-cancel", rpc, cancel("t"), publish("", "~rpc", "m", replyTo("amq.rabbitmq.reply-to")), settle()),
	s("reply-to/request-is-routed", rpc, publish("", "~rpc", "m", replyTo("amq.rabbitmq.reply-to")), settle(), on(2, 1, declare("~rpc", passive))),
	s("reply-to/get", get("amq.rabbitmq.reply-to", noAck)),
	s("reply-to/get-while-consuming", consume("amq.rabbitmq.reply-to", "t", noAck), get("amq.rabbitmq.reply-to", noAck)),
	s("reply-to/purge", purge("amq.rabbitmq.reply-to")),
	s("reply-to/delete", deleteQueue("amq.rabbitmq.reply-to")),
	s("reply-to/bind", bind("amq.rabbitmq.reply-to", "amq.direct", "~k")),
	s("reply-to/publish-to-pseudo-queue", publish("", "amq.rabbitmq.reply-to", "m", mandatory), settle()),
	s("reply-to/publish-to-gone-requester", publish("", "amq.rabbitmq.reply-to.nonsense", "m", mandatory), settle()),
	s("reply-to/passive-declare-of-gone-requester", declare("amq.rabbitmq.reply-to.g1h2AA5yZXBseUAAAAAAAAAA.abc", passive)),
	s("reply-to/passive-declare-of-nonsense", declare("amq.rabbitmq.reply-to.nonsense", passive)),
	s("reply-to/other-name-is-untouched", declare("~rpc"), publish("", "~rpc", "m", replyTo("~mine")), get("~rpc", noAck)),
}

var quorum = arg("x-queue-type", "quorum")

var queueTypeScripts = []script{
	s("quorum/declare", declare("~q", durable, quorum), declare("~q", durable, quorum), declare("~q", passive)),
	s("quorum/not-durable", declare("~q", quorum)),
	s("quorum/exclusive", declare("~q", durable, exclusive, quorum)),
	s("quorum/auto-delete", declare("~q", durable, autoDelete, quorum)),
	s("quorum/server-named", declare("", durable, quorum)),
	s("quorum/redeclare-as-classic", declare("~q", durable, quorum), declare("~q", durable)),
	s("quorum/redeclare-limit-other", declare("~q", durable, quorum, arg("x-delivery-limit", 3)), declare("~q", durable, quorum, arg("x-delivery-limit", 4))),
	s("quorum/max-priority", declare("~q", durable, quorum, arg("x-max-priority", 5))),
	s("quorum/queue-mode", declare("~q", durable, quorum, arg("x-queue-mode", "lazy"))),
	s("quorum/overflow-dlx", declare("~q", durable, quorum, arg("x-overflow", "reject-publish-dlx"))),
	s("quorum/delivery-limit-longstr", declare("~q", durable, quorum, arg("x-delivery-limit", "x"))),
	s("quorum/delivery-limit-negative", declare("~q", durable, quorum, arg("x-delivery-limit", -1))),
	s("quorum/group-size-zero", declare("~q", durable, quorum, arg("x-quorum-initial-group-size", 0))),
	s("quorum/dead-letter-strategy", declare("~q", durable, quorum, arg("x-dead-letter-strategy", "at-least-once"))),
	s("quorum/dead-letter-strategy-other", declare("~q", durable, quorum, arg("x-dead-letter-strategy", "x"))),
	s("quorum/max-age", declare("~q", durable, quorum, arg("x-max-age", "1h"))),
	s("quorum/publish-get-ack", declare("~q", durable, quorum), publish("", "~q", "m", persistent()), pause(300), get("~q"), ack(1), pause(300), declare("~q", passive)),
	s("quorum/delivery-count", declare("~q", durable, quorum), publish("", "~q", "m"), pause(300), get("~q"), nack(1, requeue), pause(300), get("~q")),
	s("quorum/delivery-limit-dead-letters", deadLetters(durable, quorum, arg("x-delivery-limit", 1)), publish("", "~q", "m"), pause(300), get("~q"), nack(1, requeue),
		pause(300), get("~q"), nack(2, requeue), pause(300), get("~q"), get("~d", noAck)),
	s("quorum/global-qos", declare("~q", durable, quorum), qos(1, global), consume("~q", "t"), settle()),
	s("stream/declare", declare("~q", durable, arg("x-queue-type", "stream"))),

	s("single-active/second-waits", declare("~q", arg("x-single-active-consumer", true)), on(1, 2, consume("~q", "a", noAck)), on(1, 3, consume("~q", "b", noAck)),
		publish("", "~q", "1"), settle(), publish("", "~q", "2"), settle(), on(1, 2, cancel("a")), publish("", "~q", "3"), settle()),
	s("single-active/close-hands-over", declare("~q", arg("x-single-active-consumer", true)), on(1, 2, qos(1), consume("~q", "a")), on(1, 3, consume("~q", "b")),
		publish("", "~q", "1"), publish("", "~q", "2"), settle(), on(1, 2, closeChannel()), settle()),
	s("single-active/exclusive-consumer", declare("~q", arg("x-single-active-consumer", true)), consume("~q", "a", exclusive)),
	s("single-active/cancel-with-unacked", declare("~q", arg("x-single-active-consumer", true)), on(1, 2, qos(1), consume("~q", "a")), on(1, 3, consume("~q", "b", noAck)),
		publish("", "~q", "1"), settle(), on(1, 2, cancel("a")), publish("", "~q", "2"), settle(), on(1, 2, ack(1), settle())),
}

var raceScripts = []script{
	s("race/publishes-then-close", declare("~q"), publish("", "~q", "1"), publish("", "~q", "2"), closeChannel(), declare("~q", passive)),
	s("race/publishes-then-connection-close", declare("~q"), on(2, 1, publish("", "~q", "1"), publish("", "~q", "2"), closeConnection()), settle(), declare("~q", passive)),
	s("race/confirms-then-close", declare("~q"), confirms(), publish("", "~q", "1"), settle(), closeChannel(), declare("~q", passive)),
	s("race/close-with-consumer", fill, consume("~q", "t"), settle(), closeChannel(), settle(), declare("~q", passive)),
	s("race/close-reopen-same-number", fill, settle(), on(1, 2, get("~q"), closeChannel(), get("~q"), ack(1), settle()), settle(), declare("~q", passive)),
	s("race/many-declares-pipelined", send(&protocol.QueueDeclare{Queue: "~1"}), send(&protocol.QueueDeclare{Queue: "~2"}), send(&protocol.QueueDeclare{Queue: "~3"}),
		send(&protocol.QueueBind{Queue: "~3", Exchange: "amq.direct", RoutingKey: "~k"}), publish("amq.direct", "~k", "m"), send(&protocol.BasicGet{Queue: "~3"}),
		send(&protocol.QueueDelete{Queue: "~1"}), settle()),
	s("race/error-behind-pipelined-calls", send(&protocol.QueueDeclare{Queue: "~1"}), send(&protocol.QueueDeclare{Queue: "~1", Durable: true}),
		send(&protocol.QueueDeclare{Queue: "~2"}), settle(), declare("~2", passive)),
	s("race/delete-and-declare-pipelined", declare("~q"), send(&protocol.QueueDelete{Queue: "~q"}), send(&protocol.QueueDeclare{Queue: "~q", Durable: true}), settle(),
		declare("~q", passive)),
	s("race/get-then-delete-pipelined", fill, send(&protocol.BasicGet{Queue: "~q"}), send(&protocol.QueueDelete{Queue: "~q"}), settle()),
	s("race/close-ok-answer-to-a-crossing-close", declare("~q"), holdCloseOk(), send(&protocol.QueueDeclare{Queue: "~none", Passive: true}),
		bare(send(&protocol.ChannelClose{ReplyCode: 200})), settle()),
	s("race/large-publish-in-many-frames-with-other-channel", declare("~q"), publish("", "~q", string(bytes.Repeat([]byte("y"), 300_000))),
		on(1, 2, publish("", "~r", "small", mandatory), settle()), drain("~q", 2)),
	s("race/connection-error-closes-all", declare("~q"), on(1, 2, fill, get("~q")), settle(), consume("~q", "t"), settle(), consume("~q", "t"), settle(), on(2, 1, declare("~q", passive))),
}
