package segment

import (
	"testing"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/vfs"
)

// TestSharedBodyOnceInABatch: a body that goes to many queues is written once per batch, however large it is, and
// counts once towards the limit of the batch.
func TestSharedBodyOnceInABatch(t *testing.T) {
	const queues = 1000
	for _, size := range []int{1 << 20, batchLimit - 200, 12_000_000} {
		j := open(t, vfs.NewMemory(1), "journal", Options{})
		body := make([]byte, size)
		j.log.Lock() // until all are appended
		done := make(chan error, queues)
		var records [queues][]store.Record
		for q := range store.QueueID(queues) {
			records[q] = []store.Record{{Kind: store.Put, First: 1, Last: 1, Header: []byte{0, 0}, Body: body}}
			j.Append(q+1, records[q], func(err error) { done <- err })
		}
		j.log.Unlock()
		for range queues {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if n := j.Stats(); n.Written > uint64(3*size+1<<20) {
			t.Errorf("%d bytes for %d queues: %d bytes were written in %d batches", size, queues, n.Written, n.Batches)
		}
		for q := store.QueueID(0); q < queues; q += 333 {
			at := records[q][0].Position
			if c := j.read(q+1, store.Ref{Seq: 1, At: at}); c[0].Err != nil || len(c[0].Record.Body) != size {
				t.Errorf("queue %d: %v", q+1, c[0].Err)
			}
		}
		j.close()
	}
}
