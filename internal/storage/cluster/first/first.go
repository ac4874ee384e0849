package first

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/segment/recovery"
	"candlemark/internal/storage/store/vfs"
)

// Convert moves definitions and journal of a broker alone to the folder of a replica, and marks the data folder. prepare writes what the
// node needs besides, and may be called again after a crash. Errors: the folder is in use, or does not belong to a broker alone; the journal is damaged; or of the disk.
func Convert(dir, replica string, prepare func() error) error {
	if err := check(dir); err != nil {
		return err
	}
	if err := prepare(); err != nil {
		return err
	}
	if err := vfs.OS.MakeDir(replica); err != nil {
		return err
	}
	if err := definitions.HandOver(dir, replica); err != nil {
		return err
	}
	return Finish(dir, replica)
}

// check opens and closes the journal of a broker alone: what a crash has left is in order then.
func check(dir string) (err error) {
	f, err := definitions.Open(dir) // which locks the folder
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	j, report, err := segment.Open(vfs.OS, filepath.Join(dir, segment.Folder), segment.Options{OnFailure: func(error) {}, OnDamage: func(recovery.Damage) {}})
	if err != nil {
		return err
	}
	expected, failed := f.Journal()
	report.Expect(expected)
	if err := errors.Join(failed, j.Close()); err != nil {
		return err
	}
	if len(report.Damages) > 0 {
		d := report.Damages[0]
		return fmt.Errorf("the journal is damaged (%s at %d: %s): start the broker alone first, which reports and repairs that", d.File, d.Offset, d.Text)
	}
	return nil
}

// Finish moves the journal of a marked folder, if it is not moved yet.
func Finish(dir, replica string) error {
	from := filepath.Join(dir, segment.Folder)
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := os.Rename(from, filepath.Join(replica, segment.Folder))
	return errors.Join(err, vfs.OS.SyncDir(replica), vfs.OS.SyncDir(dir))
}
