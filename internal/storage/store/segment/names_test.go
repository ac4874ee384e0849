package segment

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"maps"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/segment/index"
	"candlemark/internal/storage/store/segment/recovery"
	"candlemark/internal/storage/store/vfs"
)

var orders = store.Name{VHost: "/", Queue: "orders"}

// TestNameIsDurableWithTheFirstMessage: appends of names are not waited for, and a name is durable whenever a later
// message of the queue is.
func TestNameIsDurableWithTheFirstMessage(t *testing.T) {
	for seed := range uint64(20) {
		m := vfs.NewMemory(seed)
		must(t, m.MakeDir("/data"))
		j := open(t, m, "/data/journal", Options{SegmentSize: 64 << 10})
		j.Append(9, []store.Record{store.Naming(orders)}, nil)
		j.must(9, message(1, "confirmed"))
		j.kill(m)
		j = open(t, m, "/data/journal", Options{SegmentSize: 64 << 10})
		if len(j.Take(9)) != 1 || j.Names()[9] != orders || j.report.Names[9] != orders {
			t.Fatalf("seed %d: %v, reported %v", seed, j.Names(), j.report.Names)
		}
		j.close()
	}
}

// TestNameOutlivesItsSegment: a name is kept until the queue ends, even if the segment that contains it is recycled;
// and it is written once.
func TestNameOutlivesItsSegment(t *testing.T) {
	m := vfs.NewMemory(1)
	must(t, m.MakeDir("/data"))
	j := openWithoutKeeper(t, m, "/data/journal", Options{SegmentSize: 64 << 10})
	j.must(9, store.Naming(orders))
	for seq := range uint64(200) {
		j.must(9, store.Naming(orders), message(seq, strings.Repeat("body", 1200)), run(store.Remove, seq, seq))
		must(t, j.checkpoint())
	}
	if got := j.counters.recycled.Load(); got == 0 {
		t.Error("no segment was used again")
	}
	if got := j.counters.records.Load(); got != 1+2*200 {
		t.Errorf("%d records", got)
	}
	j.kill(m)
	j = open(t, m, "/data/journal", Options{SegmentSize: 64 << 10})
	if j.Names()[9] != orders {
		t.Errorf("after a crash: %v", j.Names())
	}
	j.must(9, run(store.Retire, 0, 0))
	j.kill(m)
	j = open(t, m, "/data/journal", Options{SegmentSize: 64 << 10})
	if len(j.Names()) > 0 {
		t.Errorf("after its end: %v", j.Names())
	}
	j.close()
}

// TestCheckpointsWithoutNames: a folder of a version without names is read completely, has no names, and accepts new ones.
func TestCheckpointsWithoutNames(t *testing.T) {
	m := vfs.NewMemory(1)
	must(t, m.MakeDir("/data"))
	j := open(t, m, "/data/journal", Options{SegmentSize: 64 << 10})
	j.must(9, messages(1, 5, "body")...)
	j.close()
	names, err := m.List("/data/journal")
	must(t, err)
	older := 0
	for _, name := range names {
		if _, ok := recovery.Numbered(name, "checkpoint-", ""); ok {
			beforeNames(t, m, filepath.Join("/data/journal", name))
			older++
		}
	}
	j = open(t, m, "/data/journal", Options{SegmentSize: 64 << 10})
	if !j.report.Clean || len(j.report.Damages) > 0 || older != 2 || len(j.Names()) > 0 || len(j.Take(9)) != 5 {
		t.Fatalf("%+v, %d checkpoints, names %v", j.report, older, j.Names())
	}
	j.must(9, store.Naming(orders))
	j.close()
	j = open(t, m, "/data/journal", Options{SegmentSize: 64 << 10})
	if !j.report.Clean || !maps.Equal(j.Names(), map[store.QueueID]store.Name{9: orders}) || len(j.Take(9)) != 5 {
		t.Fatalf("%+v, names %v", j.report, j.Names())
	}
	j.close()
}

