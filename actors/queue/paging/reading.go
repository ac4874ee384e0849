package paging

import (
	"errors"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

const (
	// runMessages is the maximum number of messages read at a time; their bytes are limited to half a window.
	runMessages = 4096
	// ReadPause is how long the queue waits after a failed read of contents that may be intact, in ms.
	ReadPause = 1000
)

// Order requests the content of h, which must be paged out, unless it is being read. It returns its approximate size in
// bytes.
func (p *Pager) Order(b *backlog.Backlog, h backlog.Handle) int64 {
	e := b.Entry(h)
	if e.Marks&backlog.Loading != 0 {
		return 0
	}
	e.Marks |= backlog.Loading
	p.refs = append(p.refs, store.Ref{Seq: e.Seq, At: store.Position(b.Place(h))})
	p.handles = append(p.handles, h)
	size := b.Size(h) + Overhead
	p.ordered += size
	return size
}

// Orders returns the contents to be read, with their approximate size in bytes, and their messages, and clears the list: Loaded
// has to be called for them.
func (p *Pager) Orders() (refs []store.Ref, handles []backlog.Handle, bytes int64) {
	refs, handles, bytes = p.refs, p.handles, p.ordered
	p.refs, p.handles, p.ordered = nil, nil, 0
	p.reading += bytes
	return refs, handles, bytes
}

// Reading returns the approximate bytes of contents that were returned by Orders and have not been loaded: they take memory as
// soon as they are read (PRO-22).
func (p *Pager) Reading() int64 { return p.reading }

// Catch requests the next run of ready messages at once, because the first is to be delivered now but is paged out.
func (p *Pager) Catch(m Memory, now clock.Instant) {
	p.readAhead = 0
	p.ReadAhead(m, now)
}

// Took records that a message was taken; body is the length of its body in bytes.
func (p *Pager) Took(body int) { p.readAhead -= int64(body) + Overhead }

// ReadAhead requests the next run of ready messages when few messages before it are left in memory.
func (p *Pager) ReadAhead(m Memory, now clock.Instant) {
	run := p.window(m) / 2
	if p.readAhead > run/2 || p.Paused(now) {
		return
	}
	n, bytes := 0, int64(0)
	before := m.Messages.Ahead(run, func(h backlog.Handle) bool {
		more := p.Order(m.Messages, h)
		n++
		bytes += more
		return more > 0 && bytes < run && n < runMessages
	})
	p.readAhead = before + bytes
}

// Loaded stores contents that were read for messages of b, with their size according to Orders, and calls damaged for
// lost contents or, if the queue ends, for all that could not be read. If a read failed that may succeed later, it
// returns the error, and nothing is read until Next.
func (p *Pager) Loaded(b *backlog.Backlog, handles []backlog.Handle, contents []store.Content, bytes int64, now clock.Instant, ends bool, damaged func(backlog.Handle)) (err error) {
	p.reading = max(p.reading-bytes, 0)
	for i, h := range handles {
		c := &contents[i]
		if !b.Has(h, c.Seq) {
			continue
		}
		b.Entry(h).Marks &^= backlog.Loading
		switch {
		case !b.IsPaged(h):
		case c.Record.Position != 0 && uint64(c.Record.Position) < b.Place(h): // it was rewritten since: another read follows
		case c.Err == nil:
			if !reload(b, h, &c.Record) {
				damaged(h)
			}
		case errors.Is(c.Err, store.ErrDamaged) || errors.Is(c.Err, store.ErrUnknown) || ends:
			damaged(h)
		default:
			p.until, p.readAhead = (now+p.Apart).Ceil()+ReadPause, 0
			err = c.Err
		}
	}
	return err
}

// reload stores a content; false if it is corrupt.
func reload(b *backlog.Backlog, h backlog.Handle, r *store.Record) bool {
	if !content.PageIn(b, h, r) {
		return false
	}
	if r.Position != 0 {
		b.SetPlace(h, uint64(r.Position))
	}
	return true
}

// Paused reports whether nothing is read because of a failed read.
func (p *Pager) Paused(now clock.Instant) bool { return p.until > (now + p.Apart).Floor() }

// Resume ends the pause after a failed read, if it is over.
func (p *Pager) Resume(now clock.Instant) {
	if !p.Paused(now) {
		p.until = 0
	}
}

// End ends the pause at once: the queue cannot wait.
func (p *Pager) End() { p.until = 0 }

// Waits reports whether a pause has not been ended.
func (p *Pager) Waits() bool { return p.until != 0 }

// Next returns when the pause after a failed read ends, in ms of real time.
func (p *Pager) Next() (int64, bool) { return p.until, p.until != 0 }
