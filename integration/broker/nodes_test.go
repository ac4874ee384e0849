package broker

import (
	"sync"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/admin/management"
	"candlemark/supervision"

	"github.com/rs/zerolog"
)

// threeNodes is a cluster as its leader, n1, knows it.
type threeNodes struct {
	management.Alone
	mu     sync.Mutex
	online [3]bool
	report *management.Report // of n2
	slow   string
}

func (c *threeNodes) set(node int, online bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.online[node-1] = online
}

// ClusterState implements management.Cluster.
func (c *threeNodes) ClusterState() management.ClusterState {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := management.ClusterState{Node: "rabbit@n1", Leader: "rabbit@n1", Term: 7, Elections: []management.Election{{Term: 4, Leader: "rabbit@n3"}, {Term: 7, Leader: "rabbit@n1"}}}
	for i, name := range []string{"rabbit@n1", "rabbit@n2", "rabbit@n3"} {
		s.Members = append(s.Members, management.Member{Name: name, Voter: true, Leader: i == 0, Online: c.online[i]})
	}
	s.Members[1].Report, s.Slow = c.report, c.slow
	return s
}

// TestEventsOfNodes_CLU32: a leader tells of its election and of nodes that come and go; the audit log has it, too. Nodes that it has not
// heard in its first seconds are not down.
func TestEventsOfNodes_CLU32(t *testing.T) {
	c := &threeNodes{online: [3]bool{true, false, false}}
	record := &testkit.Log{}
	testkit.Run(t, func(cfg *supervision.Config) {
		audit := zerolog.New(record).Level(zerolog.InfoLevel)
		cfg.EventsIn, cfg.Cluster, cfg.Audit = "/", c, &audit
	}, func(b *testkit.Bubble) {
		heard := listens(b)
		c.set(2, true)
		b.Advance(2900 * time.Millisecond)
		checkEvents(b, heard, "no node is down yet")
		b.Advance(200 * time.Millisecond)
		checkEvents(b, heard, "the former leader is down", "node.down node=rabbit@n3 user_who_performed_action=rmq-internal")
		b.Advance(5 * time.Second)
		checkEvents(b, heard, "once")
		c.set(3, true)
		b.Advance(time.Second)
		checkEvents(b, heard, "it is back", "node.up node=rabbit@n3")
		c.mu.Lock()
		c.report = &management.Report{Machine: management.Machine{DiskAlarm: true}}
		c.mu.Unlock()
		b.Advance(time.Second)
		checkEvents(b, heard, "another node's disk is full", "alarm.set node=rabbit@n2 source=disk")
		c.mu.Lock()
		c.report = nil
		c.mu.Unlock()
		b.Advance(time.Second)
		checkEvents(b, heard, "it has room", "alarm.cleared node=rabbit@n2 source=disk")
		c.mu.Lock()
		c.slow = "200ms"
		c.mu.Unlock()
		b.Advance(2 * time.Second)
		checkEvents(b, heard, "its disk is slow", "cluster.leader.slow node=rabbit@n1 reason=200ms user_who_performed_action=rmq-internal")
		for _, line := range []string{"cluster.leader.elected", `"node":"rabbit@n1","previous_leader":"rabbit@n3","term":7`, "node.down", "node.up"} {
			if n := record.Count(line); n != 1 {
				t.Errorf("%d lines with %s", n, line)
			}
		}
	})
}
