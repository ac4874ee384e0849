package storetest

import (
	"maps"
	"slices"

	"candlemark/internal/storage/store"
)

func gaps(d *harness) {
	numbers := []uint64{0, 1, 63, 64, 65, 4095, 4096, 1 << 20, 1<<32 - 1, 1 << 32, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 2}
	var want []store.Record
	for _, n := range numbers {
		want = append(want, Put(1, n, 10))
	}
	want = append(want, run(store.Delivered, 64, 1<<40), run(store.Returned, 0, 64), run(store.Remove, 1, 1), run(store.Remove, 4096, 1<<32-1))
	for _, r := range want {
		d.append(1, r)
	}
	d.expect("recall", d.recall(1), want...)
	d.reopen()
	list := d.j.Take(1)
	d.expect("take", list, want...)
	d.readAll(1, list)
	d.append(1, run(store.Remove, 2, 1<<64-1))
	d.expect("all but the first", d.recall(1), Put(1, 0, 10), run(store.Returned, 0, 0))
}

func takeOnce(d *harness) {
	if got := d.queues(); len(got) != 0 || len(d.j.Take(1)) != 0 {
		d.Fatalf("queues of a new journal: %v", got)
	}
	want := map[store.QueueID][]store.Record{3: puts(3, 5, 9, 10), 1: puts(1, 1, 1, 0), 1 << 40: puts(1<<40, 1, 300, 20)}
	for q, records := range want {
		d.append(q, slices.Clone(records)...)
	}
	d.append(4, puts(4, 1, 9, 10)...)
	d.append(4, run(store.Remove, 1, 9))
	d.append(5, Spill(5, 1, 10))
	if got := d.queues(); len(got) != 0 || len(d.j.Take(1)) != 0 {
		d.Fatalf("queues that had nothing when the journal was opened: %v", got)
	}
	d.reopen()
	d.append(6, Put(6, 1, 1))
	if got := d.queues(); !slices.Equal(got, []store.QueueID{1, 3, 1 << 40}) {
		d.Fatalf("queues %v", got)
	}
	d.expect("take", d.j.Take(3), want[3]...)
	if got := d.queues(); !slices.Equal(got, []store.QueueID{1, 1 << 40}) {
		d.Fatalf("queues %v", got)
	}
	for _, q := range []store.QueueID{3, 4, 5, 6, 7} {
		if got := d.j.Take(q); len(got) != 0 {
			d.Errorf("queue %d: %d messages", q, len(got))
		}
	}
	d.expect("take", d.j.Take(1), want[1]...)
	list := d.j.Take(1 << 40)
	d.expect("take", list, want[1<<40]...)
	d.readAll(1<<40, list)
	if got := d.queues(); len(got) != 0 {
		d.Fatalf("queues %v", got)
	}
}

func untaken(d *harness) {
	d.append(1, puts(1, 1, 10, 10)...)
	d.append(2, puts(2, 1, 10, 10)...)
	d.append(3, puts(3, 1, 10, 10)...)
	d.reopen()
	_ = d.j.Take(2)
	d.append(2, run(store.Remove, 1, 4))
	d.reopen()
	d.append(3, run(store.Retire, 0, 0)) // without being taken: the queue is unknown
	d.reopen()
	if got := d.queues(); !slices.Equal(got, []store.QueueID{1, 2}) {
		d.Fatalf("queues %v", got)
	}
	d.expect("first", d.j.Take(1), puts(1, 1, 10, 10)...)
	d.expect("second", d.j.Take(2), puts(2, 5, 10, 10)...)
}

func recall(d *harness) {
	d.expect("of nothing", d.recall(9))
	var want []store.Record
	add := func(records ...store.Record) {
		want = append(want, records...)
		d.j.Append(1, slices.Clone(records), nil)
	}
	add(puts(1, 10, 40, 100)...)
	add(Spill(1, 41, 50), Put(1, 42, 1))
	add(run(store.Remove, 12, 20), run(store.Delivered, 30, 41))
	d.expect("behind what was appended", d.recall(1), want...)
	add(run(store.Remove, 25, 30), run(store.Returned, 40, 42))
	d.expect("again", d.recall(1), want...)
	d.readAll(1, d.recall(1))
	d.reopen()
	want = append(want, run(store.Remove, 41, 41))
	d.expect("untaken", d.recall(1), want...)
	_ = d.j.Take(1)
	add(Put(1, 50, 3))
	d.expect("taken", d.recall(1), want...)
	add(run(store.Remove, 0, 100))
	d.expect("empty", d.recall(1))
}

