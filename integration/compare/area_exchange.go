package main

import "candlemark/protocol"

var kinds = []one{{"direct", "direct"}, {"fanout", "fanout"}, {"topic", "topic"}, {"headers", "headers"}}

// redeclareExchange declares an exchange, again with other options, and then passively.
func redeclareExchange(id string, again ...option) script {
	return s("exchange/redeclare/"+id, exchange("~x", "direct"), exchange("~x", "direct", again...), exchange("~x", "direct", passive))
}

var exchangeScripts = join(
	each("exchange/declare", kinds, func(kind any) []step {
		return []step{exchange("~x", kind.(string)), exchange("~x", kind.(string)), exchange("~x", "", passive), deleteExchange("~x")}
	}),
	each("exchange/predeclared", []one{
		{"direct", "amq.direct"}, {"fanout", "amq.fanout"}, {"topic", "amq.topic"}, {"headers", "amq.headers"}, {"match", "amq.match"},
	}, func(name any) []step {
		return []step{
			exchange(name.(string), "direct", passive), exchange(name.(string), "direct", durable), exchange(name.(string), "fanout", durable),
			exchange(name.(string), "topic", durable), exchange(name.(string), "headers", durable), deleteExchange(name.(string)),
		}
	}),
	[]script{
		s("exchange/declare/flags", exchange("~d", "direct", durable), exchange("~a", "direct", autoDelete), exchange("~i", "direct", internal),
			exchange("~n", "direct", noWait), exchange("~n", "direct", passive)),
		s("exchange/declare/unknown-type", exchange("~x", "nope")),
		s("exchange/declare/empty-type", exchange("~x", "")),
		s("exchange/declare/unknown-type-nowait", exchange("~x", "nope", noWait), settle()),
		s("exchange/declare/type-of-other-case", exchange("~x", "DIRECT")),
		s("exchange/declare/passive-missing", exchange("~x", "direct", passive)),
		s("exchange/declare/passive-missing-nowait", exchange("~x", "direct", passive, noWait), settle()),
		s("exchange/declare/passive-other-type", exchange("~x", "direct"), exchange("~x", "fanout", passive), exchange("~x", "nope", passive)),
		s("exchange/declare/passive-other-flags", exchange("~x", "direct"), exchange("~x", "direct", passive, durable, internal, arg("x", 1))),
		s("exchange/declare/reserved-prefix", exchange("amq.~x", "direct")),
		s("exchange/declare/reserved-prefix-passive", exchange("amq.~x", "direct", passive)),
		s("exchange/declare/amq-without-dot", exchange("amq~x", "direct"), deleteExchange("amq~x")),
		s("exchange/declare/default", exchange("", "direct", durable)),
		s("exchange/declare/default-passive", exchange("", "direct", passive)),
		s("exchange/declare/line-ends-are-dropped", exchange("~a\r\nb", "direct"), exchange("~ab", "direct", passive), deleteExchange("~a\nb")),
		s("exchange/declare/name-with-quotes-and-umlauts", exchange("~'ü\"<>", "direct"), exchange("~'ü\"<>", "topic")),
		s("exchange/declare/unknown-argument", exchange("~x", "direct", arg("x-foo", 1)), exchange("~x", "direct")),
		s("exchange/declare/alternate-wrong-type", exchange("~x", "direct", arg("alternate-exchange", 5))),
		s("exchange/declare/alternate-missing-exchange", exchange("~x", "direct", arg("alternate-exchange", "~none"))),

		redeclareExchange("durable", durable),
		redeclareExchange("auto-delete", autoDelete),
		redeclareExchange("internal", internal),
		redeclareExchange("alternate", arg("alternate-exchange", "~ae")),
		redeclareExchange("durable-and-internal", durable, internal),
		redeclareExchange("nowait", durable, noWait),
		s("exchange/redeclare/type", exchange("~x", "direct"), exchange("~x", "topic")),
		s("exchange/redeclare/type-and-durable", exchange("~x", "direct"), exchange("~x", "topic", durable)),
		s("exchange/redeclare/alternate-other", exchange("~x", "direct", arg("alternate-exchange", "~ae")), exchange("~x", "direct", arg("alternate-exchange", "~be"))),
		s("exchange/redeclare/alternate-missing-now", exchange("~x", "direct", arg("alternate-exchange", "~ae")), exchange("~x", "direct")),
		s("exchange/redeclare/unknown-type", exchange("~x", "direct"), exchange("~x", "nope")),

		s("exchange/delete/missing", deleteExchange("~x")),
		s("exchange/delete/default", deleteExchange("")),
		s("exchange/delete/nowait", exchange("~x", "direct"), deleteExchange("~x", noWait), exchange("~x", "direct", passive)),
		s("exchange/delete/if-unused", exchange("~x", "direct"), declare("~q"), bind("~q", "~x", "k"), deleteExchange("~x", ifUnused),
			unbind("~q", "~x", "k"), deleteExchange("~x", ifUnused)),
		s("exchange/delete/if-unused-as-destination", exchange("~x", "direct"), exchange("~y", "direct"), bindExchange("~x", "~y", "k"),
			deleteExchange("~x", ifUnused)),
		s("exchange/delete/if-unused-as-source", exchange("~x", "direct"), exchange("~y", "direct"), bindExchange("~x", "~y", "k"),
			deleteExchange("~y", ifUnused)),
		s("exchange/delete/bound", exchange("~x", "direct"), declare("~q"), bind("~q", "~x", "k"), deleteExchange("~x"), publish("~x", "k", "m"), settle()),
		s("exchange/delete/reserved-prefix-missing", deleteExchange("amq.~x")),
		s("exchange/delete/unknown-line-end", deleteExchange("~x\n")),

		s("exchange/auto-delete/by-unbind", exchange("~x", "direct", autoDelete), declare("~q"), bind("~q", "~x", "k"), unbind("~q", "~x", "k"),
			exchange("~x", "direct", passive)),
		s("exchange/auto-delete/never-bound", exchange("~x", "direct", autoDelete), settle(), exchange("~x", "direct", passive)),
		s("exchange/auto-delete/by-queue-delete", exchange("~x", "direct", autoDelete), declare("~q"), bind("~q", "~x", "k"), deleteQueue("~q"),
			exchange("~x", "direct", passive)),
		s("exchange/auto-delete/two-bindings", exchange("~x", "direct", autoDelete), declare("~q"), bind("~q", "~x", "k"), bind("~q", "~x", "l"),
			unbind("~q", "~x", "k"), exchange("~x", "direct", passive), unbind("~q", "~x", "l"), exchange("~x", "direct", passive)),
		s("exchange/auto-delete/source-of-exchange", exchange("~x", "direct", autoDelete), exchange("~y", "direct"), bindExchange("~y", "~x", "k"),
			unbindExchange("~y", "~x", "k"), exchange("~x", "direct", passive)),
		s("exchange/auto-delete/destination-stays", exchange("~x", "direct", autoDelete), exchange("~y", "direct"), bindExchange("~x", "~y", "k"),
			unbindExchange("~x", "~y", "k"), exchange("~x", "direct", passive)),
		s("exchange/auto-delete/chain", exchange("~x", "direct", autoDelete), exchange("~y", "direct", autoDelete), declare("~q"),
			bindExchange("~y", "~x", "k"), bind("~q", "~y", "k"), deleteQueue("~q"), settle(), exchange("~y", "direct", passive),
			exchange("~x", "direct", passive)),

		s("exchange/internal/publish", exchange("~x", "fanout", internal), publish("~x", "k", "m"), settle()),
		s("exchange/internal/through-another", exchange("~x", "fanout", internal), exchange("~y", "fanout"), declare("~q"),
			bindExchange("~x", "~y", ""), bind("~q", "~x", ""), publish("~y", "k", "m"), get("~q", noAck)),
		s("exchange/async/passive-after-nowait-error", send(&protocol.ExchangeDeclare{Exchange: "~x", Type: "direct", Passive: true, NoWait: true}), settle()),
	},
)