// beforeNames converts a checkpoint that contains no names to version 3.
func beforeNames(t *testing.T, m *vfs.Memory, path string) {
	f, err := m.Open(path)
	must(t, err)
	head := make([]byte, index.CheckpointHead)
	_, err = f.ReadAt(head, 0)
	must(t, err)
	b := make([]byte, binary.LittleEndian.Uint64(head[10:]))
	_, err = f.ReadAt(b, 0)
	must(t, err)
	b = b[:len(b)-5] // without the number of names and the checksum
	b[8] = 3
	binary.LittleEndian.PutUint64(b[10:], uint64(len(b)+4))
	_, err = f.WriteAt(binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, format.Castagnoli)), 0)
	must(t, errors.Join(err, f.Sync(), f.Close()))
}

// TestCheckpointNamesAreBounded: a length in a checkpoint that exceeds the bytes after it causes an error, not an allocation.
func TestCheckpointNamesAreBounded(t *testing.T) {
	b := index.EncodeCheckpoint(index.Checkpoint{Index: index.NewIndex()})
	b = b[:len(b)-5]
	for _, n := range []uint64{5, math.MaxUint64} {
		long := binary.AppendUvarint(append(b[:len(b):len(b)], 1, 9), n)
		if _, err := index.DecodeCheckpoint(append(long, "name and sum"...)); !errors.Is(err, index.ErrCheckpoint) {
			t.Errorf("%d: %v", n, err)
		}
	}
}

// FuzzRecord: for any bytes in place of a record, decoding stays within them; and a decoded record can be encoded and decoded again.
func FuzzRecord(f *testing.F) {
	const seed, at = 7, 4096
	put := message(3, "")
	due := put
	due.Due = 99
	name, then := store.Naming(orders), due
	then.TTLThen = store.Then(5)
	for _, r := range []*store.Record{&put, &due, &then, &name} {
		f.Add(format.AppendFront(nil, seed, at, 9, r, format.Marks{}), true)
	}
	for kind := store.Delivered; kind <= store.Deferred; kind++ {
		if kind == store.Named {
			continue
		}
		r := run(kind, 1, 5)
		if kind == store.Released {
			r.TTLThen = store.Then(-1)
		}
		f.Add(format.AppendRun(nil, seed, at, 9, &r), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, whole bool) {
		if len(b) > 4 && whole { // with a valid checksum
			n := int64(format.RunSize)
			if k := store.Kind(b[4] & 15); k == store.Put || k == store.Spill || k == store.Named {
				n = format.FrontSize(b)
			}
			if n >= 4 && n <= int64(len(b)) {
				binary.LittleEndian.PutUint32(b, format.SumAt(seed, b[4:n], at))
			}
		}
		e, ok := format.Decode(b, seed, at)
		if !ok {
			return
		}
		if e.Size < format.RunSize || !e.IsMessage() && e.Size > int64(len(b)) {
			t.Fatalf("%+v of %d bytes", e, len(b))
		}
		var again []byte
		switch e.Record.Kind {
		case store.Put, store.Spill:
			return
		case store.Named:
			again = format.AppendFront(nil, seed, at, e.Queue, new(store.Naming(e.Record.Name())), format.Marks{})
		case store.Delivered, store.Returned, store.Remove, store.Retire, store.Released, store.Rescheduled, store.Deferred, store.Postponed, store.GivenBack, store.Applied:
			again = format.AppendRun(nil, seed, at, e.Queue, &e.Record)
		}
		if e2, ok := format.Decode(again, seed, at); !ok || e2.Queue != e.Queue || e2.Record.Kind != e.Record.Kind || e2.Record.TTLThen != e.Record.TTLThen || e2.Record.Name() != e.Record.Name() {
			t.Fatalf("%+v is %+v", e, e2)
		}
	})
}
