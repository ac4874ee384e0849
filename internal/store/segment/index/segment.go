package index

import (
	"fmt"

	"candlemark/internal/store/segment/format"
	"candlemark/internal/store/vfs"
)

// Segment is one file of the log.
type Segment struct {
	Seq  uint64
	Seed uint32
	Size int64

	// Under the log's lock.

	End  int64 // where the next batch goes
	Live int   // messages
	// bytes that they have in it. A body that several have counts for the first of them.
	Bytes int64
	Over  bool // it is not the last one any more
	// spare is the name of its file until its first batch is written. The writer's.
	Spare string
	// sick: something in it is damaged. stuck: something lives and cannot be read.
	Damaged, Stuck bool

	// Under the table's lock.

	File vfs.File // nil while it is not open
	Pins int      // who reads it
	Gone bool
}

// count counts messages that came, or are gone.
func (s *Segment) count(n int, bytes int64) {
	s.Live += n
	s.Bytes += bytes
}

// Walker reads the batches of a segment whose file is open.
func (s *Segment) Walker(from int64) *format.Walker {
	return format.NewWalker(s.File, s.Seed, from, s.Size)
}

// SegmentName returns the name of its file.
func SegmentName(seq uint64) string { return fmt.Sprintf("%010d.segment", seq) }
