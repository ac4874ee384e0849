package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"candlemark/internal/storage/store"
)

func doneInOrder(d *harness) {
	const calls, queues = 400, 3
	var mu sync.Mutex
	got := map[store.QueueID][]int{}
	all := make(chan struct{})
	left := calls * queues
	for i := range calls {
		for q := range store.QueueID(queues) {
			records := puts(q, uint64(i*10), uint64(i*10+i%4), i)
			d.j.Append(q, records, func(err error) {
				mu.Lock()
				defer mu.Unlock()
				got[q] = append(got[q], i)
				if err != nil {
					d.Errorf("append %d: %v", i, err)
				}
				for _, r := range records {
					if r.Position == 0 {
						d.Errorf("message %d has no position", r.First)
					}
				}
				if left--; left == 0 {
					close(all)
				}
			})
		}
	}
	wait(d.T, "all appends", all)
	for q, order := range got {
		if len(order) != calls || !slices.IsSorted(order) || len(slices.Compact(order)) != calls {
			d.Errorf("queue %d: %v", q, order)
		}
	}
}

func doneMayBeNil(d *harness) {
	d.j.Append(1, puts(1, 1, 5, 100), nil)
	d.j.Append(1, []store.Record{run(store.Remove, 2, 3)}, nil)
	d.append(1, Put(1, 6, 10))
	d.j.Append(1, []store.Record{run(store.Delivered, 5, 6)}, nil)
	d.j.Append(2, puts(2, 1, 1, 0), nil)
	want := []store.Record{Put(1, 1, 100), Put(1, 4, 100), Put(1, 5, 100), Put(1, 6, 10), run(store.Delivered, 5, 6)}
	d.expect("recall", d.recall(1), want...)
	d.reopen()
	d.expect("take", d.j.Take(1), want...)
	d.expect("take", d.j.Take(2), Put(2, 1, 0))
}

func doneUsesTheJournal(d *harness) {
	end := make(chan error, 1)
	first, second := puts(1, 1, 1, 10), puts(1, 2, 2, 10)
	d.j.Append(1, first, func(err error) {
		d.j.Append(1, second, func(err2 error) {
			d.j.Read(1, refs([]store.Record{first[0], second[0]}), func(got []store.Content) {
				d.j.Recall(1, func(list []store.Recovered, err3 error) {
					if len(list) != 2 || Same(got[0], first[0]) != "" || Same(got[1], second[0]) != "" {
						err3 = errors.Join(err3, fmt.Errorf("%d messages, %v, %v", len(list), got[0].Err, got[1].Err))
					}
					end <- errors.Join(err, err2, err3)
				})
			})
		})
	})
	if err := wait(d.T, "the last call", end); err != nil {
		d.Fatal(err)
	}
}

func nothingFromWithin(d *harness) {
	var mu sync.Mutex
	end := make(chan bool, 4)
	locked := func() {
		mu.Lock() // blocks for ever if the journal calls back while its caller holds the lock
		end <- true
		mu.Unlock()
	}
	hold := func(call func()) {
		mu.Lock()
		call()
		mu.Unlock()
		wait(d.T, "call", end)
	}
	for range 20 {
		hold(func() { d.j.Append(1, puts(1, 1, 1, 0), func(error) { locked() }) })
		hold(func() { d.j.Append(1, nil, func(error) { locked() }) })
		hold(func() { d.j.Read(1, nil, func([]store.Content) { locked() }) })
		hold(func() { d.j.Recall(1, func([]store.Recovered, error) { locked() }) })
	}
	_ = d.j.Close()
	hold(func() { d.j.Append(1, puts(1, 2, 2, 0), func(error) { locked() }) })
	hold(func() { d.j.Read(1, []store.Ref{{Seq: 1, At: 1}}, func([]store.Content) { locked() }) })
	hold(func() { d.j.Recall(1, func([]store.Recovered, error) { locked() }) })
}

func noRecords(d *harness) {
	d.append(1)
	d.append(1, Put(1, 1, 0))
	d.append(1)
	if got := d.read(2); len(got) != 0 {
		d.Fatal(got)
	}
}

func closeCompletes(d *harness) {
	var called atomic.Int64
	for i := range uint64(50) {
		d.j.Append(store.QueueID(i%3), puts(store.QueueID(i%3), i, i, 1000), func(err error) {
			if err != nil {
				d.Error(err)
			}
			called.Add(1)
		})
	}
	d.j.Append(1, []store.Record{run(store.Remove, 1, 1)}, nil)
	if err := d.j.Close(); err != nil {
		d.Fatal(err)
	}
	if n := called.Load(); n != 50 {
		d.Fatalf("%d of 50 completed", n)
	}
	d.reopen()
	if got := len(d.j.Take(0)) + len(d.j.Take(1)) + len(d.j.Take(2)); got != 49 {
		d.Fatalf("%d messages", got)
	}
}

func afterClose(d *harness) {
	records := puts(1, 1, 3, 10)
	d.append(1, records...)
	_ = d.j.Close()
	_ = d.j.Close()
	var mu sync.Mutex
	var order []int
	all := make(chan struct{})
	for i := range 100 {
		d.j.Append(1, puts(1, 10, 10, 0), func(err error) {
			mu.Lock()
			defer mu.Unlock()
			if order = append(order, i); !errors.Is(err, store.ErrClosed) {
				d.Errorf("append: %v", err)
			}
			if len(order) == 100 {
				close(all)
			}
		})
	}
	wait(d.T, "appends after close", all)
	if !slices.IsSorted(order) {
		d.Errorf("order: %v", order)
	}
	d.j.Append(1, puts(1, 11, 11, 0), nil)
	for _, c := range d.read(1, refs(records)...) {
		if c.Err == nil {
			d.Error("read after close")
		}
	}
	failed := make(chan error, 1)
	d.j.Recall(1, func(_ []store.Recovered, err error) { failed <- err })
	if err := wait(d.T, "recall after close", failed); !errors.Is(err, store.ErrClosed) {
		d.Errorf("recall after close: %v", err)
	}
	d.reopen()
	d.expect("after the restart", d.j.Take(1), puts(1, 1, 3, 10)...)
}
