package segment

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"slices"
	"testing"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/segment/recovery"
	"candlemark/internal/storage/store/vfs"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // trades memory for speed
	goleak.VerifyTestMain(m)
}

// opened is a journal with helpers for tests.
type opened struct {
	*Journal
	t      *testing.T
	report recovery.Report
}

func open(t *testing.T, fs vfs.FS, dir string, o Options) *opened {
	t.Helper()
	j, report, err := Open(fs, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	o2 := &opened{j, t, report}
	t.Cleanup(func() { _ = j.Close() })
	return o2
}

// openWithoutKeeper is for tests that write checkpoints themselves: only one goroutine at a time may do so.
func openWithoutKeeper(t *testing.T, fs vfs.FS, dir string, o Options) *opened {
	t.Helper()
	j, report, err := load(fs, dir, o)
	must(t, err)
	j.start()
	t.Cleanup(func() { _ = j.Close() })
	return &opened{j, t, report}
}

// append appends records and waits for the result.
func (o *opened) append(q store.QueueID, records ...store.Record) error {
	done := make(chan error, 1)
	o.Append(q, records, func(err error) { done <- err })
	return <-done
}

func (o *opened) must(q store.QueueID, records ...store.Record) []store.Record {
	o.t.Helper()
	if err := o.append(q, records...); err != nil {
		o.t.Fatal(err)
	}
	return records
}

func (o *opened) read(q store.QueueID, want ...store.Ref) []store.Content {
	done := make(chan []store.Content, 1)
	o.Read(q, want, func(c []store.Content) { done <- c })
	return <-done
}

func (o *opened) recall(q store.QueueID) []store.Recovered {
	o.t.Helper()
	done := make(chan []store.Recovered, 1)
	o.Recall(q, func(list []store.Recovered, err error) {
		if err != nil {
			o.t.Error(err)
		}
		done <- list
	})
	return <-done
}

func (o *opened) close() {
	o.t.Helper()
	if err := o.Close(); err != nil {
		o.t.Fatal(err)
	}
}

func message(seq uint64, body string) store.Record {
	return store.Record{
		Kind: store.Put, First: seq, Last: seq, Time: 1000 + int64(seq), Deadline: 5000 + int64(seq), TTL: int64(seq),
		Priority: byte(seq % 10), Exchange: []byte("exchange"), RoutingKey: fmt.Appendf(nil, "key.%d", seq),
		Header: []byte("header"), Overlay: []byte("overlay"), Body: []byte(body),
	}
}

func messages(first, last uint64, body string) (list []store.Record) {
	for seq := first; seq <= last; seq++ {
		list = append(list, message(seq, body))
	}
	return list
}

func run(kind store.Kind, first, last uint64) store.Record {
	return store.Record{Kind: kind, First: first, Last: last, Time: 1, Why: store.Acked}
}

func refs(records []store.Record) (list []store.Ref) {
	for _, r := range records {
		list = append(list, store.Ref{Seq: r.First, At: r.Position})
	}
	return list
}

func seqs(list []store.Recovered) (out []uint64) {
	for _, m := range list {
		out = append(out, m.Seq)
	}
	return out
}

func same(a, b store.Record) bool {
	return a.Kind == b.Kind && a.First == b.First && a.Time == b.Time && a.Deadline == b.Deadline && a.TTL == b.TTL &&
		a.Priority == b.Priority && bytes.Equal(a.Exchange, b.Exchange) && bytes.Equal(a.RoutingKey, b.RoutingKey) &&
		bytes.Equal(a.Header, b.Header) && bytes.Equal(a.Overlay, b.Overlay) && bytes.Equal(a.Body, b.Body)
}

func TestReadsBackAndRecovers(t *testing.T) {
	for _, clean := range []bool{true, false} {
		t.Run(fmt.Sprintf("clean=%v", clean), func(t *testing.T) {
			fs := vfs.NewMemory(1)
			must(t, fs.MakeDir("/data"))
			j := open(t, fs, "/data/journal", Options{})
			if !(j.report.Segments == 0 && j.report.Messages == 0) {
				t.Fatalf("%+v", j.report)
			}
			put := j.must(7, messages(1, 200, "hello")...)
			j.must(7, run(store.Delivered, 3, 5), run(store.Returned, 4, 4), run(store.Returned, 4, 5), run(store.Remove, 1, 2), run(store.Remove, 100, 150))
			spill := message(500, "spilled")
			spill.Kind = store.Spill
			j.must(7, spill)
			for i, c := range j.read(7, refs(put)...) {
				gone := c.Seq <= 2 || c.Seq >= 100 && c.Seq <= 150
				if gone != (c.Err != nil) || !gone && !same(c.Record, put[i]) {
					t.Fatalf("%d: %v %+v", c.Seq, c.Err, c.Record)
				}
			}
			if got := j.recall(7); len(got) != 148 || got[147].Seq != 500 {
				t.Fatalf("recalled %d: %v", len(got), seqs(got))
			}
			if clean {
				j.close()
			} else {
				fs.CrashAfter(0)
				_ = j.Close()
				fs.Crash()
			}
			j = open(t, fs, "/data/journal", Options{})
			if j.report.Clean != clean || j.report.Messages != 147 || len(j.report.Damages) > 0 || j.report.HighestQueue != 7 || j.report.TornTail != 0 {
				t.Fatalf("%+v", j.report)
			}
			if got := j.Queues(); !slices.Equal(got, []store.QueueID{7}) {
				t.Fatal(got)
			}
			list := j.Take(7)
			if len(list) != 147 || j.Take(7) != nil {
				t.Fatal(seqs(list))
			}
			for i, want := range []store.Recovered{
				{Seq: 3, Redelivered: true},
				{Seq: 4, Redelivered: true, Returns: 2},
				{Seq: 5, Redelivered: true, Returns: 1},
				{Seq: 6},
			} {
				m := put[want.Seq-1]
				want.At, want.Deadline, want.TTL, want.Time, want.Priority, want.Body = m.Position, m.Deadline, m.TTL, m.Time, m.Priority, 5
				if list[i] != want {
					t.Fatalf("%+v, want %+v", list[i], want)
				}
			}
			more := j.must(7, message(501, "more"))
			if c := j.read(7, refs(more)...)[0]; c.Err != nil || string(c.Record.Body) != "more" {
				t.Fatal(c)
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
