package shovels

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
)

// Machine finds out where addresses of shovels lead to (ACC-2).
type Machine struct {
	// Lookup returns the IP addresses of a host name.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Interfaces returns the IP addresses of this machine.
	Interfaces func() ([]net.Addr, error)
	// Listeners returns the addresses at which this broker accepts AMQP.
	Listeners func() []net.Addr
	// Nodes returns the addresses, host:port, at which other nodes of its cluster accept AMQP for this broker.
	Nodes func() []string
}

// Place is where an address leads to.
type Place struct {
	// Broker: to this broker. Machine: to this machine.
	Broker, Machine bool
	// Addresses are all of the host, in the order in which they are to be tried.
	Addresses []netip.AddrPort
}

// Find finds out where a host, a name or an IP address, and a port lead to. A name with several addresses leads to this
// broker or machine if one of them does.
func (m *Machine) Find(ctx context.Context, host string, port uint16) (p Place, err error) {
	ips, err := m.Lookup(ctx, host)
	if err != nil {
		return p, err
	}
	own, err := m.own()
	if err != nil {
		return p, err
	}
	for _, ip := range ips {
		ip = ip.Unmap()
		at := netip.AddrPortFrom(ip, port)
		p.Addresses = append(p.Addresses, at)
		if ip.IsUnspecified() { // the system connects to the loopback address
			ip = map[bool]netip.Addr{true: netip.AddrFrom4([4]byte{127, 0, 0, 1}), false: netip.IPv6Loopback()}[ip.Is4()]
		}
		if ip.IsLoopback() || own[ip.WithZone("")] {
			p.Machine = true
			p.Broker = p.Broker || m.listens(ip.WithZone(""), port)
		}
	}
	if p.Machine && !p.Broker {
		if p.Broker, err = m.passesOn(ctx, port, own); err != nil {
			return p, err
		}
	}
	if p.Addresses == nil {
		err = fmt.Errorf("%s has no address", host)
	}
	return p, err
}

// passesOn reports whether a node on this machine accepts connections at a port, and passes them on to this broker.
func (m *Machine) passesOn(ctx context.Context, port uint16, own map[netip.Addr]bool) (bool, error) {
	for _, address := range m.Nodes() {
		host, at, err := net.SplitHostPort(address)
		if err != nil || at != strconv.Itoa(int(port)) {
			continue
		}
		ips, err := m.Lookup(ctx, host)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(ips, func(ip netip.Addr) bool { ip = ip.Unmap().WithZone(""); return ip.IsLoopback() || own[ip] }) {
			return true, nil
		}
	}
	return false, nil
}

func (m *Machine) own() (map[netip.Addr]bool, error) {
	all, err := m.Interfaces()
	if err != nil {
		return nil, err
	}
	own := map[netip.Addr]bool{}
	for _, a := range all {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			own[prefix.Addr().Unmap().WithZone("")] = true
		}
	}
	return own, nil
}

// listens reports whether a listener accepts connections to an address of this machine. One at all IPv6 addresses accepts
// IPv4 as well.
func (m *Machine) listens(ip netip.Addr, port uint16) bool {
	for _, l := range m.Listeners() {
		tcp, ok := l.(*net.TCPAddr)
		if !ok {
			continue
		}
		at := tcp.AddrPort()
		all := at.Addr().IsUnspecified() && (at.Addr().Is6() || ip.Is4())
		if at.Port() == port && (all || at.Addr().Unmap().WithZone("") == ip) {
			return true
		}
	}
	return false
}
