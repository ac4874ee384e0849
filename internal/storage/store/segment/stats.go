package segment

import (
	"sync/atomic"

	"candlemark/internal/measure/metrics"
)

// counters are for Stats.
type counters struct {
	batches, records, reads, bytes, checkpoints, recycled, moved atomic.Uint64
	took                                                         metrics.Lateness
}

// Stats are figures of a journal; all but the first five count from Open.
type Stats struct {
	Journal     uint64 // its identity, 0 while there is no room to store it
	Segments    int    // files of the log
	Bytes       int64  // of all segments and spare files
	Live        int    // messages
	LiveBytes   int64  // of live messages in the log
	Batches     uint64
	Records     uint64
	Reads       uint64 // messages
	Written     uint64 // bytes, including padding
	Checkpoints uint64
	Recycled    uint64 // segments
	Moved       uint64 // stragglers
	// Commits are the times taken to write and sync each batch, in s.
	Commits metrics.Buckets
}

// Stats returns the current figures. It may be called at any time.
func (j *Journal) Stats() Stats {
	s := Stats{
		Batches: j.counters.batches.Load(), Records: j.counters.records.Load(), Reads: j.counters.reads.Load(), Written: j.counters.bytes.Load(),
		Checkpoints: j.counters.checkpoints.Load(), Recycled: j.counters.recycled.Load(), Moved: j.counters.moved.Load(),
		Commits: j.counters.took.Buckets(), Journal: j.progress.Journal(),
	}
	list := j.table.list()
	s.Segments, s.Bytes = len(list), j.stock.Bytes()
	j.log.Lock()
	defer j.log.Unlock()
	for _, seg := range list {
		s.Live += seg.Live
		s.LiveBytes += seg.Bytes
		s.Bytes += seg.Size
	}
	return s
}
