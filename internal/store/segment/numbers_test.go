package segment

import (
	"fmt"
	"testing"

	"candlemark/internal/store"
)

// Messages that came back cost bits, also in a checkpoint, which has them again.
func TestReturnedMessagesCostLittle(t *testing.T) {
	x := newIndex()
	seg := &segment{seq: 1, size: 1 << 30, end: 1 << 30, over: true}
	const n = 300_000
	q := x.queue(1)
	for seq := range uint64(n) {
		q.put(seg, seq, false, int64(100+seq%1000))
	}
	bytes := seg.bytes
	for range 2 {
		x.apply(q, &store.Record{Kind: store.Returned, First: 0, Last: n})
	}
	x.apply(q, &store.Record{Kind: store.Returned, First: 7, Last: 9})
	held := 0
	for _, p := range q.sets[0].counts.planes {
		held += 8 * cap(p)
	}
	b := encodeCheckpoint(checkpoint{index: x, segments: map[uint64]*segment{1: seg}})
	if held > n || len(b) > 3*n {
		t.Errorf("%d bytes in memory, %d in a checkpoint for %d messages", held, len(b), n)
	}
	c, err := decodeCheckpoint(b)
	must(t, err)
	s := c.index.queues[1].sets[0]
	if got := fmt.Sprint(s.returns(6), s.returns(7), s.returns(9), s.returns(n-1)); got != "2 3 3 2" || c.segments[1].bytes != bytes {
		t.Errorf("%s, %d bytes, not %d", got, c.segments[1].bytes, bytes)
	}
	if s.remove(0, n); s.bytes != 0 || s.seg.live != 0 || s.seg.bytes != 0 {
		t.Errorf("%d bytes are left in the set, %d in the segment", s.bytes, s.seg.bytes)
	}
}
