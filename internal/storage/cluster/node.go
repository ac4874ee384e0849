package cluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/cluster/copies"
	"candlemark/internal/storage/cluster/discovery"
	"candlemark/internal/storage/cluster/nodeid"
	"candlemark/internal/storage/cluster/pace"
	"candlemark/internal/storage/cluster/raftlog"
	"candlemark/internal/storage/cluster/wire"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/vfs"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/rs/zerolog"
)

// Config of a Node.
type Config struct {
	Dir     string            // the data folder
	Name    string            // of this node
	Members map[string]string // the addresses (host:port), by name, of this node and of others that form a cluster with it, or one of which it joins
	// Finder, unless nil, finds the nodes; Members has this one at most then. Size is the least number of nodes that form a cluster (CLU-30).
	Finder discovery.Finder
	Size   int
	// ClientAddresses is where this node serves clients, each kind=host:port; the members know it (CLU-24). Without a host it is that of the port of the cluster.
	ClientAddresses []string
	Listen          string   // the address of the port of the cluster; by default this node's in Members
	Secret          []byte   // shared by all nodes; may be empty with TLS
	TLS             wire.TLS // the certificates of the connections to other nodes; nil for none
	// Timeout is how long a follower waits for a leader that is silent before it may become a candidate, 800 ms by default.
	Timeout time.Duration
	// Hang is how long a write to the log of a leader may take, 2 s by default; one to its journal, which also waits for checkpoints,
	// may take five times as long (CLU-12).
	Hang time.Duration
	// SegmentSize is the size of a segment of the journal, bytes; 0 for the default.
	SegmentSize int64
	// SnapshotEvery is how many bytes of the log are between two snapshots, 64 MiB by default; Kept how many bytes of it stay always, 128 MiB
	// by default, and Retention how many stay for lagging nodes, by default 8 GiB or a tenth of the free disk (CLU-13).
	SnapshotEvery, Kept, Retention int64
	// CopyRate is how many bytes of copies of the data this node sends in a second, all together; 0 for no limit (CLU-29).
	CopyRate int64
	// Abandon: when this node no longer leads, the operations of its broker are never answered, because the process ends.
	Abandon bool
	// Machine is the source of time; by default the machine's clocks.
	Machine clock.Machine
	// FS is the file system of log and journal; by default the machine's.
	FS vfs.FS
	// Network connects the nodes; by default TCP does.
	Network wire.Network
	// OnFailure is called once when this node can no longer be trusted with data: it must end. The other nodes go on.
	OnFailure func(error)
	// OnFull is called when the disk becomes full, and when it no longer is.
	OnFull func(bool)
	// OnLeader is called in turn with each leader that this node knows of, itself included, and with the zero value when it knows none.
	OnLeader func(Leader)
	// OnCommand carries out a command to this node, Drain or Revive; nil to refuse all.
	OnCommand func(command string) error
	// Newest is the newest version of the protocol and of records that this node knows; by default wire.Newest. For tests.
	Newest int
	// Report returns what this node tells a leader about itself, JSON of at most 4 KiB; nil for nothing.
	Report func() json.RawMessage
	// MayLead says, by the Report of another node, whether the leadership may be handed to it; nil: to each node that answers.
	MayLead func(report json.RawMessage) bool
	// Clients serves the clients of other nodes while this one leads; nil to refuse them.
	Clients Clients
	Log     zerolog.Logger
}

// Node is a member of a cluster.
type Node struct {
	cfg       Config
	lock      *definitions.Marker
	self      *nodeid.Self
	copies    *copies.Store
	machine   *machine
	front     atomic.Pointer[front]
	timing    *timing
	lease     lease
	witness   *witness
	elected   nodeid.Elections
	reports   reports
	office    pace.Office
	free      atomic.Int64 // bytes of the disk
	reign     atomic.Pointer[reign]
	log       *raftlog.Log
	ballots   *raftlog.Votes
	port      *wire.Port
	transport *transport
	raft      *raft.Raft

	once    sync.Once
	ended   chan struct{} // failed, or being closed
	workers sync.WaitGroup
	asked   atomic.Int64 // questions to raft without an answer
	leads   chan bool
	ready   chan struct{} // closed when raft has been started
	closing atomic.Bool
	members Membership
}

// defaultTimeout is short enough for clients that wait, and long enough for a busy machine.
const defaultTimeout = 800 * time.Millisecond

const defaultHang = 2 * time.Second

