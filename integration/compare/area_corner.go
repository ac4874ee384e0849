package main

import (
	"bytes"

	"candlemark/protocol"
)

// exchangeLinkScripts: exchange.bind and exchange.unbind refused, or done in odd order.
var exchangeLinkScripts = []script{
	s("bind/exchange/refused/system-to-missing", bindExchange("~x", "amq.topic", "k")),
	s("bind/exchange/refused/missing-to-system", bindExchange("amq.topic", "~x", "k")),
	s("bind/exchange/refused/default-and-missing", bindExchange("~x", "", "k")),
	s("bind/exchange/refused/name-of-other-case", exchange("~x", "direct"), bindExchange("~X", "~x", "k")),
	s("bind/exchange/refused/amq-default", exchange("~x", "direct"), bindExchange("~x", "amq.default", "k")),
	s("bind/exchange/done/system", exchange("~x", "fanout"), bindExchange("~x", "amq.topic", "~k.#"), declare("~q"), bind("~q", "~x", ""), publish("amq.topic", "~k.a", "m"),
		get("~q", noAck)),
	s("bind/exchange/done/internal-destination", exchange("~x", "fanout", internal), exchange("~y", "fanout"), bindExchange("~x", "~y", "")),
	s("bind/exchange/done/twice-then-unbind-once", exchange("~x", "fanout"), exchange("~y", "fanout"), declare("~q"), bind("~q", "~y", ""), bindExchange("~y", "~x", ""),
		bindExchange("~y", "~x", ""), unbindExchange("~y", "~x", ""), publish("~x", "", "m", mandatory), settle()),
	s("bind/exchange/done/arguments-tell-bindings-apart", exchange("~x", "fanout"), exchange("~y", "fanout"), declare("~q"), bind("~q", "~y", ""),
		bindExchange("~y", "~x", "", arg("a", 1)), bindExchange("~y", "~x", "", arg("a", 2)), unbindExchange("~y", "~x", "", arg("a", 1)), publish("~x", "", "m", mandatory), settle(),
		unbindExchange("~y", "~x", "", arg("a", 2)), publish("~x", "", "m", mandatory), settle()),
	s("bind/exchange/done/source-deleted", exchange("~x", "fanout"), exchange("~y", "fanout"), bindExchange("~y", "~x", ""), deleteExchange("~x"), unbindExchange("~y", "~x", "")),
	s("bind/exchange/done/destination-deleted", exchange("~x", "fanout"), exchange("~y", "fanout"), bindExchange("~y", "~x", ""), deleteExchange("~y"), publish("~x", "", "m", mandatory), settle()),
	s("bind/exchange/done/headers-to-headers", exchange("~x", "headers"), exchange("~y", "headers"), declare("~q"), bindExchange("~y", "~x", "", arg("a", 1)),
		bind("~q", "~y", "", arg("b", 2)), publish("~x", "", "no", header("a", 1)), publish("~x", "", "yes", header("a", 1), header("b", 2)), settle(), drain("~q", 2)),
	s("unbind/exchange/refused/system-and-missing", unbindExchange("~x", "amq.direct", "k")),
	s("unbind/exchange/refused/default-as-destination", unbindExchange("", "amq.direct", "k")),
	s("unbind/exchange/refused/default-to-itself", unbindExchange("", "", "k")),
	s("unbind/exchange/done/twice", exchange("~x", "fanout"), exchange("~y", "fanout"), bindExchange("~y", "~x", "k"), unbindExchange("~y", "~x", "k"), unbindExchange("~y", "~x", "k")),
	s("publish/amq-default", publish("amq.default", "~q", "m"), settle()),
	s("bind/queue/amq-default", declare("~q"), bind("~q", "amq.default", "k")),
	s("exchange/delete/last-destination-of-auto-delete", exchange("~x", "fanout", autoDelete), exchange("~y", "fanout"), bindExchange("~y", "~x", ""), deleteExchange("~y"), settle(),
		exchange("~x", "fanout", passive)),
}

