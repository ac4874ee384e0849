package connection10

import (
	"cmp"
	"slices"

	"candlemark/actors/connection/connevents"
	"candlemark/actors/mail"
	"candlemark/internal/auth"
)

// describe answers DescribeConnection.
func (c *connection) describe(m *mail.DescribeConnection) {
	if m.ReplyTo == nil {
		return
	}
	info := c.info()
	info.Reply, info.State = m.Done(nil), c.shown()
	info.Traffic = mail.Traffic{
		BytesIn: c.reader.Input.Octets.Load(), Reads: uint64(c.reader.Input.Reads.Load()),
		BytesOut: c.writer.Octets.Load(), Writes: uint64(c.writer.Writes.Load()),
	}
	for id, l := range c.links {
		info.Channels = append(info.Channels, mail.ChannelLink{ID: id, PID: l.pid})
	}
	slices.SortFunc(info.Channels, func(a, b mail.ChannelLink) int { return cmp.Compare(a.ID, b.ID) })
	c.root.Send(m.ReplyTo, info)
}

// info describes the connection without its channels.
func (c *connection) info() *mail.ConnectionInfo {
	s := c.peer
	if s == nil {
		info := c.where("", nil)
		info.ConnectedAt = c.since.Floor()
		return info
	}
	info := c.where(s.mechanism, s.tls)
	info.ConnectedAt, info.User, info.VHost, info.ClientProperties = c.since.Floor(), s.user.Name, s.vhost.Name, s.table
	info.ChannelMax, info.FrameMax, info.Heartbeat = s.session, s.frameMax, c.cfg.Silence
	return info
}

// where returns the ends of the connection, and how it is secured. It may be called by the reader.
func (c *connection) where(mechanism string, tls *auth.TLSInfo) *mail.ConnectionInfo {
	return &mail.ConnectionInfo{
		Name: c.name, Protocol: "AMQP 1-0", Mechanism: mechanism, TLS: (*mail.TLSInfo)(tls),
		Peer: connevents.Endpoint(c.cfg.Conn.RemoteAddr()), Local: connevents.Endpoint(c.cfg.Conn.LocalAddr()),
	}
}
