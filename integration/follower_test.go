package integration

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// everywhere makes every broker of these tests a follower of a cluster. Tests that look into its data, or need a broker alone, fail.
var everywhere = flag.Bool("follower", false, "tests use the ports of a node of a cluster that does not lead")

// throughFollower reports whether the broker of a test is a follower of a cluster.
func throughFollower(t *testing.T) bool {
	return *everywhere || strings.HasPrefix(t.Name(), "TestThroughFollower")
}

// startFollower starts a cluster of three nodes, and returns one that does not lead. It is killed and stopped together with the others, and its log has theirs.
func startFollower(t *testing.T, line, dir string, flags []string) *broker {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	var members []string
	for i := range 3 {
		members = append(members, "--cluster-member", fmt.Sprintf("n%d=%s", i+1, testkit.FreeAddress(t)))
	}
	nodes := make([]*broker, 3)
	for i := range nodes {
		name := fmt.Sprintf("n%d", i+1)
		args := append(append([]string{"--cluster-node", name, "--http", testkit.FreeAddress(t), "--segment-size", followerSegment}, members...), flags...)
		nodes[i] = launch(t, steady+" CANDLEMARK_CLUSTER_SECRET=secret-of-the-test "+line, filepath.Join(dir, name), args...)
	}
	own := nodes[0]
	own.others = nodes[1:]
	t.Cleanup(func() { own.stop() })
	for _, b := range nodes {
		b.await(either(b.log.ready, b.log.follows))
	}
	select {
	case <-own.log.follows:
	default: // it leads
		own, nodes[0].others = nodes[1], nil
		own.others = []*broker{nodes[0], nodes[2]}
	}
	for _, b := range own.others {
		own.log.others = append(own.log.others, b.log)
	}
	return own
}

// steady makes nodes wait longer for a leader that is silent: a busy machine elects no other one by itself, which would end all connections in the middle of a test. It is
// for tests of other things than elections.
const steady = "CANDLEMARK_TEST_PATIENCE=4s"

// followerSegment is small: there are many clusters at the same time.
const followerSegment = "4194304"

// either returns a channel that is closed when one of two is.
func either(a, b <-chan struct{}) <-chan struct{} {
	c := make(chan struct{})
	go func() {
		defer close(c)
		select {
		case <-a:
		case <-b:
		}
	}()
	return c
}

// TestThroughFollower_CLU20: clients of all kinds work at the ports of a node that does not lead. With -follower other tests of clients use one, too: .ci/weekly.
func TestThroughFollower_CLU20(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"foreign": TestForeignClients, "rabbitmq": TestRabbitMQClient_Topology, "outcomes": TestRabbitMQClient_Outcomes, "delays": TestRabbitMQClient_Delays_DLY16_RETRY2,
		"azure": TestAzureClient, "websocket": TestAzureClient_WebSocket, "shovels": TestShovelsToThisMachine_ACC2,
	} {
		t.Run(name, test)
	}
}

// TestThroughFollower_Addresses_CLU20: the leader knows where the clients of other nodes are; TestThroughFollower_Outsiders_CLU20 has what they may not do.
func TestThroughFollower_Addresses_CLU20(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.request("PUT", "/api/users/app", `{"password":"secret","tags":""}`, 201)
	b.request("PUT", "/api/permissions/%2F/app", `{"configure":"","write":"","read":""}`, 201)
	conn, err := amqp.DialConfig("amqp://app:secret@"+b.amqp+"/", amqp.Config{Vhost: "/"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	eventually(t, "the connection in the list", func() bool {
		return b.request("GET", "/api/connections?columns=name", "", 200) == fmt.Sprintf(`[{"name":"%s -\u003e %s"}]`, conn.LocalAddr(), b.amqp) ||
			b.request("GET", "/api/connections?columns=name", "", 200) == fmt.Sprintf(`[{"name":"%s -> %s"}]`, conn.LocalAddr(), b.amqp)
	})
}

// elsewhere returns an address of this machine that is not a loopback one, "" if it has none.
func elsewhere(t *testing.T) string {
	t.Helper()
	list, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	return ""
}

// TestThroughFollower_Hangup_CLU38: SIGHUP changes settings on every node, whoever leads and will lead.
func TestThroughFollower_Hangup_CLU38(t *testing.T) {
	t.Parallel()
	conf := filepath.Join(t.TempDir(), "candlemark.conf")
	limit := func(bytes int) {
		t.Helper()
		if err := os.WriteFile(conf, fmt.Appendf(nil, "vm_memory_high_watermark.absolute = %d\n", bytes), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	limit(1_000_000_000)
	b := start(t, "--config", conf)
	limits := func(what string, bytes int) {
		t.Helper()
		eventually(t, what, func() bool {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://guest:guest@"+b.http+"/api/nodes?columns=mem_limit", nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil { // the leader has just changed
				return false
			}
			defer answer.Body.Close()
			text, _ := io.ReadAll(answer.Body)
			one := fmt.Sprintf(`{"mem_limit":%d}`, bytes)
			return string(text) == fmt.Sprintf("[%s,%s,%s]", one, one, one)
		})
	}
	limits("the first limit", 1_000_000_000)
	limit(2_000_000_000)
	b.signal(syscall.SIGHUP)
	limits("the second limit", 2_000_000_000)
	if text := b.operate("environment"); !strings.Contains(text, "2000000000") {
		t.Errorf("effective settings %s", text)
	}
	b.operate("transfer_leadership")
	limits("the limit of another leader", 2_000_000_000)
}