// Open opens the data of a node, which it creates if the folder is empty, and takes part in the cluster. Errors: the folder is in use, or belongs to
// a broker without a cluster or to another node; it is damaged; the disk or the network failed.
func Open(cfg Config) (n *Node, err error) {
	if cfg.Members[cfg.Name] == "" && cfg.Finder == nil {
		return nil, fmt.Errorf("the members of the cluster do not include this node, %s", cfg.Name)
	}
	cfg.Timeout, cfg.Listen = cmp.Or(cfg.Timeout, defaultTimeout), cmp.Or(cfg.Listen, cfg.Members[cfg.Name])
	cfg.Hang, cfg.Newest = cmp.Or(cfg.Hang, defaultHang), cmp.Or(cfg.Newest, wire.Newest)
	cfg.SnapshotEvery, cfg.Kept = cmp.Or(cfg.SnapshotEvery, 64<<20), cmp.Or(cfg.Kept, 128<<20)
	if cfg.FS == nil {
		cfg.FS = vfs.OS
	}
	if cfg.Machine == nil {
		cfg.Machine = clock.System()
	}
	n = &Node{cfg: cfg, ended: make(chan struct{}), leads: make(chan bool, 64), ready: make(chan struct{})}
	n.machine, n.members.node, n.members.joining = newMachine(n), n, map[string]bool{}
	n.members.search.Finder, n.members.search.Size = cfg.Finder, cfg.Size
	if err := n.open(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Node) open() (err error) {
	if err := n.members.mark(); err != nil {
		return err
	}
	dir := filepath.Join(n.cfg.Dir, raftlog.Folder)
	if err := n.cfg.FS.MakeDir(dir); err != nil {
		return err
	}
	renewed, err := nodeid.Renewed(n.cfg.FS, n.cfg.Dir, dir)
	if err != nil {
		return err
	}
	if renewed {
		n.cfg.Log.Warn().Msg("this node was reset: its data were removed")
	}
	if n.self, err = nodeid.OpenSelf(n.cfg.FS, dir, n.cfg.Name); err != nil {
		return err
	}
	if n.timing, err = openTiming(n, dir); err != nil {
		return err
	}
	n.measure()
	if n.witness, err = openWitness(n, dir); err != nil {
		return err
	}
	n.copies, err = copies.Open(copies.Config{
		FS: n.cfg.FS, Dir: n.cfg.Dir, SegmentSize: n.cfg.SegmentSize, Rate: n.cfg.CopyRate, Ended: n.ended,
		OnFailure: n.fail, OnFull: n.cfg.OnFull, Cut: n.machine.cut, Log: n.cfg.Log,
	})
	if err != nil {
		return err
	}
	n.machine.adopt(n.copies.Saved())
	if n.log, err = raftlog.Open(n.cfg.FS, dir, raftlog.Options{Kept: n.cfg.Kept, OnFailure: n.fail}); err != nil {
		return err
	}
	if n.ballots, err = raftlog.OpenVotes(n.cfg.FS, dir); err != nil {
		return err
	}
	entries, err := n.copies.Follow(n.log)
	if err != nil {
		return err
	}
	return n.start(entries)
}

// start connects the node with the others. entries is the log as raft sees it.
func (n *Node) start(entries raft.LogStore) (err error) {
	logger := hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: wire.LogWriter{Log: n.cfg.Log}, DisableTime: true})
	calls := n.cfg.calls()
	calls.Hello, calls.Judge, calls.Addresses = n.members.hello, n.members.judge, n.members.addresses
	calls.Client = func(conn net.Conn, c wire.Client) { n.cfg.Clients.Take(conn, c) }
	calls.Copy = func(conn net.Conn) { n.transport.take(conn) } // judge admits none before the start
	calls.Lost = func(peer string) {
		if n.started() {
			n.transport.lost(peer)
		}
	}
	n.port, err = wire.Listen(n.cfg.Listen, calls)
	if err != nil {
		return fmt.Errorf("the port of the cluster: %w", err)
	}
	silent := n.cfg.Timeout
	if n.self.Cluster() == "" { // it has heard of no leader yet
		silent = 0
	}
	n.transport = newTransport(n.self.Identity(), n.port, silent, logger)
	n.transport.log, n.transport.copies = n.cfg.Log, n.copies
	n.transport.node, n.transport.loyalty.lasts = n, n.cfg.Timeout*7/8
	n.transport.leader, n.transport.rank = n.leader, n.members.rank
	c := raft.DefaultConfig()
	c.LocalID, c.Logger, c.NoSnapshotRestoreOnStart, c.NotifyCh = raft.ServerID(n.self.Identity()), logger, true, n.leads
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = n.cfg.Timeout, n.cfg.Timeout, n.cfg.Timeout
	c.CommitTimeout, c.MaxAppendEntries, c.BatchApplyCh, c.NoLegacyTelemetry = n.cfg.Timeout/40, 16, true, true
	// compact takes snapshots, by bytes; the log keeps what followers may need. An order to remove its last entry, too, is about a snapshot that
	// was received, so that raft must not give it after others.
	c.SnapshotInterval, c.SnapshotThreshold, c.TrailingLogs = time.Hour, math.MaxInt64, 1
	if n.raft, err = raft.NewRaft(c, n.machine, entries, ballots{n.ballots, n}, n.copies, n.transport); err != nil {
		return err
	}
	close(n.ready)
	if err := n.members.tooOld(); err != nil {
		return err
	}
	n.workers.Go(n.watchLeader)
	if n.unformed() && n.cfg.Finder == nil {
		if err := n.raft.BootstrapCluster(nodeid.Configuration(n.self.First())).Error(); err != nil {
			return err
		}
	}
	n.workers.Go(n.members.form)
	n.workers.Go(n.compact)
	n.workers.Go(n.keep)
	n.workers.Go(n.watch)
	return nil
}