func marks(d *harness) {
	want := puts(1, 1, 30, 10)
	d.append(1, puts(1, 1, 30, 10)...)
	add := func(r store.Record) {
		want = append(want, r)
		d.j.Append(1, []store.Record{r}, nil)
	}
	add(run(store.Delivered, 1, 10))
	add(run(store.Returned, 3, 4))
	for range 300 {
		add(run(store.Delivered, 4, 5))
		add(run(store.Returned, 5, 5))
	}
	add(run(store.Returned, 20, 21))  // an unknown delivery counts too
	add(run(store.Delivered, 28, 99)) // missing ones do not matter
	add(run(store.Remove, 6, 6))
	add(run(store.Delivered, 6, 6))
	for n := uint64(40); n < 50; n++ {
		add(Put(1, n, 1)) // after a mark that covers it
	}
	d.expect("recall", d.recall(1), want...)
	for range 3 {
		d.reopen()
		d.expect("take", d.j.Take(1), want...)
		add(run(store.Returned, 9, 12))
	}
	d.expect("recall", d.recall(1), want...)
}

// scheduled tests that scheduled messages keep their state, also when a journal has moved them.
func scheduled(d *harness) {
	want := puts(1, 1, 40, 10)
	d.append(1, puts(1, 1, 40, 10)...)
	add := func(r store.Record) {
		want = append(want, r)
		d.append(1, r)
	}
	add(released(3, 12, 5000))
	add(reschedule(20, epoch+77))
	add(reschedule(25, epoch+78))
	add(reschedule(25, epoch+79))
	add(released(25, 25, -1))
	add(released(26, 28, 0))
	add(run(store.Released, 29, 29)) // of a version without the TTL
	add(released(27, 27, 1<<50))
	add(run(store.Remove, 10, 10))
	add(released(10, 10, 7)) // missing ones do not matter
	add(run(store.Deferred, 8, 14))
	add(run(store.Deferred, 30, 30))
	add(postpone(12, 13, epoch+81))
	add(postpone(31, 33, epoch+82)) // never scheduled, or
	add(postpone(25, 25, epoch+83)) // released
	add(run(store.Deferred, 32, 32))
	add(postpone(33, 33, epoch+84))
	add(reschedule(10, epoch))
	add(Spill(1, 45, 10))
	add(reschedule(45, epoch+80))
	add(released(45, 45, 8))
	d.expect("recall", d.recall(1), want...)
	for i := range 40 { // stragglers
		records := puts(1, uint64(1000+i*100), uint64(1099+i*100), 500)
		d.append(1, records...)
		d.append(1, run(store.Remove, records[0].First, records[99].First))
	}
	d.expect("recall", d.recall(1), want...)
	want = append(want, run(store.Remove, 45, 45)) // a restart forgets it
	for range 3 {
		d.reopen()
		list := d.j.Take(1)
		d.expect("take", list, want...)
		d.readAll(1, list)
		add(reschedule(30, epoch+int64(len(want))))
	}
}

// putAgain replaces the contents of messages, which keep their states.
func putAgain(d *harness) {
	want, overlays := puts(1, 1, 40, 10), 0
	d.append(1, puts(1, 1, 40, 10)...)
	add := func(r store.Record) store.Record {
		want = append(want, r)
		one := []store.Record{r}
		d.append(1, one...)
		return one[0]
	}
	anew := func(seq uint64) store.Record {
		r := Put(1, seq, 700)
		overlays++
		r.Overlay, r.Again = Body(9, seq, 50+overlays), true
		return r
	}
	add(run(store.Delivered, 3, 12))
	add(run(store.Returned, 4, 5))
	add(released(5, 5, 9))
	add(run(store.Deferred, 4, 7))
	for _, r := range []store.Record{postpone(5, 5, epoch+76), postpone(33, 33, epoch+75), reschedule(20, epoch+77), run(store.Remove, 10, 10)} {
		add(r)
	}
	changed := map[uint64]store.Record{}
	for _, seq := range []uint64{4, 5, 20, 33} {
		changed[seq] = add(anew(seq))
	}
	batch := []store.Record{anew(33), anew(34), anew(34)} // twice
	want = append(want, batch...)
	d.append(1, batch...)
	changed[33], changed[34] = batch[0], batch[2]
	add(anew(10)) // it was removed
	add(anew(99)) // it never existed
	add(run(store.Returned, 4, 5))
	check := func(what string, list []store.Recovered) {
		d.Helper()
		d.expect(what, list, want...)
		for _, c := range d.read(1, where(list)...) {
			is, ok := changed[c.Seq]
			if !ok {
				is = Put(1, c.Seq, 10)
			}
			if text := Same(c, is); text != "" {
				d.Fatalf("%s: %s", what, text)
			}
		}
	}
	check("where it was put", d.recall(1))
	for i := range 40 { // stragglers
		records := puts(1, uint64(1000+i*100), uint64(1099+i*100), 500)
		d.append(1, records...)
		d.append(1, run(store.Remove, records[0].First, records[99].First))
	}
	check("recall", d.recall(1))
	changed[4] = add(anew(4)) // it was moved before
	for range 3 {
		d.reopen()
		check("take", d.j.Take(1))
		changed[7] = add(anew(7))
	}
}

