package shovels

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
)

// An address leads to this broker if one of its listeners accepts connections there, for any name of the host.
func TestMachine_ACC2(t *testing.T) {
	hosts := map[string][]string{
		"localhost": {"127.0.0.1", "::1"}, "me": {"10.0.0.5"}, "mapped": {"::ffff:127.0.0.1"}, "any": {"0.0.0.0"}, "any6": {"::"}, "other": {"10.0.0.6"},
		"mixed": {"10.0.0.6", "10.0.0.5"}, "link": {"fe80::1%eth0"}, "second": {"127.0.0.2"}, "six": {"2001:db8::5"}, "six-loop": {"::1"}, "nothing": {},
	}
	m := &Machine{
		Lookup: func(_ context.Context, host string) (all []netip.Addr, err error) {
			list, known := hosts[host]
			if !known {
				return nil, errors.New("no such host")
			}
			for _, ip := range list {
				all = append(all, netip.MustParseAddr(ip))
			}
			return all, nil
		},
		Interfaces: func() (all []net.Addr, err error) {
			for _, a := range []string{"127.0.0.1/8", "::1/128", "10.0.0.5/24", "2001:db8::5/64", "fe80::1/64"} {
				ip, mask, _ := net.ParseCIDR(a)
				all = append(all, &net.IPNet{IP: ip, Mask: mask.Mask})
			}
			return all, nil
		},
	}
	m.Nodes = func() []string { return []string{"other:5681", "me:5681", "other:5682"} }
	for _, c := range []struct {
		listener      string
		host          string
		port          uint16
		broker, local bool
	}{
		{"127.0.0.1:5672", "localhost", 5672, true, true},
		{"127.0.0.1:5672", "localhost", 5673, false, true},
		{"127.0.0.1:5672", "mapped", 5672, true, true},
		{"127.0.0.1:5672", "any", 5672, true, true},
		{"127.0.0.1:5672", "any6", 5672, false, true},
		{"[::1]:5672", "any6", 5672, true, true},
		{"127.0.0.1:5672", "second", 5672, false, true},
		{"0.0.0.0:5672", "second", 5672, true, true},
		{"127.0.0.1:5672", "me", 5672, false, true}, // another process may listen there
		{"10.0.0.5:5672", "me", 5672, true, true},
		{"0.0.0.0:5672", "me", 5672, true, true},
		{"0.0.0.0:5672", "six", 5672, false, true},
		{"[::]:5672", "me", 5672, true, true},
		{"[::]:5672", "six", 5672, true, true},
		{"[::]:5672", "link", 5672, true, true},
		{"[::]:5672", "mixed", 5672, true, true},
		{"[::]:5672", "other", 5672, false, false},
		{"[fe80::1%eth0]:5672", "link", 5672, true, true},
		{"127.0.0.1:5672", "six-loop", 5672, false, true},
		{"10.0.0.5:5672", "me", 5681, true, true}, // of a node on this machine
		{"10.0.0.5:5672", "localhost", 5681, true, true},
		{"10.0.0.5:5672", "localhost", 5682, false, true}, // of a node elsewhere
		{"10.0.0.5:5672", "other", 5682, false, false},
	} {
		at := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.listener))
		m.Listeners = func() []net.Addr { return []net.Addr{at} }
		p, err := m.Find(t.Context(), c.host, c.port)
		if err != nil || p.Broker != c.broker || p.Machine != c.local || len(p.Addresses) != len(hosts[c.host]) || p.Addresses[0].Port() != c.port {
			t.Errorf("%s:%d with a listener at %s: %+v %v", c.host, c.port, c.listener, p, err)
		}
	}
	for _, host := range []string{"nothing", "unknown"} {
		if _, err := m.Find(t.Context(), host, 5672); err == nil {
			t.Errorf("%s is found", host)
		}
	}
}
