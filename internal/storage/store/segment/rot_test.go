package segment

import (
	"encoding/binary"
	"errors"
	flags "flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/segment/recovery"
	"candlemark/internal/storage/store/storetest"
	"candlemark/internal/storage/store/vfs"
)

var rotTrials = flags.Int("rot-trials", 80, "how many bits are flipped")

// rotting is a folder in which one bit is flipped after a journal was used there.
type rotting struct {
	*testing.T
	fs     *vfs.Memory
	random *rand.Rand
	model  storetest.Model
	o      Options
	where  string
	// unclean: the journal was not closed, so damage at the end of the log cannot be distinguished from an incomplete write.
	unclean bool
	// exact: the bit is in one of two checkpoints, so that no message is lost.
	exact bool
}

const rotDir = "data/journal"

// TestRot: a flipped bit in data that was written is detected by Check or Open, and no message is returned with
// contents that were not written.
func TestRot(t *testing.T) {
	for seed := range uint64(*rotTrials) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 3))
				r := rotting{
					T: t, fs: vfs.NewMemory(seed), random: random, unclean: random.IntN(3) == 0,
					o: Options{SegmentSize: 16 << 10 << random.IntN(4), Settle: time.Duration(1+random.IntN(200)) * time.Millisecond},
				}
				r.work()
				r.flip()
				r.look()
			})
		})
	}
}

func (r *rotting) open() (*Journal, recovery.Report) {
	j, report, err := Open(r.fs, rotDir, r.o)
	if err != nil {
		r.Fatalf("%s: %v", r.where, err)
	}
	return j, report
}

// work appends records, and closes and reopens the journal now and then.
func (r *rotting) work() {
	j, _ := r.open()
	last := map[store.QueueID]uint64{}
	for n := 50 + r.random.IntN(400); n > 0; n-- {
		q := store.QueueID(1 + r.random.IntN(4))
		j.Append(q, storetest.Decide(r.random, &r.model, q, last), nil)
		if r.random.IntN(10) == 0 {
			time.Sleep(time.Duration(r.random.IntN(100)) * time.Millisecond)
		}
		if r.random.IntN(150) == 0 {
			_ = j.Close()
			j, _ = r.open()
			r.model.Forget()
		}
	}
	time.Sleep(time.Minute)
	if r.unclean {
		r.fs.CrashAfter(0)
	}
	if err := j.Close(); err != nil && !r.unclean {
		r.Fatal(err)
	}
	if r.unclean {
		r.fs.Crash()
	}
	r.model.Forget()
}

// flip flips a bit in the used part of a segment or a checkpoint. Zeros that fill a page are not used.
func (r *rotting) flip() {
	state, err := recovery.Inspect(r.fs, rotDir)
	if err != nil || len(state.Report.Damages) > 0 {
		r.Fatal(err, state.Report.Damages)
	}
	type part struct {
		name string
		vfs.Extent
	}
	var parts []part
	for seq, s := range state.Known {
		parts = append(parts, part{index.SegmentName(seq), vfs.Extent{Length: 2 * format.HeaderSize}})
		for range 3 { // most data remains
			if s.End > format.BatchesFrom {
				parts = append(parts, part{index.SegmentName(seq), vfs.Extent{At: format.BatchesFrom, Length: s.End - format.BatchesFrom}})
			}
		}
	}
	for _, number := range state.Checkpoints {
		f, err := r.fs.OpenRead(filepath.Join(rotDir, index.CheckpointName(number)))
		must(r, err)
		head := make([]byte, index.CheckpointHead)
		_, err = f.ReadAt(head, 0)
		must(r, err)
		size := int64(binary.LittleEndian.Uint64(head[10:])) // later bytes are not used
		parts = append(parts, part{index.CheckpointName(number), vfs.Extent{Length: size}})
	}
	if len(parts) == 0 {
		r.Skip("nothing was written")
	}
	p := parts[r.random.IntN(len(parts))]
	at := p.At + r.random.Int64N(p.Length)
	if !r.fs.Flip(filepath.Join(rotDir, p.name), at, r.random.IntN(8)) {
		r.Fatalf("no byte %d in %s", at, p.name)
	}
	_, checkpoint := recovery.Numbered(p.name, "checkpoint-", "")
	r.exact = checkpoint && len(state.Checkpoints) > 1
	r.where = fmt.Sprintf("%s at %d", p.name, at)
}

// look checks and reopens the journal.
func (r *rotting) look() {
	checked, err := recovery.Check(r.fs, rotDir)
	if err != nil {
		r.Fatalf("%s: check: %v", r.where, err)
	}
	j, report := r.open()
	defer func() { _ = j.Close() }()
	if len(checked.Damages)+len(report.Damages) == 0 && report.TornTail+checked.TornTail == 0 {
		r.Fatalf("%s: not found", r.where)
	}
	named := map[recovery.Lost]bool{}
	for _, d := range report.Damages {
		for _, l := range d.Messages {
			named[l] = true
		}
	}
	var unnamed []recovery.Lost
	for _, q := range r.model.Queues() {
		there := map[uint64]bool{}
		list := j.Take(q)
		if text := r.model.Now(q).Differs(list); r.exact && text != "" {
			r.Errorf("%s: queue %d: %s", r.where, q, text)
		}
		for i, c := range r.read(j, q, list) {
			there[c.Seq] = true
			if errors.Is(c.Err, store.ErrDamaged) {
				continue
			}
			if text := storetest.Same(c, storetest.Was(list[i], store.Put)); text != "" {
				r.Errorf("%s: queue %d: %s", r.where, q, text)
			}
		}
		for seq := range r.model.Now(q) {
			if !there[seq] && !named[recovery.Lost{Queue: q, Seq: seq}] {
				unnamed = append(unnamed, recovery.Lost{Queue: q, Seq: seq})
			}
		}
	}
	// Records after the last checkpoint are known only from the log: the message of an unreadable one is unknown.
	if most := map[bool]int{true: 1}[r.unclean]; len(unnamed) > most && report.TornTail == 0 {
		r.Errorf("%s: lost and not named: %v; %v", r.where, unnamed, report.Damages)
	}
}

func (r *rotting) read(j *Journal, q store.QueueID, list []store.Recovered) []store.Content {
	refs := make([]store.Ref, len(list))
	for i, m := range list {
		refs[i] = store.Ref{Seq: m.Seq, At: m.At}
	}
	done := make(chan []store.Content, 1)
	j.Read(q, refs, func(c []store.Content) { done <- c })
	return <-done
}
