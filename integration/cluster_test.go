package integration

import (
	"bufio"
	"bytes"
	"context"
	wire "encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// nodes are the processes of a cluster.
type nodes struct {
	*testing.T
	dir     string
	members []string // name=address of the port of the cluster
	amqp    []string
	http    []string
	logs    []string // files
	running []*exec.Cmd
	dials   atomic.Int64
	diary   diary
	alone   bool                 // they are no nodes of a cluster
	args    func(i int) []string // further ones
	env     []string
	world   *world // nil for the network and the clocks of this machine
}

// world has a network of its own, and wrong clocks.
type world struct {
	addresses func(i int) (cluster, amqp string)
	command   func(i int, args ...string) *exec.Cmd
	walls     [3]time.Duration // how far the wall clocks are ahead
	dial      func(network, address string) (net.Conn, error)
}

func startNodes(t *testing.T, w *world) *nodes {
	t.Helper()
	c := newNodes(t, w)
	for i := range 3 {
		c.start(i)
	}
	return c
}

// newNodes returns three nodes that do not run yet.
func newNodes(t *testing.T, w *world) *nodes {
	t.Helper()
	inTime(t)
	c := &nodes{T: t, dir: t.TempDir(), world: w}
	for range 3 {
		c.prepare()
	}
	t.Cleanup(func() {
		for i := range c.running {
			if c.running[i] != nil {
				c.end(i)
			}
		}
		for _, log := range c.logs {
			text, _ := os.ReadFile(log)
			for _, bad := range []string{"actor panicked", "DATA RACE", "panic:", "fatal error:", "damaged"} {
				if strings.Contains(string(text), bad) {
					t.Errorf("%q in %s", bad, log)
				}
			}
			if t.Failed() {
				t.Logf("%s:\n%s", log, text)
			}
		}
	})
	return c
}

// prepare makes the settings of one more node.
func (c *nodes) prepare() {
	name := fmt.Sprintf("n%d", len(c.running)+1)
	member, clients, http := "", "", ""
	if c.world != nil {
		member, clients = c.world.addresses(len(c.running))
	} else {
		member, clients, http = testkit.FreeAddress(c.T), testkit.FreeAddress(c.T), testkit.FreeAddress(c.T)
	}
	c.members = append(c.members, name+"="+member)
	c.amqp, c.http = append(c.amqp, clients), append(c.http, http)
	c.logs, c.running = append(c.logs, filepath.Join(c.dir, name+".log")), append(c.running, nil)
}

// list returns whom a node names in its settings: the first three, and itself.
func (c *nodes) list(i int) []string {
	if c.alone {
		return nil
	}
	if i < 3 {
		return c.members[:3]
	}
	return []string{c.members[0], c.members[i]}
}

func (c *nodes) start(i int) {
	c.Helper()
	path, err := binary()
	if err != nil {
		c.Fatal(err)
	}
	args := []string{
		"serve", "--amqp", c.amqp[i], "--http", c.http[i], "--data-dir", filepath.Join(c.dir, fmt.Sprintf("n%d", i+1)), "--log-format", "json",
	}
	for n, m := range c.list(i) {
		if n == 0 {
			args = append(args, "--cluster-node", fmt.Sprintf("n%d", i+1))
		}
		args = append(args, "--cluster-member", m)
	}
	if c.args != nil {
		args = append(args, c.args(i)...)
	}
	log, err := os.OpenFile(c.logs[i], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(path, args...)
	if w := c.world; w != nil {
		cmd = w.command(i, append([]string{path}, append(args, "--loopback-users", "none")...)...)
		cmd.Env = append(cmd.Environ(), fmt.Sprint("CANDLEMARK_TEST_WALL=", w.walls[i]))
	}
	cmd.Env, cmd.Stderr = append(append(cmd.Environ(), "CANDLEMARK_CLUSTER_SECRET=a secret of the test"), c.env...), log
	c.diary.note("n%d starts", i+1)
	if err := cmd.Start(); err != nil {
		c.Fatal(err)
	}
	c.running[i] = cmd
}

func (c *nodes) signal(i int, s syscall.Signal) {
	c.diary.note("n%d gets the signal %v", i+1, s)
	_ = c.running[i].Process.Signal(s)
}

func (c *nodes) wait(i int) { _ = c.running[i].Wait() }

// dial connects with one node after the other, until one answers.
func (c *nodes) dial() *amqp.Connection {
	c.Helper()
	first := int(c.dials.Add(1))
	for end := time.Now().Add(patience); time.Now().Before(end); {
		for i := range c.amqp {
			address := c.amqp[(first+i)%len(c.amqp)]
			dial := amqp.DefaultDial(2 * time.Second)
			if c.world != nil {
				dial = c.world.dial
			}
			conn, err := amqp.DialConfig("amqp://guest:guest@"+address+"/", amqp.Config{Heartbeat: 2 * time.Second, Dial: dial})
			if err == nil {
				return conn
			}
		}
		<-time.After(20 * time.Millisecond)
	}
	return nil
}

// leads is in the log when a node begins to serve clients.
const leads = `"message":"this node leads the cluster"`

// leader returns the number of the node that leads, by the last line about that in a log.
func (c *nodes) leader() int {
	c.Helper()
	leader, last := -1, ""
	eventually(c.T, "a leader", func() bool {
		for i, log := range c.logs {
			text, _ := os.ReadFile(log)
			for line := range strings.Lines(string(text)) {
				_, at, _ := strings.Cut(line, `"time":"`)
				if strings.Contains(line, leads) && at > last {
					leader, last = i, at
				}
			}
		}
		return leader >= 0
	})
	return leader
}

// clusterStorm publishes and consumes while nodes are in trouble.
type clusterStorm struct {
	*nodes
	confirmed, seen sync.Map
	count           atomic.Int64
	flagless        atomic.Int64
	inverted, late  atomic.Int64
	last            [4]uint64 // of each producer, without the flag
	timed           *timed
}

const stormQueue = "storm"

var stormFor = flag.Duration("storm", 0, "for how long TestClusterStorm goes on with random failures of nodes")

func (s *clusterStorm) channel() (*amqp.Connection, *amqp.Channel) {
	for {
		conn := s.dial()
		if conn == nil {
			return nil, nil
		}
		ch, err := conn.Channel()
		if err == nil {
			_, err = ch.QueueDeclare(stormQueue, true, false, false, false, amqp.Table{"x-queue-type": "quorum"})
		}
		if err == nil {
			return conn, ch
		}
		_ = conn.Close()
	}
}

// publish publishes numbers from a producer with confirms until ctx ends.
func (s *clusterStorm) publish(ctx context.Context, producer uint64) {
	for n := producer << 48; ctx.Err() == nil; {
		conn, ch := s.channel()
		if ch == nil {
			return
		}
		if ch.Confirm(false) == nil {
			for ctx.Err() == nil {
				n++
				d, err := ch.PublishWithDeferredConfirm("", stormQueue, false, false, amqp.Publishing{DeliveryMode: 2, Body: wire.BigEndian.AppendUint64(nil, n)})
				if err != nil {
					break
				}
				limit, cancel := context.WithTimeout(context.Background(), 5*time.Second)
				ok, err := d.WaitContext(limit)
				cancel()
				if err != nil {
					break
				}
				if ok {
					s.confirmed.Store(n, true)
					s.count.Add(1)
				}
			}
		}
		_ = conn.Close()
	}
}

// consume consumes until done is closed and nothing comes any more.
func (s *clusterStorm) consume(done <-chan struct{}) {
	for {
		conn, ch := s.channel()
		if ch == nil {
			return
		}
		_ = ch.Qos(50, 0, false)
		in, err := ch.Consume(stormQueue, "", false, false, false, false, nil)
		for open := err == nil; open; {
			select {
			case d, ok := <-in:
				if open = ok; !ok {
					continue
				}
				s.took(d)
				_ = d.Ack(false)
			case <-time.After(time.Second):
				select {
				case <-done:
					_ = conn.Close()
					return
				default:
				}
			}
		}
		_ = conn.Close()
	}
}

// took notes a message of the queue.
func (s *clusterStorm) took(d amqp.Delivery) {
	n := wire.BigEndian.Uint64(d.Body)
	_, again := s.seen.Swap(n, true)
	switch last := &s.last[n>>48]; {
	case d.Redelivered:
	case again:
		s.flagless.Add(1)
	case n < *last:
		if _, confirmed := s.confirmed.Load(n); confirmed {
			s.inverted.Add(1)
		} else { // it was on its way on a connection that the producer had given up
			s.late.Add(1)
		}
	default:
		*last = n
	}
}

// progress waits until more messages are confirmed.
func (s *clusterStorm) progress() {
	s.Helper()
	want := s.count.Load() + 200
	for end := time.Now().Add(patience); s.count.Load() < want; <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatal("nothing is confirmed any more")
		}
	}
}