// spillAgain does the same with a message that a restart forgets.
func spillAgain(d *harness) {
	d.append(2, Spill(2, 1, 10))
	spilled := Spill(2, 1, 600)
	spilled.Again = true
	d.append(2, spilled)
	d.expect("spilled", d.recall(2), Spill(2, 1, 600))
	d.reopen()
	if len(d.recall(2)) > 0 {
		d.Fatal("a spilled message came back")
	}
}

func spills(d *harness) {
	records := []store.Record{Put(1, 1, 10), Spill(1, 2, 10), Spill(1, 3, 300_000), Put(1, 4, 10), Spill(1, 5, 600)}
	d.append(1, records...)
	d.same(d.read(1, refs(records)...), records)
	d.append(1, run(store.Delivered, 1, 3), run(store.Remove, 2, 2))
	d.expect("recall", d.recall(1), records[0], records[2], records[3], records[4], run(store.Delivered, 1, 3))
	d.append(2, Spill(2, 1, 10))
	d.append(2, run(store.Remove, 1, 1))
	d.append(3, Spill(3, 1, 10))
	for range 2 {
		d.reopen()
		if got := d.queues(); !slices.Equal(got, []store.QueueID{1}) {
			d.Fatalf("queues %v", got)
		}
		list := d.j.Take(1)
		d.expect("take", list, records[0], records[3], run(store.Delivered, 1, 1))
		d.readAll(1, list)
	}
	for _, c := range d.read(1, refs(records[2:3])...) {
		if c.Err == nil {
			d.Error("a spilled message came back")
		}
	}
	// Its number may be used again by a queue that does not know it.
	d.append(1, Put(1, 5, 77))
	d.append(3, Put(3, 1, 78))
	d.reopen()
	d.expect("take", d.j.Take(1), records[0], records[3], run(store.Delivered, 1, 1), Put(1, 5, 77))
	list := d.j.Take(3)
	d.expect("take", list, Put(3, 1, 78))
	d.readAll(3, list)
}

func removeTwice(d *harness) {
	d.append(1, puts(1, 1, 20, 10)...)
	for range 3 {
		d.append(1, run(store.Remove, 3, 8), run(store.Remove, 5, 10))
		d.append(1, run(store.Remove, 7, 7))
		d.append(1, run(store.Remove, 100, 200))
	}
	d.append(2, run(store.Remove, 1, 5))
	want := append(puts(1, 1, 20, 10), run(store.Remove, 3, 10))
	d.expect("recall", d.recall(1), want...)
	d.append(1, Put(1, 150, 5)) // a Remove affects only existing messages
	want = append(want, Put(1, 150, 5))
	for range 2 {
		d.reopen()
		d.expect("take", d.j.Take(1), want...)
		d.append(1, run(store.Remove, 3, 8))
	}
}

func retire(d *harness) {
	records := puts(1, 1, 50, 600)
	d.append(1, records...)
	d.append(2, puts(2, 1, 5, 10)...)
	d.append(1, run(store.Retire, 0, 0))
	if got := d.read(1, refs(records[:1])...); got[0].Err == nil {
		d.Error("read from a retired queue")
	}
	d.expect("recall", d.recall(1))
	d.append(3, append(puts(3, 1, 5, 10), run(store.Retire, 0, 0))...)
	d.append(4, run(store.Retire, 0, 0))
	d.append(2, Put(2, 6, 10))
	for range 2 {
		d.reopen()
		if got := d.queues(); !slices.Equal(got, []store.QueueID{2}) {
			d.Fatalf("queues %v", got)
		}
	}
	d.expect("the other one", d.j.Take(2), puts(2, 1, 6, 10)...)
}

func names(d *harness) {
	expect := func(want map[store.QueueID]store.Name) {
		d.Helper()
		if got := d.j.Names(); !maps.Equal(got, want) {
			d.Fatalf("names %v, not %v", got, want)
		}
	}
	expect(map[store.QueueID]store.Name{})
	odd := store.Name{VHost: "", Queue: string(Body(1, 1, 255))}
	d.append(1, store.Naming(store.Name{VHost: "/", Queue: "old"}), Put(1, 1, 10))
	d.append(1, store.Naming(NameOf(1)))
	d.append(2, store.Naming(odd))                          // has no message
	d.append(3, store.Naming(NameOf(3)), Spill(3, 1, 10))   // has no durable message
	d.append(4, store.Naming(NameOf(4)), Put(4, 1, 10))     // ends
	d.append(5, Put(5, 1, 10))                              // has no name
	d.append(4, run(store.Retire, 0, 0))                    // and no longer exists
	d.append(6, store.Naming(odd), run(store.Retire, 0, 0)) // at once
	want := map[store.QueueID]store.Name{1: NameOf(1), 2: odd, 3: NameOf(3)}
	for range 2 {
		expect(want)
		d.append(1, store.Naming(NameOf(1)))
		d.reopen()
	}
	if got := d.queues(); !slices.Equal(got, []store.QueueID{1, 5}) {
		d.Fatalf("queues %v", got)
	}
	d.append(2, run(store.Retire, 0, 0))
	delete(want, 2)
	expect(want)
	d.reopen()
	expect(want)
}
