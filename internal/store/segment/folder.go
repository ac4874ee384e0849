package segment

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"candlemark/internal/store/vfs"
)

// folder lists the files in the journal's folder.
type folder struct {
	fs          vfs.FS
	dir         string
	segments    []*segment // with a valid header, by number; none is open
	spares      []string
	checkpoints []uint64 // the newest first
	// spareCheckpoint is the size of the file for the next one, 0 for none.
	spareCheckpoint int64
	leftovers       []string // of checkpoints that were not finished
	highest         uint64   // number of a segment's name
	highSpare       int      // number of a spare's name
	damages         []Damage
	// unknown are segments without a readable header; size is that of the file.
	unknown []*segment
}

// look lists the folder and reads the headers.
func look(fs vfs.FS, dir string) (*folder, error) {
	f := &folder{fs: fs, dir: dir}
	names, err := fs.List(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if number, ok := numbered(name, "", ".segment"); ok {
			f.highest = max(f.highest, number)
			err = errors.Join(err, f.header(number))
		} else if number, ok := numbered(name, "checkpoint-", ""); ok {
			f.checkpoints = append(f.checkpoints, number)
		} else if name == checkpointSpare {
			size, failed := fs.Stat(filepath.Join(dir, name))
			f.spareCheckpoint, err = size, errors.Join(err, failed)
		} else if number, ok := numbered(name, "spare-", ""); ok {
			f.spares = append(f.spares, filepath.Join(dir, name))
			f.highSpare = max(f.highSpare, int(number))
		} else if strings.HasPrefix(name, "checkpoint-") {
			f.leftovers = append(f.leftovers, filepath.Join(dir, name))
		}
	}
	slices.SortFunc(f.segments, func(a, b *segment) int { return cmp.Compare(a.seq, b.seq) })
	slices.SortFunc(f.checkpoints, func(a, b uint64) int { return cmp.Compare(b, a) })
	return f, err
}

func numbered(name, prefix, suffix string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	digits, ok2 := strings.CutSuffix(digits, suffix)
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ok && ok2 && err == nil
}

// header reads that of one.
func (f *folder) header(seq uint64) error {
	path := filepath.Join(f.dir, segmentName(seq))
	file, err := f.fs.OpenRead(path)
	if err != nil {
		return err
	}
	defer file.Close()
	length, err := f.fs.Stat(path)
	if err != nil {
		return err
	}
	b := make([]byte, 2*headerSize)
	if _, err := file.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("header of %s: %w", path, err)
	}
	number, salt, size, ok := decodeHeader(b[:headerSize])
	number2, salt2, size2, ok2 := decodeHeader(b[headerSize:])
	ok, ok2 = ok && number == seq, ok2 && number2 == seq // else it was written to the wrong place
	switch {
	case !ok && !ok2:
		f.damages = append(f.damages, Damage{File: segmentName(seq), Text: "both headers are not what was written"})
		f.unknown = append(f.unknown, &segment{seq: seq, size: length, end: batchesFrom, over: true})
		return nil
	case !ok:
		salt, size = salt2, size2
		f.damages = append(f.damages, Damage{File: segmentName(seq), Text: "the header is not what was written; its copy is"})
	case !ok2:
		f.damages = append(f.damages, Damage{File: segmentName(seq), Offset: headerSize, Text: "the copy of the header is not what was written"})
	}
	f.segments = append(f.segments, &segment{seq: seq, seed: seedOf(seq, salt), size: min(size, length), end: batchesFrom, over: true})
	return nil
}
