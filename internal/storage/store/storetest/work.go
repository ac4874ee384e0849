package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"candlemark/internal/storage/store"
)

// manyQueues works on many queues from several goroutines, each queue from one of
// them, as the actors do.
func manyQueues(d *harness) {
	const workers, queues, rounds = 4, 10, 30
	models := make([]Model, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 1))
			last := map[store.QueueID]uint64{}
			var done sync.WaitGroup
			for range rounds {
				for i := range queues {
					q := store.QueueID(1 + w*queues + i)
					records := Decide(random, &models[w], q, last)
					done.Add(1)
					d.j.Append(q, records, func(err error) {
						if err != nil {
							d.Error(err)
						}
						done.Done()
					})
				}
				if random.IntN(4) == 0 {
					q := store.QueueID(1 + w*queues)
					d.j.Recall(q, func(list []store.Recovered, err error) {
						if err != nil {
							d.Error(err)
						}
						d.j.Read(q, where(list), func([]store.Content) {})
					})
				}
			}
			done.Wait()
		})
	}
	group.Wait()
	check := func(what string, list func(store.QueueID) []store.Recovered) {
		for w := range models {
			for _, q := range models[w].Queues() {
				got := list(q)
				if text := models[w].Now(q).Differs(got); text != "" {
					d.Fatalf("%s, queue %d: %s", what, q, text)
				}
				d.readAll(q, got)
			}
		}
	}
	for w := range models {
		for _, q := range models[w].Queues() {
			d.append(q, run(store.Delivered, 0, 0)) // after all other records
			models[w].Append(q, run(store.Delivered, 0, 0))
		}
	}
	check("recall", d.recall)
	d.reopen()
	for w := range models {
		models[w].Forget()
	}
	check("take", d.j.Take)
}

// yearsOfWork goes through restarts with random work between them.
func yearsOfWork(d *harness) {
	var model Model
	random := rand.New(rand.NewPCG(1, 2))
	last := map[store.QueueID]uint64{}
	for year := range 12 {
		for range 300 {
			q := store.QueueID(1 + random.IntN(5))
			d.j.Append(q, Decide(random, &model, q, last), nil)
		}
		for _, q := range model.Queues() {
			if text := model.Now(q).Differs(d.recall(q)); text != "" {
				d.Fatalf("year %d, queue %d: %s", year, q, text)
			}
		}
		model.AllDurable()
		d.reopen()
		var there []store.QueueID
		for _, q := range model.Queues() {
			if len(model.queue(q).state.survivors()) > 0 {
				there = append(there, q)
			}
		}
		if got := d.queues(); !slices.Equal(got, there) {
			d.Fatalf("year %d: queues %v, not %v", year, got, there)
		}
		for _, q := range model.Queues() {
			list := d.j.Take(q)
			if err := model.Restart(q, list); err != nil {
				d.Fatal(fmt.Errorf("year %d: %w", year, err))
			}
			d.readAll(q, list)
		}
		names := d.j.Names()
		for _, q := range there {
			if names[q] != NameOf(q) {
				d.Fatalf("year %d: queue %d is %q", year, q, names[q])
			}
		}
	}
}

// NameOf returns the name of a queue of the suite.
func NameOf(q store.QueueID) store.Name {
	return store.Name{VHost: fmt.Sprint("host/", q%3), Queue: fmt.Sprint("queue ", q)}
}

// Decide invents the next records of a queue that appends its name, and informs the model; last holds the last number
// of each queue.
func Decide(random *rand.Rand, model *Model, q store.QueueID, last map[store.QueueID]uint64) (records []store.Record) {
	records = append(records, store.Naming(NameOf(q)))
	for range 1 + random.IntN(4) {
		first := last[q] - min(last[q], random.Uint64N(60))
		one := decideOne(random, q, last, first)
		if random.IntN(30) == 0 {
			one = again(model.Now(q), first)
		}
		if records = append(records, one); one.Kind == store.Retire {
			records = append(records, store.Naming(NameOf(q)))
		}
	}
	model.Append(q, records...)
	return records
}

func decideOne(random *rand.Rand, q store.QueueID, last map[store.QueueID]uint64, first uint64) store.Record {
	to := first + random.Uint64N(15)
	switch n := random.IntN(200); {
	case n < 1 && q%2 > 0: // even queues keep stragglers for long
		return run(store.Retire, 0, 0)
	case n < 30:
		return run(store.Delivered, first, to)
	case n < 45:
		return run(store.Returned, first, to)
	case n < 50:
		return run(store.GivenBack, first, to)
	case n < 75:
		return run(store.Remove, first, to)
	case n < 78:
		return released(first, to, []int64{-1, 0, 5000, random.Int64N(1 << 40)}[random.IntN(4)])
	case n < 79 && random.IntN(2) == 0:
		return run(store.Deferred, first, to)
	case n < 79:
		return postpone(first, to, epoch+int64(to))
	case n < 80: // only multiples of 5 are scheduled
		return reschedule(first-first%5, epoch+int64(to))
	case n < 85 && q%2 > 0 || n == 80 && random.IntN(4) == 0:
		return run(store.Remove, 0, to)
	}
	if last[q]++; random.IntN(20) == 0 {
		last[q] += random.Uint64N(1 << 20)
	}
	size := random.IntN(200)
	switch random.IntN(40) {
	case 0:
		size = random.IntN(40_000)
	case 1, 2, 3:
		size = random.IntN(2000)
	}
	if random.IntN(12) == 0 {
		return Spill(q, last[q], size)
	}
	return Put(q, last[q], size)
}

// again puts an existing message again, with the same content, so that concurrent readers know what to expect.
func again(now State, seq uint64) store.Record {
	m, there := now[seq]
	if !there {
		return run(store.Delivered, seq, seq)
	}
	r := Was(m.Recovered, m.Kind)
	r.Again = true
	return r
}

// postpone postpones messages.
// released is the record of messages that came due, when their queue had a TTL in ms, negative for none.
func released(first, last uint64, ttl int64) store.Record {
	r := run(store.Released, first, last)
	r.TTLThen = store.Then(ttl)
	return r
}

func postpone(first, last uint64, until int64) store.Record {
	return store.Record{Kind: store.Postponed, First: first, Last: last, Until: until}
}

func reschedule(seq uint64, due int64) store.Record {
	return store.Record{Kind: store.Rescheduled, First: seq, Last: seq, Due: due}
}