// moreHeadersScripts: values of every type, and the four ways to match.
var moreHeadersScripts = join(
	each("headers/equal", []one{
		{"byte", int8(5)},
		{"unsigned-byte", uint8(5)},
		{"short", int16(5)},
		{"unsigned-short", uint16(5)},
		{"int", int32(5)},
		{"unsigned-int", uint32(5)},
		{"long", int64(5)},
		{"negative", int32(-5)},
		{"float", float32(1.5)},
		{"double", 1.5},
		{"decimal", protocol.Decimal{Scale: 2, Value: 150}},
		{"longstr", "5"},
		{"empty", ""},
		{"bool", false},
		{"timestamp", protocol.Timestamp(5)},
		{"bytes", []byte("5")},
		{"array", protocol.Array{int32(1), "x"}},
		{"nested", protocol.Table{{Key: "t", Value: protocol.Table{}}}},
	}, func(v any) []step {
		steps := []step{exchange("~x", "headers"), declare("~q"), bind("~q", "~x", "", arg("x-match", "all"), arg("a", v))}
		for _, sent := range []any{v, int32(5), "5", 1.5, true} {
			steps = append(steps, publish("~x", "", "m", header("a", sent)), settle(), get("~q", noAck))
		}
		return steps
	}),
	each("headers/match", []one{{"all", "all"}, {"any", "any"}, {"all-with-x", "all-with-x"}, {"any-with-x", "any-with-x"}}, func(how any) []step {
		steps := []step{exchange("~x", "headers"), declare("~q"), bind("~q", "~x", "", arg("x-match", how), arg("a", 1), arg("b", "two"), arg("x-c", 3))}
		for _, sent := range [][]option{
			nil, with(header("a", 1)), with(header("b", "two")), with(header("x-c", 3)), with(header("a", 1), header("b", "two")), with(header("a", 1), header("b", "three")),
			with(header("a", 1), header("b", "two"), header("x-c", 3)), with(header("a", 1), header("b", "two"), header("x-c", 4)), with(header("A", 1), header("B", "two")),
			with(header("x-match", how)), with(header("a", nil), header("b", nil), header("x-c", nil)),
		} {
			steps = append(steps, publish("~x", "ignored", "m", sent...), settle(), get("~q", noAck))
		}
		return steps
	}),
	[]script{
		s("headers/several/both-bindings-once", exchange("~x", "headers"), declare("~q"), bind("~q", "~x", "", arg("a", 1)), bind("~q", "~x", "", arg("b", 2)),
			publish("~x", "", "m", header("a", 1), header("b", 2)), settle(), drain("~q", 2)),
		s("headers/several/unbind-one", exchange("~x", "headers"), declare("~q"), bind("~q", "~x", "", arg("a", 1)), bind("~q", "~x", "", arg("b", 2)), unbind("~q", "~x", "", arg("a", 1)),
			publish("~x", "", "1", header("a", 1)), publish("~x", "", "2", header("b", 2)), settle(), drain("~q", 2)),
		s("headers/several/same-arguments-other-key", exchange("~x", "headers"), declare("~q"), bind("~q", "~x", "k", arg("a", 1)), bind("~q", "~x", "l", arg("a", 1)),
			unbind("~q", "~x", "k", arg("a", 1)), publish("~x", "", "m", header("a", 1)), settle(), drain("~q", 2)),
		s("headers/several/mandatory", exchange("~x", "headers"), declare("~q"), bind("~q", "~x", "", arg("a", 1)), publish("~x", "k", "m", mandatory, header("a", 2)), settle()),
		s("headers/several/amq-match", declare("~q"), bind("~q", "amq.match", "", arg("~h", 1)), publish("amq.match", "", "m", header("~h", 1)), settle(), drain("~q", 1),
			unbind("~q", "amq.match", "", arg("~h", 1))),
	},
)

