package main

import (
	"net"
	"reflect"
	"strings"
	"time"

	"candlemark/protocol"
)

// player plays one script on one broker.
type player struct {
	address string
	token   string        // stands for ~ in names
	quiet   time.Duration // silence that counts as the end of an answer
	patient time.Duration // how long a synchronous answer may take

	events      chan event
	done        chan struct{}
	sessions    map[int]*session
	seen        *transcript
	recordStart bool     // write down all of connection.start
	queues      []string // declared, to be deleted
	exchanges   []string // exchanges declared
}

// play plays the script and returns the transcript.
func play(sc script, address, token string, quiet, patient time.Duration) *transcript {
	p := &player{
		address: address, token: token, quiet: quiet, patient: patient,
		events: make(chan event, 256), done: make(chan struct{}), sessions: map[int]*session{}, seen: newTranscript(),
	}
	defer p.leave()
	for _, st := range sc.steps {
		p.step(st)
	}
	p.settle()
	return p.seen
}

// step opens the connection and channel of the step, and does it.
func (p *player) step(st step) {
	if st.does == nil {
		for _, sub := range st.sub {
			p.step(sub)
		}
		return
	}
	c := p.sessions[st.conn]
	if c != nil && c.over && !c.byHand && !st.bare {
		c = nil // the server hung up; the script continues with a new connection
	}
	if c == nil && !st.bare {
		p.open(st.conn, defaultGreeting(), false)
		c = p.sessions[st.conn]
	}
	if c != nil && !c.over && !c.byHand && !st.bare && st.ch > 0 && !c.at(st.ch).open {
		p.openChannel(c, st.ch)
	}
	if st.says != "" {
		p.seen.said(st.conn, st.ch, st.says)
	}
	st.does(p, &st)
}

func (p *player) openChannel(c *session, ch uint16) {
	p.writeMethod(c, ch, &protocol.ChannelOpen{})
	p.wait(c, ch, func(name string) bool { return name == "channel.open-ok" })
}

// named returns a copy of m with the token in its names; it remembers the objects that m declares.
func (p *player) named(m protocol.Method) protocol.Method {
	made := reflect.New(reflect.TypeOf(m).Elem())
	made.Elem().Set(reflect.ValueOf(m).Elem())
	renameFields(made.Elem(), p.token)
	copied := made.Interface().(protocol.Method)
	switch d := copied.(type) {
	case *protocol.QueueDeclare:
		if strings.Contains(d.Queue, p.token) {
			p.queues = append(p.queues, d.Queue)
		}
	case *protocol.ExchangeDeclare:
		if strings.Contains(d.Exchange, p.token) {
			p.exchanges = append(p.exchanges, d.Exchange)
		}
	}
	return copied
}

// sendMethod sends the method of a step and, if it waits, listens until the answer arrives.
func (p *player) sendMethod(st *step, m protocol.Method, waits bool) {
	c := p.sessions[st.conn]
	if c == nil || c.over {
		return
	}
	m = p.named(m)
	switch m.(type) {
	case *protocol.ChannelOpen:
		c.at(st.ch).open = true
	case *protocol.ChannelClose:
		c.at(st.ch).closing = true
	case *protocol.ChannelCloseOk:
		c.at(st.ch).open, c.at(st.ch).closing = false, false
	case *protocol.ConnectionClose:
		c.closing = true
	case *protocol.ConfirmSelect:
		c.at(st.ch).confirmed = map[uint64]bool{}
	}
	p.writeMethod(c, st.ch, m)
	if waits && hasAnswer(m) {
		p.wait(c, st.ch, func(name string) bool { return answers(m.Key().String(), name) })
	}
}

// hasAnswer reports whether a method of the client is answered.
func hasAnswer(m protocol.Method) bool {
	switch m.(type) {
	case *protocol.ConnectionTuneOk, *protocol.ConnectionCloseOk, *protocol.ChannelCloseOk, *protocol.ChannelFlowOk:
		return false
	}
	return true
}

// answers reports whether a method of the server may answer one of the client.
func answers(asked, name string) bool {
	switch asked {
	case "basic.get":
		return name == "basic.get-ok" || name == "basic.get-empty"
	case "connection.start-ok", "connection.secure-ok":
		return name == "connection.tune" || name == "connection.secure"
	}
	return name == asked+"-ok"
}

func (p *player) publish(st *step, m *protocol.BasicPublish, properties protocol.Properties, body string) {
	c := p.sessions[st.conn]
	if c == nil || c.over {
		return
	}
	renameFields(reflect.ValueOf(&properties).Elem(), p.token)
	b := protocol.AppendMethodFrame(nil, st.ch, p.named(m))
	b = protocol.AppendHeaderFrame(b, st.ch, uint64(len(body)), properties.Append(nil))
	p.write(st.conn, protocol.AppendBodyFrames(b, st.ch, []byte(body), c.frames))
}

func (p *player) writeMethod(c *session, ch uint16, m protocol.Method) {
	p.write(c.id, protocol.AppendMethodFrame(nil, ch, m))
}

// write sends bytes; that the server has hung up is seen by reading.
func (p *player) write(conn int, b []byte) {
	if c := p.sessions[conn]; c != nil {
		_ = c.socket.SetWriteDeadline(time.Now().Add(p.patient))
		_, _ = c.socket.Write(b)
	}
}

// dial makes a session of which the script does everything itself.
func (p *player) dial(conn int) *session {
	socket, err := net.DialTimeout("tcp", p.address, p.patient)
	if err != nil {
		p.seen.saw(conn, 0, "cannot connect")
		client, server := net.Pipe()
		_ = server.Close()
		socket = client
	}
	c := &session{id: conn, socket: socket, byHand: true, channels: map[uint16]*line{}}
	p.sessions[conn] = c
	go c.read(p.events, p.done)
	return c
}

func (p *player) hangUp(conn int) {
	if c := p.sessions[conn]; c != nil {
		_ = c.socket.Close()
		p.settle()
	}
}

// leave closes all connections in an orderly way, so that exclusive objects are deleted, and deletes all others.
func (p *player) leave() {
	p.seen = newTranscript()
	for _, c := range p.sessions {
		if !c.over {
			p.writeMethod(c, 0, &protocol.ConnectionClose{ReplyCode: protocol.ReplySuccess})
			p.wait(c, 0, func(name string) bool { return name == "connection.close-ok" })
		}
		_ = c.socket.Close()
	}
	p.sessions = map[int]*session{}
	p.clean()
	close(p.done)
}

// clean deletes what the script declared, each on a separate channel, because some no longer exist.
func (p *player) clean() {
	if len(p.queues)+len(p.exchanges) == 0 {
		return
	}
	p.open(0, defaultGreeting(), false)
	c, ch := p.sessions[0], uint16(0)
	remove := func(m protocol.Method) {
		ch++
		p.openChannel(c, ch)
		p.writeMethod(c, ch, m)
		p.wait(c, ch, func(name string) bool { return answers(m.Key().String(), name) })
	}
	for _, name := range p.queues {
		remove(&protocol.QueueDelete{Queue: name})
	}
	for _, name := range p.exchanges {
		remove(&protocol.ExchangeDelete{Exchange: name})
	}
	p.writeMethod(c, 0, &protocol.ConnectionClose{ReplyCode: protocol.ReplySuccess})
	p.wait(c, 0, func(name string) bool { return name == "connection.close-ok" })
	_ = c.socket.Close()
}
