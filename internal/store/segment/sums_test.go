package segment

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"candlemark/internal/store"
	"candlemark/internal/store/vfs"
)

func TestSumsOfParts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	b := make([]byte, 70_000)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	checked := int64(0)
	s := newSums(b, &checked)
	for range 2000 {
		from := random.IntN(len(b) + 1)
		to := from + random.IntN(len(b)-from+1)
		seed := random.Uint32()
		if got, want := s.part(seed, from, to), crc32.Update(seed, castagnoli, b[from:to]); got != want {
			t.Fatalf("%d to %d: %x, not %x", from, to, got, want)
		}
	}
}

// A body that looks like the heads of long messages everywhere is searched in linear
// time when its own head is damaged, and what stands behind it is found.
func TestHostileBodyIsSearchedOnce(t *testing.T) {
	const length = 1 << 20
	hostile := make([]byte, length)
	for i := 0; i+putHead <= length; i += putHead + 4 { // each claims half of what follows
		hostile[i+4] = version<<4 | byte(store.Put)
		little.PutUint32(hostile[i+60:], uint32(length-i)/2)
	}
	for name, damaged := range map[string]int64{"its head": 61, "itself": putHead + 5000} {
		t.Run(name, func(t *testing.T) {
			m := vfs.NewMemory(1)
			must(t, m.MakeDir("/data"))
			j := open(t, m, "/data/journal", Options{})
			put := []store.Record{message(1, "before"), message(2, ""), message(3, "behind")}
			put[1].Body = hostile
			j.must(5, put...)
			_, second := placeOf(put[1].Position)
			s := j.log.tail
			j.close()
			flip(t, m, firstSegment, second+damaged)
			f, err := m.OpenRead(firstSegment)
			must(t, err)
			s.file = f
			w := newWalker(s, batchesFrom)
			w.until, w.limit = s.end, 1<<60
			var found []uint64
			for number, ok := uint64(0), true; ok; {
				number, ok = w.next(number, func(e *entry) {
					if !e.damaged {
						found = append(found, e.record.First)
					}
				})
			}
			if fmt.Sprint(found) != "[1 3]" {
				t.Errorf("found %v", found)
			}
			if w.checked > 10*length {
				t.Errorf("%d bytes were summed up for %d", w.checked, length)
			}
		})
	}
}

// A body that thousands of messages have is summed up once.
func TestSharedBodyIsSummedUpOnce(t *testing.T) {
	m := vfs.NewMemory(1)
	must(t, m.MakeDir("/data"))
	j := open(t, m, "/data/journal", Options{})
	body := make([]byte, 1<<20)
	const queues = 2000
	done := make(chan error, queues)
	for q := range store.QueueID(queues) {
		r := message(1, "")
		r.Body = body
		j.Append(q+1, []store.Record{r}, func(err error) { done <- err })
	}
	for range queues {
		must(t, <-done)
	}
	s := j.log.tail
	j.close()
	f, err := m.OpenRead(firstSegment)
	must(t, err)
	s.file = f
	w := newWalker(s, batchesFrom)
	n := 0
	for number, ok := uint64(1), true; ok; {
		number, ok = w.next(number, func(*entry) { n++ })
	}
	if n != queues || w.checked > 20*int64(len(body)) {
		t.Errorf("%d messages, %d bytes summed up", n, w.checked)
	}
}
