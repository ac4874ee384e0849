package connection

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"time"

	"candlemark/actors/client/connevents"
	"candlemark/actors/client/lifecycle"
	"candlemark/actors/system/mail"

	"candlemark/internal/access/auth"
	"candlemark/internal/transport/stream"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// maxHandshakeFrame is the largest frame before a limit is negotiated, in bytes: client properties and tokens may
// exceed the standard's 4096.
const maxHandshakeFrame = 8192

// session is the result of the handshake. It is immutable.
type session struct {
	lifecycle.Peer
	capabilities Capabilities
	product      string
}

// stage is the progress of the handshake, named as in RabbitMQ.
type stage string

// Errors of the handshake that the client does not get as connection.close.
var (
	errBadHeader     = errors.New("client did not start with AMQP protocol header")
	errOtherProtocol = errors.New("client speaks AMQP 1.0") // Handover
	errClientLeft    = errors.New("client closed the connection during the handshake")
)

// handshake is the exchange that opens a connection.
type handshake struct {
	*reader
	session *session
	stage   stage
	// unlogged: the error is counted and logged by other code.
	unlogged bool
}

// handshake runs the exchange up to connection.open [AMQP 2.2.4]. If it returns an error, the client has been sent the
// answer and given time to read it.
func (r *reader) handshake() (*session, error) {
	r.frameMax = maxHandshakeFrame
	h := &handshake{reader: r, session: &session{}, stage: "pre_init"}
	for _, step := range []func() error{h.header, h.start, h.tune, h.open} {
		if err := step(); errors.Is(err, errOtherProtocol) {
			return nil, err
		} else if err != nil {
			return nil, h.refuse(err)
		}
	}
	return h.session, nil
}

// header checks the protocol header, for which 0-9 is also accepted, and answers any other with the broker's own [AMQP
// 4.2.2].
func (h *handshake) header() error {
	for len(h.Input.Unparsed()) < len(protocol.ProtocolHeader) {
		if err := h.Fill(len(protocol.ProtocolHeader)); err != nil {
			return err
		}
	}
	got := h.Input.Unparsed()[:len(protocol.ProtocolHeader)]
	if h.c.cfg.Handover != nil && (bytes.Equal(got, amqp10.SASLProtocolHeader[:]) || bytes.Equal(got, amqp10.ProtocolHeader[:])) {
		return errOtherProtocol
	}
	if !bytes.Equal(got, protocol.ProtocolHeader[:]) && string(got) != "AMQP\x01\x01\x00\x09" {
		h.c.Outbox.End(append(h.c.Outbox.Begin(), protocol.ProtocolHeader[:]...))
		return errBadHeader
	}
	h.Input.Consume(len(protocol.ProtocolHeader))
	h.stage = "starting"
	h.c.send(&protocol.ConnectionStart{
		VersionMajor: 0, VersionMinor: 9, Locales: "en_US",
		ServerProperties: h.c.cfg.serverProperties(),
		Mechanisms:       strings.Join(h.c.cfg.Authenticator.Mechanisms(auth.PeerOf(h.Input.Conn)), " "),
	})
	return nil
}

// start reads the client's properties and logs it in.
func (h *handshake) start() error {
	m, err := next[*protocol.ConnectionStartOk](h)
	if err != nil {
		return err
	}
	s := h.session
	if err := s.SetProperties(m.ClientProperties); err != nil {
		return err
	}
	s.Mechanism = m.Mechanism
	s.capabilities, s.product = capabilities(m.ClientProperties), s.Text("product")
	m.ClientProperties = nil // a slow login holds the encoded ones only
	peer := auth.PeerOf(h.Input.Conn)
	s.TLS = peer.Info()
	insists := m.Mechanism == "EXTERNAL" && peer.TLS // EXTERNAL was not offered; the log has the reason
	if !insists && !slices.Contains(h.c.cfg.Authenticator.Mechanisms(peer), m.Mechanism) {
		return protocol.ConnectionErrorf(protocol.CommandInvalid,
			"unknown authentication mechanism '%s'", m.Mechanism).For(m)
	}
	h.stage = "securing"
	peer.Gone = h.c.Done
	where := func() *mail.ConnectionInfo { return h.c.Where(m.Mechanism, s.TLS) }
	s.User, err = h.c.cfg.Authenticator.Authenticate(m.Mechanism, m.Response, peer)
	var malformed *protocol.ConnectionError
	if errors.As(err, &malformed) {
		return malformed.For(m)
	}
	if err != nil {
		if h.unlogged = errors.Is(err, auth.ErrThrottled); !h.unlogged {
			connevents.Login(h.c.cfg.Events, "", err, where)
			lifecycle.LogRefusal(&h.c.Log, m.Mechanism, peer, err)
		}
		return protocol.ConnectionErrorf(protocol.AccessRefused,
			"Login was refused using authentication mechanism %s. For details see the broker logfile.", m.Mechanism)
	}
	connevents.Login(h.c.cfg.Events, s.User.Name, nil, where)
	return nil
}

