package segment

import (
	"encoding/binary"
	"fmt"
	"testing"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/format"
	"candlemark/internal/storage/store/vfs"
)

// A body that looks like heads of long messages everywhere is searched in linear time if its own head is damaged, and
// the record after it is found.
func TestHostileBodyIsSearchedOnce(t *testing.T) {
	const length = 1 << 20
	hostile := make([]byte, length)
	for i := 0; i+format.PutHead <= length; i += format.PutHead + 4 { // each claims half of the remaining bytes
		hostile[i+4] = format.Version<<4 | byte(store.Put)
		binary.LittleEndian.PutUint32(hostile[i+60:], uint32(length-i)/2)
	}
	for name, damaged := range map[string]int64{"its head": 61, "itself": format.PutHead + 5000} {
		t.Run(name, func(t *testing.T) {
			m := vfs.NewMemory(1)
			must(t, m.MakeDir("/data"))
			j := open(t, m, "/data/journal", Options{})
			put := []store.Record{message(1, "before"), message(2, ""), message(3, "behind")}
			put[1].Body = hostile
			j.must(5, put...)
			_, second := format.PlaceOf(put[1].Position)
			s := j.log.tail
			j.close()
			flip(t, m, firstSegment, second+damaged)
			f, err := m.OpenRead(firstSegment)
			must(t, err)
			s.File = f
			w := s.Walker(format.BatchesFrom)
			w.Until, w.Limit = s.End, 1<<60
			var found []uint64
			for number, ok := uint64(0), true; ok; {
				number, ok = w.Next(number, func(e *format.Entry) {
					if !e.Damaged {
						found = append(found, e.Record.First)
					}
				})
			}
			if fmt.Sprint(found) != "[1 3]" {
				t.Errorf("found %v", found)
			}
			if w.Checked > 10*length {
				t.Errorf("%d bytes were summed up for %d", w.Checked, length)
			}
		})
	}
}

// The checksum of a body that thousands of messages share is computed once.
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
	s.File = f
	w := s.Walker(format.BatchesFrom)
	n := 0
	for number, ok := uint64(1), true; ok; {
		number, ok = w.Next(number, func(*format.Entry) { n++ })
	}
	if n != queues || w.Checked > 20*int64(len(body)) {
		t.Errorf("%d messages, %d bytes summed up", n, w.Checked)
	}
}
