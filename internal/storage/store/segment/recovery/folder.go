package recovery

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/segment/progress"
	"candlemark/internal/storage/store/vfs"
)

// folder lists the files in the journal's folder.
type folder struct {
	fs          vfs.FS
	dir         string
	Segments    []*index.Segment // with valid headers, by number; none is open
	Spares      []string
	Checkpoints []uint64 // the newest first
	// SpareCheckpoint is the size of the file for the next checkpoint, or 0 if there is none.
	SpareCheckpoint int64
	Leftovers       []string // files of unfinished checkpoints
	Highest         uint64   // highest number in the name of a segment
	HighSpare       int      // highest number in the name of a spare file
	Damages         []Damage
	// unknown are segments without a readable header, with the file's size.
	unknown []*index.Segment
	// Unsynced: the log of a replica, which may be torn anywhere behind the newest checkpoint. Everything behind the first batch that is not whole is
	// dropped: the log of the cluster has it.
	Unsynced bool
	// Mark states how far the log was written; it is zero if there is none, as in the folder of an older version.
	Mark progress.Mark
}

// Look lists the folder and reads the headers.
func Look(fs vfs.FS, dir string) (*folder, error) {
	f := &folder{fs: fs, dir: dir}
	names, err := fs.List(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if number, ok := Numbered(name, "", ".segment"); ok {
			f.Highest = max(f.Highest, number)
			err = errors.Join(err, f.header(number))
		} else if number, ok := Numbered(name, "checkpoint-", ""); ok {
			f.Checkpoints = append(f.Checkpoints, number)
		} else if name == index.CheckpointSpare {
			size, failed := fs.Stat(filepath.Join(dir, name))
			f.SpareCheckpoint, err = size, errors.Join(err, failed)
		} else if number, ok := Numbered(name, "spare-", ""); ok {
			f.Spares = append(f.Spares, filepath.Join(dir, name))
			f.HighSpare = max(f.HighSpare, int(number))
		} else if strings.HasPrefix(name, "checkpoint-") {
			f.Leftovers = append(f.Leftovers, filepath.Join(dir, name))
		}
	}
	slices.SortFunc(f.Segments, func(a, b *index.Segment) int { return cmp.Compare(a.Seq, b.Seq) })
	slices.SortFunc(f.Checkpoints, func(a, b uint64) int { return cmp.Compare(b, a) })
	return f, errors.Join(err, f.mark())
}

// mark reads how far the log was written.
func (f *folder) mark() (err error) {
	f.Mark, err = progress.Read(f.fs, f.dir)
	switch {
	case errors.Is(err, progress.ErrDamaged):
		f.Damages = append(f.Damages, Damage{File: progress.Name, Text: "the file is damaged; segments and batches that are missing at the end of the log may not be noticed"})
		return nil
	case notThere(err):
		return nil
	}
	return err
}

// Numbered returns the number in the name of a file between prefix and suffix.
func Numbered(name, prefix, suffix string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	digits, ok2 := strings.CutSuffix(digits, suffix)
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ok && ok2 && err == nil
}

// header reads the header of a segment.
func (f *folder) header(seq uint64) error {
	path := filepath.Join(f.dir, index.SegmentName(seq))
	file, err := f.fs.OpenRead(path)
	if err != nil {
		return err
	}
	defer file.Close()
	length, err := f.fs.Stat(path)
	if err != nil {
		return err
	}
	b := make([]byte, 2*format.HeaderSize)
	if _, err := file.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("header of %s: %w", path, err)
	}
	number, salt, size, ok := format.DecodeHeader(b[:format.HeaderSize])
	number2, salt2, size2, ok2 := format.DecodeHeader(b[format.HeaderSize:])
	ok, ok2 = ok && number == seq, ok2 && number2 == seq // else it was written to the wrong place
	switch {
	case !ok && !ok2:
		f.Damages = append(f.Damages, Damage{File: index.SegmentName(seq), Text: "the header and its copy are damaged"})
		f.unknown = append(f.unknown, &index.Segment{Seq: seq, Size: length, End: format.BatchesFrom, Over: true})
		return nil
	case !ok:
		salt, size = salt2, size2
		f.Damages = append(f.Damages, Damage{File: index.SegmentName(seq), Text: "the header is damaged; its copy is intact"})
	case !ok2:
		f.Damages = append(f.Damages, Damage{File: index.SegmentName(seq), Offset: format.HeaderSize, Text: "the copy of the header is damaged"})
	}
	f.Segments = append(f.Segments, &index.Segment{Seq: seq, Seed: format.SeedOf(seq, salt), Size: min(size, length), End: format.BatchesFrom, Over: true})
	return nil
}
