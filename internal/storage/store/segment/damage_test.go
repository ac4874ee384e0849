package segment

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/progress"
	"candlemark/internal/storage/store/segment/recovery"
	"candlemark/internal/storage/store/vfs"
)

// flip changes one bit of a file.
func flip(t *testing.T, m vfs.FS, path string, at int64) {
	t.Helper()
	f, err := m.Open(path)
	must(t, err)
	b := make([]byte, 1)
	_, err = f.ReadAt(b, at)
	must(t, err)
	b[0] ^= 4
	_, err = f.WriteAt(b, at)
	must(t, errors.Join(err, f.Sync(), f.Close()))
}

// kill ends a journal as a power failure does.
func (o *opened) kill(m *vfs.Memory) {
	m.CrashAfter(0)
	_ = o.Close()
	m.Crash()
}

// three makes a journal with three batches of one message each.
func three(t *testing.T) (*vfs.Memory, *opened, []store.Record) {
	m := vfs.NewMemory(1)
	must(t, m.MakeDir("/data"))
	j := open(t, m, "/data/journal", Options{})
	var put []store.Record
	for seq := range uint64(3) {
		put = append(put, j.must(5, message(seq, strings.Repeat("body", 100)))...)
	}
	return m, j, put
}

// unmarked removes the mark that a batch was durable, so that the last batch may count as unfinished.
func unmarked(t *testing.T, m *vfs.Memory) {
	t.Helper()
	must(t, errors.Join(m.Remove("/data/journal/"+progress.Name), m.SyncDir("/data/journal")))
}

const firstSegment = "/data/journal/0000000001.segment"

func TestDamageIsFoundAndNamed(t *testing.T) {
	_, _, put := three(t)
	_, second := format.PlaceOf(put[1].Position)
	for name, c := range map[string]struct {
		at   int64
		lost []uint64
		text string
	}{
		"header":           {10, nil, "header"},
		"copy of header":   {format.HeaderSize + 100, nil, "header"},
		"head of batch":    {second - format.BatchHead + 3, nil, "batch"},
		"number of batch":  {second - format.BatchHead + 9, nil, "batch"},
		"head of a record": {second + 20, []uint64{1}, "batch"},
		"lengths":          {second + 61, []uint64{1}, "batch"},
		"strings":          {second + format.PutHead + 2, []uint64{1}, "batch"},
		"body":             {second + format.PutHead + 60, []uint64{1}, "batch"},
	} {
		for _, clean := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, clean=%v", name, clean), func(t *testing.T) {
				m, j, _ := three(t)
				if clean {
					j.close()
				} else {
					j.kill(m)
				}
				flip(t, m, firstSegment, c.at)
				j = open(t, m, "/data/journal", Options{})
				var lost []uint64
				for _, d := range j.report.Damages {
					if d.File != "0000000001.segment" || !strings.Contains(d.Text, c.text) {
						t.Error(d)
					}
					for _, l := range d.Messages {
						lost = append(lost, l.Seq)
					}
				}
				// If a message was not in a checkpoint yet and its record is unreadable, its number is unknown.
				if got := 3 - len(j.Take(5)); got != len(c.lost) || clean && !slices.Equal(lost, c.lost) || len(j.report.Damages) != 1 {
					t.Errorf("%d lost, named %v: %v", got, lost, j.report.Damages)
				}
				unread := 0
				for _, d := range j.report.Damages {
					unread += d.Unread
				}
				if missing := len(c.lost) - len(lost); unread < missing || c.text == "batch" && strings.Contains(name, "record") && unread != missing {
					t.Errorf("%d are lost without a name, %d are said to be", missing, unread)
				}
				if _, err := m.Stat("/data/quarantine/0000000001.segment"); err != nil {
					t.Error(err)
				}
				j.must(5, message(10, "goes on"))
				j.close()
				if _, err := Repair(m, "/data/journal"); err != nil {
					t.Error(err)
				}
				if r, err := recovery.Check(m, "/data/journal"); err != nil || len(r.Damages) > 0 || r.Messages != 4-len(c.lost) {
					t.Errorf("after repair: %v, %+v", err, r)
				}
			})
		}
	}
}

func TestReadRefusesDamage(t *testing.T) {
	m, j, put := three(t)
	_, second := format.PlaceOf(put[1].Position)
	flip(t, m, firstSegment, second+format.PutHead+100)
	for i, c := range j.read(5, refs(put)...) {
		if i == 1 && !errors.Is(c.Err, store.ErrDamaged) || i != 1 && (c.Err != nil || !same(c.Record, put[i])) {
			t.Errorf("%d: %v", i, c.Err)
		}
	}
	if c := j.read(5, store.Ref{Seq: 0, At: put[1].Position}, store.Ref{Seq: 2}, store.Ref{Seq: 9, At: 5}); !errors.Is(c[0].Err, store.ErrDamaged) ||
		!errors.Is(c[1].Err, store.ErrUnknown) || !errors.Is(c[2].Err, store.ErrUnknown) {
		t.Error(c)
	}
}

