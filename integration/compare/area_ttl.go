package main

const hundred = 100 // ms, short enough to wait for and long enough to act in

var ttlScripts = []script{
	s("ttl/message/expires", declare("~q"), publish("", "~q", "m", expiration("100")), pause(300), get("~q"), declare("~q", passive)),
	s("ttl/message/is-delivered-unchanged", declare("~q"), publish("", "~q", "m", expiration("60000")), get("~q", noAck)),
	s("ttl/queue/expires", declare("~q", arg("x-message-ttl", hundred)), publish("", "~q", "m"), pause(300), get("~q")),
	s("ttl/queue/adds-no-property", declare("~q", arg("x-message-ttl", 60_000)), publish("", "~q", "m"), get("~q", noAck)),
	s("ttl/lower-wins/message", declare("~q", arg("x-message-ttl", 60_000)), publish("", "~q", "m", expiration("100")), pause(300), get("~q")),
	s("ttl/lower-wins/queue", declare("~q", arg("x-message-ttl", hundred)), publish("", "~q", "m", expiration("60000")), pause(300), get("~q")),
	s("ttl/per-queue-copy", exchange("~x", "fanout"), declare("~q", arg("x-message-ttl", hundred)), declare("~r"), bind("~q", "~x", ""), bind("~r", "~x", ""),
		publish("~x", "", "m"), pause(300), get("~q"), get("~r")),
	s("ttl/behind-a-longer-one", declare("~q"), publish("", "~q", "long", expiration("60000")), publish("", "~q", "short", expiration("100")), pause(300),
		declare("~q", passive), get("~q", noAck), get("~q", noAck)),
	s("ttl/unacked-never-expires", declare("~q", arg("x-message-ttl", hundred)), publish("", "~q", "m"), get("~q"), pause(300), ack(1), settle(), declare("~q", passive)),
	s("ttl/unacked-requeued-late-expires", declare("~q", arg("x-message-ttl", hundred)), publish("", "~q", "m"), get("~q"), pause(300), nack(1, requeue), settle(), get("~q")),
	s("ttl/requeue-keeps-deadline", declare("~q", arg("x-message-ttl", 600)), publish("", "~q", "m"), get("~q"), nack(1, requeue), pause(900), get("~q")),
	s("ttl/consumer-gets-what-lives", declare("~q"), publish("", "~q", "1", expiration("100")), publish("", "~q", "2"), pause(300), consume("~q", "t"), settle()),
	s("ttl/zero/queue-without-consumer", declare("~q", arg("x-message-ttl", 0)), publish("", "~q", "m", mandatory), settle(), get("~q")),
	s("ttl/zero/queue-with-consumer", declare("~q", arg("x-message-ttl", 0)), consume("~q", "t"), publish("", "~q", "m"), settle()),
	s("ttl/zero/message-with-consumer", declare("~q"), consume("~q", "t"), publish("", "~q", "m", expiration("0")), settle()),
	s("ttl/zero/consumer-without-credit", declare("~q"), qos(1), consume("~q", "t"), publish("", "~q", "1", expiration("0")), settle(),
		publish("", "~q", "2", expiration("0")), settle(), ack(1), settle()),
	s("ttl/zero/requeued-is-dropped", declare("~q"), qos(1), consume("~q", "t"), publish("", "~q", "1", expiration("0")), settle(), nack(1, requeue), settle(),
		declare("~q", passive)),
	s("ttl/zero/dead-letters", deadLetters(arg("x-message-ttl", 0)), publish("", "~q", "m"), settle(), get("~d", noAck)),
	s("ttl/get-count-excludes-expired", declare("~q"), publish("", "~q", "1"), publish("", "~q", "2", expiration("100")), publish("", "~q", "3", expiration("100")),
		publish("", "~q", "4"), pause(300), get("~q", noAck), get("~q", noAck)),
	s("ttl/purge-excludes-expired", declare("~q"), publish("", "~q", "1", expiration("100")), publish("", "~q", "2"), pause(300), purge("~q")),
	s("ttl/delete-excludes-expired", declare("~q"), publish("", "~q", "1", expiration("100")), publish("", "~q", "2"), pause(300), deleteQueue("~q")),
}

// lease makes a queue of a 900 ms lease, does something at 600 ms and looks at 1200 ms.
func lease(id string, action ...step) script {
	return s("lease/"+id, declare("~q", arg("x-expires", 900)), pause(450), do(action...), pause(500), publish("", "~q", "is it there", mandatory), settle())
}

