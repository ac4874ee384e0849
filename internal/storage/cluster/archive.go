package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/vfs"

	"github.com/hashicorp/raft"
)

// A replica on its way to another node is its files, each
//
//	| length of the name 2 | name | size 8 | bytes | sum 4 |
//
// and a name of no bytes at the end. Numbers are big endian.
const maxName = 200

// cut returns the replica as it is after the last entry. Entries are applied meanwhile.
func (m *machine) cut() (*raft.SnapshotMeta, io.ReadCloser, error) {
	var s state
	c, err := m.cutData(func(j *segment.Replica, done func(*segment.Cut, error)) {
		s = state{Index: m.index, Term: m.term, Configuration: raft.EncodeConfiguration(m.config), ConfigurationIndex: m.configIndex}
		j.CutAll(done)
	})
	if err != nil {
		return nil, nil, err
	}
	meta := s.meta()
	p := &packer{definitions: c.Definitions, journal: c.Journal}
	meta.Size = p.size()
	read, write := io.Pipe()
	go func() { _ = write.CloseWithError(p.write(write)) }()
	m.node.witness.hold(s.Index, time.Now().Add(catchUp))
	return meta, &packed{read, p, func() { m.node.witness.hold(s.Index, time.Now().Add(settling)) }}, nil
}

// Cut is the data of a node as they are after one entry. Its files must be released.
type Cut struct {
	Definitions *definitions.Cut
	Journal     *segment.Cut
}

// Cut returns the data of this node after the last entry, in the form of a broker alone: it has no vote, no members and no entries (CLU-34).
// On the leader it has everything that clients were told of.
func (n *Node) Cut() (*Cut, error) { return n.machine.cutData((*segment.Replica).Cut) }

// cutData cuts definitions and journal after the last entry. cut is called between two entries.
func (m *machine) cutData(cut func(*segment.Replica, func(*segment.Cut, error))) (*Cut, error) {
	type result struct {
		cut *segment.Cut
		err error
	}
	got := make(chan result, 1)
	m.mu.Lock()
	r := m.node.replica()
	defs, err := r.definitions.Cut(func() error { return nil })
	if err == nil {
		cut(r.journal, func(c *segment.Cut, err error) { got <- result{c, err} })
	}
	m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	c := <-got
	if c.err != nil {
		defs.Release()
		return nil, c.err
	}
	return &Cut{defs, c.cut}, nil
}

type packer struct {
	definitions *definitions.Cut
	journal     *segment.Cut
}

type packed struct {
	*io.PipeReader
	from *packer
	sent func()
}

// settling is how long a node may take to open a copy of the data that it has received.
const settling = 5 * time.Minute

// Close implements io.Closer.
func (p *packed) Close() error {
	p.sent()
	return p.PipeReader.Close()
}

func (p *packer) size() int64 {
	n := int64(2)
	one := func(name string, size int64) { n += 2 + int64(len(name)) + 8 + size + 4 }
	one(definitions.FileName, p.definitions.Size)
	for _, f := range p.journal.Files {
		one(segment.Folder+"/"+f.Name, f.Size)
	}
	return n
}

// write writes all files and releases them.
func (p *packer) write(w io.Writer) error {
	defer p.journal.Release()
	err := pack(w, definitions.FileName, p.definitions.Size, func(w io.Writer) error {
		_, err := p.definitions.WriteTo(w)
		return err
	})
	p.definitions.Release()
	for _, f := range p.journal.Files {
		if err != nil {
			return err
		}
		err = pack(w, segment.Folder+"/"+f.Name, f.Size, func(w io.Writer) error {
			_, err := io.Copy(w, io.NewSectionReader(f, 0, f.Size))
			return err
		})
	}
	if err == nil {
		_, err = w.Write([]byte{0, 0})
	}
	return err
}

func pack(w io.Writer, name string, size int64, write func(io.Writer) error) error {
	head := binary.BigEndian.AppendUint16(nil, uint16(len(name)))
	head = append(head, name...)
	head = binary.BigEndian.AppendUint64(head, uint64(size))
	sum := crc32.New(castagnoli)
	if _, err := w.Write(head); err != nil {
		return err
	}
	if err := write(io.MultiWriter(w, sum)); err != nil {
		return err
	}
	_, err := w.Write(sum.Sum(nil))
	return err
}

// unpacker writes the files of another node's replica to a new folder.
type unpacker struct {
	dir  string
	pipe *io.PipeWriter
	done chan error
}

func newUnpacker(disk vfs.FS, dir string) (*unpacker, error) {
	if err := removeFolder(disk, dir); err != nil {
		return nil, err
	}
	if err := errors.Join(os.MkdirAll(dir, 0o700), disk.MakeDir(filepath.Join(dir, segment.Folder))); err != nil {
		return nil, err
	}
	read, write := io.Pipe()
	u := &unpacker{dir, write, make(chan error, 1)}
	go func() {
		err := unpack(read, disk, dir)
		u.done <- err
		_ = read.CloseWithError(errors.Join(err, io.ErrClosedPipe))
	}()
	return u, nil
}

// Write implements io.Writer.
func (u *unpacker) Write(b []byte) (int, error) { return u.pipe.Write(b) }

// Close waits until all files are durable. An incomplete replica is an error.
func (u *unpacker) Close() error {
	_ = u.pipe.Close()
	return <-u.done
}

func unpack(r io.Reader, disk vfs.FS, dir string) error {
	for {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:2]); err != nil {
			return fmt.Errorf("the replica is incomplete: %w", err)
		}
		n := binary.BigEndian.Uint16(head[:])
		if n == 0 {
			return errors.Join(disk.SyncDir(filepath.Join(dir, segment.Folder)), vfs.OS.SyncDir(dir), vfs.OS.SyncDir(filepath.Dir(dir)))
		}
		if n > maxName {
			return errors.New("the name of a file of the replica is too long")
		}
		name := make([]byte, n)
		if _, err := io.ReadFull(r, name); err != nil {
			return err
		}
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return err
		}
		if err := unpackFile(r, disk, dir, string(name), int64(binary.BigEndian.Uint64(head[:]))); err != nil {
			return err
		}
	}
}

func unpackFile(r io.Reader, disk vfs.FS, dir, name string, size int64) error {
	base, inJournal := strings.CutPrefix(name, segment.Folder+"/")
	if !filepath.IsLocal(base) || strings.ContainsAny(base, `/\`) || !inJournal && name != definitions.FileName || size < 0 {
		return fmt.Errorf("a replica has no file %q", name)
	}
	if !inJournal {
		disk = vfs.OS // of definitions
	}
	f, err := disk.Create(filepath.Join(dir, filepath.FromSlash(name)), size)
	if err != nil {
		return err
	}
	sum := crc32.New(castagnoli)
	_, err = io.CopyN(io.MultiWriter(io.NewOffsetWriter(f, 0), sum), r, size)
	var want [4]byte
	if err == nil {
		_, err = io.ReadFull(r, want[:])
	}
	if err == nil && binary.BigEndian.Uint32(want[:]) != sum.Sum32() {
		err = fmt.Errorf("%s was damaged on its way", name)
	}
	return errors.Join(err, f.Sync(), f.Close())
}
