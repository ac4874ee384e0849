package index

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/vfs"
)

// CheckpointSpare is the file that the next checkpoint is written to.
const CheckpointSpare = "next-checkpoint"

// CheckpointFile is the file of a checkpoint. It reserves room for a checkpoint before the disk is full, because
// freeing segments takes one.
type CheckpointFile struct {
	fs   vfs.FS
	dir  string
	size int64 // of the file, 0 if it does not exist
	// renamed: its name may not be durable yet.
	renamed bool
}

// NewCheckpointFile returns the file, which has size bytes, 0 if it does not exist.
func NewCheckpointFile(fs vfs.FS, dir string, size int64) CheckpointFile {
	return CheckpointFile{fs: fs, dir: dir, size: size}
}

// roomFor returns the size to reserve after a checkpoint of n bytes: the next one may be longer.
func roomFor(n int) int64 { return format.RoundUp(int64(2*n)) + 1<<20 }

func (c *CheckpointFile) path() string { return filepath.Join(c.dir, CheckpointSpare) }

// Write makes a checkpoint durable under its name.
func (c *CheckpointFile) Write(number uint64, b []byte) error {
	need := int64(len(b))
	if c.size < need {
		if err := c.make(roomFor(len(b))); err != nil {
			return err
		}
	}
	if err := c.make(need); err != nil { // there may be no room for more
		return err
	}
	if c.size < need {
		return fmt.Errorf("%w: for a checkpoint of %d bytes", vfs.ErrFull, len(b))
	}
	if err := c.settle(); err != nil {
		return err
	}
	f, err := c.fs.Open(c.path())
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := c.fs.Rename(c.path(), filepath.Join(c.dir, CheckpointName(number))); err != nil {
		return err
	}
	c.size = 0
	return c.fs.SyncDir(c.dir)
}

// settle makes the name of the file durable. Before, nothing may be written into it: after a crash it could be taken for
// a damaged checkpoint.
func (c *CheckpointFile) settle() error {
	if !c.renamed {
		return nil
	}
	err := c.fs.SyncDir(c.dir)
	c.renamed = err != nil
	return err
}

// Take makes the file of a checkpoint that is no longer needed the spare file.
func (c *CheckpointFile) Take(path string) error {
	size, err := c.fs.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && size <= c.size {
		return c.fs.Remove(path)
	}
	if err == nil {
		err = c.fs.Rename(path, c.path())
	}
	if err != nil {
		return err
	}
	c.size, c.renamed = size, true
	return c.settle()
}

// Prepare reserves room for the checkpoint after one of n bytes.
func (c *CheckpointFile) Prepare(n int) error { return c.make(roomFor(n)) }

// make ensures that the file has room for size bytes, if the disk has.
func (c *CheckpointFile) make(size int64) error {
	if c.size >= size {
		return nil
	}
	const temporary = CheckpointSpare + ".tmp"
	path := filepath.Join(c.dir, temporary)
	if err := c.fs.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := c.fs.Create(path, size)
	if errors.Is(err, vfs.ErrFull) {
		return nil
	}
	if err != nil {
		return err
	}
	if err = errors.Join(f.Close(), c.fs.Rename(path, c.path()), c.fs.SyncDir(c.dir)); err == nil {
		c.size = size
	}
	return err
}