var leaseScripts = []script{
	lease("nothing"),
	lease("redeclare", declare("~q", arg("x-expires", 900))),
	lease("redeclare-nowait", declare("~q", arg("x-expires", 900), noWait)),
	lease("passive", declare("~q", passive)),
	lease("passive-nowait", declare("~q", passive, noWait)),
	lease("inequivalent", declare("~q", arg("x-expires", 901))),
	lease("get-empty", get("~q")),
	lease("publish", publish("", "~q", "m")),
	lease("bind", bind("~q", "amq.direct", "~k")),
	lease("purge", purge("~q")),
	lease("consumer-attached", consume("~q", "t")),
	lease("consumer-left", consume("~q", "t"), cancel("t")),
	lease("channel-with-consumer-closed", on(1, 2, consume("~q", "t"), closeChannel())),
	s("lease/expires/unused", declare("~q", arg("x-expires", hundred)), pause(400), declare("~q", passive)),
	s("lease/expires/with-messages", deadLetters(arg("x-expires", hundred)), publish("", "~q", "m"), pause(400), declare("~q", passive), get("~d")),
	s("lease/expires/with-unacked", declare("~q", arg("x-expires", 300)), publish("", "~q", "m"), get("~q"), pause(700), ack(1), settle(), declare("~q", passive)),
	s("lease/expires/exclusive", declare("~q", exclusive, arg("x-expires", hundred)), pause(400), declare("~q", passive)),
	s("lease/expires/auto-delete", declare("~q", autoDelete, arg("x-expires", hundred)), pause(400), declare("~q", passive)),
	s("lease/expires/consumed-lives", declare("~q", arg("x-expires", hundred)), consume("~q", "t"), pause(400), publish("", "~q", "m"), settle()),
	s("lease/expires/auto-delete-exchange-goes-too", exchange("~x", "direct", autoDelete), declare("~q", arg("x-expires", hundred)), bind("~q", "~x", "k"), pause(400),
		exchange("~x", "direct", passive)),
}

var purgeScripts = []script{
	s("purge/plain", fill, purge("~q"), declare("~q", passive), purge("~q")),
	s("purge/nowait", fill, purge("~q", noWait), declare("~q", passive)),
	s("purge/missing", purge("~q")),
	s("purge/missing-nowait", purge("~q", noWait), settle()),
	s("purge/no-last-queue", purge("")),
	s("purge/last-queue", fill, purge("")),
	s("purge/keeps-unacked", three, purge("~q"), nack(1, requeue), settle(), declare("~q", passive)),
	s("purge/dead-letters-nothing", deadLetters(), publish("", "~q", "m"), purge("~q"), settle(), get("~d")),
	s("delete/plain", fill, deleteQueue("~q"), declare("~q", passive)),
	s("delete/missing", deleteQueue("~q")),
	s("delete/missing-nowait", deleteQueue("~q", noWait), settle()),
	s("delete/missing-if-unused", deleteQueue("~q", ifUnused)),
	s("delete/nowait", fill, deleteQueue("~q", noWait), declare("~q", passive)),
	s("delete/no-last-queue", deleteQueue("")),
	s("delete/last-queue", fill, deleteQueue(""), declare("~q", passive)),
	s("delete/if-empty", fill, deleteQueue("~q", ifEmpty), purge("~q"), deleteQueue("~q", ifEmpty)),
	s("delete/if-empty-with-unacked", declare("~q"), publish("", "~q", "m"), get("~q"), deleteQueue("~q", ifEmpty)),
	s("delete/if-unused", declare("~q"), on(1, 2, consume("~q", "t")), deleteQueue("~q", ifUnused), on(1, 2, cancel("t")), deleteQueue("~q", ifUnused)),
	s("delete/if-unused-and-if-empty", fill, on(1, 2, qos(1), consume("~q", "t")), settle(), deleteQueue("~q", ifUnused, ifEmpty)),
	s("delete/counts-ready-only", three, deleteQueue("~q")),
	s("delete/dead-letters-nothing", deadLetters(), publish("", "~q", "m"), deleteQueue("~q"), settle(), get("~d")),
	s("delete/unbinds", exchange("~x", "direct"), declare("~q"), bind("~q", "~x", "k"), deleteQueue("~q"), declare("~q"), publish("~x", "k", "m", mandatory), settle()),
	s("delete/then-publish", declare("~q"), deleteQueue("~q"), publish("", "~q", "m", mandatory), settle()),
	s("delete/ack-after", three, deleteQueue("~q"), ack(1), settle(), nack(2, requeue), settle(), reject(3), settle(), declare("~q")),
	s("delete/recreate-differently", declare("~q"), deleteQueue("~q"), declare("~q", durable, arg("x-max-length", 1))),
}
