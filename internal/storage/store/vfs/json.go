package vfs

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
)

// ReadJSON reads a file with JSON. Errors: fs.ErrNotExist, or others.
func ReadJSON(disk FS, path string, v any) error {
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

// WriteJSON replaces a file with JSON, durably and in one step.
func WriteJSON(disk FS, path string, v any) error {
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
