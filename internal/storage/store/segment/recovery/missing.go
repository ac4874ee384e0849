package recovery

import (
	"maps"
	"slices"

	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
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
				d = &Damage{File: index.SegmentName(s.Seg.Seq), Text: notThereText}
				gone[s.Seg] = d
			}
			d.Messages = append(d.Messages, lost(id, s.Seqs())...)
			s.Live = 0
		}
		q.Drop()
	}
	for _, d := range gone {
		r.damaged(*d)
	}
}

// notThereText is the text of the damage that a segment is missing.
const notThereText = "segment is missing"

// damaged adds damage, joined with damage at the same place.
func (r *Recovery) damaged(d Damage) {
	i := slices.IndexFunc(r.Damages, func(o Damage) bool { return o.File == d.File && o.Offset == d.Offset })
	if i < 0 {
		r.Damages = append(r.Damages, d)
		return
	}
	r.Damages[i].Messages = append(r.Damages[i].Messages, d.Messages...)
	r.Damages[i].Unread = max(r.Damages[i].Unread, d.Unread)
}

// gap finds missing batches before a segment; batches are numbered without gaps. Only a later checkpoint knows their
// content. Without a checkpoint the log may begin later; recovery has already reported this.
func (r *Recovery) gap(s *index.Segment, first uint64) {
	if first <= max(r.Number, 1) || r.fellBack && len(r.Checkpoints) == 0 {
		return
	}
	d := Damage{File: index.SegmentName(s.Seq - 1), Text: notThereText, Batches: first - max(r.Number, 1)}
	switch before := r.Known[s.Seq-1]; {
	case before != nil && before.End == format.BatchesFrom:
		d.Offset, d.Text = before.End, "its batches are missing"
	case before != nil:
		d.File, d.Offset, d.Text = index.SegmentName(s.Seq), format.BatchesFrom, "batches before it are missing"
	}
	r.alsoDamaged(d)
}

// alsoDamaged adds damage of a file, or what is known of it if the file has other damage.
func (r *Recovery) alsoDamaged(d Damage) {
	if i := slices.IndexFunc(r.Damages, func(o Damage) bool { return o.File == d.File }); i >= 0 {
		r.Damages[i].Batches = max(r.Damages[i].Batches, d.Batches)
		return
	}
	r.Damages = append(r.Damages, d)
}

// wasWritten reports whether batches that were durable follow the ones replayed so far, in this segment.
func (r *Recovery) wasWritten(s *index.Segment) bool {
	return s.Seq == r.Mark.Segment && r.Number <= r.Mark.Batch
}

// there reports whether a segment has a file, even an unreadable one.
func (r *Recovery) there(seq uint64) bool {
	return r.Known[seq] != nil || slices.ContainsFunc(r.unknown, func(s *index.Segment) bool { return s.Seq == seq })
}

// end finds missing segments and batches at the end of the log: the mark says that they were durable. Earlier segments
// than the one where replay begins may have been recycled.
func (r *Recovery) end() {
	m := &r.Mark
	if m.Newest > 0 && m.Newest >= r.Begin && !r.there(m.Newest) {
		r.damaged(Damage{File: index.SegmentName(m.Newest), Text: notThereText})
	}
	if m.Batch == 0 || r.Number > m.Batch {
		return
	}
	d := Damage{File: index.SegmentName(m.Segment), Unread: int(m.Records), Text: notThereText}
	if s := r.Known[m.Segment]; s != nil {
		d.Offset, d.Text = s.End, "the last batches are missing"
	}
	r.damaged(d)
	if r.Number < m.First && r.Known[m.Segment-1] == nil {
		r.alsoDamaged(Damage{File: index.SegmentName(m.Segment - 1), Text: notThereText})
	}
	r.Number = m.Batch + 1
}

// guess looks for the seed of a segment whose header is lost and that no checkpoint knows. Its salt is its process's,
// as in the neighbouring segments.
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
