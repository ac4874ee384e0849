package sessions

import (
	"container/heap"
	"container/list"

	"candlemark/actors/mail"
	"candlemark/actors/queue/consumers"
)

// Bounds on who waits for a session.
const (
	// MostWaiting is how many wait at a queue at most.
	MostWaiting = 1000
	// MostWait is for how many ms one waits at most.
	MostWait = 600_000
)

// Waiter wants to lock a session.
type Waiter struct {
	Consumer *consumers.Consumer
	ID       string
	Any      bool // whichever is free and has messages, not ID
	Asked    any  // the caller's
	timer    *timer
	spot     *list.Element
}

// Answer tells a Waiter how it stands.
type Answer uint8

// Granted: it has locked the session, for a time that Lock is to be told. Taken: somebody else has locked it. Waits: an answer follows. Full: there
// is no room to wait.
const (
	Granted Answer = iota
	Taken
	Waits
	Full
)

// Ask wants a session for w, who waits until that time, in wall ms, at most; id is the one it gets. now is in wall ms, too.
func (s *Set) Ask(w *Waiter, now, until int64) (answer Answer, id string) {
	if answer, id = s.choose(w); answer != Waits {
		return answer, id
	}
	if s.waiting.Len() >= MostWaiting {
		return Full, ""
	}
	if w.spot = s.waiting.PushBack(w); !w.Any {
		s.named++
	}
	w.timer = &timer{at: min(until, now+MostWait), waiter: w}
	heap.Push(&s.timers, w.timer)
	return Waits, ""
}

// choose finds what a Waiter can have now.
func (s *Set) choose(w *Waiter) (Answer, string) {
	if !w.Any {
		if x := s.byID[w.ID]; x != nil && x.holder != nil {
			return Taken, ""
		}
		if s.opaque {
			return Waits, ""
		}
		return Granted, w.ID
	}
	if s.opaque {
		return Waits, ""
	}
	for e := s.free.Front(); e != nil; e = s.free.Front() {
		x := e.Value.(*Session)
		if _, ok := s.first(x); ok {
			return Granted, x.ID
		}
		s.free.Remove(e) // it comes again with its next message
		x.spot = nil
	}
	return Waits, ""
}

// Answered takes the first of those who wait that can be answered now; nil for nobody.
func (s *Set) Answered() (w *Waiter, answer Answer, id string) {
	if s == nil || s.waiting.Len() == 0 || s.opaque {
		return nil, 0, ""
	}
	for e := s.waiting.Front(); e != nil; e = e.Next() {
		w = e.Value.(*Waiter)
		if answer, id = s.choose(w); answer != Waits {
			s.GiveUp(w)
			return w, answer, id
		}
		if s.named == 0 { // nobody behind it gets anything either
			break
		}
	}
	return nil, 0, ""
}

// Waiting calls f for those who wait, in order. f may have them give up.
func (s *Set) Waiting(f func(*Waiter)) {
	if s == nil {
		return
	}
	var next *list.Element
	for e := s.waiting.Front(); e != nil; e = next {
		next = e.Next()
		f(e.Value.(*Waiter))
	}
}

// GiveUp has somebody wait no more.
func (s *Set) GiveUp(w *Waiter) {
	if s.waiting.Remove(w.spot); !w.Any {
		s.named--
	}
	s.timers.remove(w.timer)
}

// Lock has a consumer have a session that nobody has locked until that time, in wall ms.
func (s *Set) Lock(id string, c *consumers.Consumer, until int64) {
	x := s.session(id)
	if x.holder != nil {
		panic("sessions: Lock of one that is locked")
	}
	if x.spot != nil {
		s.free.Remove(x.spot)
		x.spot = nil
	}
	x.holder, x.lost, x.reading = c, false, false
	s.held[c] = x
	x.timer = &timer{at: until, session: x}
	heap.Push(&s.timers, x.timer)
	s.runs(c, true)
}

// Holder is who has locked a session, and until when, in wall ms; nil: nobody has, or not any more at now.
func (s *Set) Holder(id string, now int64) (c *consumers.Consumer, until int64) {
	if s == nil {
		return nil, 0
	}
	x := s.byID[id]
	if x == nil || x.holder == nil || x.lost || x.timer.at <= now || x.holder.Gone() {
		return nil, 0
	}
	return x.holder, x.timer.at
}

// ByLink is the session that the consumer with that link and connection has locked, nil for none.
func (s *Set) ByLink(link string, connection mail.Address) *string {
	if s == nil || link == "" {
		return nil
	}
	for c, x := range s.held {
		if c.Link == link && c.Connection.Equal(connection) && !c.Gone() {
			return &x.ID
		}
	}
	return nil
}

// Until is when the lock of a consumer ends, in wall ms, 0 if it has none.
func (s *Set) Until(c *consumers.Consumer) int64 {
	if s == nil {
		return 0
	}
	if x := s.held[c]; x != nil && !x.lost {
		return x.timer.at
	}
	return 0
}

// Renew has the lock of a session last until that time, in wall ms, but never shorter than it did.
func (s *Set) Renew(id string, until int64) int64 {
	t := s.byID[id].timer
	if until > t.at {
		t.at = until
		heap.Fix(&s.timers, t.index)
	}
	return t.at
}

// Free ends the lock of a consumer, who holds nothing of the session any more: the next one may have it.
func (s *Set) Free(c *consumers.Consumer) {
	x := s.held[c]
	if x == nil {
		return
	}
	delete(s.held, c)
	if x.timer != nil {
		s.timers.remove(x.timer)
		x.timer = nil
	}
	x.holder, x.lost, x.reading = nil, false, false
	if s.first(x); len(x.ready) > 0 { // without what is not ready any more
		s.wake(x)
	}
	s.forget(x)
}

// Next is when Advance is to be called, in wall ms.
func (s *Set) Next() (int64, bool) {
	if s == nil || len(s.timers) == 0 {
		return 0, false
	}
	return s.timers[0].at, true
}

// Advance ends what is over at now, in wall ms: lost has the consumers whose locks have run out, each of which is given nothing any more but has
// its session until Free; late have waited for nothing.
func (s *Set) Advance(now int64) (lost []*consumers.Consumer, late []*Waiter) {
	if s == nil {
		return nil, nil
	}
	for len(s.timers) > 0 && s.timers[0].at <= now {
		t := s.timers[0]
		if w := t.waiter; w != nil {
			s.GiveUp(w)
			late = append(late, w)
			continue
		}
		s.timers.remove(t)
		t.session.timer, t.session.lost = nil, true
		s.runs(t.session.holder, false)
		lost = append(lost, t.session.holder)
	}
	return lost, late
}

// Postpone has all locks and waits end so many ms later: the machine slept.
func (s *Set) Postpone(ms int64) {
	if s == nil {
		return
	}
	for _, t := range s.timers {
		t.at += ms
	}
}

// timer is the end of a lock, or of a wait.
type timer struct {
	at      int64
	index   int // in timers
	session *Session
	waiter  *Waiter
}

// timers implements heap.Interface.
type timers []*timer

func (t timers) Len() int           { return len(t) }
func (t timers) Less(i, j int) bool { return t[i].at < t[j].at }

func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].index, t[j].index = i, j
}

// Push implements heap.Interface.
func (t *timers) Push(x any) {
	x.(*timer).index = len(*t)
	*t = append(*t, x.(*timer))
}

// Pop implements heap.Interface.
func (t *timers) Pop() any {
	n := len(*t) - 1
	x := (*t)[n]
	(*t)[n] = nil
	*t = (*t)[:n]
	return x
}

func (t *timers) remove(x *timer) { heap.Remove(t, x.index) }
