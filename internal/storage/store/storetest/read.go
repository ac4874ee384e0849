package storetest

import (
	"errors"
	"slices"

	"candlemark/internal/storage/store"
)

func memoryIsTheCallers(d *harness) {
	records := puts(1, 1, 20, 700)
	want := puts(1, 1, 20, 700)
	d.append(1, records...)
	positions := refs(records)
	for _, r := range records {
		for _, b := range [][]byte{r.Exchange, r.RoutingKey, r.Header, r.Body, r.Overlay} {
			clear(b)
		}
	}
	clear(records)
	d.same(d.read(1, positions...), want)
	d.reopen()
	d.readAll(1, d.j.Take(1))
}

func contentsAreTheReaders(d *harness) {
	records := puts(1, 1, 20, 300)
	d.append(1, records...)
	for range 2 {
		wanted := refs(records)
		got := d.read(1, wanted...)
		clear(wanted)
		d.same(got, puts(1, 1, 20, 300))
		for _, c := range got {
			r := c.Record
			for _, b := range [][]byte{r.Exchange, r.RoutingKey, r.Header, r.Body, r.Overlay} {
				clear(b[:cap(b)])
			}
		}
	}
}

func readInOrder(d *harness) {
	records := append(puts(1, 1, 50, 900), puts(1, 60, 70, 30_000)...)
	d.append(1, records...)
	wanted := slices.Clone(records)
	slices.Reverse(wanted)
	wanted = append(wanted, records[3:9]...)
	wanted = append(wanted, records[5], records[5])
	d.same(d.read(1, refs(wanted)...), wanted)
}

func unknownMessages(d *harness) {
	records, others := puts(1, 1, 5, 50), puts(2, 10, 12, 50)
	d.append(1, records...)
	d.append(2, others...)
	d.append(1, run(store.Remove, 2, 2))
	got := d.read(1, append(refs(records), refs(others)...)...)
	for i, c := range got {
		switch known := i < 5 && i != 1; {
		case known:
			d.same([]store.Content{c}, records[i:i+1])
		case !errors.Is(c.Err, store.ErrUnknown):
			d.Errorf("%d: %v", c.Seq, c.Err)
		}
	}
	if got[6].Seq != 11 {
		d.Errorf("number %d instead of 11", got[6].Seq)
	}
	if got := d.read(99, refs(records)...); !errors.Is(got[4].Err, store.ErrUnknown) {
		d.Errorf("queue 99: %v", got[4].Err)
	}
}

// readAfterMoves leaves one message of many alive, over and over, so that a journal that compacts its log has to move
// them.
func readAfterMoves(d *harness) {
	var kept []store.Record
	next := uint64(1)
	for range 60 {
		records := puts(1, next, next+99, 500)
		d.append(1, records...)
		kept = append(kept, records[next%100])
		alive := next + next%100
		d.append(1, run(store.Delivered, alive, alive))
		d.append(1, run(store.Remove, next, alive-1), run(store.Remove, alive+1, next+99))
		next += 107
	}
	d.same(d.read(1, refs(kept)...), kept)
	want := slices.Clone(kept)
	for _, r := range kept {
		want = append(want, run(store.Delivered, r.First, r.First))
	}
	d.expect("recall", d.recall(1), want...)
	d.reopen()
	list := d.j.Take(1)
	d.expect("take", list, want...)
	d.readAll(1, list)
	d.append(1, run(store.Remove, 1, next))
	d.expect("all removed", d.recall(1))
	d.reopen()
	if got := d.queues(); len(got) != 0 {
		d.Fatalf("queues %v", got)
	}
}

func bodies(d *harness) {
	sizes := []int{
		0, 1, 2, 100, 511, 512, 513, 4095, 4096, 4097, 65_535, 65_536, 1<<18 - 100, 1<<18 - 1, 1 << 18, 1<<18 + 1,
		1 << 20, 3<<20 + 7, 20 << 20, 5,
	}
	var records []store.Record
	for i, size := range sizes {
		records = append(records, Put(1, uint64(i), size))
	}
	long := Put(1, 100, 10)
	long.Header, long.Overlay = Body(1, 2, 300_000), Body(1, 3, 100_000)
	long.Exchange, long.RoutingKey = Body(1, 4, 255), Body(1, 5, 255)
	records = append(records, long)
	d.append(1, slices.Clone(records)...)
	list := d.recall(1)
	d.expect("recall", list, records...)
	d.same(d.read(1, where(list)...), records)
	for i := range sizes {
		d.append(2, Put(2, uint64(i), sizes[i]))
	}
	d.reopen()
	for _, q := range []store.QueueID{2, 1} {
		list := d.j.Take(q)
		if q == 1 {
			d.expect("take", list, records...)
			list = list[:len(list)-1]
		}
		for i := len(list) - 1; i >= 0; i-- {
			d.readAll(q, list[i:i+1])
		}
	}
}

// fanOut puts messages that share memory into many queues.
func fanOut(d *harness) {
	const queues = 20
	for _, size := range []int{10, 512, 5000, 600_000} {
		seq := uint64(size)
		shared := Put(0, seq, size)
		end := make(chan error, queues)
		records := make([][]store.Record, queues)
		for q := range queues {
			records[q] = []store.Record{shared, Put(store.QueueID(q), seq+1, 20)}
			d.j.Append(store.QueueID(q), records[q], func(err error) { end <- err })
		}
		for range queues {
			if err := wait(d.T, "append", end); err != nil {
				d.Fatal(err)
			}
		}
		d.append(0, run(store.Remove, seq, seq))
		d.append(7, run(store.Retire, 0, 0))
		for q := 1; q < queues; q++ {
			if q != 7 {
				d.same(d.read(store.QueueID(q), refs(records[q][:1])...), []store.Record{shared})
			}
		}
	}
	d.reopen()
	for q := range store.QueueID(queues) {
		list := d.j.Take(q)
		switch want := map[store.QueueID]int{0: 4, 7: 0}; {
		case q == 0 || q == 7:
			if len(list) != want[q] {
				d.Errorf("queue %d: %d messages", q, len(list))
			}
		case len(list) != 8:
			d.Errorf("queue %d: %d messages", q, len(list))
		default:
			d.readAll(q, list)
		}
	}
}
