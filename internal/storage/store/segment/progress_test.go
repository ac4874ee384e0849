package segment

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/segment/progress"
	"candlemark/internal/storage/store/segment/recovery"
	"candlemark/internal/storage/store/vfs"
)

const journalDir = "/data/journal"

// contents returns a file as the page cache has it.
func contents(t *testing.T, m vfs.FS, name string) []byte {
	t.Helper()
	size, err := m.Stat(journalDir + "/" + name)
	must(t, err)
	f, err := m.OpenRead(journalDir + "/" + name)
	must(t, err)
	b, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	must(t, errors.Join(err, f.Close()))
	return b
}

// put replaces a file, or removes it if b is nil.
func put(t *testing.T, m vfs.FS, name string, b []byte) {
	t.Helper()
	path := journalDir + "/" + name
	_ = m.Remove(path)
	if b != nil {
		f, err := m.Create(path, int64(len(b)))
		must(t, err)
		_, err = f.WriteAt(b, 0)
		must(t, errors.Join(err, f.Sync(), f.Close()))
	}
	must(t, m.SyncDir(journalDir))
}

// died kills the process of a journal: its writes remain, synced or not.
func died(m *vfs.Memory, j *opened) {
	m.CrashAfter(0)
	_ = j.Close()
	m.Kill()
}

// written returns a journal of several segments with n messages and an older copy of the newest segment. stopped: it was
// closed, otherwise its process was killed, without a checkpoint of most of the messages.
func written(t *testing.T, stopped bool) (m *vfs.Memory, n uint64, newest string, older []byte) {
	n = 40
	m = vfs.NewMemory(1)
	must(t, m.MakeDir("/data"))
	j := open(t, m, journalDir, Options{SegmentSize: 64 << 10, Settle: time.Hour})
	for seq := range n {
		j.must(5, message(seq, strings.Repeat("body", 1200)))
	}
	for was := j.progress.Now().Newest; j.progress.Now().Newest == was; n++ {
		j.must(5, message(n, strings.Repeat("body", 1200)))
	}
	newest = index.SegmentName(j.progress.Now().Newest)
	older = contents(t, m, newest)
	j.must(5, message(n, strings.Repeat("body", 1200))) // two fit into the shortest segment
	n++
	if !stopped {
		for j.progress.Behind() { // the mark is written after the append is done
			runtime.Gosched()
		}
		died(m, j)
		return m, n, newest, older
	}
	j.close()
	return m, n, newest, older
}

// TestEndOfTheLogIsMissed: missing segments and batches at the end of the log are damage, although nothing follows that
// would show the gap.
func TestEndOfTheLogIsMissed(t *testing.T) {
	before := func(newest string, n int) string {
		seq, _ := recovery.Numbered(newest, "", ".segment")
		return index.SegmentName(seq - uint64(n))
	}
	for name, damage := range map[string]func(t *testing.T, m *vfs.Memory, newest string, older []byte) (files []string){
		"newest removed": func(t *testing.T, m *vfs.Memory, newest string, _ []byte) []string {
			put(t, m, newest, nil)
			return []string{newest}
		},
		"two removed": func(t *testing.T, m *vfs.Memory, newest string, _ []byte) []string {
			put(t, m, newest, nil)
			put(t, m, before(newest, 1), nil)
			return []string{before(newest, 1), newest}
		},
		"all removed": func(t *testing.T, m *vfs.Memory, newest string, _ []byte) []string {
			for n := range 10 {
				put(t, m, before(newest, n), nil)
			}
			return []string{newest}
		},
		"newest emptied": func(t *testing.T, m *vfs.Memory, newest string, _ []byte) []string {
			put(t, m, newest, []byte{})
			return []string{newest}
		},
		"newest zeroed": func(t *testing.T, m *vfs.Memory, newest string, _ []byte) []string {
			put(t, m, newest, make([]byte, 64<<10))
			return []string{newest}
		},
		"only the header of the newest": func(t *testing.T, m *vfs.Memory, newest string, _ []byte) []string {
			put(t, m, newest, contents(t, m, newest)[:4096])
			return []string{newest}
		},
		"newest cut": func(t *testing.T, m *vfs.Memory, newest string, older []byte) []string {
			put(t, m, newest, contents(t, m, newest)[:6<<10])
			return []string{newest}
		},
		"an older copy": func(t *testing.T, m *vfs.Memory, newest string, older []byte) []string {
			put(t, m, newest, older)
			return []string{newest}
		},
	} {
		for _, stopped := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, stopped=%v", name, stopped), func(t *testing.T) {
				m, n, newest, older := written(t, stopped)
				wasMark, _ := progress.Read(m, journalDir)
				want := damage(t, m, newest, older)
				checked, err := recovery.Check(m, journalDir)
				must(t, err)
				j := open(t, m, journalDir, Options{SegmentSize: 64 << 10})
				for _, report := range []recovery.Report{checked, j.report} {
					for _, file := range want {
						if !slices.ContainsFunc(report.Damages, func(d recovery.Damage) bool { return d.File == file }) {
							t.Errorf("%s is not named: %v", file, report.Damages)
						}
					}
				}
				got := j.Take(5)
				named, unread := 0, 0
				for _, d := range j.report.Damages {
					named += len(d.Messages)
					unread += d.Unread
				}
				if lost := int(n) - len(got); lost == 0 || named+unread < lost && len(want) == 1 && name != "all removed" {
					t.Errorf("%d of %d are lost: %v %s %+v %+v", lost, n, j.report.Damages, newest, wasMark, checked)
				}
				j.must(5, message(1000, "goes on"))
				died(m, j)
				if j = open(t, m, journalDir, Options{SegmentSize: 64 << 10}); len(j.Take(5)) != len(got)+1 {
					t.Errorf("%+v", j.report)
				}
				j.must(5, store.Record{Kind: store.Remove, First: 0, Last: 2000})
				j.close()
			})
		}
	}
}

