package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"candlemark/cmd/candlemark/replace"
	"candlemark/internal/access/certificate"
	"candlemark/internal/admin/backup"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/management"
	"candlemark/internal/admin/systemd"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/cluster/copies"
	"candlemark/internal/storage/cluster/wire"
	"candlemark/internal/transport/forward"

	"github.com/rs/zerolog"
)

// member is a node of a cluster: a broker runs in it while it leads.
type member struct {
	cfg    config.Config
	log    zerolog.Logger
	node   *cluster.Node
	broker *broker
	front  *forward.Front // accepts clients, whoever leads
	idle   []*http.Server // answer while no broker runs
	failed chan error
	first  config.FirstUser
	notify func(string)

	serving atomic.Pointer[broker] // for works
	process *process
	// now is cfg with what SIGHUP has changed, for the next broker.
	now     atomic.Pointer[config.Config]
	hangups <-chan os.Signal
	reloads *reloader

	signals chan os.Signal // those that end the process
	began   time.Time
	anew    chan struct{} // gets something when the program is to start again on an empty folder
	drained atomic.Bool   // it takes no clients, and does not lead while others can
	short   atomic.Bool   // of memory, when it last said how it is
	// refrains is until when this node does not lead while others can, because its broker could not start, ns since 1970
	refrains atomic.Int64

	mu    sync.Mutex
	state management.ClusterState
	seen  time.Time // when state was found
}

// serveMember runs a node of a cluster until ctx ends, and returns the exit code.
func serveMember(ctx context.Context, settings *config.Settings, reloads *reloader, hangups <-chan os.Signal) int {
	manager, log := systemd.New(os.Getenv), reloads.log
	m := &member{signals: make(chan os.Signal, 1), began: time.Now(), cfg: settings.Config, log: log, failed: make(chan error, 2), anew: make(chan struct{}, 1), first: settings.First, notify: func(what string) { _ = manager.Notify(what) }, process: newProcess(), reloads: reloads, hangups: hangups}
	signal.Notify(m.signals, os.Interrupt, syscall.SIGTERM)
	m.now.Store(&m.cfg)
	m.process.holds(settings.Values)
	c := settings.Cluster
	secure, err := nodeCertificate(c.TLS, log)
	if err == nil {
		err = m.listen()
	}
	if err != nil {
		log.Error().Err(err).Msg("start failed")
		return 1
	}
	if m.drained.Store(wasDrained()); m.drained.Load() {
		m.front.Suspend(true)
	}
	wrong, _ := time.ParseDuration(os.Getenv("CANDLEMARK_TEST_WALL"))        // tests of several nodes give them clocks that are wrong,
	kept, _ := strconv.ParseInt(os.Getenv("CANDLEMARK_TEST_LOG"), 10, 64)    // short logs,
	patience, _ := time.ParseDuration(os.Getenv("CANDLEMARK_TEST_PATIENCE")) // and more patience, so that a busy machine elects nobody
	m.node, err = cluster.Open(cluster.Config{
		SnapshotEvery: kept, Kept: kept, Retention: kept, Timeout: patience,
		TLS: secure, Finder: finderOf(c), Size: int(c.Size), Machine: clock.WithWall(clock.System(), wrong),
		Dir: settings.DataDir, Name: c.Node, Members: c.Addresses(), ClientAddresses: m.addresses(), Listen: c.Listen, Secret: []byte(c.Secret), SegmentSize: int64(settings.SegmentSize), CopyRate: c.CopyRate.Bytes,
		OnFailure: func(err error) { m.failed <- err }, OnFull: m.onFull, OnLeader: m.onLeader, OnCommand: m.onCommand, Report: m.report, MayLead: management.MayLead, Clients: m, Abandon: true, Log: log,
	})
	if err != nil {
		log.Error().Err(remedied(err, "cluster-listen", c.Listen)).Msg("start failed")
		return 1
	}
	if err := m.follow(); err != nil {
		log.Error().Err(err).Msg("start failed")
		return 1
	}
	m.notify(systemd.Ready)
	defer manager.Watch(m.works)()
	return m.run(ctx)
}

// works returns an error if the broker that runs here does not answer.
func (m *member) works(ctx context.Context) error {
	if b := m.serving.Load(); b != nil {
		return b.works(ctx)
	}
	return nil
}

// run follows the elections.
func (m *member) run(ctx context.Context) int {
	again := time.NewTicker(handOverAgain)
	defer again.Stop()
	for {
		select {
		case leads := <-m.node.Leads():
			switch {
			case leads && m.broker == nil:
				if !m.lead() {
					return m.deposed()
				}
			case !leads && m.broker != nil:
				return m.deposed()
			}
		case err := <-m.failed:
			m.log.Error().Err(err).Msg("this node of the cluster has failed; the others go on")
			if errors.Is(err, cluster.ErrHung) || errors.Is(err, copies.ErrTail) {
				return replace.Process(nil, m.log) // clients must not wait for a disk that hangs
			}
			return 1
		case <-m.anew:
			m.finishAnswers()
			return m.replace()
		case <-again.C:
			if m.broker != nil && m.drained.Load() {
				go func() { _ = m.node.Resign() }() // if another one can lead now
			}
		case <-ctx.Done():
			return m.stop()
		case <-m.process.asked:
			return m.stop()
		case <-m.hangups:
			m.reload()
		}
	}
}

