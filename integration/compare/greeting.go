package main

import "candlemark/protocol"

// greeting holds the client's methods for opening a connection.
type greeting struct {
	mechanism, user, password string
	capabilities              []string
	tune                      func(*protocol.ConnectionTuneOk) // changes the answer to connection.tune
	vhost                     string
}

// capabilities are the capabilities that a script's client announces by default.
var capabilities = []string{
	"publisher_confirms", "exchange_exchange_bindings", "basic.nack", "consumer_cancel_notify", "connection.blocked",
	"authentication_failure_close",
}

func defaultGreeting() greeting {
	return greeting{mechanism: "PLAIN", user: "guest", password: "guest", capabilities: capabilities, vhost: "/"}
}

// startOk returns the first answer.
func (g *greeting) startOk() *protocol.ConnectionStartOk {
	able := make(protocol.Table, len(g.capabilities))
	for i, name := range g.capabilities {
		able[i] = protocol.Field{Key: name, Value: true}
	}
	return &protocol.ConnectionStartOk{
		ClientProperties: protocol.Table{{Key: "product", Value: "compare"}, {Key: "capabilities", Value: able}},
		Mechanism:        g.mechanism,
		Response:         []byte("\x00" + g.user + "\x00" + g.password),
		Locale:           "en_US",
	}
}

// open greets the broker. Unless it shows, nothing of it is written down.
func (p *player) open(conn int, g greeting, shows bool) {
	kept := p.seen
	if !shows {
		p.seen = newTranscript()
	}
	c := p.dial(conn)
	c.byHand = false
	p.write(conn, protocol.ProtocolHeader[:])
	p.wait(c, 0, func(name string) bool { return name == "connection.start" })
	p.writeMethod(c, 0, g.startOk())
	tune := protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072}
	p.wait(c, 0, func(name string) bool { return name == "connection.tune" })
	if g.tune != nil {
		g.tune(&tune)
	}
	c.frames = tune.FrameMax
	if !c.over {
		p.writeMethod(c, 0, &tune)
		p.writeMethod(c, 0, &protocol.ConnectionOpen{VirtualHost: g.vhost})
		p.wait(c, 0, func(name string) bool { return name == "connection.open-ok" })
	}
	p.seen = kept
	if !shows && (c.over || c.closing) {
		p.seen.saw(conn, 0, "cannot connect")
	}
}
