package shovel

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"candlemark/internal/storage/parameters"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Time limits of a session's connections.
const (
	patience     = 30 * time.Second // for each address, and for declaring queues and consumer
	farewellTime = 3 * time.Second  // for the answer to connection.close
)

const (
	frameMax = 128 << 10
	// holding is the number of bytes of messages that a session holds before it stops reading.
	holding = 16 << 20
)

// end is one of the two connections of a session.
type end struct {
	uri    *parameters.URI
	direct bool // to this broker
	conn   *amqp.Connection
	guard  *guard
	ch     *amqp.Channel
	closed <-chan *amqp.Error // receives the error of the channel, also when the connection ends
}

// connect tries the addresses in order. checked is for Config.Dial.
func (s *session) connect(uris []*parameters.URI, room int64, checked bool) (*end, error) {
	var failures []error
	for _, u := range uris {
		e, err := s.open(u, room, checked)
		if err == nil {
			return e, nil
		}
		if s.ctx.Err() != nil {
			return nil, s.ctx.Err()
		}
		failures = append(failures, fmt.Errorf("%s: %w", u, err))
	}
	return nil, errors.Join(failures...)
}

// open connects to an address, logs in, and opens a channel.
func (s *session) open(u *parameters.URI, room int64, checked bool) (*end, error) {
	limit := u.Timeout
	if limit == 0 {
		limit = patience
	}
	ctx, cancel := s.Clock.WithTimeout(s.ctx, limit)
	defer cancel()
	e, err := s.enter(ctx, u, room, checked)
	if err != nil && ctx.Err() != nil && s.ctx.Err() == nil {
		err = fmt.Errorf("no answer within %s", limit)
	}
	return e, err
}

// enter opens a connection; it fails when ctx ends.
func (s *session) enter(ctx context.Context, u *parameters.URI, room int64, checked bool) (*end, error) {
	conn, direct, err := s.Dial(ctx, u, checked)
	if err != nil {
		return nil, err
	}
	plain := conn
	defer context.AfterFunc(ctx, func() { _ = plain.Close() })()
	cfg := amqp.Config{
		SASL: logins(u), Vhost: u.VHost, FrameSize: frameMax, Heartbeat: u.Heartbeat, Locale: "en_US",
		Properties: amqp.Table{"product": "Candlemark", "connection_name": "Shovel " + s.Work.Name},
	}
	if direct { // in this process, so that it needs neither
		cfg.SASL, cfg.Heartbeat = []amqp.Authentication{&amqp.PlainAuth{Username: u.User, Password: u.Password}}, 0
	} else if conn, err = s.encrypted(ctx, plain, u); err != nil {
		return nil, err
	}
	e := &end{uri: u, direct: direct, guard: newGuard(conn, s.MaxMessage, room)}
	if e.conn, err = amqp.Open(e.guard, cfg); err == nil {
		e.ch, err = e.conn.Channel()
	}
	if err != nil {
		_ = e.guard.Close()
		return nil, err
	}
	e.closed = e.ch.NotifyClose(make(chan *amqp.Error, 1))
	return e, nil
}

// logins returns the login mechanisms, the best first.
func logins(u *parameters.URI) (ways []amqp.Authentication) {
	if len(u.Mechanisms) == 0 {
		return []amqp.Authentication{&amqp.PlainAuth{Username: u.User, Password: u.Password}}
	}
	for _, name := range u.Mechanisms {
		switch name {
		case "external": // the certificate identifies the user
			ways = append(ways, &amqp.ExternalAuth{})
		case "amqplain":
			ways = append(ways, &amqp.AMQPlainAuth{Username: u.User, Password: u.Password})
		default:
			ways = append(ways, &amqp.PlainAuth{Username: u.User, Password: u.Password})
		}
	}
	return ways
}

// encrypted performs a TLS handshake if the address requires it.
func (s *session) encrypted(ctx context.Context, conn net.Conn, u *parameters.URI) (net.Conn, error) {
	if u.TLS == nil {
		return conn, nil
	}
	// The files are read each time, since certificates are renewed.
	cfg, err := u.TLS.Config(func(name string) ([]byte, error) { return s.Read(ctx, name) })
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	secured := tls.Client(conn, cfg)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secured, nil
}

// leave closes the connection, and waits briefly for the peer to accept earlier output. It may be called on nil.
func (e *end) leave() {
	if e == nil {
		return
	}
	e.guard.open()
	_ = e.conn.CloseDeadline(time.Now().Add(farewellTime)) // closed in any case
	_ = e.guard.Close()
}

// ensure declares a queue unless it exists; if predeclared is set it must exist. It uses a separate channel, as a
// refusal closes the channel.
func (e *end) ensure(queue string, args map[string]any, predeclared bool) error {
	ch, err := e.conn.Channel()
	if err != nil {
		return err
	}
	_, err = ch.QueueDeclarePassive(queue, false, false, false, false, nil)
	var refused *amqp.Error
	if predeclared || !errors.As(err, &refused) || refused.Code != amqp.NotFound {
		_ = ch.Close() // it may be closed already
		return err
	}
	if ch, err = e.conn.Channel(); err != nil {
		return err
	}
	if _, err = ch.QueueDeclare(queue, true, false, false, false, tableOf(args)); err == nil {
		err = ch.Close()
	}
	return err
}

// tableOf converts arguments to the library's type.
func tableOf(args map[string]any) amqp.Table {
	t := amqp.Table{}
	for key, value := range args {
		t[key] = fieldOf(value)
	}
	return t
}

func fieldOf(value any) any {
	switch v := value.(type) {
	case map[string]any:
		return tableOf(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = fieldOf(v[i])
		}
		return list
	}
	return value
}