// TestClusterStorm_CLU1: nodes are killed, one at a time and all at once, and paused; everything that was confirmed is delivered, in order, and
// nothing comes again without the flag (CLU-16), or early (CLU-9).
func TestClusterStorm_CLU1(t *testing.T) {
	s := &clusterStorm{nodes: startNodes(t, nil)}
	s.run(func() {
		s.killLeader()
		s.killLeader()
		s.killLeader()
		s.stopLeader()
		s.killAll()
	}, s.killLeader, s.killLeader, s.stopLeader, s.killFollower, s.killAll)
}

// run makes trouble while clients work: first, and then random of it, for as long as the flag says.
func (s *clusterStorm) run(first func(), trouble ...func()) {
	s.Helper()
	s.timed = newTimed()
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	var producers, consumers sync.WaitGroup
	for p := range uint64(3) {
		producers.Go(func() { s.publish(ctx, p+1) })
	}
	producers.Go(func() { s.timed.publish(ctx, s.nodes) })
	producers.Go(func() { s.diary.pauses(ctx) })
	drained := make(chan struct{})
	consumers.Go(func() { s.consume(drained) })
	consumers.Go(func() { s.timed.consume(s.nodes, drained) })
	first()
	random, rounds := rand.New(rand.NewPCG(1, 1)), 0
	for end := time.Now().Add(*stormFor); time.Now().Before(end); rounds++ {
		trouble[random.IntN(len(trouble))]()
	}
	s.progress()
	cancel()
	producers.Wait()
	<-time.After(stormTTL) // the last ones expire
	close(drained)
	consumers.Wait()
	lost := 0
	s.confirmed.Range(func(n, _ any) bool {
		if _, ok := s.seen.Load(n); !ok {
			lost++
		}
		return true
	})
	lostTimed := s.timed.lost()
	if lost > 0 || s.flagless.Load() > 0 || s.inverted.Load() > 0 || lostTimed > 0 || s.timed.early > 0 {
		s.Errorf("%d of %d confirmed messages were lost, %d came again without the flag, %d out of order; with a TTL: %d lost, %d early", lost, s.count.Load(),
			s.flagless.Load(), s.inverted.Load(), lostTimed, s.timed.early)
	}
	s.Logf("%d messages were confirmed; %d of given up connections came late; %d further rounds; %s", s.count.Load(), s.late.Load(), rounds, s.timed.late(s.nodes))
}

