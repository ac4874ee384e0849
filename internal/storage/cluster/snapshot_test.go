package cluster

import (
	"testing"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment"
	"candlemark/internal/storage/store/vfs"

	"github.com/rs/zerolog"
)

// TestPromise_CLU5: a snapshot promises no entry that a power cut may take back: those that come while it is taken are not in it.
func TestPromise_CLU5(t *testing.T) {
	for seed := range uint64(20) {
		disk := vfs.NewMemory(seed)
		n := &Node{cfg: Config{FS: disk, Dir: t.TempDir(), SegmentSize: 1 << 20, Log: zerolog.Nop()}, ended: make(chan struct{})}
		r, err := n.openReplica(1)
		if err != nil {
			t.Fatal(err)
		}
		n.files.Store(r)
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
				r.journal.Apply(&segment.Entry{Number: number, Begin: number == 1, Parts: []segment.Part{{
					Queue: 1, Records: []store.Record{put}, Done: func(err error) { written <- err },
				}}})
				if <-written != nil {
					return
				}
			}
		}()
		for limit := time.Now().Add(time.Minute); r.journal.Applied() == 0 && time.Now().Before(limit); {
			<-time.After(100 * time.Microsecond)
		}
		k := &sink{state: &state{}}
		if err := (promise{n}).Persist(k); err != nil {
			t.Fatal(err)
		}
		disk.CrashAfter(0)
		close(stop)
		<-stopped
		_ = r.close()
		disk.Crash()
		if r, err = n.openReplica(1); err != nil {
			t.Fatal(err)
		}
		if has := r.journal.Applied(); has < k.state.Journal {
			t.Errorf("seed %d: the snapshot promises entry %d, the journal has %d", seed, k.state.Journal, has)
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}
}
