package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"candlemark/cmd/candlemark/replace"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/management"
	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/cluster/discovery"
	"candlemark/supervision/resources"
)

// finderOf returns what finds the other nodes, if the settings do not name them (CLU-30). Tests have a DNS of their own.
func finderOf(c config.Cluster) discovery.Finder {
	if c.Hostname == "" {
		return nil
	}
	return discovery.New(c.Hostname, c.Listen, os.Getenv("CANDLEMARK_TEST_DNS"))
}

// clusterAge is for how long the state of the cluster is not asked for again: lists show it for each of many queues.
const clusterAge = 100 * time.Millisecond

// ClusterState implements management.Cluster.
func (m *member) ClusterState() management.ClusterState {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := time.Now(); now.Sub(m.seen) > clusterAge {
		m.state, m.seen = m.describe(), now
	}
	return m.state
}

func (m *member) describe() management.ClusterState {
	s := m.node.Status()
	c := management.ClusterState{ID: s.Cluster, Node: fullName(m.cfg.Cluster.Node), Leader: fullName(s.Leader), Term: s.Term, Committed: s.Committed, Level: s.Level, Slow: s.Slow, Copies: management.Copies(s.Copies)}
	for _, o := range s.Members {
		one := management.Member{
			Name: fullName(o.Name), Address: o.Address, Clients: o.Clients, Voter: o.Voter, Leader: o.Leads, Online: o.Online, Last: o.Last, Lag: o.Lag, Heard: o.Heard, Ahead: o.Ahead,
		}
		var r management.Report
		if o.Report != nil && o.Online && json.Unmarshal(o.Report, &r) == nil {
			one.Report = &r
		}
		c.Members = append(c.Members, one)
	}
	for _, e := range s.Elections {
		c.Elections = append(c.Elections, management.Election{Term: e.Term, Leader: fullName(e.Leader), At: e.At.UnixMilli()})
	}
	return c
}

// report describes this node, for the leader (CLU-33).
func (m *member) report() json.RawMessage {
	r := management.Report{Machine: resources.Survey(alarmsFor(*m.now.Load(), nil), m.short.Load()), Version: version, PID: os.Getpid(), Drained: m.drained.Load()}
	r.Refrains = time.Now().UnixNano() < m.refrains.Load()
	r.Uptime, r.DataDirectory = time.Since(m.began).Milliseconds(), m.cfg.DataDir
	r.SocketsUsed, r.SocketsMax = m.front.Count(), resources.ForwardedSockets()
	m.short.Store(r.MemoryAlarm)
	text, err := json.Marshal(r)
	if err != nil {
		m.log.Error().Err(err).Msg("this node cannot say how it is")
	}
	return text
}

// fullName returns the name of a node of a cluster as RabbitMQ's clients know names.
func fullName(name string) string {
	if name == "" || strings.Contains(name, "@") {
		return name
	}
	return "rabbit@" + name
}

// memberNamed returns the member with a full name.
func (m *member) memberNamed(full string) (string, error) {
	for _, o := range m.node.Status().Members {
		if fullName(o.Name) == full {
			return o.Name, nil
		}
	}
	return "", management.ErrNoMember
}

// TransferLeadership implements management.Cluster.
func (m *member) TransferLeadership(to string) (err error) {
	name := ""
	if to != "" {
		if name, err = m.memberNamed(to); err != nil {
			return err
		}
	}
	if err = m.node.MayTransfer(name); err == nil {
		m.handOver(name)
	}
	return err
}

// handOver makes another node lead, a little later: the answer to who asked for it leaves first.
func (m *member) handOver(to string) {
	time.AfterFunc(handOverAfter, func() {
		if err := m.node.TransferLeadership(to); err != nil && !errors.Is(err, cluster.ErrNotLeading) {
			m.log.Warn().Err(err).Msg("the leadership could not be transferred")
		}
	})
}

const (
	handOverAfter = 50 * time.Millisecond
	// handOverAgain is how often a node that leads and is drained looks for another one.
	handOverAgain = 5 * time.Second
)

