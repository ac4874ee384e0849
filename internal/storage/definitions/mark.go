package definitions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
)

// Marker marks and locks the data folder of a node of a cluster: a file in the place of the definitions, of a format that brokers without a
// cluster refuse, also older ones (CLU-2).
type Marker struct{ db *bolt.DB }

// clusterFormat is the format of a file that is only a mark.
const clusterFormat = 4

var (
	// ErrCluster: the data folder is that of a node of a cluster.
	ErrCluster = errors.New("the data folder belongs to a node of a cluster; start it with the settings of the cluster")
	// ErrSingle: the data folder is that of a broker without a cluster.
	ErrSingle = errors.New("the data folder belongs to a broker without a cluster")
)

// Mark marks a folder, which it creates if missing. Errors: ErrInUse, ErrSingle, ErrDamaged, ErrNewer, or errors of the disk.
func Mark(dir string) (m *Marker, err error) {
	path := filepath.Join(dir, FileName)
	f := &File{}
	m = &Marker{}
	err = guarded(func() error {
		if err := f.found(dir, path); err != nil {
			return err
		}
		if m.db, err = openFile(path); err != nil {
			return err
		}
		return m.db.Update(func(tx *bolt.Tx) error {
			t := fileTables{tx}
			_, err := readCounts(t)
			switch {
			case errors.Is(err, ErrCluster):
				return nil
			case err == nil && t.get(broker, countsKey) != nil:
				return ErrSingle
			case err != nil:
				return err
			}
			return counts{}.writeAs(t, clusterFormat)
		})
	})
	if err != nil && m.db != nil {
		_ = m.db.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// HandOver copies the definitions of a broker alone to another folder, durably, and then marks their own one. A crash leaves the first folder as it
// was, or marked. Errors: as of Mark; the folder is marked already.
func HandOver(dir, to string) (err error) {
	path := filepath.Join(dir, FileName)
	err = guarded(func() (err error) {
		db, err := openFile(path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		copied := filepath.Join(to, FileName)
		err = db.View(func(tx *bolt.Tx) error {
			if _, err := readCounts(fileTables{tx}); err != nil {
				return err
			}
			return tx.CopyFile(copied+".new", 0o600)
		})
		if err != nil {
			return err
		}
		if err := errors.Join(syncFile(copied+".new"), os.Rename(copied+".new", copied), syncFolder(to)); err != nil {
			return err
		}
		return db.Update(func(tx *bolt.Tx) error { return counts{}.writeAs(fileTables{tx}, clusterFormat) })
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Close releases the folder.
func (m *Marker) Close() error { return m.db.Close() }
