package backlog

import (
	"unsafe"

	"candlemark/internal/routing/message"
	"candlemark/internal/transport/budget"
)

// maxCopied is the record size up to which a shared content is copied, since a reference costs more.
const maxCopied = 256

// kept holds contents outside the slab: large ones in their own memory, shared ones by reference.
type kept struct {
	items []content
	free  uint32
	count uint32
	// bytes is the size of unshared contents, shared of shared ones, counted of all contents without a Share.
	bytes, shared, counted int64
}

// content is a message outside the slab.
type content struct {
	exchange, routingKey, header, body []byte
	ttl, enqueued                      int64
	// handle is the message's handle, 0 for a free slot; next links the free slots.
	handle, next uint32
	own          bool
	share        *message.Share
}

// add stores the content of r and returns its index.
func (k *kept) add(r *Record, h Handle, to *budget.Budget) uint32 {
	c := content{
		exchange: r.Exchange, routingKey: r.RoutingKey, header: r.Header, body: r.Body,
		ttl: r.TTL, enqueued: r.Enqueued, own: !r.Shared, handle: h,
	}
	if c.own {
		c.clone()
		k.bytes += c.size()
	} else {
		k.shared += c.size()
		c.share = r.Share
	}
	switch size := c.size(); {
	case size <= maxRecord:
		c.share = nil
		k.counted += size
	case c.share == nil:
		c.share = message.NewShare(int(size))
	}
	if c.share != nil {
		to.Add(c.share.Hold())
	}
	k.count++
	i := k.free
	if i != 0 {
		k.free = k.items[i-1].next
		k.items[i-1] = c
		return i
	}
	k.items = append(k.items, c)
	return uint32(len(k.items))
}

// get reads the content into r.
func (k *kept) get(i uint32, r *Record) {
	c := &k.items[i-1]
	r.Exchange, r.RoutingKey, r.Header, r.Body = c.exchange, c.routingKey, c.header, c.body
	r.TTL, r.Enqueued, r.Shared, r.Share = c.ttl, c.enqueued, true, c.share
}

// remove removes a content. It reports whether the table is much too large.
func (k *kept) remove(i uint32, from *budget.Budget) (wasteful bool) {
	c := &k.items[i-1]
	if c.own {
		k.bytes -= c.size()
	} else {
		k.shared -= c.size()
	}
	if c.share != nil {
		from.Add(-c.share.Drop())
	} else {
		k.counted -= c.size()
	}
	*c = content{next: k.free}
	k.free = i
	k.count--
	if k.count == 0 && cap(k.items) > keepTable {
		k.items, k.free = nil, 0
	}
	return cap(k.items) > keepTable && int(k.count)*8 < cap(k.items)
}

// leaveAtOnce is the number of shares released synchronously with a table; a goroutine releases the rest.
const leaveAtOnce = 4096

// leave releases the shares of a table that is no longer used.
func (k *kept) leave(from *budget.Budget) {
	items := k.items
	drop := func() {
		for i := range items {
			if s := items[i].share; s != nil {
				from.Add(-s.Drop())
			}
		}
	}
	if len(items) > leaveAtOnce {
		go drop()
		return
	}
	drop()
}

// shrink reduces the array to the size it needs.
func (k *kept) shrink(t *table) {
	items := make([]content, 0, 2*k.count)
	for i := range k.items {
		if c := &k.items[i]; c.handle != 0 {
			items = append(items, *c)
			t.entry(c.handle).block = uint32(len(items))
		}
	}
	k.items, k.free = items, 0
}

// clone copies the slices into one allocation.
func (c *content) clone() {
	data := make([]byte, 0, c.size())
	for _, field := range []*[]byte{&c.exchange, &c.routingKey, &c.header, &c.body} {
		start := len(data)
		data = append(data, *field...)
		*field = data[start:len(data):len(data)]
	}
}

func (c *content) size() int64 {
	return int64(len(c.exchange) + len(c.routingKey) + len(c.header) + len(c.body))
}

// memory returns the bytes of memory used.
func (k *kept) memory() int64 {
	return k.bytes + int64(cap(k.items))*int64(unsafe.Sizeof(content{}))
}
