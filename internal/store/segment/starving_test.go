package segment

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"candlemark/internal/store"
	"candlemark/internal/store/segment/format"
	"candlemark/internal/store/vfs"
)

// TestMoveTakesTheLongerFile: a message that needs a longer segment waits for a file of that length, a move takes the file before
// the writer does, and the message gets another one.
func TestMoveTakesTheLongerFile(t *testing.T) {
	m := vfs.NewMemory(1)
	must(t, m.MakeDir("/data"))
	j := openWithoutKeeper(t, m, "/data/journal", Options{SegmentSize: smallSegment})
	large := message(1, strings.Repeat("x", 4*smallSegment))
	need := format.RoundUp(format.BatchesFrom + format.BatchHead + format.PutSize(&large))

	j.log.Lock() // the writer waits for it meanwhile, the stock does not
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
