package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// fresh is for how long an answer is used again.
	fresh = time.Second
	// patience is how long all questions together may take.
	patience = 5 * time.Second
	// maxAddresses is how many addresses a name may have.
	maxAddresses = 32
)

// Resolver is the part of net.Resolver that is used.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
	LookupAddr(ctx context.Context, address string) ([]string, error)
}

// DNS finds the nodes at the A and AAAA records of a name.
type DNS struct {
	Name string // its addresses are the nodes
	Port string // of all nodes for each other
	// Own returns the addresses of this machine.
	Own      func() ([]netip.Addr, error)
	Resolver Resolver

	mu   sync.Mutex
	last Found
	err  error
	at   time.Time
}

// Found has the addresses of nodes, host:port. The host is a name, if the DNS has one for the IP address that leads back to it: the name stays when a node
// gets another IP address, and certificates can be for it.
type Found struct {
	Own    string // of this node; "" if the name does not have this node (yet)
	Others []string
}

// Find asks the DNS, at most once a second. Errors: there is no such name, no server answers, or the name has too many addresses.
func (d *DNS) Find(ctx context.Context) (Found, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at.IsZero() || time.Since(d.at) > fresh {
		d.last, d.err = d.ask(ctx)
		d.at = time.Now()
	}
	return d.last, d.err
}

func (d *DNS) ask(ctx context.Context) (f Found, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list, err := d.Resolver.LookupNetIP(ctx, "ip", d.Name)
	own, failed := d.Own()
	if err := errors.Join(err, failed); err != nil {
		return f, fmt.Errorf("the nodes of %s: %w", d.Name, err)
	}
	if len(list) > maxAddresses {
		return f, fmt.Errorf("%s has %d addresses: a cluster has at most %d", d.Name, len(list), maxAddresses)
	}
	for i := range own {
		own[i] = own[i].Unmap()
	}
	for _, ip := range list {
		ip = ip.Unmap()
		at := net.JoinHostPort(d.hostOf(ctx, ip), d.Port)
		switch {
		case slices.Contains(own, ip):
			f.Own = cmp.Or(f.Own, at)
		case !slices.Contains(f.Others, at):
			f.Others = append(f.Others, at)
		}
	}
	f.Others = slices.DeleteFunc(f.Others, func(at string) bool { return at == f.Own })
	slices.Sort(f.Others)
	return f, nil
}

// hostOf returns a name of an address that leads back to it, or the address. Names below Name come first, as a headless service of Kubernetes gives them.
func (d *DNS) hostOf(ctx context.Context, ip netip.Addr) string {
	names, _ := d.Resolver.LookupAddr(ctx, ip.String())
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(d.above(a), d.above(b)), cmp.Compare(a, b))
	})
	for _, name := range names[:min(len(names), 4)] {
		back, err := d.Resolver.LookupNetIP(ctx, "ip", name)
		if err == nil && slices.ContainsFunc(back, func(a netip.Addr) bool { return a.Unmap() == ip }) {
			return strings.TrimSuffix(name, ".")
		}
	}
	return ip.String()
}

// above returns 0 if a name is below Name, else 1.
func (d *DNS) above(name string) int {
	if strings.Contains(name, "."+strings.TrimSuffix(d.Name, ".")+".") {
		return 0
	}
	return 1
}

// New finds the nodes of a name with the DNS of this machine, or the server at an address, which the whole process uses then. listen is where this node
// listens, host:port.
func New(name, listen, server string) *DNS {
	if server != "" {
		net.DefaultResolver.PreferGo = true
		net.DefaultResolver.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", server)
		}
	}
	_, port, _ := net.SplitHostPort(listen)
	return &DNS{Name: name, Port: port, Resolver: net.DefaultResolver, Own: func() ([]netip.Addr, error) { return machine(listen) }}
}

// machine returns the addresses of this machine, or the one that a node listens at if it is certain. listen is host:port.
func machine(listen string) ([]netip.Addr, error) {
	host, _, _ := net.SplitHostPort(listen)
	if ip, err := netip.ParseAddr(host); err == nil && !ip.IsUnspecified() {
		return []netip.Addr{ip}, nil
	}
	list, err := net.InterfaceAddrs()
	var own []netip.Addr
	for _, a := range list {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, p.Addr())
		}
	}
	return own, err
}
