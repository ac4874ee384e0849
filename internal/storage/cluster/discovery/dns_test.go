package discovery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// zone is a DNS: addresses by name, and names by address.
type zone struct {
	addresses map[string][]string
	names     map[string][]string
	asked     int // for the nodes
}

func (z *zone) LookupNetIP(_ context.Context, _, host string) (list []netip.Addr, err error) {
	if host == "nodes" {
		z.asked++
	}
	for _, a := range z.addresses[host] {
		list = append(list, netip.MustParseAddr(a))
	}
	if len(list) == 0 {
		err = &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return list, err
}

func (z *zone) LookupAddr(_ context.Context, address string) ([]string, error) {
	if n := z.names[address]; n != nil {
		return slices.Clone(n), nil
	}
	return nil, errors.New("no name")
}

func (z *zone) finder(own ...string) *DNS {
	return &DNS{Name: "nodes", Port: "25672", Resolver: z, Own: func() (list []netip.Addr, err error) {
		for _, a := range own {
			list = append(list, netip.MustParseAddr(a))
		}
		return list, nil
	}}
}

// TestFind_CLU30: nodes have names that lead back to their addresses, or addresses; this node's own is told apart.
func TestFind_CLU30(t *testing.T) {
	z := &zone{
		addresses: map[string][]string{
			"nodes":             {"10.0.0.1", "::ffff:10.0.0.2", "10.0.0.3", "10.0.0.4", "fd00::1", "fd00::2"},
			"c-0.nodes.ns.svc.": {"10.0.0.1", "fd00::1"}, "a-service.": {"10.0.0.1"}, "c-1.nodes.ns.svc.": {"10.0.0.2", "fd00::2"}, "forged.": {"10.9.9.9"},
		},
		names: map[string][]string{
			"10.0.0.1": {"a-service.", "c-0.nodes.ns.svc."}, "fd00::1": {"c-0.nodes.ns.svc."}, "10.0.0.2": {"c-1.nodes.ns.svc."}, "fd00::2": {"c-1.nodes.ns.svc."}, "10.0.0.3": {"forged."},
		},
	}
	f, err := z.finder("127.0.0.1", "10.0.0.1", "fd00::1").Find(t.Context())
	if want := "{c-0.nodes.ns.svc:25672 [10.0.0.3:25672 10.0.0.4:25672 c-1.nodes.ns.svc:25672]}"; err != nil || fmt.Sprint(f) != want {
		t.Errorf("got %v, %v, want %s", f, err, want)
	}
	if f, err := z.finder("10.0.0.9").Find(t.Context()); err != nil || f.Own != "" || len(f.Others) != 4 {
		t.Errorf("not in the DNS yet: %v, %v", f, err)
	}
	if _, err := (&zone{}).finder().Find(t.Context()); err == nil || !strings.Contains(err.Error(), "the nodes of nodes: ") {
		t.Errorf("without a name: %v", err)
	}
	for i := range maxAddresses {
		z.addresses["nodes"] = append(z.addresses["nodes"], fmt.Sprintf("10.0.1.%d", i))
	}
	if _, err := z.finder().Find(t.Context()); err == nil || !strings.Contains(err.Error(), "at most 32") {
		t.Errorf("with many addresses: %v", err)
	}
}

// TestFresh_CLU30: the DNS is asked once a second.
func TestFresh_CLU30(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := &zone{addresses: map[string][]string{"nodes": {"10.0.0.1"}}}
		d := z.finder()
		for range 10 {
			if _, err := d.Find(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(2 * fresh)
		if _, err := d.Find(t.Context()); err != nil || z.asked != 2 {
			t.Errorf("asked %d times, %v", z.asked, err)
		}
	})
}

// TestMachine_CLU30: a node that listens at one address has this one only.
func TestMachine_CLU30(t *testing.T) {
	if list, err := machine("127.0.0.3:25672"); err != nil || fmt.Sprint(list) != "[127.0.0.3]" {
		t.Errorf("%v, %v", list, err)
	}
	for _, listen := range []string{":25672", "0.0.0.0:25672", "a-name:25672"} {
		if list, err := machine(listen); err != nil || !slices.Contains(list, netip.MustParseAddr("127.0.0.1")) {
			t.Errorf("%s: %v, %v", listen, list, err)
		}
	}
}
