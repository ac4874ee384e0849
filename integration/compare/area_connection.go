package main

import (
	"bytes"

	"candlemark/protocol"
)

// protocolHeader is how a client begins; the server answers connection.start.
var protocolHeader = step{conn: 1, bare: true, says: "(protocol header)", does: func(p *player, st *step) {
	p.write(st.conn, protocol.ProtocolHeader[:])
	p.wait(p.sessions[st.conn], 0, func(name string) bool { return name == "connection.start" })
}}

// started is a socket on which the server has said connection.start.
var started = do(dial(), protocolHeader)

func startOk(change func(*protocol.ConnectionStartOk)) step {
	g := defaultGreeting()
	m := g.startOk()
	if change != nil {
		change(m)
	}
	return bare(call(m))
}

func tuneOk(channelMax uint16, frameMax uint32, heartbeat uint16) step {
	return bare(send(&protocol.ConnectionTuneOk{ChannelMax: channelMax, FrameMax: frameMax, Heartbeat: heartbeat}))
}

func openVHost() step {
	return bare(call(&protocol.ConnectionOpen{VirtualHost: "/"}))
}

// opened returns a connection by hand with these limits.
func opened(channelMax uint16, frameMax uint32, heartbeat uint16) step {
	return do(started, startOk(nil), tuneOk(channelMax, frameMax, heartbeat), openVHost())
}

// ready is such a connection with the limits that servers offer.
var ready = opened(2047, 131072, 0)

func method0(m protocol.Method) step {
	st := bare(send(m))
	return on0(st)
}

// on0 sends a channel's method on channel 0.
func on0(st step) step {
	for i := range st.sub {
		st.sub[i].ch = 0
	}
	return st
}

func headerScript(id string, b ...byte) script {
	return s("connection/header/"+id, dial(), raw(id, b))
}

func tuneScript(id string, channelMax uint16, frameMax uint32, heartbeat uint16) script {
	return s("connection/tune/"+id, opened(channelMax, frameMax, heartbeat), openChannel(), bare(declare("~q")), bare(closeConnection()))
}

// badFrame sends bytes on an open connection with channel 1 open.
func badFrame(id string, b []byte) script {
	return s("connection/frame/"+id, ready, openChannel(), raw(id, b))
}

