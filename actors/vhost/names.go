package vhost

import (
	"crypto/rand"
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"

	"candlemark/internal/topology"
	"candlemark/protocol"
)

const reserved = "amq." // prefix of names that clients may not make (DEC-8)

var withoutBreaks = strings.NewReplacer("\r", "", "\n", "")

// plain is a name without CR and LF (DEC-8).
func plain(name string) string {
	if strings.ContainsAny(name, "\r\n") {
		return withoutBreaks.Replace(name)
	}
	return name
}

// serverName makes the name of a queue that was declared without one (DEC-9).
func serverName() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return reserved + "gen-" + base64.RawURLEncoding.EncodeToString(random[:])
}

// childName is the last part of a PID: kind/name/incarnation.
func childName(kind, name string, incarnation uint64) string {
	return kind + "/" + url.PathEscape(name) + "/" + strconv.FormatUint(incarnation, 10)
}

// incarnate gives out the number of a queue or exchange.
func (v *vhost) incarnate() uint64 {
	if v.cfg.Incarnation != nil {
		return v.cfg.Incarnation()
	}
	v.incarnation++
	return v.incarnation
}

func (v *vhost) noQueue(name string) error {
	return protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", name, v.cfg.VHost.Name)
}

func (v *vhost) noExchange(name string) error {
	return protocol.ChannelErrorf(protocol.NotFound, "no exchange '%s' in vhost '%s'", name, v.cfg.VHost.Name)
}

// notOnDefault is DEC-10.
func notOnDefault() error {
	return protocol.ChannelErrorf(protocol.AccessRefused, "operation not permitted on the default exchange")
}

// reservedName is DEC-8.
func reservedName(kind, name string) error {
	return protocol.ChannelErrorf(protocol.AccessRefused, "%s name '%s' contains reserved prefix 'amq.*'", kind, name)
}

// isSystemExchange tells whether a name is one of Config.SystemExchanges. What they
// route to is the broker's: nobody binds there, and no queue has the name.
func (v *vhost) isSystemExchange(name string) bool {
	for i := range v.cfg.SystemExchanges {
		if v.cfg.SystemExchanges[i].Name == name {
			return true
		}
	}
	return false
}

// systemName refuses what is not a client's to do with a system exchange, or with a
// queue of that name.
func (v *vhost) systemName(kind, name string) error {
	return protocol.ChannelErrorf(protocol.AccessRefused, "operation not permitted on the system %s '%s' in vhost '%s'", kind, name, v.cfg.VHost.Name)
}

// notBindable refuses bindings that are not for clients to make or to remove: those
// at the default exchange (DEC-10) and at a system exchange.
func (v *vhost) notBindable(source string, b *topology.Binding) error {
	switch {
	case source == "" || b.ToExchange && b.Destination == "":
		return notOnDefault()
	case v.isSystemExchange(source):
		return v.systemName("exchange", source)
	case !v.isSystemExchange(b.Destination):
		return nil
	case b.ToExchange:
		return v.systemName("exchange", b.Destination)
	default:
		return v.systemName("queue", b.Destination)
	}
}

// refusal is err as an error that is nil when err is.
func refusal(err *protocol.ChannelError) error {
	if err == nil {
		return nil
	}
	return err
}
