package copies

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"candlemark/internal/storage/cluster/raftlog"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/vfs"

	"github.com/hashicorp/raft"
	"github.com/rs/zerolog"
)

// TestPromise_CLU5: a snapshot promises no entry that a power cut may take back: later entries, which come while it is taken, are not in it.
func TestPromise_CLU5(t *testing.T) {
	for seed := range uint64(20) {
		disk := vfs.NewMemory(seed)
		s := &Store{cfg: Config{FS: disk, Dir: t.TempDir(), SegmentSize: 1 << 20, Log: zerolog.Nop()}}
		d, err := s.open(1)
		if err != nil {
			t.Fatal(err)
		}
		s.data.Store(d)
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for number := uint64(1); ; number++ {
				select {
				case <-stop:
					return
				default:
				}
				put := store.Record{Kind: store.Put, First: number, Last: number, Time: 1, Deadline: store.Never, TTL: -1, Body: make([]byte, 100)}
				written := make(chan error, 1)
				d.Journal.Apply(&segment.Entry{Number: number, Begin: number == 1, Parts: []segment.Part{{
					Queue: 1, Records: []store.Record{put}, Done: func(err error) { written <- err },
				}}})
				if <-written != nil {
					return
				}
			}
		}()
		for limit := time.Now().Add(time.Minute); d.Journal.Applied() == 0 && time.Now().Before(limit); {
			<-time.After(100 * time.Microsecond)
		}
		k := &sink{state: &State{}}
		if err := s.Promise().Persist(k); err != nil {
			t.Fatal(err)
		}
		disk.CrashAfter(0)
		close(stop)
		<-stopped
		_ = d.close()
		disk.Crash()
		if d, err = s.open(1); err != nil {
			t.Fatal(err)
		}
		if has := d.Journal.Applied(); has < k.state.Journal {
			t.Errorf("seed %d: the snapshot promises entry %d, the journal has %d", seed, k.state.Journal, has)
		}
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}
}

// withCopy returns a store with an empty log, and a copy up to entry 5 of term 2.
func withCopy(t *testing.T, disk vfs.FS, failed func(error)) *Store {
	t.Helper()
	s := &Store{cfg: Config{FS: disk, Dir: t.TempDir(), SegmentSize: 1 << 20, Log: zerolog.Nop(), OnFailure: failed}}
	for generation := range uint64(2) {
		d, err := s.open(generation + 1)
		if err == nil && generation == 0 {
			s.data.Store(d)
		} else if err == nil {
			err = d.close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s.received = &State{Generation: 2, Index: 5, Term: 2, Configuration: raft.EncodeConfiguration(raft.Configuration{})}
	var err error
	if s.log, err = raftlog.Open(disk, filepath.Join(s.cfg.Dir, raftlog.Folder), raftlog.Options{}); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTail_CLU5: a node whose log is longer than the copy of the data that it gets drops the log and starts again, also if it ended in between; one with a
// shorter log goes on.
func TestTail_CLU5(t *testing.T) {
	for name, last := range map[string]uint64{"longer": 9, "shorter": 3} {
		t.Run(name, func(t *testing.T) {
			failed := make(chan error, 1)
			disk := vfs.NewMemory(1)
			s := withCopy(t, disk, func(err error) { failed <- err })
			fill := func() {
				for i := uint64(1); i <= last; i++ {
					if err := s.log.StoreLogs([]*raft.Log{{Index: i, Term: 1}}); err != nil {
						t.Fatal(err)
					}
				}
			}
			var e raft.Log
			if err := (entries{s.log, &Store{saved: &State{Index: 1, Term: 2}}}).GetLog(1, &e); !errors.Is(err, raft.ErrLogNotFound) {
				t.Errorf("a leader would send entry 1 in place of a copy: %v", err)
			}
			fill()
			if s.Has(2, 5) || !s.Has(1, 2) {
				t.Error("it has the copy, or not its own log")
			}
			if _, err := s.Install(); err != nil {
				t.Fatal(err)
			}
			if !s.Has(2, 5) || !s.Has(1, 4) || s.Has(2, 6) {
				t.Error("it does not have the copy, or more")
			}
			if err := (entries{s.log, s}).GetLog(5, &e); last < 5 && (err != nil || e.Term != 2) {
				t.Errorf("raft does not find the last entry of the copy: %v", err)
			}
			if last > 5 {
				if err := <-failed; !errors.Is(err, ErrTail) {
					t.Error(err)
				}
				if left, _ := s.log.LastIndex(); left != 0 {
					t.Errorf("the log ends with entry %d", left)
				}
				fill() // as if it had ended before that
			} else if len(failed) > 0 {
				t.Error(<-failed)
			}
			if _, err := s.Follow(s.log); err != nil {
				t.Error(err)
			}
			if left, _ := s.log.LastIndex(); left != 0 {
				t.Errorf("the log ends with entry %d after the start", left)
			}
			if err := errors.Join(s.log.Close(), s.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}
