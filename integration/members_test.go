package integration

import (
	"context"
	wire "encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"candlemark/internal/storage/cluster"
	hello "candlemark/internal/storage/cluster/wire"

	amqp "github.com/rabbitmq/amqp091-go"
)

var joinBacklog = flag.Int("join-backlog", 100, "MB of messages that a new node gets in TestClusterMembers_CLU25")

// member is a node in the answer of /api/x/cluster.
type member struct {
	Name, Role string
	Address    string
	Online     bool
	Lag        uint64
}

// state returns the members, by name, as the leader knows them; nil if none answers.
func (c *nodes) state() map[string]member {
	client := http.Client{Timeout: 5 * time.Second}
	for _, address := range c.http {
		r, err := client.Get("http://guest:guest@" + address + "/api/x/cluster")
		if err != nil {
			continue
		}
		var got struct{ Members []member }
		err = json.NewDecoder(r.Body).Decode(&got)
		_ = r.Body.Close()
		if err == nil && r.StatusCode == http.StatusOK {
			list := map[string]member{}
			for _, m := range got.Members {
				list[m.Name] = m
			}
			return list
		}
	}
	return nil
}

// voter waits until a node is a voter, is there and has nearly everything.
func (c *nodes) voter(i int) {
	c.Helper()
	eventually(c.T, fmt.Sprintf("n%d is a voter", i+1), func() bool {
		m := c.state()[fmt.Sprintf("rabbit@n%d", i+1)]
		return (m.Role == "follower" || m.Role == "leader") && m.Online && m.Lag < 1000
	})
}

// command runs a command against one node after the other until it succeeds, and returns the last output.
func (c *nodes) command(args ...string) (out string) {
	c.Helper()
	path, err := binary()
	if err != nil {
		c.Fatal(err)
	}
	n := 0
	eventually(c.T, strings.Join(args, " "), func() bool {
		n++
		b, err := exec.Command(path, append(args, "-q", "--url", "http://guest:guest@"+c.http[n%len(c.http)])...).CombinedOutput()
		out = string(b)
		return err == nil
	})
	return out
}

// away returns the number of a node that does not lead.
func (c *nodes) away() int { return (c.leader() + 1) % len(c.running) }

// end stops a node.
func (c *nodes) end(i int) {
	c.signal(i, syscall.SIGTERM)
	c.wait(i)
}

// empty removes the folder of a node.
func (c *nodes) empty(i int) {
	c.Helper()
	if err := os.RemoveAll(filepath.Join(c.dir, fmt.Sprintf("n%d", i+1))); err != nil {
		c.Fatal(err)
	}
}

const kept = "kept"

// keep publishes messages that stay, of 100 kB, and waits for their confirms. It begins again when another node leads.
func (s *clusterStorm) keep(n int) {
	s.Helper()
	eventually(s.T, "messages that stay", func() bool {
		conn, ch := s.channel()
		if ch == nil {
			s.Fatal("no channel")
		}
		defer conn.Close()
		_, err := ch.QueueDeclare(kept, true, false, false, false, amqp.Table{"x-queue-type": "quorum"})
		if err == nil {
			_, err = ch.QueuePurge(kept, false)
		}
		if err == nil {
			err = ch.Confirm(false)
		}
		var waits []*amqp.DeferredConfirmation
		for i := 0; i < n && err == nil; i++ {
			body := wire.BigEndian.AppendUint64(make([]byte, 0, 100_000), uint64(i))[:100_000]
			var d *amqp.DeferredConfirmation
			if d, err = ch.PublishWithDeferredConfirm("", kept, false, false, amqp.Publishing{DeliveryMode: 2, Body: body}); err == nil {
				waits = append(waits, d)
			}
			if len(waits) > 50 {
				waits[len(waits)-50].Wait()
			}
		}
		for _, d := range waits {
			if !d.Wait() {
				return false
			}
		}
		return err == nil
	})
}

// TestClusterMembers_CLU25: under load a fourth node joins, one is forgotten, comes back in vain and joins with an empty folder, one is emptied and replaced, one
// is reset, and all are restarted; everything that was confirmed is delivered, and nothing comes again without the flag.
func TestClusterMembers_CLU25(t *testing.T) {
	s := &clusterStorm{nodes: newNodes(t, nil)}
	s.env = []string{steady}
	s.prepare() // before others read the lists
	for i := range 3 {
		s.start(i)
	}
	s.keep(*joinBacklog * 10)
	end := s.load(func(ctx context.Context) { s.publish(ctx, 1) }, func(ctx context.Context) { s.publish(ctx, 2) }, func(ctx context.Context) { s.publish(ctx, 3) })
	s.progress()
	began := time.Now()
	s.start(3)
	s.voter(3)
	t.Logf("the fourth node is a voter after %v", time.Since(began))
	s.forgotten()
	s.replaced()
	s.reset()
	for i := range s.running {
		s.end(i)
		s.progress()
		s.start(i)
		s.voter(i)
	}
	s.progress()
	end()
	s.whole(*joinBacklog * 10)
}

