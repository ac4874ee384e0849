package copies

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/vfs"
)

const maxName = 200

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Packer writes a cut of a replica.
type Packer struct {
	Definitions *definitions.Cut
	Journal     *segment.Cut
}

// Size returns the size of the whole, bytes.
func (p *Packer) Size() int64 {
	n := int64(2)
	one := func(name string, size int64) { n += 2 + int64(len(name)) + 8 + size + 4 }
	one(definitions.FileName, p.Definitions.Size)
	for _, f := range p.Journal.Files {
		one(segment.Folder+"/"+f.Name, f.Size)
	}
	return n
}

// Write writes all files and releases them.
func (p *Packer) Write(w io.Writer) error {
	defer p.Journal.Release()
	err := pack(w, definitions.FileName, p.Definitions.Size, func(w io.Writer) error {
		_, err := p.Definitions.WriteTo(w)
		return err
	})
	p.Definitions.Release()
	for _, f := range p.Journal.Files {
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

// Unpacker writes the files of another node's replica to a new folder.
type Unpacker struct {
	Dir  string
	pipe *io.PipeWriter
	done chan error
}

// NewUnpacker returns an Unpacker for a folder, whose former content is removed.
func NewUnpacker(disk vfs.FS, dir string) (*Unpacker, error) {
	if err := RemoveFolder(disk, dir); err != nil {
		return nil, err
	}
	if err := errors.Join(os.MkdirAll(dir, 0o700), disk.MakeDir(filepath.Join(dir, segment.Folder))); err != nil {
		return nil, err
	}
	read, write := io.Pipe()
	u := &Unpacker{dir, write, make(chan error, 1)}
	go func() {
		err := unpack(read, disk, dir)
		u.done <- err
		_ = read.CloseWithError(errors.Join(err, io.ErrClosedPipe))
	}()
	return u, nil
}

// Write implements io.Writer.
func (u *Unpacker) Write(b []byte) (int, error) { return u.pipe.Write(b) }

// Close waits until all files are durable. An incomplete replica is an error.
func (u *Unpacker) Close() error {
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

// RemoveFolder removes the folder of a replica, if there is one.
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
