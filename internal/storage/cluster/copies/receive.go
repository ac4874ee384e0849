package copies

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/vfs"

	"github.com/hashicorp/raft"
)

// fetch gets a copy.
type fetch struct {
	store      *Store
	conn       net.Conn
	offer      *Offer
	stop       func() error
	dir        string // of the copy
	own        string // folder of the data that count
	buf, other []byte
	got, kept  int64 // bytes that came, and that were there already
}

// Receive gets what the node lacks of a copy, into the folder of the next generation, and keeps there what has come before an error for the next copy. stop is asked
// before each block. One copy at a time is received and installed (CLU-28).
// Errors: of the connection, the disk, or stop; the copy is damaged or does not fit on the disk.
func (s *Store) Receive(conn net.Conn, o *Offer, stop func() error) (err error) {
	s.incoming.Lock()
	defer s.incoming.Unlock()
	s.mu.Lock()
	s.fetched, s.received = nil, nil
	generation := s.generation()
	s.mu.Unlock()
	f := &fetch{
		store: s, conn: conn, offer: o, stop: stop, dir: Folder(s.cfg.Dir, generation+1), own: Folder(s.cfg.Dir, generation),
		buf: make([]byte, blockSize), other: make([]byte, blockSize),
	}
	began := time.Now()
	defer func() {
		s.cfg.Log.Info().Err(err).Uint64("entry", o.Call.LastLogIndex).Int64("bytes_got", f.got).Int64("bytes_kept", f.kept).
			Int64("took_ms", time.Since(began).Milliseconds()).Msg("a copy of the data was received")
	}()
	if err = f.prepare(); err != nil {
		return err
	}
	for i := range o.Files {
		if err = f.file(uint32(i)); err != nil {
			return err
		}
	}
	err = errors.Join(s.cfg.FS.SyncDir(filepath.Join(f.dir, segment.Folder)), vfs.OS.SyncDir(f.dir), vfs.OS.SyncDir(s.cfg.Dir))
	if err != nil {
		return errors.Join(err, RemoveFolder(s.cfg.FS, f.dir))
	}
	s.mu.Lock()
	s.fetched = &State{Generation: generation + 1, Index: o.Call.LastLogIndex, Term: o.Call.LastLogTerm}
	s.mu.Unlock()
	_, err = conn.Write(request{file: complete}.encode())
	return err
}

// Answer tells the sender of a copy what became of it.
func Answer(conn net.Conn, r *raft.InstallSnapshotResponse, failed error) error {
	if failed != nil {
		return send(conn, &result{Error: failed.Error()})
	}
	return send(conn, &result{Response: *r})
}

// Done forgets a copy that raft has taken or refused.
func (s *Store) Done() {
	s.mu.Lock()
	s.fetched = nil
	s.mu.Unlock()
}

