package integration

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	amqp "github.com/rabbitmq/amqp091-go"
)

// operate runs a command against a node of a cluster, and expects it to succeed. It tries again when the connection is lost, because the node asked, or the one
// that it has passed the command to, starts its program again.
func (b *broker) operate(args ...string) (output string) {
	b.Helper()
	path, err := binary()
	if err != nil {
		b.Fatal(err)
	}
	eventually(b.T, strings.Join(args, " "), func() bool {
		out, err := exec.Command(path, append(args, "-q", "--url", "http://guest:guest@"+b.http)...).CombinedOutput()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 69) {
			b.Fatalf("%v: %v\n%s", args, err, out)
		}
		output = string(out)
		return err == nil
	})
	return output
}

// leader waits until a node leads, and returns its name.
func (b *broker) leader() string {
	b.Helper()
	var c struct{ Leader string }
	eventually(b.T, "a leader", func() bool {
		r, err := http.NewRequestWithContext(b.Context(), "GET", "http://"+b.http+"/api/x/cluster", nil)
		if err != nil {
			b.Fatal(err)
		}
		r.SetBasicAuth("guest", "guest")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return false // the connection was lost
		}
		defer answer.Body.Close()
		return json.NewDecoder(answer.Body).Decode(&c) == nil && c.Leader != ""
	})
	return c.Leader
}

// operateEach runs commands for each node, also the one that is asked.
func (b *broker) operateEach(nodes []string, commands ...string) {
	b.Helper()
	for _, node := range nodes {
		for _, c := range commands {
			b.operate(c, node)
		}
	}
}

// checkFigures checks that there are figures and versions of all nodes (CLU-33).
func checkFigures(t *testing.T, b *broker) {
	t.Helper()
	type figures struct {
		Memory int64 `json:"mem_used"`
		Disk   int64 `json:"disk_free"`
		Files  int   `json:"fd_used"`
		Uptime int64
	}
	eventually(t, "figures of all nodes", func() bool {
		var nodes []figures
		if err := json.Unmarshal([]byte(b.request("GET", "/api/nodes", "", 200)), &nodes); err != nil {
			t.Fatal(err)
		}
		return len(nodes) == 3 && !slices.ContainsFunc(nodes, func(n figures) bool {
			return n.Memory == 0 || n.Disk == 0 || n.Files == 0 || n.Uptime == 0
		})
	})
	if text := b.operate("cluster_status"); strings.Count(text, "by Candlemark ") != 3 {
		t.Errorf("versions in %s", text)
	}
}

// TestThroughFollower_Operation_CLU22: commands to any node show and change the cluster.
func TestThroughFollower_Operation_CLU22(t *testing.T) {
	t.Parallel()
	b := start(t)
	var status struct {
		Disk    []string `json:"disk_nodes"`
		Running []string `json:"running_nodes"`
	}
	all := []string{"rabbit@n1", "rabbit@n2", "rabbit@n3"}
	eventually(t, "all nodes run", func() bool {
		if err := json.Unmarshal([]byte(b.operate("cluster_status", "--formatter", "json")), &status); err != nil {
			t.Fatal(err)
		}
		return slices.Equal(status.Running, all)
	})
	if !slices.Equal(status.Disk, all) {
		t.Errorf("nodes %v", status.Disk)
	}
	checkFigures(t, b)
	for _, command := range []string{"await_online_nodes 3", "await_online_quorum", "await_online_quorum_plus_one", "check_if_node_is_quorum_critical"} {
		b.operate(strings.Fields(command)...)
	}
	before := b.leader()
	b.request("PUT", "/api/queues/%2F/q", `{"durable":true,"arguments":{"x-queue-type":"quorum"}}`, 201)
	var q struct {
		Node, Leader    string
		Members, Online []string
	}
	if err := json.Unmarshal([]byte(b.request("GET", "/api/queues/%2F/q", "", 200)), &q); err != nil || q.Leader != before || q.Node != before || !slices.Equal(q.Members, all) || !slices.Equal(q.Online, all) {
		t.Errorf("queue %+v, %v", q, err)
	}
	b.request("PUT", "/api/x/cluster/drained/rabbit@n4", "", 404)
	b.operate("transfer_leadership")
	to := b.leader()
	eventually(t, "another leader", func() bool { to = b.leader(); return to != before })
	b.operate("drain", to)
	eventually(t, "a leader that is not drained", func() bool { return b.leader() != to })
	b.operate("revive", to)
	b.operate("transfer_leadership", to)
	eventually(t, "the leader that was named", func() bool { return b.leader() == to })
	b.operateEach(all, "drain", "revive")
}

// TestThroughFollower_NotRefused_CLU20: a node that has lost the leadership keeps its ports while it starts its program again.
func TestThroughFollower_NotRefused_CLU20(t *testing.T) {
	t.Parallel()
	b := start(t)
	end, refused := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			conn, err := net.Dial("tcp", b.amqp)
			if err == nil {
				err = conn.Close()
			}
			if err != nil {
				refused <- err
				return
			}
			select {
			case <-end:
				refused <- nil
				return
			case <-time.After(5 * time.Millisecond): // more often than a program starts
			}
		}
	}()
	for _, to := range []string{"n1", "n2", "n1"} { // this one is one of them
		b.operate("transfer_leadership", "rabbit@"+to)
		eventually(t, "that leader", func() bool { return b.leader() == "rabbit@"+to })
	}
	eventually(t, "an answer at the port", func() bool {
		conn, err := amqp.Dial("amqp://guest:guest@" + b.amqp + "/")
		if err == nil {
			err = conn.Close()
		}
		return err == nil
	})
	close(end)
	if err := <-refused; err != nil {
		t.Error(err)
	}
}

// TestThroughFollower_Page_CLU22: the page Now shows the nodes, from any of them, and the page Events the elections.
func TestThroughFollower_Page_CLU22(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	w := br.open(b, "").asGuest()
	w.until("[...document.querySelectorAll('[aria-label=Nodes] .tile')].filter((n) => /^rabbit@n[123](leader|follower)(term|has all)/.test(n.textContent)).length === 3")
	w.shoot("now-cluster")
	w.do(chromedp.Navigate(w.url("#/events")))
	w.until("/cluster\\.leader\\.electednode: rabbit@n[123], term: \\d+/.test(document.querySelector('main').textContent)")
}
