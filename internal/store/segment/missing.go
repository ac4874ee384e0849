package segment

import (
	"maps"
	"slices"
)

// missing finds segments in which something should live and that are not there.
func (r *recovery) missing() {
	gone := map[*segment]*Damage{}
	for _, id := range slices.Sorted(maps.Keys(r.index.queues)) {
		q := r.index.queues[id]
		for _, s := range q.sets {
			if r.known[s.seg.seq] != nil || s.live == 0 {
				continue
			}
			d := gone[s.seg]
			if d == nil {
				d = &Damage{File: segmentName(s.seg.seq), Text: "segment is not there"}
				gone[s.seg] = d
			}
			d.Messages = append(d.Messages, s.names(id)...)
			s.live = 0
		}
		q.drop()
	}
	for _, d := range gone {
		r.damages = append(r.damages, *d)
	}
}

// gap finds batches that are missing in front of a segment: they are numbered without
// gaps. What was in them nobody knows but a checkpoint that came later. Without any
// checkpoint the log may well begin later; that was reported.
func (r *recovery) gap(s *segment, first uint64) {
	if first <= max(r.number, 1) || r.fellBack && len(r.checkpoints) == 0 {
		return
	}
	d := Damage{File: segmentName(s.seq - 1), Text: "segment is not there"}
	if r.known[s.seq-1] != nil {
		d = Damage{File: segmentName(s.seq), Offset: batchesFrom, Text: "batches in front of it are missing"}
	}
	if !slices.ContainsFunc(r.damages, func(o Damage) bool { return o.File == d.File }) {
		r.damages = append(r.damages, d)
	}
}

// guess looks for the seed of a segment whose header is lost and that no checkpoint
// knows. It has the salt of its process, as those beside it.
func (r *recovery) guess(s *segment) (found bool) {
	tried := map[uint32]bool{}
	for _, o := range r.folder.segments {
		salt := o.seed ^ seedOf(o.seq, 0)
		if found || tried[salt] {
			continue
		}
		tried[salt] = true
		s.seed = seedOf(s.seq, 0) ^ salt
		_, ok, err := r.first(s)
		found = ok && err == nil
	}
	return found
}