// load starts a consumer, and producers that go on until their context ends. The function that it returns ends them, and checks what was confirmed.
func (s *clusterStorm) load(producers ...func(context.Context)) (end func()) {
	ctx, cancel := context.WithCancel(s.Context())
	var producing, consuming sync.WaitGroup
	for _, p := range producers {
		producing.Go(func() { p(ctx) })
	}
	drained := make(chan struct{})
	consuming.Go(func() { s.consume(drained) })
	return func() {
		s.Helper()
		cancel()
		producing.Wait()
		close(drained)
		consuming.Wait()
		lost := 0
		s.confirmed.Range(func(n, _ any) bool {
			if _, ok := s.seen.Load(n); !ok {
				lost++
			}
			return true
		})
		if lost > 0 || s.flagless.Load() > 0 {
			s.Errorf("%d of %d confirmed messages were lost, %d came again without the flag", lost, s.count.Load(), s.flagless.Load())
		}
		s.Logf("%d messages were confirmed", s.count.Load())
	}
}

// whole checks that all messages of keep are there.
func (s *clusterStorm) whole(n int) {
	s.Helper()
	conn, ch := s.channel()
	if ch == nil {
		s.Fatal("no channel")
	}
	defer conn.Close()
	if q, err := ch.QueueDeclarePassive(kept, true, false, false, false, nil); err != nil || q.Messages != n {
		s.Errorf("%d messages were kept of %d, %v", q.Messages, n, err)
	}
}

// length returns how long the log of a node is.
func (c *nodes) length(i int) int {
	text, _ := os.ReadFile(c.logs[i])
	return len(text)
}

// says reports whether a node has logged a text behind an earlier length of its log.
func (c *nodes) says(i int, from int, what string) bool {
	text, _ := os.ReadFile(c.logs[i])
	return strings.Contains(string(text[from:]), what)
}

// joined starts a node with an empty folder and waits until it is a voter.
func (s *clusterStorm) joined(i int) {
	from := s.length(i)
	s.empty(i)
	s.start(i)
	s.member(i, from)
}

// member waits until a node that began anew is a voter.
func (s *clusterStorm) member(i int, from int) {
	eventually(s.T, fmt.Sprintf("n%d has joined", i+1), func() bool { return s.says(i, from, "this node has joined the cluster") })
	s.voter(i)
	s.diary.note("n%d is a voter", i+1)
}

// forgotten stops and forgets a node, which is refused, and then joins with an empty folder. A node that was stopped before it knew that it votes has promised nothing, and is a
// member again.
func (s *clusterStorm) forgotten() {
	i := s.away()
	name, path := s.named(i)
	s.end(i)
	eventually(s.T, "the node is forgotten", func() bool { // an answer may be lost
		_ = exec.Command(path, "forget_cluster_node", name, "-q", "--url", "http://guest:guest@"+s.http[s.leader()]).Run()
		list := s.state()
		_, there := list[name]
		return len(list) > 0 && !there
	})
	s.diary.note("%s is forgotten", name)
	s.progress()
	from := s.length(i)
	s.start(i)
	again := false
	eventually(s.T, "the forgotten node is refused", func() bool {
		again = s.state()[name].Role == "follower"
		return again || s.says(i, from, "no member of the cluster any more")
	})
	if !again {
		s.end(i)
		s.joined(i)
	}
}

// replaced kills and empties a node, which comes back as another one.
func (s *clusterStorm) replaced() {
	i := s.away()
	s.signal(i, syscall.SIGKILL)
	s.wait(i)
	s.progress()
	s.joined(i)
}

// interrupted replaces a node while the leader, which sends it the data, is killed and starts again.
func (s *clusterStorm) interrupted() {
	s.progress()
	leader := s.leader()
	i := s.away()
	s.signal(i, syscall.SIGKILL)
	s.wait(i)
	s.empty(i)
	from := s.length(i)
	s.start(i)
	s.signal(leader, syscall.SIGKILL)
	s.wait(leader)
	s.start(leader)
	s.member(i, from)
}

// lagging suspends a node until it needs a copy of the data.
func (s *clusterStorm) lagging() {
	s.progress()
	i := s.away()
	s.signal(i, syscall.SIGSTOP)
	s.burst(200)
	s.signal(i, syscall.SIGCONT)
	s.voter(i)
}

// burst publishes messages of 100 kB, of which few stay.
func (s *clusterStorm) burst(n int) {
	for confirmed := 0; confirmed < n; {
		conn, ch := s.channel()
		if ch == nil {
			s.Fatal("no channel")
		}
		_, err := ch.QueueDeclare("burst", true, false, false, false, amqp.Table{"x-queue-type": "quorum", "x-max-length": 20})
		if err == nil {
			err = ch.Confirm(false)
		}
		for err == nil && confirmed < n {
			limit, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			var d *amqp.DeferredConfirmation
			if d, err = ch.PublishWithDeferredConfirm("", "burst", false, false, amqp.Publishing{DeliveryMode: 2, Body: make([]byte, 100_000)}); err == nil {
				_, err = d.WaitContext(limit)
				confirmed++
			}
			cancel()
		}
		_ = conn.Close()
	}
}

