package recovery

import (
	"maps"
	"slices"

	"candlemark/internal/store/segment/format"
	"candlemark/internal/store/segment/index"
)

// missing finds missing segments that should contain live messages.
func (r *Recovery) missing() {
	gone := map[*index.Segment]*Damage{}
	for _, id := range slices.Sorted(maps.Keys(r.Index.Queues)) {
		q := r.Index.Queues[id]
		for _, s := range q.Sets {
			if r.Known[s.Seg.Seq] != nil || s.Live == 0 {
				continue
			}
			d := gone[s.Seg]
			if d == nil {
				d = &Damage{File: index.SegmentName(s.Seg.Seq), Text: "segment is not there"}
				gone[s.Seg] = d
			}
			d.Messages = append(d.Messages, lost(id, s.Seqs())...)
			s.Live = 0
		}
		q.Drop()
	}
	for _, d := range gone {
		r.Damages = append(r.Damages, *d)
	}
}

// gap finds batches that are missing before a segment; batches are numbered without gaps. Only a later checkpoint knows
// their content. Without a checkpoint the log may begin later; that was already reported.
func (r *Recovery) gap(s *index.Segment, first uint64) {
	if first <= max(r.Number, 1) || r.fellBack && len(r.Checkpoints) == 0 {
		return
	}
	d := Damage{File: index.SegmentName(s.Seq - 1), Text: "segment is not there"}
	if r.Known[s.Seq-1] != nil {
		d = Damage{File: index.SegmentName(s.Seq), Offset: format.BatchesFrom, Text: "batches in front of it are missing"}
	}
	if !slices.ContainsFunc(r.Damages, func(o Damage) bool { return o.File == d.File }) {
		r.Damages = append(r.Damages, d)
	}
}

// guess looks for the seed of a segment whose header is lost and that no checkpoint knows. Its salt is that of its
// process, which its neighbours share.
func (r *Recovery) guess(s *index.Segment) (found bool) {
	tried := map[uint32]bool{}
	for _, o := range r.folder.Segments {
		salt := o.Seed ^ format.SeedOf(o.Seq, 0)
		if found || tried[salt] {
			continue
		}
		tried[salt] = true
		s.Seed = format.SeedOf(s.Seq, 0) ^ salt
		_, ok, err := r.first(s)
		found = ok && err == nil
	}
	return found
}
