package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"path/filepath"
	"slices"
	"time"

	"candlemark/internal/storage/store/vfs"
)

// Cut is a snapshot of a broker: files that no longer change.
type Cut struct {
	Manifest // without Files
	Sources  []Source
}

// Source is a file of a Cut.
type Source struct {
	Name string // as in File
	Size int64
	From io.WriterTo
	// Release is called once, when the file is no longer needed.
	Release func()
	// Hurry copies without pauses, for a backup that a user waits for.
	Hurry bool
}

// Release releases the files that were not copied.
func (c *Cut) Release() {
	for _, s := range c.Sources {
		s.Release()
	}
	c.Sources = nil
}

// spareRoom stays free on the disk, bytes: the broker may use the same disk.
const spareRoom = 128 << 20

// Copy writes a backup into a folder that is empty, and releases the cut. progress is called with the number of bytes
// written. When ctx ends or anything fails, the files are removed again.
func Copy(ctx context.Context, files vfs.FS, dir string, c *Cut, progress func(bytes int64)) (m *Manifest, err error) {
	defer c.Release()
	w := &writer{ctx: ctx, fs: files, dir: dir, progress: progress}
	defer func() {
		if err != nil {
			w.undo()
		}
	}()
	size := int64(spareRoom)
	for _, s := range c.Sources {
		size += s.Size
	}
	if free, err := files.Free(dir); err == nil && free < uint64(size) {
		return nil, fmt.Errorf("%w: the backup and the space that must stay free need %d bytes, and %d are free", vfs.ErrFull, size, free)
	}
	m = &c.Manifest
	m.Format = format
	for len(c.Sources) > 0 {
		s := c.Sources[0]
		c.Sources = c.Sources[1:]
		f, err := w.copy(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		m.Files = append(m.Files, f)
	}
	if err := files.SyncDir(dir); err != nil {
		return nil, err
	}
	return m, w.finish(m)
}

// writer writes the files of one backup.
type writer struct {
	ctx      context.Context
	fs       vfs.FS
	dir      string
	progress func(int64)
	made     []string // paths
}

// create creates a file of size bytes.
func (w *writer) create(name string, size int64) (vfs.File, error) {
	path := filepath.Join(w.dir, name)
	f, err := w.fs.Create(path, size)
	if err == nil {
		w.made = append(w.made, path)
	}
	return f, err
}

// undo removes the files that were made; files that cannot be removed stay, without a manifest.
func (w *writer) undo() {
	for _, path := range slices.Backward(w.made) {
		_ = w.fs.Remove(path)
	}
	_ = w.fs.SyncDir(w.dir)
}

func (w *writer) copy(s Source) (File, error) {
	defer s.Release()
	f, err := w.create(flat(s.Name), s.Size)
	if err != nil {
		return File{}, err
	}
	to := &paced{writer: w, file: f, sum: sha256.New(), hurry: s.Hurry, began: time.Now()}
	if _, err = s.From.WriteTo(to); err == nil && to.at != s.Size {
		err = fmt.Errorf("%d bytes instead of %d", to.at, s.Size)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return File{}, err
	}
	return File{Name: s.Name, Size: s.Size, SHA256: hex.EncodeToString(to.sum.Sum(nil))}, nil
}

// finish makes the folder a backup: all in it is durable.
func (w *writer) finish(m *Manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	const temporary = ManifestName + ".tmp"
	f, err := w.create(temporary, int64(len(text)))
	if err != nil {
		return err
	}
	_, err = f.WriteAt(text, 0)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	path := filepath.Join(w.dir, ManifestName)
	if err := w.fs.Rename(filepath.Join(w.dir, temporary), path); err != nil {
		return err
	}
	w.made = append(w.made, path)
	return w.fs.SyncDir(w.dir)
}

// atOnce is the number of bytes written before a pause.
const atOnce = 8 << 20

// paced writes into a file, piece by piece, and pauses as long as each write took.
type paced struct {
	*writer
	file  vfs.File
	sum   hash.Hash
	at    int64
	hurry bool
	began time.Time
	since int64 // bytes since the last pause
}

// Write implements io.Writer.
func (p *paced) Write(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.file.WriteAt(b, p.at)
	_, _ = p.sum.Write(b[:n]) // never fails
	p.at += int64(n)
	p.since += int64(n)
	p.progress(int64(n))
	if err == nil && p.since >= atOnce && !p.hurry {
		err = p.rest()
	}
	return n, err
}

func (p *paced) rest() error {
	if err := p.file.Sync(); err != nil {
		return err
	}
	timer := time.NewTimer(time.Since(p.began))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
	p.began, p.since = time.Now(), 0
	return nil
}
