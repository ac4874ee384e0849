package storetest

import (
	"slices"
	"testing"
	"time"

	"candlemark/internal/storage/store"
)

// Reopener is a journal that can be restarted.
type Reopener interface {
	store.Journal
	// Reopen closes the journal and opens another one on its remaining data.
	Reopen(t *testing.T) Reopener
}

// Exercise runs the suite. open makes an empty journal and arranges for it to be closed.
func Exercise(t *testing.T, open func(t *testing.T) Reopener) {
	for _, c := range []struct {
		name string
		test func(*harness)
	}{
		{"done is called once, in order", doneInOrder},
		{"done may be nil", doneMayBeNil},
		{"done may use the journal", doneUsesTheJournal},
		{"nothing is called from within a call", nothingFromWithin},
		{"no records", noRecords},
		{"records belong to the journal until done", memoryIsTheCallers},
		{"what is read belongs to the reader", contentsAreTheReaders},
		{"contents come in the order of want", readInOrder},
		{"messages that are not there", unknownMessages},
		{"old positions stay good", readAfterMoves},
		{"bodies of all sizes", bodies},
		{"one body in many queues", fanOut},
		{"big gaps of sequence numbers", gaps},
		{"queues are there to be taken, once", takeOnce},
		{"queues that are not taken stay", untaken},
		{"recall", recall},
		{"delivered and returned", marks},
		{"released and rescheduled", scheduled},
		{"put again", putAgain},
		{"spilled again", spillAgain},
		{"spilled messages are forgotten", spills},
		{"removing twice", removeTwice},
		{"retired queues", retire},
		{"names", names},
		{"close completes", closeCompletes},
		{"after close", afterClose},
		{"many queues at once", manyQueues},
		{"years of work", yearsOfWork},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(&harness{T: t, j: open(t)}) })
	}
}

// harness runs operations on a journal and waits for them.
type harness struct {
	*testing.T
	j Reopener
}

// patience is the longest time that one operation of a journal may take on a busy machine.
const patience = 3 * time.Minute

func wait[V any](t *testing.T, what string, from <-chan V) V {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case v := <-from:
		return v
	case <-limit.C:
		t.Fatalf("%s: nothing in %v", what, patience)
		panic("not reached")
	}
}

// append waits until records are durable.
func (d *harness) append(q store.QueueID, records ...store.Record) {
	d.Helper()
	done := make(chan error, 1)
	d.j.Append(q, records, func(err error) { done <- err })
	if err := wait(d.T, "append", done); err != nil {
		d.Fatal(err)
	}
}

func (d *harness) read(q store.QueueID, want ...store.Ref) []store.Content {
	d.Helper()
	done := make(chan []store.Content, 1)
	d.j.Read(q, want, func(c []store.Content) { done <- c })
	got := wait(d.T, "read", done)
	if len(got) != len(want) {
		d.Fatalf("%d contents for %d messages", len(got), len(want))
	}
	return got
}

func (d *harness) recall(q store.QueueID) []store.Recovered {
	d.Helper()
	type answer struct {
		list []store.Recovered
		err  error
	}
	done := make(chan answer, 1)
	d.j.Recall(q, func(list []store.Recovered, err error) { done <- answer{list, err} })
	got := wait(d.T, "recall", done)
	if got.err != nil {
		d.Fatal(got.err)
	}
	return got.list
}

func (d *harness) reopen() {
	d.Helper()
	d.j = d.j.Reopen(d.T)
}

// queues returns the queues to be taken, in order.
func (d *harness) queues() []store.QueueID {
	return slices.Sorted(slices.Values(d.j.Queues()))
}

// same compares messages with the ones that were put.
func (d *harness) same(got []store.Content, want []store.Record) {
	d.Helper()
	for i, c := range got {
		if text := Same(c, want[i]); text != "" {
			d.Fatal(text)
		}
	}
}

// readAll reads the messages of a list in one go and checks them.
func (d *harness) readAll(q store.QueueID, list []store.Recovered) {
	d.Helper()
	for i, c := range d.read(q, where(list)...) {
		if text := Same(c, Was(list[i], c.Record.Kind)); text != "" {
			d.Fatal(text)
		}
	}
}

// expect compares a list of messages with records that led to it.
func (d *harness) expect(what string, got []store.Recovered, records ...store.Record) {
	d.Helper()
	state := State{}
	for i := range records {
		state.Apply(&records[i])
	}
	if text := state.Differs(got); text != "" {
		d.Fatalf("%s: %s", what, text)
	}
}

// refs returns the refs of durable records.
func refs(records []store.Record) []store.Ref {
	list := make([]store.Ref, len(records))
	for i, r := range records {
		list[i] = store.Ref{Seq: r.First, At: r.Position}
	}
	return list
}

// where returns the refs of the messages of a list.
func where(list []store.Recovered) []store.Ref {
	refs := make([]store.Ref, len(list))
	for i, r := range list {
		refs[i] = store.Ref{Seq: r.Seq, At: r.At}
	}
	return refs
}

// puts makes messages of the same size with the numbers from first to last.
func puts(q store.QueueID, first, last uint64, body int) (list []store.Record) {
	for n := first; n <= last; n++ {
		list = append(list, Put(q, n, body))
	}
	return list
}

func run(kind store.Kind, first, last uint64) store.Record {
	r := store.Record{Kind: kind, First: first, Last: last, Time: epoch}
	if kind == store.Remove {
		r.Why = store.Acked
	}
	return r
}
