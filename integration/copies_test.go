package integration

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// metric returns a metric of a node; 0 if it does not answer.
func (c *nodes) metric(i int, name string) float64 {
	client := http.Client{Timeout: 5 * time.Second}
	r, err := client.Get("http://guest:guest@" + c.http[i] + "/metrics")
	if err != nil {
		return 0
	}
	defer r.Body.Close()
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			v, _ := strconv.ParseFloat(value, 64)
			return v
		}
	}
	return 0
}

// latencies are the times that confirms took.
type latencies struct {
	mu   sync.Mutex
	list []time.Duration
}

// measure publishes a message of 1 kB to a quorum queue every 10 ms.
func (l *latencies) measure(ctx context.Context, s *clusterStorm) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		conn, ch := s.channel()
		if ch == nil {
			return
		}
		_, err := ch.QueueDeclare("measured", true, false, false, false, amqp.Table{"x-queue-type": "quorum", "x-max-length": 1000})
		if err == nil {
			err = ch.Confirm(false)
		}
		for err == nil && ctx.Err() == nil {
			<-tick.C
			began := time.Now()
			var d *amqp.DeferredConfirmation
			if d, err = ch.PublishWithDeferredConfirm("", "measured", false, false, amqp.Publishing{DeliveryMode: 2, Body: make([]byte, 1000)}); err == nil {
				_, err = d.WaitContext(ctx)
			}
			if err == nil {
				l.mu.Lock()
				l.list = append(l.list, time.Since(began))
				l.mu.Unlock()
			}
		}
		_ = conn.Close()
	}
}

// phase describes the confirms since the last call.
func (l *latencies) phase() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.list
	l.list = nil
	if len(list) == 0 {
		return "no confirms"
	}
	slices.Sort(list)
	at := func(share float64) time.Duration {
		return list[int(share*float64(len(list)-1))].Round(100 * time.Microsecond)
	}
	return fmt.Sprintf("%d confirms, p50 %v, p99 %v, maximum %v", len(list), at(0.5), at(0.99), at(1))
}

// TestClusterCopies_CLU28: under load, a node that joins is killed while it gets the data, and goes on with what it has when it starts again; then it gets what is new after a pause.
func TestClusterCopies_CLU28(t *testing.T) {
	s := &clusterStorm{nodes: newNodes(t, nil)}
	backlog := float64(*joinBacklog) * 1e6
	s.args = func(int) []string {
		return []string{fmt.Sprintf("--cluster-copy-rate=%d", min(64<<20, max(2<<20, int(backlog/10))))}
	}
	if *joinBacklog < 1000 {
		s.env = []string{"CANDLEMARK_TEST_LOG=20000000"} // bytes: else the log has all of it
	}
	for i := range 3 {
		s.start(i)
	}
	s.prepare() // before others read the lists
	s.keep(*joinBacklog * 10)
	var l latencies
	end := s.load(func(ctx context.Context) { s.publish(ctx, 1) }, func(ctx context.Context) { l.measure(ctx, s) })
	s.progress()
	l.phase()
	s.progress()
	s.progress()
	t.Logf("before: %s", l.phase())
	began := time.Now()
	s.start(3)
	eventually(t, "the copy has begun", func() bool { return s.metric(s.leader(), "candlemark_cluster_copy_sent_bytes_total") > backlog/3 })
	leader := s.leader()
	s.signal(3, syscall.SIGKILL)
	s.wait(3)
	sent := s.metric(leader, "candlemark_cluster_copy_sent_bytes_total")
	t.Logf("killed after %v: %.0f bytes sent; %s", time.Since(began), sent, l.phase())
	began = time.Now()
	s.start(3)
	s.voter(3)
	t.Logf("a voter %v after its start: %.0f bytes sent, %.0f spared; %s", time.Since(began), s.metric(leader, "candlemark_cluster_copy_sent_bytes_total"),
		s.metric(leader, "candlemark_cluster_copy_spared_bytes_total"), l.phase())
	if spared := s.metric(leader, "candlemark_cluster_copy_spared_bytes_total"); s.leader() == leader && sent < 0.9*backlog && spared < sent/2 {
		t.Errorf("%.0f bytes had been sent, %.0f of them were spared", sent, spared)
	}
	end()
	s.whole(*joinBacklog * 10)
}
