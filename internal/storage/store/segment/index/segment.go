package index

import (
	"fmt"

	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/vfs"
)

// Segment is one file of the log.
type Segment struct {
	Seq  uint64
	Seed uint32
	Size int64

	// Guarded by the log's lock.

	End  int64 // where the next batch goes
	Live int   // messages
	// Bytes of the live messages in the segment. A body shared by several counts for the first of them.
	Bytes int64
	Over  bool // it is no longer the last segment
	// Spare is the name of its file until its first batch is written. Used only by the writer.
	Spare string
	// Damaged: something in it is damaged. Stuck: a live message in it cannot be read.
	Damaged, Stuck bool

	// Guarded by the table's lock.

	File vfs.File // nil while it is not open
	Pins int      // number of readers
	Gone bool
}

// count adds messages and their bytes, or subtracts them if negative.
func (s *Segment) count(n int, bytes int64) {
	s.Live += n
	s.Bytes += bytes
}

// Walker reads the batches of a segment whose file is open.
func (s *Segment) Walker(from int64) *format.Walker {
	return format.NewWalker(s.File, s.Seed, from, s.Size)
}

// SegmentSuffix ends the name of the file of a segment.
const SegmentSuffix = ".segment"

// SegmentName returns the name of its file.
func SegmentName(seq uint64) string { return fmt.Sprintf("%010d", seq) + SegmentSuffix }
