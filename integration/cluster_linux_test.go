package integration

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// namespaces is a network of its own for each of three nodes: one interface for the other nodes, one for clients. Two bridges in a fourth
// connect them. Nothing leaves the machine, and nothing of it is visible outside.
type namespaces struct {
	*testing.T
	name string
}

// newNamespaces makes the networks. The test is skipped if the machine does not allow that.
func newNamespaces(t *testing.T) *namespaces {
	t.Helper()
	n := &namespaces{t, fmt.Sprintf("candlemark%d", os.Getpid())}
	if out, err := exec.Command("ip", "netns", "add", n.hub()).CombinedOutput(); err != nil {
		t.Skipf("no network namespaces: %v %s", err, out)
	}
	t.Cleanup(func() {
		for _, name := range []string{n.hub(), n.of(0), n.of(1), n.of(2)} {
			_ = exec.Command("ip", "netns", "del", name).Run()
		}
	})
	for _, side := range []string{"peers", "clients"} {
		n.ip(n.hub(), "link", "add", side, "type", "bridge")
		n.ip(n.hub(), "link", "set", side, "up")
	}
	n.ip(n.hub(), "address", "add", "10.0.2.254/24", "dev", "clients")
	for i := range 3 {
		if out, err := exec.Command("ip", "netns", "add", n.of(i)).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		n.ip(n.of(i), "link", "set", "lo", "up")
		for k, side := range []string{"peers", "clients"} {
			here := fmt.Sprint(side, i)
			n.ip(n.hub(), "link", "add", here, "type", "veth", "peer", "name", side, "netns", n.of(i))
			n.ip(n.hub(), "link", "set", here, "master", side, "up")
			n.ip(n.of(i), "address", "add", fmt.Sprintf("10.0.%d.%d/24", k+1, i+1), "dev", side)
			n.ip(n.of(i), "link", "set", side, "up")
		}
	}
	return n
}

func (n *namespaces) hub() string { return n.name + "-hub" }

func (n *namespaces) of(i int) string { return fmt.Sprintf("%s-n%d", n.name, i+1) }

func (n *namespaces) ip(in string, args ...string) {
	n.Helper()
	if out, err := exec.Command("ip", append([]string{"-n", in}, args...)...).CombinedOutput(); err != nil {
		n.Fatalf("ip %s: %v %s", strings.Join(args, " "), err, out)
	}
}

// world returns the world of nodes in these networks, with clocks two hours apart.
func (n *namespaces) world() *world {
	return &world{
		addresses: func(i int) (string, string) {
			return fmt.Sprintf("10.0.1.%d:7000", i+1), fmt.Sprintf("10.0.2.%d:7001", i+1)
		},
		command: func(i int, args ...string) *exec.Cmd {
			return exec.Command("ip", append([]string{"netns", "exec", n.of(i)}, args...)...)
		},
		walls: [3]time.Duration{-time.Hour, 0, time.Hour}, dial: n.dial,
	}
}

// dial connects from the namespace with the bridges: a socket belongs to that of the thread that makes it.
func (n *namespaces) dial(network, address string) (conn net.Conn, err error) {
	runtime.LockOSThread()
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, err
	}
	defer home.Close()
	there, err := os.Open("/var/run/netns/" + n.hub())
	if err != nil {
		return nil, err
	}
	defer there.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, err
	}
	conn, err = net.DialTimeout(network, address, 2*time.Second)
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		return nil, back // the thread stays locked, and ends with the goroutine
	}
	runtime.UnlockOSThread()
	if err == nil {
		err = conn.SetDeadline(time.Now().Add(2 * time.Second)) // until the connection is open, as amqp.DefaultDial does
	}
	return conn, err
}

// cut makes a bridge lose all packets of a node, or mends that.
func (n *namespaces) cut(side string, i int, cut bool) {
	n.Helper()
	what := "up"
	if cut {
		what = "down"
	}
	n.ip(n.hub(), "link", "set", fmt.Sprint(side, i), what)
}

// oneWay makes a node lose its packets to another one.
func (n *namespaces) oneWay(from, to int, cut bool) {
	n.Helper()
	what := "del"
	if cut {
		what = "add"
	}
	n.ip(n.of(from), "route", what, "blackhole", fmt.Sprintf("10.0.1.%d/32", to+1))
}

// TestClusterStorm_Networks_CLU1: the leader, or another node, is cut off from the others, one way or both, from its clients, or from all of them; the clocks
// of the nodes are two hours apart.
func TestClusterStorm_Networks_CLU1(t *testing.T) {
	n := newNamespaces(t)
	s := &clusterStorm{nodes: startNodes(t, n.world())}
	during := func(what string, change func(i int, cut bool), which func() int) func() {
		return func() {
			s.progress()
			i := which()
			s.diary.note("%s of n%d is cut", what, i+1)
			change(i, true)
			s.progress()
			change(i, false)
			s.diary.note("%s of n%d is mended", what, i+1)
			s.progress()
		}
	}
	follower := func() int { return (s.leader() + 1) % 3 }
	peers := func(i int, cut bool) { n.cut("peers", i, cut) }
	clients := func(i int, cut bool) { n.cut("clients", i, cut) }
	all := func(i int, cut bool) { peers(i, cut); clients(i, cut) }
	out := func(i int, cut bool) { n.oneWay(i, (i+1)%3, cut); n.oneWay(i, (i+2)%3, cut) }
	in := func(i int, cut bool) { n.oneWay((i+1)%3, i, cut); n.oneWay((i+2)%3, i, cut) }
	var trouble []func()
	names := []string{"the net of peers", "the net of clients", "all", "the way out to peers", "the way in from peers"}
	for k, change := range []func(int, bool){peers, clients, all, out, in} {
		trouble = append(trouble, during(names[k], change, s.leader), during(names[k], change, follower))
	}
	trouble = append(trouble, during("the way to one peer", func(i int, cut bool) { n.oneWay(i, (i+1)%3, cut) }, s.leader))
	s.run(func() {
		for k, change := range []func(int, bool){peers, clients, all, out, in} {
			during(names[k], change, s.leader)()
		}
	}, append(trouble, s.killLeader, s.killLeader, s.stopLeader, s.killFollower, s.killAll)...)
}
