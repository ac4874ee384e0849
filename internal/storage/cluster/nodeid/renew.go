package nodeid

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"candlemark/internal/storage/cluster/copies"
	"candlemark/internal/storage/store/vfs"
)

// resetFile is in the folder of the log of a node that is to begin anew: its next identity.
const resetFile = "reset.json"

// Renew makes Renewed empty the folders of a node at its next start. next is its identity from then on.
func Renew(disk vfs.FS, dir string, next File) error {
	return vfs.WriteJSON(disk, filepath.Join(dir, resetFile), next)
}

// Renewed empties the folder of the log and the folders of the data if Renew was called. A crash leaves the rest to the next call.
func Renewed(disk vfs.FS, data, dir string) (renewed bool, err error) {
	next, mark := File{}, filepath.Join(dir, resetFile)
	if err := vfs.ReadJSON(disk, mark, &next); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, err
	}
	err = copies.RemoveAll(disk, data)
	files, failed := disk.List(dir)
	err = errors.Join(err, failed)
	for _, name := range files {
		if name != resetFile {
			err = errors.Join(err, disk.Remove(filepath.Join(dir, name)))
		}
	}
	if err == nil {
		err = errors.Join(disk.SyncDir(dir), vfs.WriteJSON(disk, filepath.Join(dir, FileName), next))
	}
	if err == nil {
		err = errors.Join(disk.Remove(mark), disk.SyncDir(dir))
	}
	if err != nil {
		return false, fmt.Errorf("the folder of a node that was reset: %w", err)
	}
	return true, nil
}