// Leads gets true when this node is elected and false when it no longer leads. It must be received from. Close closes it.
func (n *Node) Leads() <-chan bool { return n.leads }

// Members returns what changes the members.
func (n *Node) Members() *Membership { return &n.members }

// Leader returns the name of the leader, "" if there is none.
func (n *Node) Leader() string { return nodeid.NameOf(n.leader()) }

func (n *Node) leader() string {
	_, id := n.raft.LeaderWithID()
	return string(id)
}

// Lead waits until everything committed is applied, and returns the stores for the broker of this term. Errors: ErrLost, or of the disk.
func (n *Node) Lead() (*Journal, *Definitions, error) {
	term := n.raft.CurrentTerm()
	n.asked.Add(1)
	err := n.raft.Barrier(0).Error()
	n.asked.Add(-1)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrLost, err)
	}
	r, err := n.timing.begin(term)
	if err != nil {
		return nil, nil, err
	}
	n.reign.Store(r)
	if err := n.timing.save(); err != nil {
		return nil, nil, err
	}
	f := newFront(n, r, rand.Uint64())
	if old := n.front.Swap(f); old != nil {
		old.fail(ErrLost)
	}
	began := make(chan error, 1)
	f.add(operation{begin: true, done: func(err error) { began <- err }}, true)
	if err := f.await(began); err != nil {
		return nil, nil, err
	}
	type found struct {
		lists map[store.QueueID][]store.Recovered
		err   error
	}
	got := make(chan found, 1)
	n.copies.Data().Journal.Survey(func(lists map[store.QueueID][]store.Recovered, err error) {
		got <- found{lists, err}
	})
	all := <-got
	if all.err == nil && n.failed() {
		all.err = copies.ErrDamaged
	}
	if all.err != nil {
		return nil, nil, all.err
	}
	return newJournal(f, all.lists), &Definitions{f}, nil
}

// compact takes a snapshot whenever the log has become so much longer.
func (n *Node) compact() {
	behind, last := n.behind(), n.log.Stored()
	tick := time.NewTicker(n.cfg.Timeout / 4)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-n.ended:
			return
		}
		if now := n.log.Stored(); behind+now-last >= uint64(n.cfg.SnapshotEvery) {
			behind, last = 0, now
			n.log.Need(n.witness.needed(), n.retention())
			switch err := n.raft.Snapshot().Error(); {
			case err == nil || errors.Is(err, raft.ErrNothingNewToSnapshot):
				behind = n.behind() // after a start entries are applied one after the other
			default:
				n.cfg.Log.Warn().Err(err).Msg("the log of the cluster could not be shortened")
			}
		}
	}
}

// started reports whether raft has been started.
func (n *Node) started() bool {
	select {
	case <-n.ready:
		return true
	default:
		return false
	}
}

func (n *Node) failed() bool {
	select {
	case <-n.ended:
		return true
	default:
		return false
	}
}

// fail ends the node: its data can no longer be trusted, or stored (CLU-8).
func (n *Node) fail(err error) {
	n.once.Do(func() {
		close(n.ended)
		if n.cfg.OnFailure != nil {
			go n.cfg.OnFailure(err)
		}
	})
}

// fatal ends the node unless the error is one that all nodes get.
func (n *Node) fatal(err error) bool {
	if errors.Is(err, segment.ErrTooLarge) || errors.Is(err, definitions.ErrNoVHost) {
		return false
	}
	n.fail(err)
	return true
}

// Close leaves the cluster and closes the data.
func (n *Node) Close() (err error) {
	n.closing.Store(true)
	n.once.Do(func() { close(n.ended) })
	if f := n.front.Load(); f != nil {
		f.fail(ErrLost)
	}
	if n.raft != nil {
		n.answers()
		err = n.raft.Shutdown().Error()
		close(n.leads)
	}
	if n.transport != nil {
		err = errors.Join(err, n.transport.Close())
	} else if n.port != nil {
		err = errors.Join(err, n.port.Close())
	}
	n.workers.Wait()
	if n.raft != nil {
		err = errors.Join(err, n.timing.save(), n.witness.keep())
	}
	if n.copies != nil {
		err = errors.Join(err, n.copies.Close())
	}
	if n.log != nil {
		err = errors.Join(err, n.log.Close())
	}
	if n.ballots != nil {
		err = errors.Join(err, n.ballots.Close())
	}
	if n.lock != nil {
		err = errors.Join(err, n.lock.Close())
	}
	return err
}
