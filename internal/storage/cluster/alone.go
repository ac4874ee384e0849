package cluster

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"candlemark/internal/storage/cluster/copies"
	"candlemark/internal/storage/cluster/first"
	"candlemark/internal/storage/cluster/nodeid"
	"candlemark/internal/storage/cluster/raftlog"
	"candlemark/internal/storage/cluster/wire"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/vfs"

	"github.com/hashicorp/raft"
)

// mark marks and locks the data folder. The folder of a broker alone becomes the folder of the first node of a cluster, if all nodes of the settings are there and none
// belongs to a cluster (CLU-27).
func (m *Membership) mark() (err error) {
	n := m.node
	n.lock, err = definitions.Mark(n.cfg.Dir)
	if errors.Is(err, definitions.ErrSingle) {
		if err := m.alone(); err != nil {
			return fmt.Errorf("%w: %w", definitions.ErrSingle, err)
		}
		if err := first.Convert(n.cfg.Dir, copies.Folder(n.cfg.Dir, copies.First), m.found); err != nil {
			return err
		}
		n.cfg.Log.Warn().Msg("the data folder of a broker alone is that of the first node of a cluster now")
		n.lock, err = definitions.Mark(n.cfg.Dir)
	}
	if err != nil {
		return err
	}
	return first.Finish(n.cfg.Dir, copies.Folder(n.cfg.Dir, copies.First))
}

// alone returns why this node cannot form a cluster with the data that it has.
func (m *Membership) alone() (err error) {
	n := m.node
	wall, _ := n.cfg.Machine.Now()
	h := wire.Hello{Kind: wire.KindAsk, Newest: n.cfg.Newest, Wall: wall, From: nodeid.Of(n.cfg.Name, "")}
	others := map[string]bool{}
	for _, s := range m.await(n.cfg.Timeout * 15) {
		var a wire.Answer
		for limit := time.Now().Add(n.cfg.Timeout * 15); ; {
			a, err = wire.Ask(s.address, h, n.cfg.calls())
			if err == nil || time.Now().After(limit) || !n.pause(surveyPause) {
				break
			}
		}
		switch {
		case err != nil:
			return fmt.Errorf("a broker alone becomes the first node of a cluster when all nodes of its settings are there: %s: %w", s.name, err)
		case a.Cluster != "":
			return fmt.Errorf("%s belongs to the cluster %s, which this node joins only with an empty folder", s.name, a.Cluster)
		}
		others[a.Node] = true
	}
	if n.cfg.Finder != nil && (len(others)+1 < n.cfg.Size || m.place("").Address == "") {
		return fmt.Errorf("a broker alone becomes the first node of a cluster when all nodes of its settings are there: %d of %d are found", len(others)+1, n.cfg.Size)
	}
	return nil
}

// found writes what makes this node the only member of a cluster with a snapshot, the data that it has, behind which the log begins: other nodes get these data as
// a copy.
func (m *Membership) found() error {
	n, dir := m.node, filepath.Join(m.node.cfg.Dir, raftlog.Folder)
	if err := n.cfg.FS.MakeDir(dir); err != nil {
		return err
	}
	file := nodeid.New(n.cfg.Name)
	own := m.place(nodeid.Of(file.Name, file.Life))
	file.Cluster, file.Voted = nodeid.ClusterOf([]string{own.Identity}), true
	votes, err := raftlog.OpenVotes(n.cfg.FS, dir)
	if err != nil {
		return err
	}
	err = errors.Join(votes.SetUint64([]byte("CurrentTerm"), 1), votes.Close())
	snapshot := &copies.State{ // not 1: a node without a log asks for entry 1, and type entries has one in the place of the snapshot's last
		Generation: copies.First, Index: 2, Term: 1, ConfigurationIndex: 2,
		Configuration: raft.EncodeConfiguration(nodeid.Configuration([]string{own.String()})),
	}
	return errors.Join(err, copies.Write(n.cfg.FS, n.cfg.Dir, snapshot), vfs.WriteJSON(n.cfg.FS, filepath.Join(dir, nodeid.FileName), file))
}

// calls has what is needed to call other nodes.
func (c *Config) calls() wire.Config {
	return wire.Config{Secret: c.Secret, TLS: c.TLS, Network: c.Network, Log: c.Log}
}