var connectionScripts = []script{
	s("connection/start", dial(), recordStart(), protocolHeader),
	headerScript("amqp-1-0", 'A', 'M', 'Q', 'P', 0, 1, 0, 0),
	headerScript("amqp-0-8", 'A', 'M', 'Q', 'P', 1, 1, 8, 0),
	headerScript("amqp-0-8-other", 'A', 'M', 'Q', 'P', 1, 1, 0, 8),
	headerScript("amqp-0-9", 'A', 'M', 'Q', 'P', 1, 1, 0, 9),
	headerScript("amqp-0-10", 'A', 'M', 'Q', 'P', 1, 1, 0, 10),
	headerScript("amqp-0-9-2", 'A', 'M', 'Q', 'P', 0, 0, 9, 2),
	headerScript("http", []byte("GET / HTTP/1.1\r\n\r\n")...),
	headerScript("tls", 0x16, 3, 1, 0, 200, 1, 0, 0),
	headerScript("short-then-end", 'A', 'M'),

	s("connection/login/open", started, startOk(nil), tuneOk(2047, 131072, 0), openVHost(), closeConnection()),
	s("connection/login/wrong-password", connect(func(g *greeting) { g.password = "no" })),
	s("connection/login/wrong-password-old-client", connect(func(g *greeting) { g.password, g.capabilities = "no", nil })),
	s("connection/login/unknown-user", connect(func(g *greeting) { g.user = "nobody" })),
	s("connection/login/unknown-mechanism", connect(func(g *greeting) { g.mechanism = "SCRAM" })),
	s("connection/login/unknown-mechanism-old-client", connect(func(g *greeting) { g.mechanism, g.capabilities = "SCRAM", nil })),
	s("connection/login/broken-plain", started, startOk(func(m *protocol.ConnectionStartOk) { m.Response = []byte("guest") }), settle()),
	s("connection/login/empty-plain", started, startOk(func(m *protocol.ConnectionStartOk) { m.Response = nil }), settle()),
	s("connection/login/amqplain", started, startOk(func(m *protocol.ConnectionStartOk) {
		m.Mechanism = "AMQPLAIN"
		b, _ := protocol.AppendTable(nil, protocol.Table{{Key: "LOGIN", Value: "guest"}, {Key: "PASSWORD", Value: "guest"}})
		m.Response = b[4:]
	}), tuneOk(2047, 131072, 0), openVHost(), closeConnection()),
	s("connection/login/amqplain-without-password", started, startOk(func(m *protocol.ConnectionStartOk) {
		m.Mechanism = "AMQPLAIN"
		b, _ := protocol.AppendTable(nil, protocol.Table{{Key: "LOGIN", Value: "guest"}})
		m.Response = b[4:]
	}), settle()),
	s("connection/login/no-properties", started, startOk(func(m *protocol.ConnectionStartOk) { m.ClientProperties = nil }), tuneOk(2047, 131072, 0), openVHost()),
	s("connection/login/other-locale", started, startOk(func(m *protocol.ConnectionStartOk) { m.Locale = "xx" }), tuneOk(2047, 131072, 0), openVHost()),
	s("connection/open/unknown-vhost", connect(func(g *greeting) { g.vhost = "nowhere" })),
	s("connection/open/empty-vhost", connect(func(g *greeting) { g.vhost = "" })),
	s("connection/open/twice", ready, openVHost(), settle()),

	tuneScript("all-zero", 0, 0, 0),
	tuneScript("as-offered", 2047, 131072, 60),
	tuneScript("small", 10, 4096, 0),
	tuneScript("frame-too-small", 2047, 4095, 0),
	tuneScript("frame-1", 2047, 1, 0),
	tuneScript("frame-too-large", 2047, 131073, 0),
	tuneScript("channels-too-many", 2048, 131072, 0),
	tuneScript("channels-65535", 65535, 131072, 0),
	tuneScript("heartbeat-5", 2047, 131072, 5),
	s("connection/tune/channel-above-max", opened(10, 131072, 0), on(1, 11, openChannel()), settle()),
	s("connection/tune/channel-at-max", opened(10, 131072, 0), on(1, 10, openChannel()), settle()),
	s("connection/tune/small-frames-large-body", connect(func(g *greeting) {
		g.tune = func(m *protocol.ConnectionTuneOk) { m.FrameMax = 4096 }
	}), declare("~q"), publish("", "~q", string(bytes.Repeat([]byte("x"), 10000))), get("~q", noAck)),
	s("connection/tune/body-at-frame-max", declare("~q"), publish("", "~q", string(bytes.Repeat([]byte("x"), 131064))), get("~q", noAck)),
	s("connection/tune/body-above-frame-max", declare("~q"), publish("", "~q", string(bytes.Repeat([]byte("x"), 131065))), get("~q", noAck)),

	s("connection/heartbeat/from-server", opened(2047, 131072, 1), pause(1600)),
	s("connection/heartbeat/silent-client", opened(2047, 131072, 1), pause(5000)),
	s("connection/heartbeat/none-asked", ready, raw("heartbeat", rawFrame(8, 0, nil, 0xCE)), openChannel()),
	badFrame("heartbeat-on-channel", rawFrame(8, 1, nil, 0xCE)),
	badFrame("heartbeat-on-unopened-channel", rawFrame(8, 7, nil, 0xCE)),
	badFrame("heartbeat-with-payload", rawFrame(8, 0, []byte("x"), 0xCE)),

	badFrame("end-octet", rawFrame(1, 1, payload(&protocol.BasicQos{}), 0xCD)),
	badFrame("type-0", rawFrame(0, 1, []byte("abc"), 0xCE)),
	badFrame("type-4", rawFrame(4, 1, []byte("abc"), 0xCE)),
	badFrame("type-4-empty", rawFrame(4, 1, nil, 0xCE)),
	badFrame("type-9-channel-0", rawFrame(9, 0, []byte("abc"), 0xCE)),
	badFrame("too-large", []byte{3, 0, 1, 0, 2, 0, 1}),
	badFrame("method-empty", rawFrame(1, 1, nil, 0xCE)),
	badFrame("method-3-bytes", rawFrame(1, 1, []byte{0, 60, 0}, 0xCE)),
	badFrame("method-unknown-class", rawFrame(1, 1, ids(11, 10), 0xCE)),
	badFrame("method-unknown-method", rawFrame(1, 1, ids(60, 39), 0xCE)),
	badFrame("method-unknown-channel-0", rawFrame(1, 0, ids(11, 10), 0xCE)),
	badFrame("arguments-short", rawFrame(1, 1, ids(60, 10, 0, 0), 0xCE)),
	badFrame("arguments-long", rawFrame(1, 1, ids(60, 10, 0, 0, 0, 0, 0, 1, 0, 9), 0xCE)),
	badFrame("arguments-broken-table", rawFrame(1, 1, ids(50, 10, 0, 0, 1, 'q', 0, 0, 0, 0, 3, 1, 'a', '?'), 0xCE)),
	badFrame("arguments-malformed-utf8", rawFrame(1, 1, ids(50, 10, 0, 0, 2, 0xC3, 0x28, 0, 0, 0, 0, 0), 0xCE)),
	badFrame("header-on-channel-0", rawFrame(2, 0, contentHeader(60, 0, 0, 0, 0), 0xCE)),
	badFrame("body-on-channel-0", rawFrame(3, 0, []byte("x"), 0xCE)),
	badFrame("header-first", rawFrame(2, 1, contentHeader(60, 0, 0, 0, 0), 0xCE)),
	badFrame("body-first", rawFrame(3, 1, []byte("x"), 0xCE)),
	badFrame("header-short", rawFrame(2, 1, []byte{0, 60, 0}, 0xCE)),
	badFrame("body-on-unopened-channel", rawFrame(3, 7, []byte("x"), 0xCE)),

	s("connection/state/method-before-start-ok", started, raw("channel.open", rawFrame(1, 1, payload(&protocol.ChannelOpen{}), 0xCE))),
	s("connection/state/open-before-start-ok", started, openVHost(), settle()),
	s("connection/state/start-ok-twice", started, startOk(nil), method0(&protocol.ConnectionStartOk{Mechanism: "PLAIN", Locale: "en_US"}), settle()),
	s("connection/state/open-before-tune-ok", started, startOk(nil), openVHost(), settle()),
	s("connection/state/channel-before-open", started, startOk(nil), tuneOk(2047, 131072, 0), openChannel(), settle()),
	s("connection/state/start-ok-after-open", ready, startOk(nil), settle()),
	s("connection/state/tune-ok-after-open", ready, tuneOk(2047, 131072, 0), settle()),
	s("connection/state/start-from-client", ready, method0(&protocol.ConnectionStart{Mechanisms: "PLAIN", Locales: "en_US"}), settle()),
	s("connection/state/secure-ok-unasked", ready, method0(&protocol.ConnectionSecureOk{}), settle()),
	s("connection/state/blocked-from-client", ready, method0(&protocol.ConnectionBlocked{Reason: "x"}), settle()),
	s("connection/state/close-before-open", started, startOk(nil), tuneOk(2047, 131072, 0), closeConnection()),
	s("connection/state/close-before-start-ok", started, closeConnection()),
	s("connection/state/close-ok-unasked", ready, method0(&protocol.ConnectionCloseOk{}), settle()),
	s("connection/state/queue-method-on-channel-0", ready, on0(bare(send(&protocol.QueueDeclare{Queue: "~q"}))), settle()),
	s("connection/state/channel-open-on-channel-0", ready, on0(bare(send(&protocol.ChannelOpen{}))), settle()),
	s("connection/state/basic-publish-on-channel-0", ready, on0(bare(send(&protocol.BasicPublish{}))), settle()),
	s("connection/state/connection-method-on-channel", ready, openChannel(), frameOf(&protocol.ConnectionOpen{VirtualHost: "/"}), settle()),
	s("connection/state/connection-close-on-channel", ready, openChannel(), frameOf(&protocol.ConnectionClose{ReplyCode: 200}), settle()),

	s("connection/update-secret", ready, bare(call(&protocol.ConnectionUpdateSecret{NewSecret: []byte("guest"), Reason: "test"})), settle()),
	s("connection/close/twice", ready, closeConnection(), settle()),
	s("connection/close/with-open-channel", ready, openChannel(), bare(declare("~q", exclusive)), closeConnection(), settle()),
	s("connection/close/without-close-ok", ready, openChannel(), hangUp()),
}