func TestTornTailIsCut(t *testing.T) {
	_, _, put := three(t)
	_, third := format.PlaceOf(put[2].Position)
	for name, at := range map[string]int64{"head of batch": third - 20, "record": third + 5, "body": third + format.PutHead + 100} {
		t.Run(name, func(t *testing.T) {
			m, j, _ := three(t)
			j.kill(m)
			unmarked(t, m)
			flip(t, m, firstSegment, at)
			for life := range 3 {
				j = open(t, m, "/data/journal", Options{})
				if got := seqs(j.Take(5)); !slices.Equal(got, []uint64{0, 1, 50, 51}[:2+life]) || len(j.report.Damages) > 0 || (j.report.TornTail > 0) != (life == 0) {
					t.Fatalf("life %d: %v, %+v", life, got, j.report)
				}
				j.must(5, message(50+uint64(life), "later"))
				j.kill(m)
			}
		})
	}
}

// TestTornTail_AtPage: bytes at the beginning of a page after the last batch may be from an earlier use of the file.
// They are a torn batch if the batch head or the first record belongs to this place.
func TestTornTail_AtPage(t *testing.T) {
	for name, before := range map[string]int{"first batch": 0, "second page": 1} {
		for at, what := range map[int64]string{9: "head of batch", format.BatchHead + 20: "record"} {
			t.Run(name+", "+what, func(t *testing.T) {
				m := vfs.NewMemory(1)
				must(t, m.MakeDir("/data"))
				j := open(t, m, "/data/journal", Options{})
				if before > 0 {
					empty := message(1, "")
					j.must(5, message(1, strings.Repeat("b", int(format.PageSize-format.BatchHead-format.PutSize(&empty)))))
				}
				j.must(5, message(2, "body"))
				j.kill(m)
				unmarked(t, m)
				flip(t, m, firstSegment, format.BatchesFrom+int64(before)*format.PageSize+at)
				for _, torn := range []bool{true, false} {
					j = open(t, m, "/data/journal", Options{})
					if got := j.Take(5); len(got) != before || len(j.report.Damages) > 0 || (j.report.TornTail > 0) != torn {
						t.Errorf("%d messages, %+v", len(got), j.report)
					}
					j.kill(m)
				}
			})
		}
	}
}

func TestOlderCheckpointServes(t *testing.T) {
	for damaged := range 3 {
		t.Run(fmt.Sprint(damaged), func(t *testing.T) {
			m, j, _ := three(t)
			j.close()
			for seq := uint64(3); seq < 6; seq++ {
				j = open(t, m, "/data/journal", Options{})
				j.must(5, message(seq, "more"), run(store.Remove, seq-3, seq-3))
				j.close()
			}
			names, err := m.List("/data/journal")
			must(t, err)
			names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, "checkpoint-") })
			if len(names) != 2 {
				t.Fatal(names)
			}
			for i := range damaged {
				flip(t, m, "/data/journal/"+names[len(names)-1-i], 30)
			}
			j = open(t, m, "/data/journal", Options{})
			if got := seqs(j.Take(5)); !slices.Equal(got, []uint64{3, 4, 5}) || len(j.report.Damages) != damaged || j.report.Clean != (damaged == 0) {
				t.Fatalf("%v %+v", got, j.report)
			}
			j.must(5, message(6, "more"))
			j.kill(m)
			j = open(t, m, "/data/journal", Options{})
			if got := seqs(j.Take(5)); !slices.Equal(got, []uint64{3, 4, 5, 6}) || len(j.report.Damages) != 0 {
				t.Fatalf("%v %+v", got, j.report)
			}
		})
	}
}

func TestMissingSegmentIsReported(t *testing.T) {
	m, j, _ := three(t)
	j.close()
	must(t, errors.Join(m.Remove(firstSegment), m.SyncDir("/data/journal")))
	j = open(t, m, "/data/journal", Options{})
	if len(j.report.Damages) != 1 || len(j.report.Damages[0].Messages) != 3 || len(j.Queues()) != 0 {
		t.Fatalf("%+v", j.report)
	}
}

func TestFailedSyncEndsTheJournal(t *testing.T) {
	for _, kind := range []vfs.Kind{vfs.Sync, vfs.Write} {
		m := vfs.NewMemory(1)
		must(t, m.MakeDir("/data"))
		failures := make(chan error, 2)
		j := open(t, m, "/data/journal", Options{OnFailure: func(err error) { failures <- err }})
		j.must(1, message(1, "stored"))
		broken := errors.New("broken")
		m.Fail(func(o vfs.Operation) *vfs.Fault {
			if o.Kind == kind {
				return &vfs.Fault{Err: broken}
			}
			return nil
		})
		if err := j.append(1, message(2, "lost")); !errors.Is(err, broken) {
			t.Fatal(err)
		}
		m.Fail(nil)
		if err := j.append(1, message(3, "lost")); !errors.Is(err, broken) {
			t.Fatal(err)
		}
		if err := <-failures; !errors.Is(err, broken) || !errors.Is(j.Close(), broken) || len(failures) > 0 {
			t.Fatal(err)
		}
		m.Crash()
		j = open(t, m, "/data/journal", Options{})
		if got := seqs(j.Take(1)); got[0] != 1 || len(got) > 2 || len(j.report.Damages) > 0 {
			t.Fatalf("%v, %+v", got, j.report)
		}
	}
}

func TestOpenNeedsAFolder(t *testing.T) {
	m := vfs.NewMemory(1)
	if _, err := recovery.Check(m, "/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Repair(m, "/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
