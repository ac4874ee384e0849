package integration

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"candlemark/integration/testkit"
)

// zone is a DNS server: the nodes of a cluster have the addresses 127.0.1.1 … there, as the pods of a headless service.
type zone struct {
	conn net.PacketConn
	mu   sync.Mutex
	size int // nodes that have an address
}

func startZone(t *testing.T, size int) *zone {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	z := &zone{conn: conn, size: size}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) == nil && len(m.Questions) == 1 {
				if answer, err := z.answer(m); err == nil {
					_, _ = conn.WriteTo(answer, from)
				}
			}
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-ended
	})
	return z
}

func (z *zone) answer(m dnsmessage.Message) ([]byte, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	q := m.Questions[0]
	m.Header = dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true, RecursionAvailable: true}
	m.Additionals = nil
	add := func(body dnsmessage.ResourceBody) {
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1}, Body: body})
	}
	known := strings.HasSuffix(q.Name.String(), ".nodes.test.") || q.Name.String() == "nodes.test."
	for i := range z.size {
		name := fmt.Sprintf("c-%d.nodes.test.", i)
		switch at := byte(i + 1); {
		case q.Type == dnsmessage.TypeA && (q.Name.String() == "nodes.test." || q.Name.String() == name):
			add(&dnsmessage.AResource{A: [4]byte{127, 0, 1, at}})
		case q.Type == dnsmessage.TypePTR && q.Name.String() == fmt.Sprintf("%d.1.0.127.in-addr.arpa.", at):
			add(&dnsmessage.PTRResource{PTR: dnsmessage.MustNewName(name)})
		}
	}
	if !known && len(m.Answers) == 0 {
		m.RCode = dnsmessage.RCodeNameError
	}
	return m.Pack()
}

// grow gives more nodes an address.
func (z *zone) grow(size int) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.size = size
}

// TestClusterDNS_CLU30: RabbitMQ's settings for nodes with a common name in the DNS form a cluster when all are there, with the names of their hosts; another node joins.
func TestClusterDNS_CLU30(t *testing.T) {
	c, z := newNodes(t, nil), startZone(t, 2)
	c.prepare()
	_, port, _ := net.SplitHostPort(testkit.FreeAddress(t))
	c.alone, c.env = true, []string{"CANDLEMARK_TEST_DNS=" + z.conn.LocalAddr().String()}
	c.args = func(i int) []string {
		conf := filepath.Join(c.dir, fmt.Sprintf("%d.conf", i))
		text := fmt.Sprintf(`cluster_formation.peer_discovery_backend = dns
cluster_formation.dns.hostname = nodes.test
cluster_formation.target_cluster_size_hint = 3
cluster.node = n%d
cluster.listen = 127.0.1.%d:%s
`, i+1, i+1, port)
		if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{"--config", conf}
	}
	for i := range 2 {
		c.start(i)
	}
	eventually(t, "two nodes wait for the third", func() bool {
		return strings.Contains(readText(c.logs[0]), "2 of 3 nodes are there")
	})
	z.grow(3)
	c.start(2)
	for i := range 3 {
		c.voter(i)
	}
	z.grow(4)
	c.start(3)
	c.voter(3)
	for i := range 4 {
		want := fmt.Sprintf("c-%d.nodes.test:%s", i, port)
		if got := c.state()[fmt.Sprintf("rabbit@n%d", i+1)].Address; got != want {
			t.Errorf("node %d is at %s, want %s", i+1, got, want)
		}
	}
}