// moreCopyScripts: CC and BCC with other features.
var moreCopyScripts = []script{
	cc("many", header("CC", protocol.Array{"~r", "~s", "~none", ""})),
	cc("empty-item", header("CC", protocol.Array{""})),
	cc("nested-array", header("CC", protocol.Array{protocol.Array{"~r"}})),
	cc("both-wrong", header("CC", 1), header("BCC", 2)),
	cc("bcc-array-of-ints", header("BCC", protocol.Array{int32(1)})),
	cc("bcc-same-as-cc", header("CC", protocol.Array{"~r"}), header("BCC", protocol.Array{"~r"})),
	cc("bcc-in-nested-table-stays", header("other", protocol.Table{{Key: "BCC", Value: "x"}}), header("BCC", protocol.Array{"~r"})),
	cc("cc-twice", header("CC", protocol.Array{"~r"}), header("CC", protocol.Array{"~s"})),
	cc("wrong-type/array-in-table", header("CC", protocol.Table{{Key: "a", Value: protocol.Array{"~r"}}})),
	cc("wrong-type/bytes", header("CC", []byte("~r"))),
	s("copy/through-fanout", exchange("~x", "fanout"), declare("~q"), bind("~q", "~x", ""), publish("~x", "k", "m", header("CC", protocol.Array{"a", "b"})), settle(), drain("~q", 2)),
	s("copy/through-headers", exchange("~x", "headers"), declare("~q"), bind("~q", "~x", "", arg("a", 1)), publish("~x", "k", "m", header("a", 1), header("CC", protocol.Array{"z"})), settle(),
		drain("~q", 2)),
	s("copy/through-exchange-binding", exchange("~x", "direct"), exchange("~y", "direct"), declare("~q"), bindExchange("~y", "~x", "b"), bind("~q", "~y", "b"),
		publish("~x", "a", "m", header("CC", protocol.Array{"b"})), settle(), get("~q", noAck)),
	s("copy/alternate-only-if-no-copy-routes", exchange("~ae", "fanout"), exchange("~x", "direct", arg("alternate-exchange", "~ae")), declare("~q"), declare("~r"), bind("~q", "~ae", ""),
		bind("~r", "~x", "b"), publish("~x", "a", "m", header("CC", protocol.Array{"b"})), settle(), get("~q", noAck), get("~r", noAck)),
	s("copy/bcc-in-transaction", declare("~q"), declare("~r"), txSelect(), publish("", "~q", "m", header("BCC", protocol.Array{"~r"})), txCommit(), settle(), get("~q", noAck), get("~r", noAck)),
	s("copy/returned-with-headers", publish("", "~none", "m", mandatory, header("BCC", protocol.Array{"~none2"}), header("CC", protocol.Array{"~none3"})), settle()),
	s("copy/reject-publish-of-one", confirms(), declare("~q"), declare("~r", arg("x-max-length", 0), arg("x-overflow", "reject-publish")),
		publish("", "~q", "m", header("CC", protocol.Array{"~r"})), settle(), drain("~q", 1)),
}

// secret is connection.update-secret.
func secret(text string) step {
	return bare(call(&protocol.ConnectionUpdateSecret{NewSecret: []byte(text), Reason: "due"}))
}

