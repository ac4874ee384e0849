package channel

import (
	"errors"

	"candlemark/actors/mail"
	"candlemark/internal/ledger"
	"candlemark/internal/message"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

type phase uint8

const (
	// open: commands are run.
	open phase = iota
	// closing: the broker sent channel.close and waits for close-ok.
	closing
	// dead: the connection is being closed because of this channel.
	dead
	// ended: everything is given back; the shell stops.
	ended
)

// state is the core.
type state struct {
	cfg   Config
	self  mail.Address
	phase phase

	assembler assembler
	chunk     *message.Chunk // of the Inbound being run
	cache     cache
	router    topology.Router
	targets   map[*topology.Queue]*target
	touched   []*target
	confirms  confirms

	lastQueue string // most recently declared (DEC-9)
	consumers map[string]*consumer
	peers     map[string]*peer
	settling  []*peer
	unacked   ledger.Ledger[unacked] // by delivery tag
	prefetch  int                    // for new consumers
	common    common
	held      []any // deliveries, and what must not overtake them, while the outbox is full

	await  *await
	asked  uint64 // number of the newest command that waited
	parked []*mail.Inbound

	out   []post
	watch []mail.Address
}

type post struct {
	to   mail.Address
	what any
}

// await is a command that waits for its answer; everything behind it waits too.
type await struct {
	id     uint64
	method protocol.Method
	// done gets a reply that is no failure.
	done func(reply any)
}

// answer is what every reply is.
type answer interface {
	Number() uint64
	Failure() error
}

// handle is one turn of the core.
func (s *state) handle(what any) {
	switch m := what.(type) {
	case *mail.Inbound:
		s.inbound(m)
	case *mail.Deliver:
		s.deliver(m)
	case *mail.EnqueueReply:
		s.settled(m)
	case *mail.Offer:
		s.offered(m)
	case *mail.Unused:
		s.unused(m)
	case *mail.ConsumerCancelled:
		s.consumerCancelled(m)
	case *mail.OutboxReady:
		s.resume()
	case *mail.CloseChannel:
		s.close(false)
	case *mail.PeerGone:
		s.peerGone(m.Who)
	case awaitExpired:
		if s.await != nil && s.await.id == m.id {
			s.fail(internalError("no answer to %s within %s", s.await.method.Name(), answerTimeout), s.await.method)
		}
	case answer:
		s.answered(m)
	}
}

func (s *state) send(to mail.Address, what any) {
	if to != nil {
		s.out = append(s.out, post{to, what})
	}
}

// request numbers a command that waits for its answer. What was gathered for
// queues goes out first, so that it is ahead of the command (DESIGN §5a.5).
func (s *state) request(m protocol.Method, done func(reply any)) mail.Request {
	s.flush()
	s.asked++
	s.await = &await{id: s.asked, method: m, done: done}
	return mail.Request{ReplyTo: s.self, ID: s.asked}
}

// answered ends the waiting of a command, and runs what waited behind it.
func (s *state) answered(reply answer) {
	a := s.await
	if a == nil || a.id != reply.Number() {
		return
	}
	s.await = nil
	if err := reply.Failure(); err != nil {
		s.fail(err, a.method)
	} else if s.phase == open {
		a.done(reply)
	}
	for s.await == nil && len(s.parked) > 0 {
		m := s.parked[0]
		s.parked[0] = nil
		s.parked = s.parked[1:]
		s.run(m)
	}
}

// fail closes the channel or the connection, by the kind of err.
func (s *state) fail(err error, m protocol.Method) {
	if s.phase != open {
		return
	}
	var ce *protocol.ChannelError
	if errors.As(err, &ce) {
		if m != nil && ce.Class == 0 {
			ce = ce.For(m)
		}
		s.closeWith(ce)
		return
	}
	var oe *protocol.ConnectionError
	if !errors.As(err, &oe) {
		s.cfg.Log.Error().Err(err).Msg("command failed")
		oe = protocol.ConnectionErrorf(protocol.InternalError, "%s", err.Error())
	}
	if m != nil && oe.Class == 0 {
		oe = oe.For(m)
	}
	s.phase = dead
	s.await = nil
	s.flush()
	s.send(s.cfg.Connection, &mail.CloseConnection{Err: oe})
}

// reply appends a method frame to the outbox.
func (s *state) reply(m protocol.Method) {
	b := s.cfg.Outbox.Begin()
	s.cfg.Outbox.End(protocol.AppendMethodFrame(b, s.cfg.ID, m))
}

// closeWith is a channel exception: what the channel held goes back at once,
// then only close-ok counts.
func (s *state) closeWith(e *protocol.ChannelError) {
	s.giveBack()
	s.phase = closing
	s.cfg.Log.Warn().Uint16("code", e.Code).Str("text", e.Text).Msg("channel closed by the broker")
	s.reply(&protocol.ChannelClose{ReplyCode: e.Code, ReplyText: e.Text, Class: e.Class, Method: e.Method})
}

// close ends the channel. The connection answers channel.close itself, so that
// the number is free before the client can use it again.
func (s *state) close(sendCloseOk bool) {
	if s.phase == ended {
		return
	}
	s.giveBack()
	s.phase = ended
	s.send(s.cfg.Connection, &mail.ChannelClosed{ID: s.cfg.ID, Channel: s.self, SendCloseOk: sendCloseOk})
}

// giveBack tells every queue that the channel holds nothing more.
func (s *state) giveBack() {
	s.tell()
	s.flush()
	s.await = nil
	for _, p := range s.peers {
		if p.consumers > 0 || p.unacked > 0 {
			s.send(p.pid, &mail.ChannelGone{Channel: s.self})
		}
	}
	clear(s.consumers)
	clear(s.peers)
	s.unacked = ledger.Ledger[unacked]{}
	s.common = common{}
	for _, m := range s.held {
		release(m)
	}
	s.held = nil
	s.assembler.reset()
}