// tune proposes the limits and checks the client's values against them.
func (h *handshake) tune() error {
	cfg := &h.c.cfg
	h.stage = "tuning"
	h.c.send(&protocol.ConnectionTune{ChannelMax: cfg.ChannelMax, FrameMax: cfg.FrameMax, Heartbeat: cfg.Heartbeat})
	m, err := next[*protocol.ConnectionTuneOk](h)
	if err != nil {
		return err
	}
	if err := negotiate("frame_max", m.FrameMax, protocol.FrameMinSize, cfg.FrameMax); err != nil {
		return err
	}
	if err := negotiate("channel_max", uint32(m.ChannelMax), 1, uint32(cfg.ChannelMax)); err != nil {
		return err
	}
	h.session.FrameMax, h.session.ChannelMax, h.session.Heartbeat = m.FrameMax, m.ChannelMax, m.Heartbeat
	h.stage = "opening"
	return nil
}

// open checks the user's access to a virtual host.
func (h *handshake) open() error {
	m, err := next[*protocol.ConnectionOpen](h)
	if err != nil {
		return err
	}
	v, ok := h.c.cfg.VHost(m.VirtualHost)
	if !ok {
		return protocol.ConnectionErrorf(protocol.NotAllowed, "vhost %s not found", m.VirtualHost).For(m)
	}
	if err := h.c.cfg.Admit(&h.session.Peer, m.VirtualHost); err != nil {
		return blame(err, m)
	}
	h.session.VHost = v
	h.c.Post(&opened{h.session}) // answered by the actor
	return nil
}

// next returns the client's next method, which must be a T.
func next[T protocol.Method](h *handshake) (T, error) {
	var none T
	for {
		f, err := h.frame(h.frameMax)
		if err != nil {
			return none, err
		}
		if f.Channel == 0 && f.Type == protocol.FrameHeartbeat {
			continue
		}
		if f.Channel != 0 || f.Type != protocol.FrameMethod {
			return none, f.Unexpected()
		}
		m, err := protocol.DecodeMethod(f.Payload)
		if err != nil {
			return none, err
		}
		if wanted, ok := m.(T); ok {
			return wanted, nil
		}
		if _, ok := m.(*protocol.ConnectionClose); ok {
			h.c.send(&protocol.ConnectionCloseOk{})
			return none, errClientLeft
		}
		return none, protocol.ConnectionErrorf(protocol.ChannelErr,
			"unexpected method in connection state %s", h.stage).For(m)
	}
}

// refuse ends the handshake. A client that has not logged in gets little information and has to wait, so that
// guessing is slow.
func (h *handshake) refuse(err error) error {
	var socket *stream.SocketError
	if errors.As(err, &socket) {
		return err
	}
	if !h.unlogged {
		h.c.Log.Error().Err(err).Str("state", string(h.stage)).Msg("handshake failed")
	}
	wait := lifecycle.Grace
	var cause *protocol.ConnectionError
	var step *outOfStep
	switch {
	case errors.Is(err, errBadHeader): // closing the stream is part of the answer
		h.c.Outbox.Finish(h.c.HangUp)
	case errors.As(err, &cause) && h.announces(cause):
		h.c.send(&protocol.ConnectionClose{ReplyCode: cause.Code, ReplyText: cause.Text, Class: cause.Class, Method: cause.Method})
		wait = h.c.cfg.CloseTimeout
	}
	_ = h.Input.Conn.SetReadDeadline(time.Now().Add(wait)) // on error, the handshake's deadline remains
	_ = h.drain(errors.Is(err, errBadHeader) || errors.As(err, &step), func(m protocol.Method) bool {
		_, done := m.(*protocol.ConnectionCloseOk)
		return done
	})
	return err
}

// announces reports whether the client gets connection.close, as in RabbitMQ.
func (h *handshake) announces(e *protocol.ConnectionError) bool {
	switch h.stage {
	case "securing":
		return e.Code == protocol.AccessRefused && h.session.capabilities.AuthenticationFailureClose
	case "tuning":
		return e.Code == protocol.NotAllowed
	}
	return h.stage == "opening"
}
