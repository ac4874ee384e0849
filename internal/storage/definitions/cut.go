package definitions

import (
	"errors"
	"io"

	bolt "go.etcd.io/bbolt"
)

// Cut is a snapshot of the file of the definitions. It must be released, once and soon: Close waits for the release,
// and so does a change that makes the file longer.
type Cut struct {
	Revision uint64
	Size     int64 // bytes
	tx       *bolt.Tx
}

// Cut calls during while no change is stored, and returns a snapshot of the definitions at that time. Changes wait for
// during, so it must be quick. Errors: the error of during, or of the file.
func (f *File) Cut(during func() error) (c *Cut, err error) {
	err = guarded(func() error {
		hold, err := f.db.Begin(true)
		if err != nil {
			return err
		}
		defer func() { _ = hold.Rollback() }() // nothing is written
		if err := during(); err != nil {
			return err
		}
		tx, err := f.db.Begin(false)
		if err != nil {
			return err
		}
		known, err := readCounts(fileTables{tx})
		if err != nil {
			return errors.Join(err, tx.Rollback())
		}
		c = &Cut{Revision: known.revision, Size: tx.Size(), tx: tx}
		return nil
	})
	return c, err
}

// WriteTo writes the file, Size bytes.
func (c *Cut) WriteTo(w io.Writer) (n int64, err error) {
	err = guarded(func() error {
		n, err = c.tx.WriteTo(w)
		return err
	})
	return n, err
}

// Release releases the file.
func (c *Cut) Release() { _ = c.tx.Rollback() } // read-only
