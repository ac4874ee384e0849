package records

import (
	"sort"
	"sync"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/storage/store"
)

// Commit is one batch of records with messages, from the turn that creates it until the journal has finished with it.
type Commit struct {
	// Records has the records of messages (Put, Spill) by ascending number, except for later ones spilled by a trim;
	// after HandOver, the other records follow.
	Records []store.Record
	handles []backlog.Handle // of the messages
	sorted  int              // length of the ascending part
	holes   int              // records of messages that were removed in the same turn
	spilled int64            // bytes of Spill
	// overlay is the last one encoded: dead letters with one reason share it.
	overlay *message.Overlay
	encoded []byte
	// The reply to the publisher once the records are durable, nil for none.
	to    mail.Address
	reply *mail.EnqueueReply
	// Functions to call at the end of the commit.
	waiting []func(failed bool)
	// The publisher's credit, returned at the end of the commit, so that a slow disk limits the publisher.
	chunk *message.Chunk
	debt  message.Charge
}

var commits = sync.Pool{New: func() any { return new(Commit) }}

// pooledRecords is the largest capacity of a pooled Commit.
const pooledRecords = 1024

// Recycle is called when the records are no longer needed.
func (c *Commit) Recycle() {
	if cap(c.Records) > pooledRecords {
		return
	}
	clear(c.Records)
	*c = Commit{Records: c.Records[:0], handles: c.handles[:0]}
	commits.Put(c)
}

// Messages calls f for the records of messages, with their current handles.
func (c *Commit) Messages(f func(h backlog.Handle, r *store.Record)) {
	for i, h := range c.handles {
		f(h, &c.Records[i])
	}
}

// add appends the record of a message.
func (c *Commit) add(kind store.Kind, h backlog.Handle, r *backlog.Record, overlay *message.Overlay) *store.Record {
	if overlay != c.overlay {
		c.overlay, c.encoded = overlay, overlay.Append(nil)
	}
	if n := len(c.Records); n == c.sorted && (n == 0 || c.Records[n-1].First < r.Seq) {
		c.sorted++
	}
	c.handles = append(c.handles, h)
	c.Records = append(c.Records, store.Record{
		Kind: kind, Time: r.Enqueued, First: r.Seq, Last: r.Seq,
		Exchange: r.Exchange, RoutingKey: r.RoutingKey, Header: r.Header, Body: r.Body, Overlay: c.encoded,
		Deadline: r.Deadline, TTL: r.TTL, Priority: r.Priority,
	})
	return &c.Records[len(c.Records)-1]
}

// note adds the record of a note.
func (c *Commit) note(r store.Record) {
	if n := len(c.Records); n == c.sorted && (n == 0 || c.Records[n-1].First < r.First) {
		c.sorted++
	}
	r.Kind, r.Note = store.Put, true
	c.handles = append(c.handles, 0)
	c.Records = append(c.Records, r)
}

func (c *Commit) follow(seq uint64, from, to backlog.Handle) bool {
	i, found := c.find(seq)
	if !found { // spilled records are not in order
		for i = c.sorted; i < len(c.handles) && (c.handles[i] != from || c.Records[i].First != seq); i++ {
		}
		found = i < len(c.handles)
	}
	if found {
		c.handles[i] = to
	}
	return found
}

// find returns the index of a message's record, if it is in the ordered part. It reads no other field, because the
// journal may be writing the record's position.
func (c *Commit) find(seq uint64) (int, bool) {
	i := sort.Search(c.sorted, func(i int) bool { return c.Records[i].First >= seq })
	return i, i < c.sorted && c.Records[i].First == seq
}

// unwrite removes the record of a message, and reports whether the journal has no other record of it.
func (c *Commit) unwrite(seq uint64) bool {
	if c == nil || len(c.handles) == 0 || seq < c.Records[0].First {
		return false
	}
	i, found := c.find(seq)
	if found {
		found = !c.Records[i].Again // otherwise the journal has an earlier record
		c.Records[i].Kind = 0
		c.holes++
	}
	return found
}

// close removes the holes.
func (c *Commit) close() {
	n, sorted := 0, c.sorted
	for i := range c.Records {
		if c.Records[i].Kind != 0 {
			c.Records[n], c.handles[n] = c.Records[i], c.handles[i]
			n++
		} else if i < c.sorted {
			sorted--
		}
	}
	clear(c.Records[n:])
	c.Records, c.handles, c.sorted, c.holes = c.Records[:n], c.handles[:n], sorted, 0
}
