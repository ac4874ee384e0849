package segment

import (
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/vfs"
)

// TestNothingFirst: the batch that begins a segment may turn out to be empty. Then the next batch begins it, with
// header and name, or returns the file if it is too short.
func TestNothingFirst(t *testing.T) {
	const size = 16 << 10
	for name, body := range map[string]int{"fits": 100, "too long": 3 * size} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fs := vfs.NewMemory(1)
				o := Options{SegmentSize: size, Settle: time.Millisecond}
				j := open(t, fs, "journal", o)
				nothing := store.Record{Kind: store.Remove, First: 100, Last: 200}
				full := store.Record{Kind: store.Put, First: 1, Last: 1, Body: make([]byte, size-format.BatchesFrom-format.BatchHead-format.PutHead-5)}
				j.must(1, full)
				j.must(1, nothing)
				j.must(1, store.Record{Kind: store.Put, First: 2, Last: 2, Body: make([]byte, body)})
				time.Sleep(time.Second)
				fs.CrashAfter(0)
				_ = j.Close()
				fs.Crash()
				j = open(t, fs, "journal", o)
				if got := j.Take(1); len(got) != 2 || got[1].Body != uint32(body) {
					t.Fatalf("%d messages after the crash", len(got))
				}
				j.must(1, nothing, store.Record{Kind: store.Put, First: 3, Last: 3, Body: make([]byte, body)})
				for range 3 {
					time.Sleep(time.Second)
					if err := j.Close(); err != nil {
						t.Fatal(err)
					}
					j = open(t, fs, "journal", o)
				}
				if got := j.Take(1); len(got) != 3 {
					t.Fatalf("%d messages in the end", len(got))
				}
				_ = j.Close()
			})
		})
	}
}