// prepare makes the folder, and removes what is not of the copy.
func (f *fetch) prepare() error {
	disk, journal := f.store.cfg.FS, filepath.Join(f.dir, segment.Folder)
	if err := errors.Join(os.MkdirAll(f.dir, 0o700), disk.MakeDir(journal)); err != nil {
		return err
	}
	names, err := disk.List(journal)
	if err != nil {
		return err
	}
	for _, name := range names {
		of := func(want File) bool { return want.Name == segment.Folder+"/"+name }
		if !slices.ContainsFunc(f.offer.Files, of) {
			if err := disk.Remove(filepath.Join(journal, name)); err != nil {
				return err
			}
		}
	}
	lacks := int64(0)
	for _, want := range f.offer.Files {
		disk, path := f.place(want)
		size, err := disk.Stat(path)
		if err == nil && size > want.Size {
			size, err = 0, disk.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if lacks += want.Size - size; lacks < 0 {
			return errors.New("a copy of that size is not possible")
		}
	}
	free, err := disk.Free(f.store.cfg.Dir)
	if err == nil && uint64(lacks) > free {
		err = fmt.Errorf("%w: the copy of the data lacks %d bytes, %d are free", vfs.ErrFull, lacks, free)
	}
	return err
}

// place returns where a file of the copy is.
func (f *fetch) place(want File) (vfs.FS, string) {
	if want.Name == definitions.FileName {
		return vfs.OS, filepath.Join(f.dir, want.Name)
	}
	return f.store.cfg.FS, filepath.Join(f.dir, filepath.FromSlash(want.Name))
}

// file gets what is lacking of a file, and makes it durable.
func (f *fetch) file(number uint32) error {
	want := f.offer.Files[number]
	disk, path := f.place(want)
	to, err := disk.Open(path)
	held := to // what this node has of the file
	if errors.Is(err, fs.ErrNotExist) {
		if to, err = disk.Create(path, want.Size); err != nil {
			return err
		}
		if held, _ = disk.OpenRead(filepath.Join(f.own, filepath.FromSlash(want.Name))); held != nil {
			defer func(own vfs.File) { _ = own.Close() }(held)
		}
	} else if err != nil {
		return err
	}
	for block := range want.blocks() {
		known, err := f.block(request{file: number, block: block}, to, held)
		if err != nil {
			return errors.Join(err, to.Close())
		}
		if block == 0 && !known && want.Name != definitions.FileName {
			held = nil // its header differs: it is another segment
		}
	}
	if err := errors.Join(to.Sync(), disk.SyncDir(filepath.Dir(path))); err != nil {
		return errors.Join(err, to.Close(), RemoveFolder(f.store.cfg.FS, f.dir)) // what was written may be lost, although it can be read
	}
	return errors.Join(verify(want, to), to.Close())
}

// block gets a block, unless this node has it.
func (f *fetch) block(q request, to, held vfs.File) (known bool, err error) {
	if err := f.stop(); err != nil {
		return false, err
	}
	want := f.offer.Files[q.file]
	size, at := want.length(q.block), int64(q.block)*blockSize
	mine := f.other[:size]
	if held != nil {
		n, _ := held.ReadAt(mine, at)
		q.has, q.sum = n == len(mine), crc32.Checksum(mine, castagnoli)
	}
	_ = f.conn.SetDeadline(time.Now().Add(idle))
	if _, err := f.conn.Write(q.encode()); err != nil {
		return false, err
	}
	content := f.buf[:size]
	known, err = f.answer(content)
	switch {
	case err != nil:
		return false, fmt.Errorf("%s: %w", want.Name, err)
	case !known:
		f.got += size
		_, err = to.WriteAt(content, at)
	case !q.has:
		err = fmt.Errorf("%s: a block that was not there is said to be known", want.Name)
	default:
		if f.kept += size; held != to {
			_, err = to.WriteAt(mine, at)
		}
	}
	return known, err
}

// answer reads the answer to a request, with the block unless it is known.
func (f *fetch) answer(content []byte) (known bool, err error) {
	var head [answerHead]byte
	if _, err := io.ReadFull(f.conn, head[:1]); err != nil {
		return false, err
	}
	if head[0] == same {
		return true, nil
	}
	if head[0] != bytesFollow {
		return false, fmt.Errorf("no answer begins with %#x", head[0])
	}
	if _, err := io.ReadFull(f.conn, head[1:]); err != nil {
		return false, err
	}
	if _, err := io.ReadFull(f.conn, content); err != nil {
		return false, err
	}
	if binary.BigEndian.Uint32(head[1:]) != crc32.Checksum(content, castagnoli) {
		return false, errors.New("a block was damaged on its way")
	}
	return false, nil
}

// verify reads the records of a segment: damage on the disk of the sender must not spread (CLU-8).
func verify(want File, from vfs.File) error {
	if !strings.HasSuffix(want.Name, index.SegmentSuffix) {
		return nil
	}
	return format.Verify(from, want.Size)
}

// RemoveFolder removes a folder of data, if there is one.
func RemoveFolder(disk vfs.FS, dir string) error {
	journal := filepath.Join(dir, segment.Folder)
	names, err := disk.List(journal)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range names {
		if err := disk.Remove(filepath.Join(journal, name)); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}
