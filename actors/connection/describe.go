package connection

import (
	"cmp"
	"net"
	"slices"
	"strconv"

	"candlemark/actors/mail"
)

// describe answers DescribeConnection.
func (c *connection) describe(m *mail.DescribeConnection) {
	if m.ReplyTo == nil {
		return
	}
	info := &mail.ConnectionInfo{
		Reply: m.Done(nil), Name: c.name, State: c.shown(), Protocol: "AMQP 0-9-1", ConnectedAt: c.since.Floor(),
		Peer: endpoint(c.cfg.Conn.RemoteAddr()), Local: endpoint(c.cfg.Conn.LocalAddr()),
		Traffic: mail.Traffic{
			BytesIn: c.reader.Input.Octets.Load(), Reads: uint64(c.reader.Input.Reads.Load()),
			BytesOut: c.writer.Octets.Load(), Writes: uint64(c.writer.Writes.Load()),
		},
	}
	for id, l := range c.channels {
		info.Channels = append(info.Channels, mail.ChannelLink{ID: id, PID: l.pid})
	}
	slices.SortFunc(info.Channels, func(a, b mail.ChannelLink) int { return cmp.Compare(a.ID, b.ID) })
	if s := c.session; s != nil {
		info.User, info.VHost, info.Mechanism = s.user.Name, s.vhost.Name, s.mechanism
		info.ClientProperties, info.TLS = s.properties, (*mail.TLSInfo)(s.tls)
		info.ChannelMax, info.FrameMax, info.Heartbeat = s.channelMax, s.frameMax, s.heartbeat
	}
	c.root.Send(m.ReplyTo, info)
}

func endpoint(at net.Addr) mail.Endpoint {
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return mail.Endpoint{Host: at.String()}
	}
	number, _ := strconv.Atoi(port) // 0 for what is none
	return mail.Endpoint{Host: host, Port: number}
}
