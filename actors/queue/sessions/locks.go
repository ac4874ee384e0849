package sessions

import (
	"container/heap"
	"container/list"

	"candlemark/actors/queue/consumers"
	"candlemark/actors/system/mail"
)

// Limits of waiting consumers.
const (
	// MaxWaiting is the maximum per queue.
	MaxWaiting = 1000
	// MaxOfOne is the maximum per connection.
	MaxOfOne = 100
	// MaxWait is the longest wait, in ms.
	MaxWait = 600_000
)

// Waiter is a consumer that asks to lock a session.
type Waiter struct {
	Consumer *consumers.Consumer
	ID       string
	Any      bool // any free session with messages, rather than ID
	Asked    any  // set by the caller
	timer    *timer
	spot     *list.Element
}

// Answer is the result for a Waiter.
type Answer uint8

// Granted: the Waiter may lock the session; the caller has to call Lock. Taken: another consumer has locked it. Waits:
// an answer will follow. Full: too many consumers wait.
const (
	Granted Answer = iota
	Taken
	Waits
	Full
)

// Ask requests a session for w, which waits at most until the time until; id is the session granted. Both times are in
// wall ms.
func (s *Sessions) Ask(w *Waiter, now, until int64) (answer Answer, id string) {
	if answer, id = s.choose(w); answer != Waits {
		return answer, id
	}
	of := mail.ID(w.Consumer.Connection)
	if s.waiting.Len() >= MaxWaiting || s.waits[of] >= MaxOfOne {
		return Full, ""
	}
	s.waits[of]++
	if w.spot = s.waiting.PushBack(w); !w.Any {
		s.named++
	}
	w.timer = &timer{at: min(until, now+MaxWait), waiter: w}
	heap.Push(&s.timers, w.timer)
	return Waits, ""
}

// choose returns what a Waiter can get now.
func (s *Sessions) choose(w *Waiter) (Answer, string) {
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
		s.free.Remove(e) // it is added again with its next message
		x.spot = nil
	}
	return Waits, ""
}

// Answered removes and returns the first Waiter that can be answered now; nil for none.
func (s *Sessions) Answered() (w *Waiter, answer Answer, id string) {
	if s == nil || s.waiting.Len() == 0 || s.opaque {
		return nil, 0, ""
	}
	for e := s.waiting.Front(); e != nil; e = e.Next() {
		w = e.Value.(*Waiter)
		if answer, id = s.choose(w); answer != Waits {
			s.GiveUp(w)
			return w, answer, id
		}
		if s.named == 0 { // nor can any after it
			break
		}
	}
	return nil, 0, ""
}

// Waiting calls f for the waiters in order. f may call GiveUp for its waiter.
func (s *Sessions) Waiting(f func(*Waiter)) {
	if s == nil {
		return
	}
	var next *list.Element
	for e := s.waiting.Front(); e != nil; e = next {
		next = e.Next()
		f(e.Value.(*Waiter))
	}
}

// GiveUp removes a waiter.
func (s *Sessions) GiveUp(w *Waiter) {
	if s.waiting.Remove(w.spot); !w.Any {
		s.named--
	}
	of := mail.ID(w.Consumer.Connection)
	if s.waits[of]--; s.waits[of] == 0 {
		delete(s.waits, of)
	}
	s.timers.remove(w.timer)
}

// Lock locks an unlocked session for a consumer until the given time, in wall ms.
func (s *Sessions) Lock(id string, c *consumers.Consumer, until int64) {
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

// Holder returns the consumer that has locked a session and the end of the lock, in wall ms; nil if the session is not
// locked at now.
func (s *Sessions) Holder(id string, now int64) (c *consumers.Consumer, until int64) {
	if s == nil {
		return nil, 0
	}
	x := s.byID[id]
	if x == nil || x.holder == nil || x.lost || x.timer.at <= now || x.holder.Gone() {
		return nil, 0
	}
	return x.holder, x.timer.at
}

// ByLink returns the session locked by the consumer with the given link and connection, nil for none.
func (s *Sessions) ByLink(link string, connection mail.Address) *string {
	if s == nil || link == "" {
		return nil
	}
	for c, x := range s.held {
		if c.Link == link && mail.Same(c.Connection, connection) && !c.Gone() {
			return &x.ID
		}
	}
	return nil
}

// Asked returns the session to which a command refers, by its id or else by the link of the consumer that has locked
// it, and that consumer, nil unless it belongs to the connection. id is nil if there is no such link.
func (s *Sessions) Asked(session *string, link string, connection mail.Address, now int64) (id *string, by *consumers.Consumer) {
	if id = session; id == nil {
		id = s.ByLink(link, connection)
	}
	if id == nil {
		return nil, nil
	}
	if by, _ = s.Holder(*id, now); by == nil || !mail.Same(connection, by.Connection) {
		return id, nil
	}
	return id, by
}

// Until returns when the lock of a consumer ends, in wall ms, 0 if it holds no lock.
func (s *Sessions) Until(c *consumers.Consumer) int64 {
	if s == nil {
		return 0
	}
	if x := s.held[c]; x != nil && !x.lost {
		return x.timer.at
	}
	return 0
}

// Renew extends the lock of a session until the given time, in wall ms; it never shortens the lock. It returns the end
// of the lock.
func (s *Sessions) Renew(id string, until int64) int64 {
	t := s.byID[id].timer
	if until > t.at {
		t.at = until
		heap.Fix(&s.timers, t.index)
	}
	return t.at
}

// Free ends the lock of a consumer without unacked deliveries: the session can be locked again.
func (s *Sessions) Free(c *consumers.Consumer) {
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
	if s.first(x); len(x.ready) > 0 { // only messages still ready count
		s.wake(x)
	}
	s.forget(x)
}

// Next returns when Advance has to be called, in wall ms.
func (s *Sessions) Next() (int64, bool) {
	if s == nil || len(s.timers) == 0 {
		return 0, false
	}
	return s.timers[0].at, true
}

// Advance ends locks and waits that expire by now, in wall ms. lost are the consumers whose locks have expired, which
// get no messages but keep their sessions until Free; late are the waiters that got no session.
func (s *Sessions) Advance(now int64) (lost []*consumers.Consumer, late []*Waiter) {
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

// Postpone extends all locks and waits by ms: the machine slept.
func (s *Sessions) Postpone(ms int64) {
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
	index   int // index in timers
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
