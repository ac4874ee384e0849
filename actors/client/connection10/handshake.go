package connection10

import (
	"errors"
	"slices"
	"strings"
	"time"

	"candlemark/actors/client/connevents"
	"candlemark/actors/client/lifecycle"
	"candlemark/actors/system/mail"

	"candlemark/internal/access/auth"
	"candlemark/internal/servicebus/dialect"
	"candlemark/internal/transport/stream"
	"candlemark/protocol/amqp10"
)

// maxHandshakeFrame is the largest frame before open, in bytes: tokens and properties may exceed the standard's 512.
const maxHandshakeFrame = 8192

// minIdleTimeout is the shortest idle time-out of a client that the broker respects.
const minIdleTimeout = time.Second

// peer is the result of the handshake. It is immutable.
type peer struct {
	lifecycle.Peer
	open *amqp10.Open
	idle time.Duration // the client's idle time-out; 0 for none
}

// Errors of the handshake that the client does not get as close.
var (
	errBadHeader  = errors.New("client did not send an AMQP 1.0 protocol header")
	errRefused    = errors.New("login refused")
	errClientLeft = errors.New("client closed the connection during the handshake")
)

// handshake runs the exchange up to open [AMQP 1.0 transport 2.4, security 5.3.2].
func (r *reader) handshake() (*peer, error) {
	r.frameMax = maxHandshakeFrame
	p := &peer{}
	p.Heartbeat = r.c.cfg.Silence
	p.TLS = auth.PeerOf(r.Input.Conn).Info()
	got, err := r.header()
	if err != nil {
		return nil, err
	}
	steps := []func(*peer) error{r.offer, r.login, r.header10, r.open, r.enter}
	if got == amqp10.ProtocolHeader {
		steps = []func(*peer) error{r.answer, r.withoutSASL, r.open, r.enter}
	}
	for _, step := range steps {
		if err := step(p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// header reads one protocol header.
func (r *reader) header() (got [8]byte, err error) {
	for len(r.Input.Unparsed()) < len(got) {
		if err := r.Fill(len(got)); err != nil {
			return got, err
		}
	}
	copy(got[:], r.Input.Unparsed())
	r.Input.Consume(len(got))
	return got, nil
}

// offer starts SASL.
func (r *reader) offer(*peer) error {
	var offered []amqp10.Symbol
	for _, name := range r.c.cfg.Authenticator.Mechanisms(r.whom()) {
		offered = append(offered, amqp10.Symbol(name))
	}
	out := r.c.Outbox
	b := append(out.Begin(), amqp10.SASLProtocolHeader[:]...)
	out.End(amqp10.AppendFrame(b, 0, &amqp10.SASLMechanisms{ServerMechanisms: offered}))
	return nil
}

// whom describes the client for its login.
func (r *reader) whom() auth.Peer {
	peer := auth.PeerOf(r.Input.Conn)
	peer.AMQP10, peer.Gone = true, r.c.Done
	return peer
}

// login logs the client in by SASL.
func (r *reader) login(p *peer) error {
	init, err := next[*amqp10.SASLInit](r, amqp10.FrameSASL)
	if err != nil {
		return err
	}
	outcome := &amqp10.SASLOutcome{Result: amqp10.SASLOK}
	if err = r.authenticate(p, string(init.Mechanism), init.InitialResponse); err != nil {
		outcome.Result = amqp10.SASLAuthFailed
	}
	r.c.send(outcome)
	return err
}

// authenticate logs the client in. The error, errRefused, is logged already.
func (r *reader) authenticate(p *peer, mechanism string, response []byte) (err error) {
	p.Mechanism = mechanism
	peer := r.whom()
	where := func() *mail.ConnectionInfo { return r.c.Where(p.Mechanism, p.TLS) }
	insists := mechanism == "EXTERNAL" && peer.TLS // EXTERNAL was not offered; the log has the reason
	if err = errRefused; insists || slices.Contains(r.c.cfg.Authenticator.Mechanisms(peer), mechanism) {
		p.User, err = r.c.cfg.Authenticator.Authenticate(mechanism, response, peer)
	}
	if err != nil {
		if !errors.Is(err, auth.ErrThrottled) {
			connevents.Login(r.c.cfg.Events, "", err, where)
			lifecycle.LogRefusal(&r.c.Log, p.Mechanism, peer, err)
		}
		return errRefused
	}
	r.anonymous = p.Mechanism == "ANONYMOUS" || p.Mechanism == "MSSBCBS"
	connevents.Login(r.c.cfg.Events, p.User.Name, nil, where)
	return nil
}

// header10 reads the protocol header that follows SASL.
func (r *reader) header10(p *peer) error {
	got, err := r.header()
	if err != nil {
		return err
	}
	if err := r.answer(p); err != nil || got == amqp10.ProtocolHeader {
		return err
	}
	r.opening = false
	return errBadHeader
}

// answer sends the protocol header.
func (r *reader) answer(*peer) error {
	r.opening = true
	r.c.Outbox.End(append(r.c.Outbox.Begin(), amqp10.ProtocolHeader[:]...))
	return nil
}

// withoutSASL logs in a client that does not use SASL, with ANONYMOUS [AMQP 1.0 security 5.3].
func (r *reader) withoutSASL(p *peer) error {
	if r.authenticate(p, "ANONYMOUS", nil) != nil {
		return errors.Join(errRefused, amqp10.Errorf(amqp10.UnauthorizedAccess,
			"a login is required: use SASL with a user and a password; ANONYMOUS is not enabled"))
	}
	return nil
}

// open reads the client's open.
func (r *reader) open(p *peer) (err error) {
	if p.open, err = next[*amqp10.Open](r, amqp10.FrameAMQP); err != nil {
		return err
	}
	if err := p.SetProperties(tableOf(p.open)); err != nil {
		return err
	}
	p.open = &amqp10.Open{ContainerID: p.open.ContainerID, Hostname: p.open.Hostname, MaxFrameSize: p.open.MaxFrameSize, ChannelMax: p.open.ChannelMax, IdleTimeout: p.open.IdleTimeout}
	p.FrameMax = p.open.MaxFrameSize
	if p.FrameMax < amqp10.MinMaxFrameSize {
		return amqp10.Errorf(amqp10.InvalidField, "max-frame-size %d is below the minimum of %d", p.FrameMax, amqp10.MinMaxFrameSize)
	}
	p.idle = time.Duration(p.open.IdleTimeout.Or(0)) * time.Millisecond
	if p.idle != 0 && p.idle < minIdleTimeout {
		return amqp10.Errorf(amqp10.InvalidField, "idle-time-out of %v is below the minimum of %v", p.idle, minIdleTimeout)
	}
	p.ChannelMax = min(p.open.ChannelMax, r.sessionMax()-1)
	return nil
}

// sessionMax returns the maximum number of open sessions.
func (r *reader) sessionMax() uint16 {
	if r.anonymous {
		return max(r.c.cfg.SessionMax, r.c.cfg.EntitySessionMax)
	}
	return r.c.cfg.SessionMax
}

// enter checks the user's access to a virtual host: the one named by a hostname "vhost:NAME", otherwise the default.
func (r *reader) enter(p *peer) error {
	name := r.c.cfg.DefaultVHost
	if chosen, ok := strings.CutPrefix(p.open.Hostname, "vhost:"); ok {
		name = chosen
	}
	v, ok := r.c.cfg.VHost(name)
	if !ok {
		return amqp10.Errorf(amqp10.NotAllowed, "vhost %s not found", name)
	}
	if err := r.c.cfg.Admit(&p.Peer, name); err != nil {
		return err
	}
	p.VHost = v
	return nil
}

// next returns the client's next frame, which must be a T.
func next[T amqp10.Composite](r *reader, kind uint8) (T, error) {
	var none T
	for {
		f, err := r.frame()
		if err != nil {
			return none, err
		}
		if f.Type == amqp10.FrameAMQP && len(f.Body) == 0 {
			continue
		}
		if f.Type != kind || f.Channel != 0 && kind == amqp10.FrameAMQP {
			return none, amqp10.Errorf(amqp10.FramingError, "unexpected frame during the handshake")
		}
		m, _, err := f.Decode()
		wanted, ok := m.(T)
		_, left := m.(*amqp10.Close)
		switch {
		case err != nil:
			return none, err
		case ok:
			return wanted, nil
		case left:
			return none, errClientLeft
		}
		return none, amqp10.Errorf(amqp10.IllegalState, "unexpected performative during the handshake")
	}
}

// refuse ends the handshake: a client that has not logged in gets no error, others get one after open.
func (r *reader) refuse(err error) {
	var socket *stream.SocketError
	if errors.As(err, &socket) {
		return
	}
	if !errors.Is(err, errRefused) { // otherwise it is logged already
		r.c.Log.Error().Err(err).Msg("handshake failed")
	}
	if r.opening {
		bye := &amqp10.Close{}
		if !errors.Is(err, errClientLeft) {
			bye.Error = dialect.ErrorOf(err)
		}
		b := amqp10.AppendFrame(r.c.Outbox.Begin(), 0, r.c.ourOpen())
		r.c.Outbox.End(amqp10.AppendFrame(b, 0, bye))
	}
	r.c.Outbox.Finish(r.c.HangUp)
	_ = r.Input.Conn.SetReadDeadline(time.Now().Add(lifecycle.Grace)) // on error, the handshake's deadline remains
	_ = r.Forget()
}
