package index

import (
	"fmt"
	"testing"

	"candlemark/internal/storage/store"
)

// The counts of returned messages take only bits per message in memory and in a checkpoint, from which they are restored.
func TestReturnedMessagesCostLittle(t *testing.T) {
	x := NewIndex()
	seg := &Segment{Seq: 1, Size: 1 << 30, End: 1 << 30, Over: true}
	const n = 300_000
	q := x.Queue(1)
	for seq := range uint64(n) {
		q.Put(seg, seq, false, int64(100+seq%1000))
	}
	bytes := seg.Bytes
	for range 2 {
		x.Apply(q, &store.Record{Kind: store.Returned, First: 0, Last: n})
	}
	x.Apply(q, &store.Record{Kind: store.Returned, First: 7, Last: 9})
	held := 0
	for _, p := range q.Sets[0].counts.planes {
		held += 8 * cap(p)
	}
	b := EncodeCheckpoint(Checkpoint{Index: x, Segments: map[uint64]*Segment{1: seg}})
	if held > n || len(b) > 3*n {
		t.Errorf("%d bytes in memory, %d in a checkpoint for %d messages", held, len(b), n)
	}
	c, err := DecodeCheckpoint(b)
	if err != nil {
		t.Fatal(err)
	}
	s := c.Index.Queues[1].Sets[0]
	if got := fmt.Sprint(s.returns(6), s.returns(7), s.returns(9), s.returns(n-1)); got != "2 3 3 2" || c.Segments[1].Bytes != bytes {
		t.Errorf("%s, %d bytes, not %d", got, c.Segments[1].Bytes, bytes)
	}
	if s.remove(0, n); s.bytes != 0 || s.Seg.Live != 0 || s.Seg.Bytes != 0 {
		t.Errorf("%d bytes are left in the set, %d in the segment", s.bytes, s.Seg.Bytes)
	}
}

func TestTenMillionMessagesCostLittle(t *testing.T) {
	q := &Queue{}
	bytes := 0
	for i := range 160 {
		seg := &Segment{Seq: uint64(i)}
		for seq := range uint64(62_500) {
			q.Put(seg, uint64(i)*62_500+seq, false, 1000)
		}
	}
	for _, s := range q.Sets {
		bytes += cap(s.words) * 32
		for _, p := range s.sizes.planes {
			bytes += cap(p) * 8
		}
	}
	if bytes > 12<<20 {
		t.Errorf("%d bytes", bytes)
	}
	if n := q.Remove(0, 10_000_000); n != 10_000_000 || len(q.Sets) != 0 {
		t.Errorf("%d removed", n)
	}
}