// moreConnectionScripts: update-secret, and frames at the edges.
var moreConnectionScripts = []script{
	s("connection/secret/twice", ready, secret("guest"), secret("guest"), openChannel()),
	s("connection/secret/other-password", ready, secret("other"), openChannel(), bare(declare("~q"))),
	s("connection/secret/empty", ready, secret(""), openChannel(), bare(declare("~q"))),
	s("connection/secret/before-open", started, startOk(nil), tuneOk(2047, 131072, 0), secret("guest"), settle()),
	s("connection/secret/before-start-ok", started, secret("guest"), settle()),
	s("connection/secret/on-a-channel", ready, openChannel(), frameOf(&protocol.ConnectionUpdateSecret{NewSecret: []byte("x")}), settle()),
	s("connection/secret/ok-from-client", ready, method0(&protocol.ConnectionUpdateSecretOk{}), settle()),
	s("connection/secret/while-a-channel-publishes", ready, openChannel(), bare(declare("~q"), publish("", "~q", "1")), secret("guest"), bare(publish("", "~q", "2")), settle(),
		bare(declare("~q", passive))),

	s("connection/edge/header-in-pieces", dial(), raw("AM", []byte("AM")), raw("QP 0 0", []byte{'Q', 'P', 0, 0}), raw("9 1", []byte{9, 1})),
	s("connection/edge/method-in-pieces", ready, raw("first half", rawFrame(1, 1, payload(&protocol.ChannelOpen{}), 0xCE)[:6]),
		raw("second half", rawFrame(1, 1, payload(&protocol.ChannelOpen{}), 0xCE)[6:])),
	s("connection/edge/method-frame-above-4096", opened(2047, 4096, 0), openChannel(), raw("4100 bytes", rawFrame(1, 1, bytes.Repeat([]byte{0}, 4100), 0xCE))),
	s("connection/edge/body-frame-above-4096", opened(2047, 4096, 0), openChannel(), publishMethod("", "~q"), frame(2, contentHeader(60, 0, 8000, 0, 0)),
		raw("8000 bytes", rawFrame(3, 1, bytes.Repeat([]byte("x"), 8000), 0xCE))),
	s("connection/edge/body-frame-of-4088", opened(2047, 4096, 0), openChannel(), bare(declare("~q")), publishMethod("", "~q"), frame(2, contentHeader(60, 0, 4088, 0, 0)),
		frame(3, bytes.Repeat([]byte("x"), 4088)), settle(), bare(get("~q", noAck))),
	s("connection/edge/heartbeats-between-everything", ready, heartbeat(), openChannel(), heartbeat(), bare(declare("~q")), heartbeat(), closeConnection()),
	s("connection/edge/close-with-class-and-method", ready, bare(call(&protocol.ConnectionClose{ReplyCode: 541, ReplyText: "mine", Class: 60, Method: 40})), settle()),
	s("connection/edge/open-behind-close", ready, openChannel(), bare(send(&protocol.ConnectionClose{ReplyCode: 200})), bare(on(1, 2, bare(send(&protocol.ChannelOpen{}))),
		on(1, 3, bare(send(&protocol.ChannelOpen{}))), on(1, 4, bare(send(&protocol.ChannelOpen{})))), settle()),
	s("connection/edge/methods-behind-close", ready, openChannel(), bare(send(&protocol.ConnectionClose{ReplyCode: 200})), bare(send(&protocol.QueueDeclare{Queue: "~q"}),
		send(&protocol.QueueDeclare{Queue: "~r", Passive: true})), settle()),
	s("connection/edge/plain-with-authorization-id", started, startOk(func(m *protocol.ConnectionStartOk) { m.Response = []byte("other\x00guest\x00guest") }), settle()),
	s("connection/edge/channel-0-of-a-channel-class-close", ready, on0(bare(send(&protocol.ChannelClose{ReplyCode: 200}))), settle()),
	s("connection/edge/tx-on-channel-0", ready, on0(bare(send(&protocol.TxSelect{}))), settle()),
	s("channel/state/tx-ok-from-client", openChannelFirst, frameOf(&protocol.TxSelectOk{}), settle()),
	s("channel/state/commit-ok-from-client", openChannelFirst, frameOf(&protocol.TxCommitOk{}), settle()),
	s("channel/state/bind-ok-from-client", openChannelFirst, frameOf(&protocol.QueueBindOk{}), settle()),
	s("channel/state/purge-ok-from-client", openChannelFirst, frameOf(&protocol.QueuePurgeOk{}), settle()),
	s("channel/state/delete-ok-from-client", openChannelFirst, frameOf(&protocol.QueueDeleteOk{}), settle()),
	s("channel/state/exchange-declare-ok-from-client", openChannelFirst, frameOf(&protocol.ExchangeDeclareOk{}), settle()),
	s("channel/state/exchange-bind-ok-from-client", openChannelFirst, frameOf(&protocol.ExchangeBindOk{}), settle()),
	s("channel/state/cancel-from-client-of-server-kind", declare("~q"), consume("~q", "t"), call(&protocol.BasicCancel{ConsumerTag: "t", NoWait: true}), settle(), declare("~q", passive)),
	s("channel/state/access-request-refused-realm", call(&protocol.AccessRequest{Realm: "/admin", Exclusive: true, Passive: true, Active: true})),
	s("channel/state/access-request-empty", call(&protocol.AccessRequest{})),
	s("channel/state/flow-twice", send(&protocol.ChannelFlow{Active: true}), send(&protocol.ChannelFlow{Active: true}), settle()),
}
