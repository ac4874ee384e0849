package queue

import (
	"errors"
	"iter"

	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/content"
	"candlemark/internal/clock"
	"candlemark/internal/store"
)

const (
	// runMessages bounds how many messages are read back at a time; their bytes are
	// bounded by half a window.
	runMessages = 4096
	// readPause is how long the queue waits after a read that failed, though what is
	// stored may be whole, in ms.
	readPause = 1000
)

// reading holds the state of contents that come back.
type reading struct {
	runway int64       // about how many bytes are in memory ahead of delivery
	until  int64       // wall ms before which nothing is read, 0 for none
	gets   []*mail.Get // that wait for a content
}

// loaded: contents were read back, of the messages in handles.
type loaded struct {
	handles  []backlog.Handle
	contents []store.Content
}

// requestContent orders the content of h, which is paged out, unless it is on its way. It
// returns about how many bytes that will be.
func (s *state) requestContent(h backlog.Handle) int64 {
	e := s.messages.Entry(h)
	if e.Marks&backlog.Loading != 0 {
		return 0
	}
	e.Marks |= backlog.Loading
	s.out.want = append(s.out.want, store.Ref{Seq: e.Seq, At: store.Position(s.messages.Place(h))})
	s.out.wanted = append(s.out.wanted, h)
	return s.messages.Size(h) + messageOverhead
}

// messageOverhead is the assumed size of a message besides its body, in bytes.
const messageOverhead = 64

// hasContent reports whether the content of h, a ready message that is to leave now,
// is in memory; else it is ordered, with what follows.
func (s *state) hasContent(h backlog.Handle, now clock.Instant) bool {
	if !s.messages.IsPaged(h) {
		return true
	}
	s.paging.runway = 0
	s.readAhead(now)
	return false
}

// readAhead orders the next run of ready messages when what is in memory before it
// comes to an end.
func (s *state) readAhead(now clock.Instant) {
	p := &s.paging
	run := s.window() / 2
	if p.runway > run/2 || p.until > now.Floor() {
		return
	}
	n, bytes := 0, int64(0)
	before := s.messages.Ahead(run, func(h backlog.Handle) bool {
		more := s.requestContent(h)
		n++
		bytes += more
		return more > 0 && bytes < run && n < runMessages
	})
	p.runway = before + bytes
}

// contentsRead gives messages the contents that were read, and goes on with what
// waited for them.
func (s *state) contentsRead(m loaded, now clock.Instant) {
	for i, h := range m.handles {
		c := &m.contents[i]
		if !s.messages.Has(h, c.Seq) {
			continue
		}
		s.messages.Entry(h).Marks &^= backlog.Loading
		switch {
		case !s.messages.IsPaged(h):
		case c.Err == nil:
			if !s.reload(h, &c.Record) {
				s.dropDamaged(h)
			}
		case errors.Is(c.Err, store.ErrDamaged) || errors.Is(c.Err, store.ErrUnknown) || s.phase >= draining:
			s.dropDamaged(h)
		default:
			s.paging.until, s.paging.runway = now.Ceil()+readPause, 0
			s.out.rarely().unread = c.Err
		}
	}
	if s.phase == live && s.work == nil {
		s.resumeGets(now)
		s.retry(now)
	}
}

// readAgain ends the pause after a read that failed.
func (s *state) readAgain(now clock.Instant) {
	if s.paging.until <= now.Floor() {
		s.paging.until = 0
	}
}

// Next is when the pause after a read that failed is over, in wall ms.
func (r *reading) Next() (int64, bool) { return r.until, r.until != 0 }

// resumeGets goes on with the commands that wait for contents.
func (s *state) resumeGets(now clock.Instant) {
	gets := s.paging.gets
	s.paging.gets = nil
	for _, g := range gets {
		s.get(g, now)
	}
}

// reload takes a content in; false says that it cannot be what was written.
func (s *state) reload(h backlog.Handle, r *store.Record) bool {
	if !content.PageIn(&s.messages, h, r) {
		return false
	}
	if r.Position != 0 {
		s.messages.SetPlace(h, uint64(r.Position))
	}
	s.messages.Entry(h).Persistent = r.Kind == store.Put
	return true
}

// dropDamaged is the end of a message that cannot be read back. A dead letter
// stays until it is its turn.
func (s *state) dropDamaged(h backlog.Handle) {
	e := s.messages.Entry(h)
	s.counts.Damaged++
	r := s.out.rarely()
	r.damaged = append(r.damaged, e.Seq)
	if !s.messages.IsReady(h) {
		e.Marks |= backlog.Damaged
		return
	}
	s.wheel.Remove(h)
	s.remove(h, store.Damaged)
}

// readDeadLetters orders the contents of those dead messages that are paged out.
func (s *state) readDeadLetters(ids iter.Seq[uint64], now clock.Instant) {
	if s.paging.until > now.Floor() {
		return
	}
	bytes := int64(0)
	for id := range ids {
		x, ok := s.deadLetters.all.Get(id)
		if !ok || !s.messages.IsPaged(x.message) {
			continue
		}
		if bytes += s.requestContent(x.message); bytes == 0 || bytes > windowBusy/2 {
			return // on their way already, or enough
		}
	}
}
