package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"candlemark/internal/storage/store/vfs"
)

// Unfinished is a file in a data folder that is being restored, or whose restore was not finished: no broker may start
// on it.
const Unfinished = "restore-unfinished"

// ErrUnfinishedRestore: the data folder has that file.
var ErrUnfinishedRestore = errors.New("an earlier restore to this folder was interrupted: empty the folder and restore the backup again")

// CheckFolder is ErrUnfinishedRestore for a data folder that no broker may start on.
func CheckFolder(files vfs.FS, dir string) error {
	_, err := files.Stat(filepath.Join(dir, Unfinished))
	switch {
	case err == nil:
		return fmt.Errorf("%s: %w", dir, ErrUnfinishedRestore)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// Check reads all of a backup, and changes nothing. The error describes missing or altered contents.
func Check(ctx context.Context, files vfs.FS, dir string) (*Manifest, error) {
	m, err := read(files, dir)
	if err != nil {
		return nil, err
	}
	for _, f := range m.Files {
		if err := f.verify(ctx, files, dir, io.Discard); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// verify reads a file of a backup into w.
func (f *File) verify(ctx context.Context, files vfs.FS, dir string, w io.Writer) error {
	path := filepath.Join(dir, flat(f.Name))
	size, err := files.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the backup is damaged: %s is missing", path)
	}
	if err != nil {
		return err
	}
	if size != f.Size {
		return fmt.Errorf("the backup is damaged: %s has %d bytes instead of %d", path, size, f.Size)
	}
	from, err := files.OpenRead(path)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	sum := sha256.New()
	piece := &Piece{ReaderAt: from, Size: size}
	if _, err := piece.WriteTo(&stopped{ctx, io.MultiWriter(sum, w)}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
		return fmt.Errorf("the backup is damaged: the checksum of %s is wrong", path)
	}
	return nil
}

// Restore creates a data folder from a complete backup. The folder must not exist, or be empty; until the restore is
// finished, it contains the file Unfinished.
func Restore(ctx context.Context, files vfs.FS, from, to string) (*Manifest, error) {
	m, err := Check(ctx, files, from)
	if err != nil {
		return nil, err
	}
	if names, err := files.List(to); err == nil && len(names) > 0 {
		return nil, fmt.Errorf("%s is not empty: choose an empty or missing folder", to)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := files.MakeDir(to); err != nil {
		return nil, err
	}
	mark, err := files.Create(filepath.Join(to, Unfinished), 0)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(mark.Sync(), mark.Close(), files.SyncDir(to)); err != nil {
		return nil, err
	}
	folders := map[string]bool{to: true}
	for _, f := range m.Files {
		path := filepath.Join(to, filepath.FromSlash(f.Name))
		if err := f.restore(ctx, files, from, path); err != nil {
			return nil, err
		}
		folders[filepath.Dir(path)] = true
	}
	for folder := range folders {
		if err := files.SyncDir(folder); err != nil {
			return nil, err
		}
	}
	return m, errors.Join(files.Remove(filepath.Join(to, Unfinished)), files.SyncDir(to))
}

// restore copies a file of a backup.
func (f *File) restore(ctx context.Context, files vfs.FS, from, path string) error {
	if err := files.MakeDir(filepath.Dir(path)); err != nil {
		return err
	}
	file, err := files.Create(path, f.Size)
	if err != nil {
		return err
	}
	err = f.verify(ctx, files, from, io.NewOffsetWriter(file, 0))
	return errors.Join(err, file.Sync(), file.Close())
}
