package queue

import (
	"maps"
	"slices"

	"candlemark/actors/queue/deliveries"
	"candlemark/actors/queue/records"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
)

// disk plays the journal of a core: it completes at once unless the core holds commits.
type disk struct {
	puts     map[uint64]store.Record // messages stored
	released map[uint64]store.TTLThen
	deferred map[uint64]int64 // until this time, 0 for good
	returns  map[uint64]message.Returns
	position store.Position
	err      error // of future commits
	reads    []any // under way: loaded or lookedUp
	// late has reads wait until arrive is called.
	late bool
	// bad holds the errors of messages that cannot be read.
	bad map[uint64]error
}

// store takes the records and read orders of a turn.
func (c *core) store(list []store.Record, done *records.Commit) {
	d := &c.disk
	if d.err == nil {
		c.records = append(c.records, list...)
		d.apply(list)
	}
	if refs, handles, bytes := c.Pager.Orders(); len(refs) > 0 {
		d.reads = append(d.reads, loaded{handles, d.read(refs), bytes})
	}
	for _, l := range c.out.lookups.List {
		d.reads = append(d.reads, &deliveries.LookedUp{Lookup: l, Contents: d.read(l.Want)})
	}
	c.out.lookups.List = nil
	if done != nil {
		if c.commits = append(c.commits, done); !c.hold {
			c.commitDone(len(c.commits)-1, c.turn)
		}
	}
	if !d.late {
		c.arrive()
	}
}

// settleCommit completes the oldest held commit.
func (c *core) settleCommit() { c.commitDone(0, func(m any) { c.feed(m) }) }

// commitDone notifies the core of a completed commit.
func (c *core) commitDone(i int, send func(any)) {
	done := c.commits[i]
	c.commits = slices.Delete(c.commits, i, i+1)
	send(appendDone{commit: done, err: c.disk.err})
}

// arrive completes the reads under way.
func (c *core) arrive() {
	for len(c.disk.reads) > 0 {
		r := c.disk.reads[0]
		c.disk.reads = c.disk.reads[1:]
		c.turn(r)
	}
}

func (d *disk) apply(records []store.Record) {
	if d.puts == nil {
		d.puts = map[uint64]store.Record{}
	}
	if d.released == nil {
		d.released = map[uint64]store.TTLThen{}
	}
	if d.deferred == nil {
		d.deferred = map[uint64]int64{}
	}
	if d.returns == nil {
		d.returns = map[uint64]message.Returns{}
	}
	for i := range records {
		switch r := &records[i]; r.Kind {
		case store.Put, store.Spill:
			if _, there := d.puts[r.First]; r.Again && !there {
				continue
			}
			d.position++
			r.Position = d.position
			mine := *r
			for _, b := range []*[]byte{&mine.Exchange, &mine.RoutingKey, &mine.Header, &mine.Body, &mine.Overlay} {
				*b = slices.Clone(*b)
			}
			d.puts[r.First] = mine
		case store.Remove:
			strike(d.puts, r)
		case store.Retire:
			clear(d.puts)
		case store.Released:
			for n := r.First; n <= r.Last; n++ {
				d.released[n] = r.TTLThen
			}
		case store.Deferred, store.Postponed:
			for n := r.First; n <= r.Last; n++ {
				d.deferred[n] = r.Until
			}
		case store.Rescheduled:
			mine := d.puts[r.First]
			mine.Due = r.Due
			d.puts[r.First] = mine
		case store.Returned, store.GivenBack:
			for n := r.First; n <= r.Last; n++ {
				d.returns[n] += map[store.Kind]message.Returns{store.Returned: message.FailedOnce, store.GivenBack: message.GivenBackOnce}[r.Kind]
			}
		case store.Delivered, store.Named, store.Applied:
		}
	}
}

func (d *disk) read(want []store.Ref) []store.Content {
	contents := make([]store.Content, len(want))
	for i, ref := range want {
		r, ok := d.puts[ref.Seq]
		contents[i] = store.Content{Seq: ref.Seq, Record: r, Err: d.bad[ref.Seq]}
		if !ok {
			contents[i].Err = store.ErrUnknown
		}
	}
	return contents
}

// survivors returns the messages that the next start finds.
func (d *disk) survivors() (list []store.Recovered) {
	for _, seq := range slices.Sorted(maps.Keys(d.puts)) {
		r := d.puts[seq]
		if r.Kind == store.Spill {
			delete(d.puts, seq)
			continue
		}
		until, deferred := d.deferred[seq]
		ttl, released := d.released[seq]
		m := store.Recovered{
			Seq: seq, At: r.Position, Deadline: r.Deadline, TTL: r.TTL, Time: r.Time, Body: uint32(len(r.Body)), Priority: r.Priority,
			Due: r.Due, Released: released, TTLThen: ttl, Deferred: deferred, Until: until, Note: r.Note, Returns: d.returns[seq],
		}
		if m.Due != 0 {
			m.MessageID = store.IDHash(r.Header)
		}
		list = append(list, m)
	}
	return list
}
