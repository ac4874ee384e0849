package lifecycle

import (
	"slices"
	"strings"
	"sync"

	"candlemark/internal/access/auth"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// Peer is the part of the handshake's result that both protocols share. It is immutable once the handshake is done.
type Peer struct {
	User       auth.User
	VHost      *topology.VHost
	Mechanism  string
	TLS        *auth.TLSInfo  // nil without TLS
	ChannelMax uint16         // 0 for no limit; for AMQP 1.0 the highest number
	FrameMax   uint32         // largest frame that the client accepts, in bytes
	Heartbeat  uint16         // s, 0 for none; for AMQP 1.0 how long the client may be silent
	By         *events.Origin // set when the connection is opened
	properties []byte         // client properties as an encoded table, nil for none: decoded they take up to 24 times as much (PRO-21)
	leave      func()         // uncounts the connection; nil if it is not counted
}

// SetProperties sets the client properties to t, which must be encodable, as a decoded table is.
func (p *Peer) SetProperties(t protocol.Table) error {
	encoded, err := protocol.AppendTable(nil, t)
	p.properties = slices.Clip(encoded)
	return err
}

// Properties decodes the client properties.
func (p *Peer) Properties() protocol.Table {
	if p.properties == nil {
		return nil
	}
	t, _ := protocol.DecodeTable(p.properties) // of AppendTable
	return t
}

// Text returns a client property, "" if it is absent or not a string.
func (p *Peer) Text(key string) string {
	if p.properties == nil {
		return ""
	}
	v, _, _ := protocol.LookupField(p.properties, key)
	text, _ := v.(string)
	return text
}

// Leave uncounts the connection; further calls do nothing.
func (p *Peer) Leave() {
	if p.leave != nil {
		p.leave()
	}
}

// Cut shortens a string from the client for the log, to at most 255 bytes.
func Cut(text string) string { return strings.ToValidUTF8(text[:min(len(text), 255)], "") }

// Admit counts the connection, and checks the user's permission. A refused connection is not counted.
func (s *Settings) Admit(p *Peer, vhost string) error {
	quota, user := s.Quota, p.User
	if quota != nil {
		if err := quota.Connect(user.Name, vhost); err != nil {
			return err
		}
		p.leave = sync.OnceFunc(func() { quota.Disconnect(user.Name, vhost) })
	}
	if s.Permissions == nil {
		return nil
	}
	err := s.Permissions.VHostAccess(user, vhost)
	if err != nil {
		p.Leave()
	}
	return err
}

// outdated returns an error if the virtual host or the user was deleted during the handshake, before this connection
// was counted for them.
func (s *Settings) outdated(p *Peer) error {
	if v, ok := s.VHost(p.VHost.Name); !ok || v != p.VHost {
		return protocol.ConnectionErrorf(protocol.ConnectionForced, "vhost '%s' is deleted", p.VHost.Name)
	}
	if s.Permissions == nil {
		return nil
	}
	return s.Permissions.VHostAccess(p.User, p.VHost.Name)
}
