package lifecycle

import (
	"cmp"
	"net"
	"slices"

	"candlemark/actors/client/connevents"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
)

// NameOf returns the name of the connection with that socket: "127.0.0.1:1234 -> 127.0.0.1:5672".
func NameOf(conn net.Conn) string {
	return conn.RemoteAddr().String() + " -> " + conn.LocalAddr().String()
}

// describe answers DescribeConnection.
func (l *Connection) describe(m *mail.DescribeConnection) {
	if m.ReplyTo == nil {
		return
	}
	info := l.info()
	info.Reply, info.State = m.Done(nil), l.shown()
	info.Memory = l.Objects.Held() + l.Unread.Used()
	info.Traffic = mail.Traffic{
		BytesIn: l.reader.Input.Octets.Load(), Reads: uint64(l.reader.Input.Reads.Load()),
		BytesOut: l.writer.Octets.Load(), Writes: uint64(l.writer.Writes.Load()),
	}
	for id, k := range l.Children {
		info.Channels = append(info.Channels, mail.ChannelLink{ID: id, PID: k.PID})
	}
	slices.SortFunc(info.Channels, func(a, b mail.ChannelLink) int { return cmp.Compare(a.ID, b.ID) })
	actorlib.Send(l.Root, m.ReplyTo, info)
}

// info describes the connection without its channels.
func (l *Connection) info() *mail.ConnectionInfo {
	p := l.peer
	if p == nil {
		info := l.Where("", nil)
		info.ConnectedAt = l.cfg.Clock.Date(l.since.Floor())
		return info
	}
	info := l.Where(p.Mechanism, p.TLS)
	info.ConnectedAt, info.User, info.VHost, info.ClientProperties = l.cfg.Clock.Date(l.since.Floor()), p.User.Name, p.VHost.Name, p.Properties()
	info.ChannelMax, info.FrameMax, info.Heartbeat = p.ChannelMax, p.FrameMax, p.Heartbeat
	return info
}

// Where returns the ends of the connection, and how it is secured. It may be called by the reader.
func (l *Connection) Where(mechanism string, tls *auth.TLSInfo) *mail.ConnectionInfo {
	return &mail.ConnectionInfo{
		Name: l.Name, Protocol: l.words.Protocol, Mechanism: mechanism, TLS: (*mail.TLSInfo)(tls),
		Peer: connevents.Endpoint(l.cfg.Conn.RemoteAddr()), Local: connevents.Endpoint(l.cfg.Conn.LocalAddr()),
	}
}
