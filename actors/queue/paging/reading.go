package paging

import (
	"errors"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/internal/clock"
	"candlemark/internal/store"
)

const (
	// runMessages bounds how many messages are read back at a time; their bytes are
	// bounded by half a window.
	runMessages = 4096
	// ReadPause is how long the queue waits after a read that failed, though what is
	// stored may be whole, in ms.
	ReadPause = 1000
)

// Order has the content of h read back, which is paged out, unless it is on its way. It returns about how many bytes that
// will be.
func (p *Pager) Order(b *backlog.Backlog, h backlog.Handle) int64 {
	e := b.Entry(h)
	if e.Marks&backlog.Loading != 0 {
		return 0
	}
	e.Marks |= backlog.Loading
	p.refs = append(p.refs, store.Ref{Seq: e.Seq, At: store.Position(b.Place(h))})
	p.handles = append(p.handles, h)
	return b.Size(h) + Overhead
}

// Orders takes what is to be read, for which messages: Loaded is to be called when it was.
func (p *Pager) Orders() (refs []store.Ref, handles []backlog.Handle) {
	refs, handles = p.refs, p.handles
	p.refs, p.handles = nil, nil
	return refs, handles
}

// Catch orders the next run of ready messages at once: the first of them is to leave now, and paged out.
func (p *Pager) Catch(m Memory, now clock.Instant) {
	p.runway = 0
	p.ReadAhead(m, now)
}

// Took notes that a message left which has a body of so many bytes.
func (p *Pager) Took(body int) { p.runway -= int64(body) + Overhead }

// ReadAhead orders the next run of ready messages when what is in memory before it comes to an end.
func (p *Pager) ReadAhead(m Memory, now clock.Instant) {
	run := p.window(m) / 2
	if p.runway > run/2 || p.Paused(now) {
		return
	}
	n, bytes := 0, int64(0)
	before := m.Messages.Ahead(run, func(h backlog.Handle) bool {
		more := p.Order(m.Messages, h)
		n++
		bytes += more
		return more > 0 && bytes < run && n < runMessages
	})
	p.runway = before + bytes
}

// Loaded gives messages of b the contents that were read, and calls damaged for those that cannot be had: of a queue that
// ends, any. Else the error is why some could not be read for now, and nothing is read until Next.
func (p *Pager) Loaded(b *backlog.Backlog, handles []backlog.Handle, contents []store.Content, now clock.Instant, ends bool, damaged func(backlog.Handle)) (err error) {
	for i, h := range handles {
		c := &contents[i]
		if !b.Has(h, c.Seq) {
			continue
		}
		b.Entry(h).Marks &^= backlog.Loading
		switch {
		case !b.IsPaged(h):
		case c.Record.Position != 0 && uint64(c.Record.Position) < b.Place(h): // it was put again since: another read follows
		case c.Err == nil:
			if !reload(b, h, &c.Record) {
				damaged(h)
			}
		case errors.Is(c.Err, store.ErrDamaged) || errors.Is(c.Err, store.ErrUnknown) || ends:
			damaged(h)
		default:
			p.until, p.runway = now.Ceil()+ReadPause, 0
			err = c.Err
		}
	}
	return err
}

// reload takes a content in; false says that it cannot be what was written.
func reload(b *backlog.Backlog, h backlog.Handle, r *store.Record) bool {
	if !content.PageIn(b, h, r) {
		return false
	}
	if r.Position != 0 {
		b.SetPlace(h, uint64(r.Position))
	}
	return true
}

// Paused reports whether nothing is read at present, as reading failed.
func (p *Pager) Paused(now clock.Instant) bool { return p.until > now.Floor() }

// Resume ends the pause after a read that failed, if it is over.
func (p *Pager) Resume(now clock.Instant) {
	if !p.Paused(now) {
		p.until = 0
	}
}

// End ends the pause: the queue cannot wait.
func (p *Pager) End() { p.until = 0 }

// Next is when the pause after a read that failed is over, in wall ms.
func (p *Pager) Next() (int64, bool) { return p.until, p.until != 0 }
