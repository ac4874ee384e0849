package segment

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/vfs"
)

// alarms records what a journal reports about its disk.
type alarms struct {
	full   []bool
	failed error
}

func (a *alarms) options() Options {
	return Options{
		SegmentSize: smallSegment, OnFull: func(full bool) { a.full = append(a.full, full) }, OnFailure: func(err error) { a.failed = err },
	}
}

// TestNoRoomInReservedSpace_DUR4: a file system that copies on write may have no room for what is written into a file,
// although it was reserved. Wherever that happens, the alarm is raised, and nothing is confirmed until there is room;
// then everything continues, and a crash loses nothing that was confirmed. Any other error ends the journal.
func TestNoRoomInReservedSpace_DUR4(t *testing.T) {
	kinds := map[string]vfs.Kind{"write": vfs.Write, "sync": vfs.Sync, "rename": vfs.Rename, "sync of the folder": vfs.SyncDir, "remove": vfs.Remove}
	broken := errors.New("broken")
	for name, kind := range kinds {
		for _, problem := range []error{vfs.ErrFull, broken} {
			for nth := range 6 {
				t.Run(fmt.Sprintf("%s %d, %v", name, nth, problem), func(t *testing.T) {
					bubble(t, func(t *testing.T, fs *vfs.Memory) { withoutRoom(t, fs, kind, nth, problem) })
				})
			}
		}
	}
}

// withoutRoom lets operations of a kind fail with an error, after nth others, while messages are published.
func withoutRoom(t *testing.T, fs *vfs.Memory, kind vfs.Kind, nth int, problem error) {
	var a alarms
	j := open(t, fs, "/data/journal", a.options())
	n, hit := 0, false
	fs.Fail(func(o vfs.Operation) *vfs.Fault {
		if o.Kind != kind {
			return nil
		}
		n++
		if hit = hit || n > nth; !hit {
			return nil
		}
		return &vfs.Fault{Err: problem, Written: 100}
	})
	var confirmed, refused []uint64
	for seq := range uint64(300) {
		j.Append(1, []store.Record{message(1+seq, string(make([]byte, 2000)))}, func(err error) {
			if err == nil {
				confirmed = append(confirmed, 1+seq)
			} else {
				refused = append(refused, 1+seq)
			}
		})
		time.Sleep(time.Millisecond)
	}
	time.Sleep(10 * time.Second)
	synctest.Wait()
	before := len(confirmed)
	switch {
	case !hit: // such operations are rare
	case problem != vfs.ErrFull && a.failed == nil, problem == vfs.ErrFull && (a.failed != nil || len(refused) > 0):
		t.Fatalf("failed: %v, %d refused", a.failed, len(refused))
	case problem == vfs.ErrFull && before < 300 && !slices.Equal(a.full, []bool{true}):
		t.Fatalf("%d confirmed, alarms: %v", before, a.full)
	}
	fs.Fail(nil)
	time.Sleep(10 * time.Second)
	synctest.Wait()
	if problem == vfs.ErrFull && (len(confirmed) != 300 || len(refused) > 0 || len(a.full) > 0 && a.full[len(a.full)-1]) {
		t.Fatalf("%d confirmed, %d refused, alarms: %v", len(confirmed), len(refused), a.full)
	}
	fs.CrashAfter(0)
	_ = j.Close()
	synctest.Wait()
	fs.Crash()
	j = open(t, fs, "/data/journal", Options{SegmentSize: smallSegment})
	there := seqs(j.Take(1))
	for _, seq := range confirmed {
		if _, ok := slices.BinarySearch(there, seq); !ok {
			t.Errorf("message %d was confirmed and is lost", seq)
		}
	}
	if len(j.report.Damages) > 0 && problem == vfs.ErrFull {
		t.Errorf("%+v", j.report.Damages)
	}
	j.close()
}

// TestClosedWithoutRoom_DUR4: a journal that is closed while there is no room for a batch fails the Appends that wait,
// and leaves no checkpoint with records that the log does not have.
func TestClosedWithoutRoom_DUR4(t *testing.T) {
	for _, kind := range []vfs.Kind{vfs.Write, vfs.Sync} {
		bubble(t, func(t *testing.T, fs *vfs.Memory) {
			var a alarms
			j := open(t, fs, "/data/journal", a.options())
			j.must(1, messages(1, 10, "a")...)
			synctest.Wait()
			fs.Fail(func(o vfs.Operation) *vfs.Fault {
				if o.Kind != kind {
					return nil
				}
				return &vfs.Fault{Err: vfs.ErrFull}
			})
			waits := make(chan error, 2)
			j.Append(1, []store.Record{run(store.Remove, 1, 5)}, func(err error) { waits <- err })
			time.Sleep(time.Second)
			j.Append(1, []store.Record{message(11, "b")}, func(err error) { waits <- err })
			time.Sleep(time.Second)
			synctest.Wait()
			if len(waits) > 0 || !slices.Equal(a.full, []bool{true}) {
				t.Fatalf("%d answers, alarms: %v", len(waits), a.full)
			}
			if err := j.Close(); !errors.Is(err, errFull) || a.failed != nil {
				t.Errorf("closed with %v, failed: %v", err, a.failed)
			}
			for range 2 {
				if err := <-waits; !errors.Is(err, errFull) {
					t.Errorf("an append ended with %v", err)
				}
			}
			fs.Fail(nil)
			j = open(t, fs, "/data/journal", Options{SegmentSize: smallSegment})
			if there := seqs(j.Take(1)); len(there) < 5 || len(j.report.Damages) > 0 {
				t.Errorf("%v, %+v", there, j.report)
			}
			j.close()
		})
	}
}
