package segment

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

	"candlemark/internal/store"
	"candlemark/internal/store/vfs"
)

// Check reads everything in a journal's folder, also what nothing lives in any more,
// and changes nothing. Nobody else may have the journal open.
func Check(fs vfs.FS, dir string) (Report, error) {
	start := time.Now()
	r, err := inspect(fs, dir)
	if err != nil {
		return Report{}, err
	}
	for _, seq := range slices.Sorted(maps.Keys(r.known)) {
		s := r.known[seq]
		all := newScan(s, s.end)
		if err := r.opened(s, all.read); err != nil {
			return Report{}, fmt.Errorf("journal: read %s: %w", segmentName(seq), err)
		}
		r.merge(all)
	}
	for _, number := range r.checkpoints[min(1, len(r.checkpoints)):] { // the newest was read
		if _, err := readCheckpoint(fs, filepath.Join(dir, checkpointName(number))); errors.Is(err, errCheckpoint) {
			r.damages = append(r.damages, Damage{File: checkpointName(number), Text: "an older checkpoint is not what was written"})
		} else if err != nil {
			return Report{}, fmt.Errorf("journal: %w", err)
		}
	}
	r.report.Damages = r.damages
	r.report.Duration = time.Since(start)
	return r.report, nil
}

func inspect(fs vfs.FS, dir string) (*recovery, error) {
	f, err := look(fs, dir)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	r, err := f.recover()
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return r, nil
}

// Dump writes one line for each queue of which there is a name, and one for each record
// of a journal, in the order of the log.
// Messages that live are marked.
func Dump(fs vfs.FS, dir string, to io.Writer) error {
	r, err := inspect(fs, dir)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(to)
	for _, id := range slices.Sorted(maps.Keys(r.report.Names)) {
		fmt.Fprintf(out, "queue %d is the %s\n", id, r.report.Names[id])
	}
	for _, seq := range slices.Sorted(maps.Keys(r.known)) {
		s := r.known[seq]
		fmt.Fprintf(out, "%s: %d bytes, the batches end at %d, %d messages live\n", segmentName(seq), s.size, s.end, s.live)
		if err := r.opened(s, func() error { return r.dump(s, out) }); err != nil {
			return fmt.Errorf("journal: read %s: %w", segmentName(seq), err)
		}
	}
	for _, d := range r.report.Damages {
		fmt.Fprintln(out, "damage:", d)
	}
	return out.Flush()
}

func (r *recovery) dump(s *segment, out io.Writer) error {
	w := newWalker(s, batchesFrom)
	w.until, w.limit = s.end, math.MaxUint64-1
	for number, ok := uint64(0), true; ok; {
		number, ok = w.next(number, func(e *entry) { r.line(s, e, out) })
	}
	return w.fault
}

func (r *recovery) line(s *segment, e *entry, out io.Writer) {
	v := &e.record
	if v.Kind == store.Named {
		fmt.Fprintf(out, "%10d  %-9s queue %d, %s\n", e.at, kindName(v.Kind), e.queue, v.Name())
		return
	}
	if v.Kind == store.Rescheduled {
		fmt.Fprintf(out, "%10d  %-9s queue %d, %d, at %s\n", e.at, kindName(v.Kind), e.queue, v.First, stamp(v.Due))
		return
	}
	if !e.isMessage() {
		fmt.Fprintf(out, "%10d  %-9s queue %d, %d to %d, at %s\n", e.at, kindName(v.Kind), e.queue, v.First, v.Last, stamp(v.Time))
		return
	}
	state := "gone"
	if q := r.index.queues[e.queue]; q != nil {
		if in, _, _ := q.holder(v.First); in != nil && in.seg == s {
			state = "live"
		}
	}
	if e.damaged {
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
		e.at, kindName(v.Kind), e.queue, v.First, stamp(v.Time), state, v.Exchange, v.RoutingKey, e.body, ends)
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

func kindName(k store.Kind) string {
	return [...]string{"", "put", "spill", "delivered", "returned", "remove", "retire", "released", "due", "named"}[k]
}

// Repair brings a journal into order: damaged files are copied to the folder
// quarantine beside it, what cannot be read is given up, what can be is moved out of
// them, and a checkpoint says what is left. A broker that starts does the same, the
// moving a little later.
func Repair(fs vfs.FS, dir string) (Report, error) {
	f, err := look(fs, dir)
	if err != nil {
		return Report{}, fmt.Errorf("journal: %w", err)
	}
	o := Options{}
	if len(f.segments) > 0 {
		o.SegmentSize = f.segments[0].size
	}
	j, report, err := load(fs, dir, o)
	if err != nil {
		return Report{}, err
	}
	j.start()
	for err == nil && j.worth() {
		err = j.round()
	}
	if err == nil {
		err = j.checkpoint()
	}
	j.startKeeper()
	return report, errors.Join(err, j.Close())
}
