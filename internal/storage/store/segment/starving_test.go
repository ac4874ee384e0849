package segment

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/vfs"
)

// TestMoveTakesTheLongerFile: if a message waits for a file of a longer segment, and a move takes the file first, the
// message gets another one.
func TestMoveTakesTheLongerFile(t *testing.T) {
	m := vfs.NewMemory(1)
	must(t, m.MakeDir("/data"))
	j := openWithoutKeeper(t, m, "/data/journal", Options{SegmentSize: smallSegment})
	large := message(1, strings.Repeat("x", 4*smallSegment))
	need := format.RoundUp(format.BatchesFrom + format.BatchHead + format.PutSize(&large))

	j.log.Lock() // blocks the writer, but not the stock
	if j.extend(need, false) {
		t.Fatal("there was a file of that length")
	}
	for !j.stock.Has(need, 1) {
		runtime.Gosched()
	}
	for j.stock.Has(need, 1) {
		j.extend(smallSegment, true)
	}
	j.log.Unlock()

	durable := make(chan error, 1)
	j.Append(7, []store.Record{large}, func(err error) { durable <- err })
	select {
	case err := <-durable:
		must(t, err)
	case <-time.After(10 * time.Second):
		t.Fatal("the message waits for a file that nobody makes")
	}
	j.close()
}

// TestWriterRestsWhileMovesLackRoom: on a full disk, moves are the first to lack a segment. Appends wait until the
// keeper gives up; until then the writer does not spin, which would stop virtual time.
func TestWriterRestsWhileMovesLackRoom(t *testing.T) {
	bubble(t, func(t *testing.T, fs *vfs.Memory) {
		j := openWithoutKeeper(t, fs, "/data/journal", Options{SegmentSize: smallSegment})
		moved := message(1, strings.Repeat("m", smallSegment/2))
		j.must(1, moved, message(2, strings.Repeat("b", smallSegment/4)))
		fs.SetCapacity(1)
		for f, ok := j.stock.Take(1); ok; f, ok = j.stock.Take(1) {
			must(t, fs.Remove(f.Name))
		}
		synctest.Wait()
		gaveUp := make(chan error, 1)
		go func() { gaveUp <- j.carry([]pending{{queue: 1, records: []store.Record{moved}, from: j.log.tail}}) }()
		synctest.Wait()
		durable := make(chan error, 1)
		j.Append(1, []store.Record{message(3, "")}, func(err error) { durable <- err })
		if err := <-gaveUp; !errors.Is(err, vfs.ErrFull) {
			t.Errorf("the move ended with %v", err)
		}
		must(t, <-durable) // the last segment has room for it
		j.close()
	})
}
