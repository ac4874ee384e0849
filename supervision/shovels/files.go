package shovels

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Bounds on reading files.
const (
	maxFile    = 1 << 20 // bytes
	maxReaders = 4       // a file system may not answer; its readers wait on
)

// Files reads the files that addresses of shovels name: regular ones, of 1 MiB at most, in a folder of the operator
// (ACC-5). It is created by NewFiles.
type Files struct {
	folder  string
	readers chan struct{}
	read    func(folder, name string) ([]byte, error) // readFile, except in tests
}

// NewFiles reads files in a folder and the folders below it. "" stands for none: all files are refused.
func NewFiles(folder string) *Files {
	if whole, err := filepath.Abs(folder); err == nil && folder != "" {
		folder = whole
	}
	return &Files{folder: folder, readers: make(chan struct{}, maxReaders), read: readFile}
}

// Errors of Read, besides the operating system's.
var (
	errNoFolder  = errors.New("files cannot be used: the setting shovel-files names no folder")
	errOutside   = errors.New("the file is not in the folder of the setting shovel-files")
	errIrregular = errors.New("not a regular file")
	errTooLarge  = fmt.Errorf("the file has more than %d bytes", maxFile)
)

// Read reads a file. Its name is relative to the folder, or begins with the folder. When ctx ends, Read returns at once;
// the file may still be read then.
func (f *Files) Read(ctx context.Context, name string) ([]byte, error) {
	if f.folder == "" {
		return nil, errNoFolder
	}
	within := name
	if filepath.IsAbs(name) {
		var err error
		if within, err = filepath.Rel(f.folder, name); err != nil {
			return nil, errOutside
		}
	}
	if !filepath.IsLocal(within) {
		return nil, errOutside
	}
	select {
	case f.readers <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		defer func() { <-f.readers }()
		text, err := f.read(f.folder, within)
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		var path *fs.PathError
		if errors.As(r.err, &path) {
			r.err = fmt.Errorf("%s: %w", name, path.Err)
		}
		return r.text, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// readFile reads a file in a folder. Symbolic links are followed as long as they stay within the folder. Nothing but a
// regular file is opened, and opening does not wait if a pipe has replaced the file.
func readFile(folder, name string) (text []byte, err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	info, err := root.Stat(name)
	if err == nil {
		err = acceptable(info)
	}
	if err != nil {
		return nil, err
	}
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if info, err = file.Stat(); err == nil {
		err = acceptable(info)
	}
	if err != nil {
		return nil, err
	}
	text, err = io.ReadAll(io.LimitReader(file, maxFile+1)) // it may have grown, or not tell its size
	if err == nil && len(text) > maxFile {
		err = errTooLarge
	}
	return text, err
}

func acceptable(info os.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return errIrregular
	case info.Size() > maxFile:
		return errTooLarge
	}
	return nil
}
