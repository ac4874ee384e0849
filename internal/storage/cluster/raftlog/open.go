package raftlog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"candlemark/internal/storage/store/vfs"
)

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Open opens the log in a folder, which it creates if missing. Errors: ErrDamaged, or errors of the disk.
func Open(fs vfs.FS, dir string, o Options) (l *Log, err error) {
	l = &Log{fs: fs, dir: dir, size: roundUp(max(cmp.Or(o.Size, defaultSize), 2*pageSize)), kept: int(o.Kept), onFailure: o.OnFailure, number: 1}
	defer func() {
		if err != nil {
			_ = l.Close()
		}
	}()
	if err := fs.MakeDir(dir); err != nil {
		return l, err
	}
	names, err := fs.List(dir)
	if err != nil {
		return l, err
	}
	for _, name := range names { // sorted
		digits, ok := strings.CutSuffix(name, ".log")
		number, err := strconv.ParseUint(digits, 10, 64)
		if !ok || err != nil {
			continue
		}
		if err := l.add(name, number); err != nil {
			return l, err
		}
	}
	if err := l.read(); err != nil {
		return l, err
	}
	if err := l.openSpare(); err != nil {
		return l, err
	}
	l.note()
	if len(l.files) == 0 {
		if _, err := l.next(0); err != nil {
			return l, err
		}
	}
	return l, nil
}

func (l *Log) openSpare() error {
	path := filepath.Join(l.dir, spareName)
	size, err := l.fs.Stat(path)
	if isMissing(err) || err == nil && size != l.size {
		if err == nil {
			err = l.fs.Remove(path)
			return err
		}
		return nil
	}
	if err != nil {
		return err
	}
	l.spare, err = l.fs.Open(path)
	return err
}

// add opens a file.
func (l *Log) add(name string, number uint64) error {
	path := filepath.Join(l.dir, name)
	size, err := l.fs.Stat(path)
	if err != nil {
		return err
	}
	f, err := l.fs.Open(path)
	if err != nil {
		return err
	}
	n := len(l.files)
	l.files = append(l.files, &file{File: f, number: number, name: name, size: size, end: pageSize})
	b := make([]byte, headerSize)
	if _, err := f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	has, salt, ok := decodeHeader(b)
	if !ok || has != number {
		return fmt.Errorf("%w: the header of %s", ErrDamaged, name)
	}
	l.files[n].seed = seedOf(number, salt)
	if n > 0 && l.files[n-1].number+1 != number {
		return fmt.Errorf("%w: a file before %s is missing", ErrDamaged, name)
	}
	return nil
}

// read reads the groups of all files.
func (l *Log) read() error {
	next := uint64(0) // number of the next group; 0: unknown
	for i, f := range l.files {
		b := make([]byte, f.size)
		if n, err := f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
			return err
		} else if int64(n) < f.size {
			b = b[:n]
		}
		at := int64(pageSize)
		for {
			g, size, ok := l.group(f, b, at, next)
			if !ok {
				break
			}
			next = g.number + 1
			at += roundUp(size)
		}
		f.end = at
		if next == 0 { // the first group, if there is one, is not whole
			g, _ := decodeGroup(b[min(at, int64(len(b))):], f.seed, at)
			next = g.number
		}
		if later(f, b, at, next) || i+1 < len(l.files) && l.begins(l.files[i+1]) > next {
			return fmt.Errorf("%w: group %d, %s at %d", ErrDamaged, next, f.name, at)
		}
	}
	l.number = max(next, 1)
	return nil
}

// group reads the group at an offset, if it is whole and the next one, and adds its entries.
func (l *Log) group(f *file, b []byte, at int64, next uint64) (g group, size int64, ok bool) {
	if at+groupHead > int64(len(b)) {
		return g, 0, false
	}
	g, ok = decodeGroup(b[at:], f.seed, at)
	size = groupHead + g.length
	if !ok || next > 0 && g.number != next || at+size > int64(len(b)) {
		return g, 0, false
	}
	places := make([]place, 0, g.count)
	first := uint64(0)
	for from := at + groupHead; from < at+size; {
		e, n, ok := decodeEntry(b[from:at+size], f.seed, from)
		if !ok || first > 0 && e.Index != first+uint64(len(places)) {
			return g, 0, false
		}
		if first == 0 {
			first = e.Index
		}
		places = append(places, place{f, from, int(n), e.Term})
		from += n
	}
	if len(places) != g.count || g.count == 0 {
		return g, 0, false
	}
	switch last := l.last(); {
	case len(l.places) == 0 || first > last+1 || first < l.first:
		l.first, l.places = first, places
	default:
		l.places = append(l.places[:first-l.first], places...)
	}
	return g, size, true
}

// later reports whether there is a group behind an offset that was written when an earlier one, with a number, was durable.
func later(f *file, b []byte, at int64, number uint64) bool {
	for ; at+groupHead <= int64(len(b)); at += pageSize {
		if g, ok := decodeGroup(b[at:], f.seed, at); ok && g.number > number {
			return true
		}
	}
	return false
}

// begins returns the number of the first group of a file, 0 for none.
func (l *Log) begins(f *file) uint64 {
	b := make([]byte, groupHead)
	if _, err := f.ReadAt(b, pageSize); err != nil {
		return 0
	}
	g, _ := decodeGroup(b, f.seed, pageSize)
	return g.number
}
