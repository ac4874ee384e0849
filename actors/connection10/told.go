package connection10

import (
	"strconv"

	"candlemark/internal/auth"
	"candlemark/internal/events"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

// tell tells an event of the connection, whose peer is there.
func (c *connection) tell(name string, fields func() protocol.Table) {
	c.cfg.Events.Tell(events.Unrecorded, func() *events.Event {
		return &events.Event{Name: name, VHost: c.peer.vhost.Name, By: c.peer.by, Fields: fields()}
	})
}

func (c *connection) tellCreated() {
	c.tell("connection.created", func() protocol.Table {
		s := c.peer
		return append(c.where(s.mechanism, s.tls),
			protocol.Field{Key: "pid", Value: c.self.Id}, protocol.Field{Key: "user", Value: s.user.Name},
			protocol.Field{Key: "vhost", Value: s.vhost.Name}, protocol.Field{Key: "timeout", Value: int64(c.cfg.Silence)},
			protocol.Field{Key: "frame_max", Value: int64(s.frameMax)}, protocol.Field{Key: "channel_max", Value: int64(s.session)},
			protocol.Field{Key: "client_properties", Value: s.table}, protocol.Field{Key: "connected_at", Value: c.since.Floor()})
	})
}

func (c *connection) tellClosed() {
	c.tell("connection.closed", func() protocol.Table {
		return protocol.Table{
			{Key: "pid", Value: c.self.Id},
			{Key: "name", Value: c.name},
			{Key: "user", Value: c.peer.user.Name},
			{Key: "vhost", Value: c.peer.vhost.Name},
			{Key: "client_properties", Value: c.peer.table},
		}
	})
}

// tellSession tells that a session was opened or has closed.
func (c *connection) tellSession(name string, id uint16, pid *actor.PID) {
	c.tell(name, func() protocol.Table {
		return protocol.Table{
			{Key: "pid", Value: pid.Id},
			{Key: "name", Value: c.name + " (" + strconv.Itoa(int(id)) + ")"},
			{Key: "connection", Value: c.name},
			{Key: "number", Value: int64(id)},
			{Key: "user", Value: c.peer.user.Name},
			{Key: "vhost", Value: c.peer.vhost.Name},
		}
	})
}

// tellLogin tells that a user has logged in, or was refused. Reader goroutines call it.
func (c *connection) tellLogin(p *peer, user string, refused error) {
	c.cfg.Events.Tell(events.Unrecorded, func() *events.Event {
		by := &events.Origin{User: user, Source: c.name, Interface: events.AMQP}
		fields := c.where(p.mechanism, p.tls)
		fields[0].Key = "connection_name" // the name is the user's
		if refused != nil {
			return &events.Event{Name: "user.authentication.failure", By: by, Fields: append(fields, protocol.Field{Key: "error", Value: refused.Error()})}
		}
		return &events.Event{Name: "user.authentication.success", By: by, Fields: append(fields, protocol.Field{Key: "name", Value: user})}
	})
}

// where says from where to where the connection goes, and how; first its name.
func (c *connection) where(mechanism string, tls *auth.TLSInfo) protocol.Table {
	peer, local := endpoint(c.cfg.Conn.RemoteAddr()), endpoint(c.cfg.Conn.LocalAddr())
	fields := protocol.Table{
		{Key: "name", Value: c.name},
		{Key: "host", Value: local.Host},
		{Key: "port", Value: int64(local.Port)},
		{Key: "peer_host", Value: peer.Host},
		{Key: "peer_port", Value: int64(peer.Port)},
		{Key: "protocol", Value: "{1,0}"},
		{Key: "auth_mechanism", Value: mechanism},
		{Key: "ssl", Value: tls != nil},
	}
	if tls != nil {
		fields = append(fields,
			protocol.Field{Key: "ssl_protocol", Value: tls.Protocol}, protocol.Field{Key: "ssl_key_exchange", Value: tls.KeyExchange},
			protocol.Field{Key: "ssl_cipher", Value: tls.Cipher}, protocol.Field{Key: "ssl_hash", Value: tls.Hash},
			protocol.Field{Key: "peer_cert_subject", Value: tls.Subject}, protocol.Field{Key: "peer_cert_issuer", Value: tls.Issuer},
			protocol.Field{Key: "peer_cert_validity", Value: tls.Validity})
	}
	return fields
}