// TestDurableBatchIsNotTorn: a batch that was durable is damage if it cannot be read, even the last one, and its
// readable records count.
func TestDurableBatchIsNotTorn(t *testing.T) {
	m := vfs.NewMemory(1)
	must(t, m.MakeDir("/data"))
	j := open(t, m, journalDir, Options{})
	put := j.must(5, messages(1, 3, strings.Repeat("body", 100))...)
	for j.progress.Behind() {
		runtime.Gosched()
	}
	died(m, j)
	_, at := format.PlaceOf(put[1].Position)
	flip(t, m, firstSegment, at+30)
	j = open(t, m, journalDir, Options{})
	if got := seqs(j.Take(5)); !slices.Equal(got, []uint64{1, 3}) || j.report.TornTail > 0 || len(j.report.Damages) != 1 || j.report.Damages[0].Unread != 1 {
		t.Errorf("%v %+v", got, j.report)
	}
}

// TestLostCheckpoints: with one of two checkpoints missing nothing is lost. Without any, settled messages may return;
// that is damage.
func TestLostCheckpoints(t *testing.T) {
	for missing, damages := range []int{0, 0, 1} {
		for _, stopped := range []bool{true, false} {
			m, n, _, _ := written(t, stopped)
			names, err := m.List(journalDir)
			must(t, err)
			names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, "checkpoint-") })
			for _, name := range names[2-missing:] {
				put(t, m, name, nil)
			}
			j := open(t, m, journalDir, Options{SegmentSize: 64 << 10})
			if got := j.Take(5); len(got) != int(n) || len(j.report.Damages) != damages {
				t.Errorf("%d checkpoints missing, stopped=%v: %d messages, %v", missing, stopped, len(got), j.report.Damages)
			}
			j.close()
		}
	}
}

// TestIdentity: a journal is recognized as the one that belongs to the definitions, also in a copy; without its file, or
// as a whole, it is missed.
func TestIdentity(t *testing.T) {
	m, _, _, _ := written(t, true)
	report, err := recovery.Check(m, journalDir)
	must(t, err)
	id := report.Journal
	if id == 0 {
		t.Fatal("no identity")
	}
	for name, c := range map[string]struct {
		do   func()
		want string
	}{
		"itself":  {func() {}, ""},
		"no file": {func() { put(t, m, progress.Name, nil) }, "progress at 0: the file is missing"},
		"damaged": {func() { put(t, m, progress.Name, make([]byte, 8192)) }, "progress at 0: the file is damaged"},
		"another": {func() {
			put(t, m, progress.Name, progress.Contents(progress.Mark{Journal: id + 2}))
		}, "progress at 0: this is not the journal"},
		"nothing": {func() {
			names, err := m.List(journalDir)
			must(t, err)
			for _, name := range names {
				put(t, m, name, nil)
			}
		}, "journal at 0: the journal that belongs to the definitions is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			m, _, _, _ = written(t, true)
			report, err := recovery.Check(m, journalDir)
			must(t, err)
			id = report.Journal
			c.do()
			for range 2 {
				report, err = recovery.Check(m, journalDir)
				must(t, err)
				report.Expect(0)
				report.Expect(id)
				if text := fmt.Sprint(report.Damages); c.want == "" && len(report.Damages) > 0 || !strings.Contains(text, c.want) || len(report.Damages) > 1 {
					t.Error(text)
				}
			}
			j := open(t, m, journalDir, Options{})
			if now := j.Stats().Journal; now == 0 || (now == id) != (c.want == "") {
				t.Errorf("the identity is %d, and was %d", now, id)
			}
			j.close()
		})
	}
}

// TestMarkNeedsRoom: without room for the mark the journal works, and makes it with the next segment.
func TestMarkNeedsRoom(t *testing.T) {
	m := vfs.NewMemory(1)
	must(t, m.MakeDir("/data"))
	m.Fail(func(o vfs.Operation) *vfs.Fault {
		if o.Kind == vfs.Create && strings.Contains(o.Name, progress.Name) {
			return &vfs.Fault{Err: vfs.ErrFull}
		}
		return nil
	})
	j := open(t, m, journalDir, Options{SegmentSize: 64 << 10})
	if j.Stats().Journal != 0 {
		t.Error("it has an identity")
	}
	j.must(5, message(1, "stored"))
	m.Fail(nil)
	j.must(5, messages(2, 40, strings.Repeat("body", 1200))...)
	if j.Stats().Journal == 0 {
		t.Error("it has no identity")
	}
	j.close()
}
