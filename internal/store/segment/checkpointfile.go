package segment

import (
	"errors"
	"fmt"
	"path/filepath"

	"candlemark/internal/store/vfs"
)

// checkpointSpare is the file that the next checkpoint is written to.
const checkpointSpare = "next-checkpoint"

// checkpointFile is that file. It has room for a checkpoint before the disk is full: one
// is what it takes to free segments.
type checkpointFile struct {
	fs   vfs.FS
	dir  string
	size int64 // of the file, 0 if it is not there
}

// roomFor is the size of the file that is kept when a checkpoint has so many bytes: the
// next one may be longer.
func roomFor(n int) int64 { return roundUp(int64(2*n)) + 1<<20 }

func (c *checkpointFile) path() string { return filepath.Join(c.dir, checkpointSpare) }

// write makes a checkpoint durable under its name.
func (c *checkpointFile) write(number uint64, b []byte) error {
	need := int64(len(b))
	if c.size < need {
		if err := c.make(roomFor(len(b))); err != nil {
			return err
		}
	}
	if err := c.make(need); err != nil { // there may be room for no more
		return err
	}
	if c.size < need {
		return fmt.Errorf("%w: for a checkpoint of %d bytes", vfs.ErrFull, len(b))
	}
	f, err := c.fs.Open(c.path())
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	c.size = 0
	return errors.Join(c.fs.Rename(c.path(), filepath.Join(c.dir, checkpointName(number))), c.fs.SyncDir(c.dir))
}

// take makes the file of a checkpoint that is not needed any more the spare one.
func (c *checkpointFile) take(path string) error {
	size, err := c.fs.Stat(path)
	if notThere(err) {
		return nil
	}
	if err == nil && size <= c.size {
		return c.fs.Remove(path)
	}
	// The name must be durable before anything is written: it is no damaged checkpoint.
	if err = errors.Join(err, c.fs.Rename(path, c.path()), c.fs.SyncDir(c.dir)); err == nil {
		c.size = size
	}
	return err
}

// make sees to it that the file has room for so many bytes, if the disk has.
func (c *checkpointFile) make(size int64) error {
	if c.size >= size {
		return nil
	}
	const temporary = checkpointSpare + ".tmp"
	path := filepath.Join(c.dir, temporary)
	if err := c.fs.Remove(path); err != nil && !notThere(err) {
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