// Drain implements management.Cluster.
func (m *member) Drain(node string) error { return m.command(node, cluster.Drain) }

// Revive implements management.Cluster.
func (m *member) Revive(node string) error { return m.command(node, cluster.Revive) }

// Forget implements management.Cluster.
func (m *member) Forget(node string) error { return m.about(node, m.node.Members().Forget) }

// Reset implements management.Cluster.
func (m *member) Reset(node string) error { return m.about(node, m.node.Members().Reset) }

func (m *member) about(node string, do func(name string) error) error {
	name, err := m.memberNamed(node)
	if err != nil {
		return err
	}
	return do(name)
}

// Join implements management.Cluster.
func (m *member) Join(node string) error {
	address, err := config.ClusterAddress(node)
	if err == nil {
		err = m.node.Members().Join(address)
	}
	if err == nil {
		m.beginAnew()
	}
	return err
}

// beginAnew starts the program again, a little later, on the empty folder of a new node.
func (m *member) beginAnew() {
	m.drained.Store(false)
	time.AfterFunc(handOverAfter, func() {
		select {
		case m.anew <- struct{}{}:
		default:
		}
	})
}

// finishAnswers waits until requests to this node have their answers, among them who asked for what ends the node, but not for long.
func (m *member) finishAnswers() {
	ctx, cancel := context.WithTimeout(context.Background(), stopHTTP)
	defer cancel()
	servers := m.idle
	if m.broker != nil {
		servers = m.broker.http
	}
	for _, s := range servers {
		_ = s.Shutdown(ctx)
	}
}

func (m *member) command(node, what string) error {
	return m.about(node, func(name string) error { return m.node.Command(name, what) })
}

// errServes: the application of a node of RabbitMQ must be stopped before the node is reset.
var errServes = errors.New("the node serves clients: drain it before it is reset")

// onCommand carries out a command to this node.
func (m *member) onCommand(what string) error {
	if what == cluster.MayReset || what == cluster.Reset {
		return m.onReset(what)
	}
	drained := what == cluster.Drain
	if m.drained.Swap(drained) == drained {
		return nil
	}
	m.log.Info().Bool("drained", drained).Msg("an administrator has drained or revived this node")
	// The answer to who asked may pass through the front.
	time.AfterFunc(handOverAfter, func() { m.front.Suspend(m.drained.Load()) })
	if drained {
		m.handOver("")
	}
	return nil
}

// onReset makes this node begin anew, or says whether it may. When it is to begin anew the cluster has removed it: it does so although it was
// revived in between.
func (m *member) onReset(what string) error {
	if what == cluster.MayReset {
		if m.drained.Load() {
			return nil
		}
		return errServes
	}
	err := m.node.Members().BeginAnew(nil)
	if err == nil {
		m.beginAnew()
	}
	return err
}

// abandonBackup removes the files of a backup that this node cannot finish (CLU-34).
func (m *member) abandonBackup() {
	if m.broker != nil && m.broker.data.backups != nil {
		m.broker.data.backups.Abandon(time.Second)
	}
}

// drainedProcess is the variable in the environment with the number of a process that is drained: it stays so when it replaces its program.
const drainedProcess = "DRAINED_CANDLEMARK"

func wasDrained() bool { return os.Getenv(drainedProcess) == strconv.Itoa(os.Getpid()) }

// replace starts the program again, unless the process is to end, which a new program would not know: from here on a signal ends it at once.
func (m *member) replace() int {
	m.abandonBackup()
	signal.Reset(os.Interrupt, syscall.SIGTERM)
	if len(m.signals) > 0 {
		return 0
	}
	value := ""
	if m.drained.Load() {
		value = strconv.Itoa(os.Getpid())
	}
	if err := os.Setenv(drainedProcess, value); err != nil {
		m.log.Error().Err(err).Msg("the node will not be drained any more")
	}
	return replace.Process(m.front, m.log)
}