// transferred makes another node lead.
func (s *clusterStorm) transferred() {
	s.progress()
	name, _ := s.named(s.away())
	s.command("transfer_leadership", name)
	s.progress()
}

// named returns the name of a node, and the path of the program.
func (s *clusterStorm) named(i int) (name, path string) {
	path, err := binary()
	if err != nil {
		s.Fatal(err)
	}
	return fmt.Sprintf("rabbit@n%d", i+1), path
}

// reset makes a node begin anew.
func (s *clusterStorm) reset() {
	i := s.away()
	name, path := s.named(i)
	s.command("drain", name)
	from, out := s.length(i), []byte(nil)
	eventually(s.T, "the node has begun anew", func() bool {
		// At the port of the leader: the node itself ends all connections.
		out, _ = exec.Command(path, "reset", name, "-q", "--url", "http://guest:guest@"+s.http[s.leader()]).CombinedOutput()
		return s.says(i, from, "this node was reset")
	})
	s.diary.note("%s was reset: %s", name, out)
	s.member(i, from)
}

// TestClusterStorm_Members_CLU25: nodes join, are forgotten, emptied, reset, killed and paused, with short logs, so that copies of the data are sent all the time;
// everything that was confirmed is delivered, in order, and nothing comes again without the flag, or early.
func TestClusterStorm_Members_CLU25(t *testing.T) {
	s := &clusterStorm{nodes: newNodes(t, nil)}
	s.env = []string{"CANDLEMARK_TEST_LOG=8000000"} // bytes
	s.prepare()                                     // before others read the lists
	for i := range 3 {
		s.start(i)
	}
	s.keep(200)
	s.run(func() {
		s.joined(3)
		s.interrupted()
		s.lagging()
	}, s.forgotten, s.replaced, s.replaced, s.interrupted, s.interrupted, s.reset, s.lagging, s.lagging, s.transferred, s.killLeader, s.killLeader, s.killFollower, s.stopLeader, s.killAll)
	s.whole(200)
	copies := 0 // a node opens its data when it starts, and when it has got a copy
	for _, log := range s.logs {
		text, _ := os.ReadFile(log)
		copies += strings.Count(string(text), `"message":"replica opened"`) - strings.Count(string(text), `"message":"Candlemark starts"`)
	}
	if t.Logf("%d copies of the data", copies); copies < 1 {
		t.Error("no copy of the data was sent")
	}
}

// TestAloneToCluster_CLU27: a broker alone with messages becomes the first of three nodes; when it is killed the others have everything.
func TestAloneToCluster_CLU27(t *testing.T) {
	s := &clusterStorm{nodes: newNodes(t, nil)}
	s.alone, s.env = true, []string{steady}
	s.start(0)
	s.keep(200)
	s.end(0)
	s.alone = false
	for _, i := range []int{1, 2, 0} {
		s.start(i)
	}
	for i := range 3 {
		s.voter(i)
	}
	s.signal(0, syscall.SIGKILL)
	s.wait(0)
	conn, ch := s.channel()
	if ch == nil {
		t.Fatal("no channel")
	}
	defer conn.Close()
	for i := range 200 {
		d, ok, err := ch.Get(kept, true)
		if err != nil || !ok || len(d.Body) != 100_000 || wire.BigEndian.Uint64(d.Body) != uint64(i) {
			t.Fatalf("message %d: %v, %v, %d bytes", i, ok, err, len(d.Body))
		}
	}
	s.start(0)
}

// TestClusterStops_CLU7: each node ends when it is to stop, also one that begins to lead while the others stop.
func TestClusterStops_CLU7(t *testing.T) {
	for range 3 {
		c := startNodes(t, nil)
		first := c.leader()
		for i := range 3 {
			c.end((first + i) % 3)
		}
	}
}

// TestResetOfRevived_CLU25: a node that the leader has removed for a reset begins anew, although it was revived between the removal and the command.
func TestResetOfRevived_CLU25(t *testing.T) {
	c := startNodes(t, nil)
	i := c.away()
	_, address, _ := strings.Cut(c.members[i], "=")
	ask := func(kind, to string) (hello.Answer, error) {
		h := hello.Hello{Kind: kind, To: to, From: "n9/1", Oldest: hello.Newest, Newest: hello.Newest}
		return hello.Ask(address, h, hello.Config{Secret: []byte("a secret of the test")})
	}
	before, err := ask(hello.KindAsk, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask(cluster.Reset, before.Node); err != nil { // what the leader does after the removal
		t.Fatal(err)
	}
	eventually(t, "it has joined with another life", func() bool {
		a, err := ask(hello.KindAsk, "")
		return err == nil && a.Node != before.Node && a.Cluster == before.Cluster
	})
	c.voter(i)
}
