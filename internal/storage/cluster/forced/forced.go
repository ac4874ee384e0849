package forced

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"candlemark/internal/storage/cluster/copies"
	"candlemark/internal/storage/cluster/nodeid"
	"candlemark/internal/storage/cluster/raftlog"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/vfs"

	"github.com/hashicorp/raft"
)

// ErrNoNode: the folder does not belong to a node of a cluster.
var ErrNoNode = errors.New("the data folder does not belong to a node of a cluster")

// Forgotten is the result of Forget.
type Forgotten struct {
	Node string   // name of the node with the folder
	Left []string // names of the remaining members, sorted
	Last uint64   // the last entry of its log before the change
}

// Forget removes a member from the log of a stopped node, in the data folder dir. All entries of the log count as committed. The node belongs to another
// cluster from then on, which the removed member cannot reach. The id of the cluster depends on the first one and the remaining members: several nodes stay together if they
// forget the same members. Errors: ErrNoNode, definitions.ErrInUse; the member is unknown, or this node itself; this node has no vote; or of the disk.
func Forget(disk vfs.FS, dir, member string) (f Forgotten, err error) {
	folder := filepath.Join(dir, raftlog.Folder)
	self := nodeid.File{}
	if err := vfs.ReadJSON(disk, filepath.Join(folder, nodeid.FileName), &self); errors.Is(err, fs.ErrNotExist) {
		return f, ErrNoNode
	} else if err != nil {
		return f, err
	}
	lock, err := definitions.Mark(dir)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	snapshot, err := copies.Read(disk, dir)
	if err != nil {
		return f, err
	}
	log, err := raftlog.Open(disk, folder, raftlog.Options{})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	c, err := configuration(log, snapshot)
	if err != nil {
		return f, err
	}
	if c, err = without(c, nodeid.Of(self.Name, self.Life), member); err != nil {
		return f, err
	}
	f.Node = self.Name
	var ids []string
	for _, s := range c.Servers {
		ids, f.Left = append(ids, string(s.ID)), append(f.Left, nodeid.NameOf(string(s.ID)))
	}
	slices.Sort(ids)
	slices.Sort(f.Left)
	self.Origin = cmp.Or(self.Origin, self.Cluster)
	self.Cluster, self.First = nodeid.ClusterOf(append([]string{self.Origin}, ids...)), nil
	// The id comes first: in its old cluster, with fewer members, the node could lead beside the others.
	if err := vfs.WriteJSON(disk, filepath.Join(folder, nodeid.FileName), self); err != nil {
		return f, err
	}
	f.Last, err = add(disk, folder, log, snapshot, c)
	return f, err
}

// add appends members to the log, in a new term. It returns the entry before.
func add(disk vfs.FS, folder string, log *raftlog.Log, snapshot *copies.State, c raft.Configuration) (before uint64, err error) {
	votes, err := raftlog.OpenVotes(disk, folder)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, votes.Close()) }()
	term, last := log.Last()
	before = last
	if snapshot != nil {
		term, before = max(term, snapshot.Term), max(last, snapshot.Index)
	}
	if current, err := votes.GetUint64(termKey); err == nil {
		term = max(term, current)
	}
	if err := votes.SetUint64(termKey, term+1); err != nil {
		return 0, err
	}
	if last < before { // a snapshot was received, and a crash left older entries
		if err := log.DeleteRange(0, last); err != nil {
			return 0, err
		}
	}
	return before, log.StoreLog(&raft.Log{Index: before + 1, Term: term + 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(c)})
}

// termKey is the key of the present term in raft's stable store.
var termKey = []byte("CurrentTerm")

// configuration returns the last members in the log or in the snapshot.
func configuration(log *raftlog.Log, snapshot *copies.State) (c raft.Configuration, err error) {
	first, _ := log.FirstIndex()
	for _, at := log.Last(); at >= first && at > 0; at-- {
		var e raft.Log
		if err := log.GetLog(at, &e); err != nil {
			return c, err
		}
		if e.Type == raft.LogConfiguration {
			return raft.DecodeConfiguration(e.Data), nil
		}
	}
	if snapshot == nil {
		return c, errors.New("the node is not a member of a cluster yet")
	}
	return raft.DecodeConfiguration(snapshot.Configuration), nil
}

// without removes a member, by its name with or without rabbit@, on the node with an identity.
func without(c raft.Configuration, own, member string) (raft.Configuration, error) {
	member = strings.TrimPrefix(member, "rabbit@")
	is := func(s raft.Server) bool { return strings.TrimPrefix(nodeid.NameOf(string(s.ID)), "rabbit@") == member }
	votes := func(s raft.Server) bool { return string(s.ID) == own && s.Suffrage == raft.Voter }
	switch {
	case strings.TrimPrefix(nodeid.NameOf(own), "rabbit@") == member:
		return c, errors.New("a node cannot forget itself; force_reset empties its folder")
	case !slices.ContainsFunc(c.Servers, is):
		return c, fmt.Errorf("%s is not a member of the cluster", member)
	case !slices.ContainsFunc(c.Servers, votes):
		return c, errors.New("this node has no vote: it may lack data that others have")
	}
	c.Servers = slices.DeleteFunc(c.Servers, is)
	return c, nil
}

// Reset empties the data folder dir of a stopped node, which is a new one at its next start. Damage does not matter. Errors: ErrNoNode, definitions.ErrInUse,
// definitions.ErrSingle, or of the disk.
func Reset(disk vfs.FS, dir string) (err error) {
	if _, err := disk.Stat(filepath.Join(dir, definitions.FileName)); errors.Is(err, fs.ErrNotExist) {
		return ErrNoNode
	}
	lock, err := definitions.Mark(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := copies.RemoveAll(disk, dir); err != nil { // before the log: a node refuses a folder with a log and without data
		return err
	}
	folder := filepath.Join(dir, raftlog.Folder)
	names, err := disk.List(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range names {
		if err := disk.Remove(filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return disk.SyncDir(folder)
}
