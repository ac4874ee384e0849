package nodeid

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"candlemark/internal/storage/store/vfs"
)

// Of returns an identity: the name of a node and the life of its folder. An emptied node is another one, which has promised nothing.
func Of(name, life string) string { return name + "/" + life }

// NameOf returns the name in an identity.
func NameOf(identity string) string {
	name, _, _ := strings.Cut(identity, "/")
	return name
}

// Roster is the members as the settings name them.
func Roster(members map[string]string) string {
	list := make([]string, 0, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		list = append(list, name+"="+members[name])
	}
	return strings.Join(list, ",")
}

// Self has a node's knowledge of itself, in the file FileName.
type Self struct {
	disk vfs.FS
	path string
	id   string // identity
	mu   sync.Mutex
	File
}

// File is the content of the file.
type File struct {
	Name    string   `json:"name"`
	Life    string   `json:"life"`
	Cluster string   `json:"cluster,omitempty"` // "" while it is not formed
	Origin  string   `json:"origin,omitempty"`  // the first cluster, if members were removed by force since
	Voted   bool     `json:"voted,omitempty"`   // it is or was a voter
	Seeds   []string `json:"seeds,omitempty"`   // addresses at which it asks for membership, instead of the nodes of the settings
	First   []string `json:"first,omitempty"`   // places of the first members, if this node has formed the cluster
}

// FileName is the name of the file.
const FileName = "node.json"

// New returns a new life of a node.
func New(name string) File {
	life := make([]byte, 8)
	_, _ = rand.Read(life) // never fails
	return File{Name: name, Life: hex.EncodeToString(life)}
}

// OpenSelf reads the file, and creates it if missing. Errors: the folder belongs to another node, or of the disk.
func OpenSelf(disk vfs.FS, dir, name string) (*Self, error) {
	s := &Self{disk: disk, path: filepath.Join(dir, FileName)}
	err := vfs.ReadJSON(disk, s.path, &s.File)
	if errors.Is(err, fs.ErrNotExist) {
		s.File = New(name)
		s.id = Of(s.Name, s.Life)
		return s, vfs.WriteJSON(s.disk, s.path, s.File)
	}
	if err == nil && s.Name != name {
		err = fmt.Errorf("the folder is that of the node %s of a cluster, not of %s", s.Name, name)
	}
	s.id = Of(s.Name, s.Life)
	return s, err
}

// Identity returns the name and the life.
func (s *Self) Identity() string { return s.id }

// Cluster returns the id of the cluster, "" while there is none.
func (s *Self) Cluster() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.File.Cluster
}

// Seeds returns the addresses at which the node asks for membership; none for the nodes of the settings.
func (s *Self) Seeds() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.File.Seeds
}

// First returns the places of the first members, if the node has formed the cluster.
func (s *Self) First() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.File.First
}

// HasVoted reports whether the node is or was a voter.
func (s *Self) HasVoted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.File.Voted
}

// Vote records that the node is a voter.
func (s *Self) Vote() error {
	if s.HasVoted() {
		return nil
	}
	return s.change(func(f *File) { f.Voted = true })
}

// Join records that the node belongs to a cluster.
func (s *Self) Join(cluster string, first []string) error {
	return s.change(func(f *File) { f.Cluster, f.First = cluster, first })
}

func (s *Self) change(change func(*File)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.File
	change(&next)
	if err := vfs.WriteJSON(s.disk, s.path, next); err != nil {
		return err
	}
	s.File = next
	return nil
}

// ClusterOf returns the id of the cluster that some nodes form.
func ClusterOf(first []string) string {
	sum := sha256.Sum256([]byte(strings.Join(first, ",")))
	return hex.EncodeToString(sum[:8])
}
