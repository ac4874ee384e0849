package recovery

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/vfs"
)

// Check reads everything in a journal's folder, also segments without live messages, and changes nothing. The journal
// must not be open elsewhere.
func Check(fs vfs.FS, dir string) (Report, error) {
	start := time.Now()
	r, err := Inspect(fs, dir)
	if err != nil {
		return Report{}, err
	}
	for _, seq := range slices.Sorted(maps.Keys(r.Known)) {
		s := r.Known[seq]
		all := NewScan(s, s.End)
		if err := r.opened(s, all.Read); err != nil {
			return Report{}, fmt.Errorf("journal: read %s: %w", index.SegmentName(seq), err)
		}
		r.merge(all)
	}
	for _, number := range r.Checkpoints[min(1, len(r.Checkpoints)):] { // the newest was read
		if _, err := index.ReadCheckpoint(fs, filepath.Join(dir, index.CheckpointName(number))); errors.Is(err, index.ErrCheckpoint) {
			r.Damages = append(r.Damages, Damage{File: index.CheckpointName(number), Text: "an older checkpoint is damaged"})
		} else if err != nil {
			return Report{}, fmt.Errorf("journal: %w", err)
		}
	}
	r.Report.Damages = r.Damages
	r.Report.Duration = time.Since(start)
	return r.Report, nil
}

// Inspect lists the contents of the folder of a journal that is not open.
func Inspect(fs vfs.FS, dir string) (*Recovery, error) {
	f, err := Look(fs, dir)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	r, err := f.Recover()
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return r, nil
}

// Dump writes one line for each queue with a recorded name, and one for each record of a journal, in the order of the
// log. Live messages are marked.
func Dump(fs vfs.FS, dir string, to io.Writer) error {
	r, err := Inspect(fs, dir)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(to)
	for _, id := range slices.Sorted(maps.Keys(r.Report.Names)) {
		fmt.Fprintf(out, "queue %d is the %s\n", id, r.Report.Names[id])
	}
	for _, seq := range slices.Sorted(maps.Keys(r.Known)) {
		s := r.Known[seq]
		fmt.Fprintf(out, "%s: %d bytes, the batches end at %d, %d messages live\n", index.SegmentName(seq), s.Size, s.End, s.Live)
		if err := r.opened(s, func() error { return r.dump(s, out) }); err != nil {
			return fmt.Errorf("journal: read %s: %w", index.SegmentName(seq), err)
		}
	}
	for _, d := range r.Report.Damages {
		fmt.Fprintln(out, "damage:", d)
	}
	return out.Flush()
}

func (r *Recovery) dump(s *index.Segment, out io.Writer) error {
	w := s.Walker(format.BatchesFrom)
	w.Until, w.Limit = s.End, math.MaxUint64-1
	for number, ok := uint64(0), true; ok; {
		number, ok = w.Next(number, func(e *format.Entry) { r.line(s, e, out) })
	}
	return w.Fault
}

func (r *Recovery) line(s *index.Segment, e *format.Entry, out io.Writer) {
	v := &e.Record
	if v.Kind == store.Named {
		fmt.Fprintf(out, "%10d  %-9s queue %d, %s\n", e.At, kindName(v.Kind), e.Queue, v.Name())
		return
	}
	if v.Kind == store.Rescheduled {
		fmt.Fprintf(out, "%10d  %-9s queue %d, %d, at %s\n", e.At, kindName(v.Kind), e.Queue, v.First, stamp(v.Due))
		return
	}
	if !e.IsMessage() {
		at := v.Time
		if v.Kind == store.Postponed {
			at = v.Until
		}
		fmt.Fprintf(out, "%10d  %-9s queue %d, %d to %d, at %s\n", e.At, kindName(v.Kind), e.Queue, v.First, v.Last, stamp(at))
		return
	}
	state := "gone"
	if q := r.Index.Queues[e.Queue]; q != nil {
		if in := q.Holder(v.First); in != nil && in.Seg == s {
			state = "live"
		}
	}
	if e.Damaged {
		state = "damaged"
	}
	deadline := "never"
	if v.Deadline != store.Never {
		deadline = stamp(v.Deadline)
	}
	ends := "expires " + deadline
	if v.Due != 0 {
		ends = "due " + stamp(v.Due)
	}
	fmt.Fprintf(out, "%10d  %-9s queue %d, %d, at %s, %s, exchange %q, key %q, %d bytes, %s\n",
		e.At, kindName(v.Kind), e.Queue, v.First, stamp(v.Time), state, v.Exchange, v.RoutingKey, e.Body, ends)
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

func kindName(k store.Kind) string {
	return [...]string{"", "put", "spill", "delivered", "returned", "remove", "retire", "released", "due", "named", "deferred", "postponed"}[k]
}