// killLeader kills the leader; another one leads before it is started again.
func (s *clusterStorm) killLeader() {
	s.progress()
	i := s.leader()
	s.signal(i, syscall.SIGKILL)
	s.wait(i)
	s.progress() // without it
	s.start(i)
}

// killFollower kills a node that does not lead.
func (s *clusterStorm) killFollower() {
	s.progress()
	i := s.away()
	s.signal(i, syscall.SIGKILL)
	s.wait(i)
	s.progress() // without it
	s.start(i)
}

// stopLeader suspends the leader, which goes on when another one leads.
func (s *clusterStorm) stopLeader() {
	s.progress()
	i := s.leader()
	s.signal(i, syscall.SIGSTOP)
	s.progress() // another one leads
	s.signal(i, syscall.SIGCONT)
	s.progress()
}

// killAll kills all nodes at once.
func (s *clusterStorm) killAll() {
	for i := range s.running {
		s.signal(i, syscall.SIGKILL)
	}
	for i := range s.running {
		s.wait(i)
		s.start(i)
	}
}

// tryOnce runs serve --cluster-try over a folder until use succeeds with a channel of the node that leads.
func tryOnce(t *testing.T, dir string, use func(*amqp.Channel) error) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "serve", "--cluster-try", "3", "--data-dir", dir)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("it ended with %v", err)
		}
		if t.Failed() {
			t.Log(log.String())
		}
	}()
	c := &nodes{T: t}
	lines := bufio.NewScanner(out)
	for len(c.amqp) < 3 && lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) == 4 {
			c.amqp = append(c.amqp, strings.TrimPrefix(f[1], "amqp://guest:guest@"))
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	eventually(t, "what a client does", func() bool {
		conn := c.dial()
		if conn == nil {
			t.Fatal("no node leads")
		}
		defer conn.Close()
		ch, err := conn.Channel()
		if err == nil {
			err = use(ch)
		}
		var lost *amqp.Error
		if err != nil && !errors.As(err, &lost) { // another node leads
			t.Error(err)
		}
		return lost == nil
	})
}

// TestClusterTry: serve --cluster-try starts a cluster; what it confirmed is there when it is started again.
func TestClusterTry(t *testing.T) {
	inTime(t)
	dir := filepath.Join(t.TempDir(), "cluster")
	tryOnce(t, dir, func(ch *amqp.Channel) error {
		if _, err := ch.QueueDeclare("q", true, false, false, false, nil); err != nil {
			return err
		}
		if err := ch.Confirm(false); err != nil {
			return err
		}
		d, err := ch.PublishWithDeferredConfirm("", "q", false, false, amqp.Publishing{DeliveryMode: 2, Body: []byte("x")})
		if err == nil && !d.Wait() {
			err = amqp.ErrClosed
		}
		return err
	})
	tryOnce(t, dir, func(ch *amqp.Channel) error {
		d, ok, err := ch.Get("q", false)
		if err == nil && (!ok || string(d.Body) != "x") {
			t.Errorf("got %q, %v", d.Body, ok)
		}
		return err
	})
}
