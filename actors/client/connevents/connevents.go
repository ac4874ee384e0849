package connevents

import (
	"net"
	"strconv"

	"candlemark/actors/system/mail"
	"candlemark/internal/measure/events"
	"candlemark/protocol"
)

// Created publishes connection.created: a client has opened its connection, whose actor has the given pid. info
// describes it, and is called only if the event is needed.
func Created(h *events.Hub, by *events.Origin, pid string, info func() *mail.ConnectionInfo) {
	publish(h, "connection.created", by, info, func(c *mail.ConnectionInfo) protocol.Table {
		return append(where(c),
			protocol.Field{Key: "pid", Value: pid}, protocol.Field{Key: "user", Value: c.User},
			protocol.Field{Key: "vhost", Value: c.VHost}, protocol.Field{Key: "timeout", Value: int64(c.Heartbeat)},
			protocol.Field{Key: "frame_max", Value: int64(c.FrameMax)}, protocol.Field{Key: "channel_max", Value: int64(c.ChannelMax)},
			protocol.Field{Key: "client_properties", Value: c.ClientProperties}, protocol.Field{Key: "connected_at", Value: c.ConnectedAt})
	})
}

// Closed publishes connection.closed, with the same parameters as Created.
func Closed(h *events.Hub, by *events.Origin, pid string, info func() *mail.ConnectionInfo) {
	publish(h, "connection.closed", by, info, func(c *mail.ConnectionInfo) protocol.Table {
		return protocol.Table{
			{Key: "pid", Value: pid},
			{Key: "name", Value: c.Name},
			{Key: "user", Value: c.User},
			{Key: "vhost", Value: c.VHost},
			{Key: "client_properties", Value: c.ClientProperties},
		}
	})
}

// Channel publishes an event of a channel or session of a connection, whose actor has the given pid. name is
// channel.created or channel.closed.
func Channel(h *events.Hub, name string, by *events.Origin, id uint16, pid string, info func() *mail.ConnectionInfo) {
	publish(h, name, by, info, func(c *mail.ConnectionInfo) protocol.Table {
		return protocol.Table{
			{Key: "pid", Value: pid},
			{Key: "name", Value: c.Name + " (" + strconv.Itoa(int(id)) + ")"},
			{Key: "connection", Value: c.Name},
			{Key: "number", Value: int64(id)},
			{Key: "user", Value: c.User},
			{Key: "vhost", Value: c.VHost},
		}
	})
}

// Login publishes the success or failure of a login on a connection. info may be incomplete.
func Login(h *events.Hub, user string, refused error, info func() *mail.ConnectionInfo) {
	h.Publish(events.Unrecorded, func() *events.Event {
		c := info()
		by := &events.Origin{User: user, Source: c.Name, Interface: events.AMQP}
		fields := where(c)
		fields[0].Key = "connection_name" // the name in the event is the user's
		if refused != nil {
			return &events.Event{Name: "user.authentication.failure", By: by, Fields: append(fields, protocol.Field{Key: "error", Value: refused.Error()})}
		}
		return &events.Event{Name: "user.authentication.success", By: by, Fields: append(fields, protocol.Field{Key: "name", Value: user})}
	})
}

func publish(h *events.Hub, name string, by *events.Origin, info func() *mail.ConnectionInfo, fields func(*mail.ConnectionInfo) protocol.Table) {
	h.Publish(events.Unrecorded, func() *events.Event {
		c := info()
		return &events.Event{Name: name, VHost: c.VHost, By: by, Fields: fields(c)}
	})
}

// where returns the connection's name first, then its ends and its security.
func where(c *mail.ConnectionInfo) protocol.Table {
	version := "{0,9,1}"
	if c.Protocol == "AMQP 1-0" {
		version = "{1,0}"
	}
	fields := protocol.Table{
		{Key: "name", Value: c.Name},
		{Key: "host", Value: c.Local.Host},
		{Key: "port", Value: int64(c.Local.Port)},
		{Key: "peer_host", Value: c.Peer.Host},
		{Key: "peer_port", Value: int64(c.Peer.Port)},
		{Key: "protocol", Value: version},
		{Key: "auth_mechanism", Value: c.Mechanism},
		{Key: "ssl", Value: c.TLS != nil},
	}
	if tls := c.TLS; tls != nil {
		fields = append(fields,
			protocol.Field{Key: "ssl_protocol", Value: tls.Protocol}, protocol.Field{Key: "ssl_key_exchange", Value: tls.KeyExchange},
			protocol.Field{Key: "ssl_cipher", Value: tls.Cipher}, protocol.Field{Key: "ssl_hash", Value: tls.Hash},
			protocol.Field{Key: "peer_cert_subject", Value: tls.Subject}, protocol.Field{Key: "peer_cert_issuer", Value: tls.Issuer},
			protocol.Field{Key: "peer_cert_validity", Value: tls.Validity})
	}
	return fields
}

// Endpoint converts an end of a socket.
func Endpoint(at net.Addr) mail.Endpoint {
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return mail.Endpoint{Host: at.String()}
	}
	number, _ := strconv.Atoi(port) // 0 if there is no port
	return mail.Endpoint{Host: host, Port: number}
}
