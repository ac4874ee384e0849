package connection

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"candlemark/actors/connection/connevents"
	"candlemark/actors/mail"

	"candlemark/internal/auth"
	"candlemark/internal/events"
	"candlemark/internal/stream"
	"candlemark/internal/topology"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// handshakeFrameMax is the largest frame before one is negotiated, in bytes: client properties and tokens may exceed
// the standard's 4096.
const handshakeFrameMax = 8192

// session is the result of the handshake. It is immutable.
type session struct {
	user         auth.User
	vhost        *topology.VHost
	mechanism    string
	tls          *auth.TLSInfo  // nil without TLS
	properties   protocol.Table // the client's
	capabilities Capabilities
	product      string
	channelMax   uint16 // 0 for no limit
	frameMax     uint32
	heartbeat    uint16 // s, 0 for none
	leave        func() // uncounts the connection; further calls do nothing
	by           *events.Origin
}

// text returns a client property, "" if it is absent or no string.
func (s *session) text(key string) string {
	v, _ := s.properties.Get(key)
	t, _ := v.(string)
	return t
}

// client returns the connection name that the client has set, for the log; "" without one.
func (s *session) client() string { return cut(s.text("connection_name")) }

// cut shortens a string from the client for the log, to at most 255 bytes.
func cut(text string) string { return strings.ToValidUTF8(text[:min(len(text), 255)], "") }

// stage is the progress of the handshake, with RabbitMQ's names.
type stage string

// Errors of the handshake that are not sent as connection.close.
var (
	errBadHeader     = errors.New("client did not start with AMQP protocol header")
	errOtherProtocol = errors.New("client speaks AMQP 1.0") // Handover
	errClientLeft    = errors.New("client closed the connection during the handshake")
)

// handshake is the dialogue that opens a connection.
type handshake struct {
	*reader
	session *session
	stage   stage
	// unlogged: the error is counted and logged elsewhere.
	unlogged bool
}

// handshake conducts the dialogue up to connection.open [AMQP 2.2.4]. After an error, the client was sent the answer
// and given time to read it.
func (r *reader) handshake() (*session, error) {
	r.frameMax = handshakeFrameMax
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

// header checks the protocol header, also that of 0-9, and sends ours to clients with any other [AMQP 4.2.2].
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
		h.c.outbox.End(append(h.c.outbox.Begin(), protocol.ProtocolHeader[:]...))
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
	s.properties, s.mechanism = m.ClientProperties, m.Mechanism
	s.capabilities, s.product = capabilities(m.ClientProperties), s.text("product")
	peer := auth.PeerOf(h.Input.Conn)
	s.tls = peer.Info()
	insists := m.Mechanism == "EXTERNAL" && peer.TLS // it was not offered; the log has the reason
	if !insists && !slices.Contains(h.c.cfg.Authenticator.Mechanisms(peer), m.Mechanism) {
		return protocol.ConnectionErrorf(protocol.CommandInvalid,
			"unknown authentication mechanism '%s'", m.Mechanism).For(m)
	}
	h.stage = "securing"
	peer.Gone = h.c.done
	where := func() *mail.ConnectionInfo { return h.c.where(m.Mechanism, s.tls) }
	s.user, err = h.c.cfg.Authenticator.Authenticate(m.Mechanism, m.Response, peer)
	var malformed *protocol.ConnectionError
	if errors.As(err, &malformed) {
		return malformed.For(m)
	}
	if err != nil {
		if h.unlogged = errors.Is(err, auth.ErrThrottled); !h.unlogged {
			connevents.Login(h.c.cfg.Events, "", err, where)
			h.c.log.Error().Err(err).Str("mechanism", m.Mechanism).Msg("login refused")
		}
		return protocol.ConnectionErrorf(protocol.AccessRefused,
			"Login was refused using authentication mechanism %s. For details see the broker logfile.", m.Mechanism)
	}
	connevents.Login(h.c.cfg.Events, s.user.Name, nil, where)
	return nil
}

// tune proposes the limits and checks the client's against them.
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
	h.session.frameMax, h.session.channelMax, h.session.heartbeat = m.FrameMax, m.ChannelMax, m.Heartbeat
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
	if err := h.admit(m.VirtualHost); err != nil {
		return blame(err, m)
	}
	h.session.vhost = v
	h.c.post(&opened{h.session}) // answered by the actor
	return nil
}

// admit counts the connection, and checks the user's permission. A connection that is refused is not counted.
func (h *handshake) admit(vhost string) error {
	quota, user := h.c.cfg.Quota, h.session.user
	h.session.leave = func() {}
	if quota != nil {
		if err := quota.Connect(user.Name, vhost); err != nil {
			return err
		}
		h.session.leave = sync.OnceFunc(func() { quota.Disconnect(user.Name, vhost) })
	}
	if p := h.c.cfg.Permissions; p != nil {
		if err := p.VHostAccess(user, vhost); err != nil {
			h.session.leave()
			return err
		}
	}
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
		h.c.log.Error().Err(err).Str("state", string(h.stage)).Msg("handshake failed")
	}
	wait := grace
	var told *protocol.ConnectionError
	var step *outOfStep
	switch {
	case errors.Is(err, errBadHeader): // the end of the stream is part of the answer
		h.c.outbox.Finish(h.c.hangUp)
	case errors.As(err, &told) && h.tells(told):
		h.c.send(&protocol.ConnectionClose{ReplyCode: told.Code, ReplyText: told.Text, Class: told.Class, Method: told.Method})
		wait = h.c.cfg.CloseTimeout
	}
	_ = h.Input.Conn.SetReadDeadline(time.Now().Add(wait)) // on error, the handshake's deadline remains
	_ = h.drain(errors.Is(err, errBadHeader) || errors.As(err, &step), func(m protocol.Method) bool {
		_, done := m.(*protocol.ConnectionCloseOk)
		return done
	})
	return err
}

// tells reports whether the client gets an error, as in RabbitMQ.
func (h *handshake) tells(e *protocol.ConnectionError) bool {
	switch h.stage {
	case "securing":
		return e.Code == protocol.AccessRefused && h.session.capabilities.AuthenticationFailureClose
	case "tuning":
		return e.Code == protocol.NotAllowed
	}
	return h.stage == "opening"
}