// reload reads the settings again, for the broker that runs and for later ones (CLU-38).
func (m *member) reload() {
	m.notify(systemd.Reloading)
	next := *m.now.Load()
	m.reloads.broker, m.reloads.cfg = m.broker, &next
	m.reloads.reload()
	m.now.Store(&next)
	m.process.holds(m.reloads.running)
	m.notify(systemd.Ready)
}

// refrain is for how long another node is preferred as leader when the broker could not start here.
const refrain = 30 * time.Second

// deposed ends the program that led, and starts it again.
func (m *member) deposed() int {
	m.log.Warn().Msg("this node no longer leads the cluster: all clients are disconnected")
	return m.replace()
}

// lead starts the broker on what the cluster has committed. It returns false if the node no longer leads while the broker starts, which
// then waits for answers that never come.
func (m *member) lead() (leads bool) {
	if m.drained.Load() && m.node.Resign() == nil {
		return true
	}
	began := time.Now()
	journal, meta, err := m.node.Lead()
	if errors.Is(err, cluster.ErrLost) {
		return true // the loss is reported, too
	}
	if err == nil {
		m.unfollow()
		started := make(chan error, 1)
		go func() { started <- m.start(journal, meta) }()
		for starting := true; starting; {
			select {
			case err = <-started:
				starting = false
			case still := <-m.node.Leads():
				if !still {
					return false
				}
			}
		}
	}
	if err != nil {
		m.log.Error().Err(err).Msg("the broker could not start on this node; another one is asked to lead")
		m.refrains.Store(time.Now().Add(refrain).UnixNano())
		m.node.Refrain(refrain)
		if err := m.follow(); err != nil {
			m.failed <- err
			return true
		}
		if err := m.node.Resign(); err != nil {
			m.failed <- err
		}
		return true
	}
	m.log.Info().Int64("took_ms", time.Since(began).Milliseconds()).Msg("this node leads the cluster")
	m.broker.logReady(m.first, m.log)
	return true
}

func (m *member) start(journal *cluster.Journal, meta *cluster.Definitions) error {
	cfg := *m.now.Load()
	users, err := usersFor(cfg, m.log)
	if err != nil {
		return err
	}
	d := &data{log: m.log, definitions: meta, messages: journal, failed: make(chan error, 1)}
	d.backups = backup.NewKeeper(backup.Config{DataDir: m.cfg.DataDir, Take: d.cutOf(m.node), Log: m.log})
	b := &broker{cluster: m.node, others: m, process: m.process, listen: m.front.Listener, clock: chosenClock{Clock: m.node.Clock()}, users: users, data: d}
	filled := true
	if err := b.start(cfg, &filled, m.log); err != nil {
		return err
	}
	m.broker = b
	m.serving.Store(b)
	return nil
}

// onFull: a leader whose disk is full hands over.
func (m *member) onFull(full bool) {
	m.log.Warn().Bool("full", full).Msg("the state of disk space for the journal has changed")
	if full {
		go func() { _ = m.node.Resign() }()
	}
}

// stop ends the node. A leader hands over first: clients need not wait until a broker has said farewell to all of them. If no node can take
// over, the broker stops as one alone.
func (m *member) stop() int {
	m.notify(systemd.Stopping)
	m.log.Info().Msg("stopping")
	m.unfollow()
	if m.broker != nil && m.node.Resign() == nil {
		m.abandonBackup()
		m.log.Info().Msg("stopped; another node leads the cluster") // nothing that the broker still does counts
		return 0
	}
	if m.broker != nil {
		stopped := make(chan error, 1)
		go func() { stopped <- m.broker.stop() }()
		for m.broker != nil {
			select {
			case err := <-stopped:
				if err != nil {
					m.log.Error().Err(err).Msg("the broker did not stop cleanly")
				}
				m.broker = nil
			case leads := <-m.node.Leads():
				if !leads { // nothing that the broker still does counts
					m.log.Info().Msg("stopped; this node did not lead any more")
					return 0
				}
			}
		}
	}
	if err := m.node.Close(); err != nil {
		m.log.Error().Err(err).Msg("the node did not stop cleanly")
		return 1
	}
	m.log.Info().Msg("stopped")
	return 0
}

// nodeCertificate returns the certificates for connections to other nodes, which follow their files; nil for none.
func nodeCertificate(files config.ClusterTLS, log zerolog.Logger) (wire.TLS, error) {
	if files == (config.ClusterTLS{}) {
		return nil, nil
	}
	s, err := certificate.Open(certificate.Files{
		Cert: files.Cert, Key: files.Key, CA: files.CA, VerifyPeer: true, RequirePeer: true,
		Failed: func(err error) { log.Error().Err(err).Msg("the new TLS certificate of this node cannot be used") },
	})
	if err != nil {
		return nil, fmt.Errorf("the certificate for other nodes: %w", err)
	}
	return s, nil
}
