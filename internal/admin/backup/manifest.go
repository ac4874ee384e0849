package backup

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"candlemark/internal/storage/store/vfs"
)

// ManifestName is the name of the file that makes a folder a backup.
const ManifestName = "manifest.json"

// format is the version of the folder's layout. The formats of its files have versions of their own.
const format = 1

// Manifest lists the contents of a backup.
type Manifest struct {
	Format  int       `json:"format"`
	Version string    `json:"version"` // of the product
	Node    string    `json:"node"`
	Taken   time.Time `json:"taken_at"` // the moment of the cut
	// Revision of the definitions; Messages in durable queues that survive a restart.
	Revision uint64 `json:"revision"`
	Messages int    `json:"messages"`
	Files    []File `json:"files"`
}

// File is a file of a backup.
type File struct {
	// Name below the data folder, with / between folders; in the backup they are replaced by -.
	Name   string `json:"name"`
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// flat returns the name of a file in the backup.
func flat(name string) string { return strings.ReplaceAll(name, "/", "-") }

// Bytes returns the total size of all files.
func (m *Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// ErrUnfinished: the folder has no manifest.
var ErrUnfinished = errors.New("is not a backup, or is an incomplete one: " + ManifestName + " is missing")

// read reads the manifest of a backup.
func read(files vfs.FS, dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	size, err := files.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s %w", dir, ErrUnfinished)
	}
	if err != nil {
		return nil, err
	}
	f, err := files.OpenRead(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	if m.Format > format {
		return nil, fmt.Errorf("%s was written by the newer version %s: restore the backup with that version", dir, m.Version)
	}
	return &m, m.check(path)
}

// check refuses manifests that cannot be genuine.
func (m *Manifest) check(path string) error {
	seen := map[string]bool{}
	for _, f := range m.Files {
		sum, err := hex.DecodeString(f.SHA256)
		if err != nil || len(sum) != 32 || f.Size < 0 || f.Name == ManifestName || seen[flat(f.Name)] || !filepath.IsLocal(filepath.FromSlash(f.Name)) {
			return fmt.Errorf("%s is damaged: file %q", path, f.Name)
		}
		seen[flat(f.Name)] = true
	}
	if m.Format < 1 || len(m.Files) == 0 {
		return fmt.Errorf("%s is damaged: it lists no files", path)
	}
	return nil
}
