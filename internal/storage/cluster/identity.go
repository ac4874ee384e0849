package cluster

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"candlemark/internal/storage/store/vfs"
)

// An identity is the name of a node and the life of its folder: an emptied node is another one, which has promised nothing.
func identityOf(name, life string) string { return name + "/" + life }

// nameOf returns the name in an identity.
func nameOf(identity string) string {
	name, _, _ := strings.Cut(identity, "/")
	return name
}

// roster is the members as the settings name them.
func roster(members map[string]string) string {
	list := make([]string, 0, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		list = append(list, name+"="+members[name])
	}
	return strings.Join(list, ",")
}

// self has a node's knowledge of itself, in the file node.json.
type self struct {
	disk vfs.FS
	path string
	id   string // identity
	mu   sync.Mutex
	identityFile
}

type identityFile struct {
	Name    string   `json:"name"`
	Life    string   `json:"life"`
	Cluster string   `json:"cluster,omitempty"` // "" while it is not formed
	First   []string `json:"first,omitempty"`   // places of the first members, if this node has formed the cluster
}

// openSelf reads the file, and creates it if missing.
func openSelf(disk vfs.FS, dir, name string) (*self, error) {
	s := &self{disk: disk, path: filepath.Join(dir, "node.json")}
	err := readFile(disk, s.path, &s.identityFile)
	if errors.Is(err, fs.ErrNotExist) {
		life := make([]byte, 8)
		_, _ = rand.Read(life) // never fails
		s.identityFile = identityFile{Name: name, Life: hex.EncodeToString(life)}
		s.id = identityOf(s.Name, s.Life)
		return s, writeFile(s.disk, s.path, s.identityFile)
	}
	if err == nil && s.Name != name {
		err = fmt.Errorf("the folder is that of the node %s of a cluster, not of %s", s.Name, name)
	}
	s.id = identityOf(s.Name, s.Life)
	return s, err
}

func (s *self) identity() string { return s.id }

func (s *self) cluster() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Cluster
}

// join records that the node belongs to a cluster.
func (s *self) join(cluster string, first []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.identityFile
	next.Cluster, next.First = cluster, first
	if err := writeFile(s.disk, s.path, next); err != nil {
		return err
	}
	s.identityFile = next
	return nil
}

// clusterOf returns the id of the cluster that some nodes form.
func clusterOf(first []string) string {
	sum := sha256.Sum256([]byte(strings.Join(first, ",")))
	return hex.EncodeToString(sum[:8])
}

// readFile reads a file with JSON. Errors: fs.ErrNotExist, or others.
func readFile(disk vfs.FS, path string, v any) error {
	size, err := disk.Stat(path)
	if err != nil {
		return err
	}
	f, err := disk.OpenRead(path)
	if err != nil {
		return err
	}
	b := make([]byte, size)
	if _, err = f.ReadAt(b, 0); errors.Is(err, io.EOF) {
		err = nil
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// writeFile replaces a file with JSON, durably and in one step.
func writeFile(disk vfs.FS, path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := disk.Remove(path + ".new"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := disk.Create(path+".new", int64(len(b)))
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return errors.Join(disk.Rename(path+".new", path), disk.SyncDir(filepath.Dir(path)))
}
