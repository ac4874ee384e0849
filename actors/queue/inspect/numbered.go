package inspect

import (
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/system/mail"
)

// numbered is a message and its number.
type numbered struct {
	seq       uint64
	h         backlog.Handle
	scheduled bool
}

// byNumber lists messages by number (LOCK-6). It takes several turns over deliveries, and over ready messages in
// another order than by number, as after the release of scheduled ones.
func (p *peeking) byNumber() Query {
	limit := limitOf(p.asked.Limit) + 1
	first := lowest[numbered]{limit: limit, compare: by(func(x numbered) uint64 { return x.seq })}
	add := func(h backlog.Handle) {
		if seq := p.Messages.Seq(h); seq > p.asked.After.Seq && p.meant(seq) {
			first.add(numbered{seq: seq, h: h})
		}
	}
	var steps []func() (done bool)
	if p.states&mail.Unacked != 0 && p.Consumers.Unacked() > 0 {
		all := p.Consumers.Scan(p.Limit)
		steps = append(steps, func() bool { return all.Step(func(u consumers.Unsettled) { add(u.Message) }) })
	}
	if p.states&mail.Ready != 0 {
		steps = append(steps, p.readyByNumber(limit, add))
	}
	if p.states&mail.Deferred != 0 {
		steps = append(steps, p.ascending(limit, func(after uint64, yield func(seq uint64) bool) {
			p.Deferred.From(after, func(h backlog.Handle) bool {
				add(h)
				return yield(p.Messages.Seq(h))
			})
		}))
	}
	if x := p.Scheduled; x != nil && p.states&mail.Scheduled != 0 {
		steps = append(steps, p.ascending(limit, func(after uint64, yield func(seq uint64) bool) {
			x.Messages.From(after, limit, func(h backlog.Handle) {
				seq := x.Messages.Backlog.Seq(h)
				if p.meant(seq) {
					first.add(numbered{seq: seq, h: h, scheduled: true})
				}
				yield(seq)
			})
		}))
	}
	return Query{
		Step: func() bool {
			if len(steps) > 0 && steps[0]() {
				steps = steps[1:]
			}
			return len(steps) == 0
		},
		Answer: func() Answer { return p.answerNumbered(first.list()) },
	}
}

// meant reports whether a message belongs to the requested session, if one was requested.
func (p *peeking) meant(seq uint64) bool {
	if p.asked.Session == nil {
		return true
	}
	id, ok := p.Sessions.Of(seq)
	return ok && id == *p.asked.Session
}

// ascending examines messages by ascending number, limit at a time, until limit messages have matched.
func (p *peeking) ascending(limit int, from func(after uint64, yield func(seq uint64) bool)) (step func() (done bool)) {
	after, found := p.asked.After.Seq, 0
	return func() bool {
		n := 0
		from(after, func(seq uint64) bool {
			if after = max(after, seq); p.meant(seq) {
				found++
			}
			n++
			return n < limit
		})
		return n < limit || found >= limit
	}
}

// readyByNumber calls add for the ready messages with the lowest numbers.
func (p *peeking) readyByNumber(limit int, add func(backlog.Handle)) (step func() (done bool)) {
	spot := backlog.Spot(0)
	return func() bool {
		if backlog.Ordered(p.Messages) && p.asked.Session == nil {
			backlog.From(p.Messages, p.asked.After.Seq, limit, add)
			return true
		}
		n := 0
		p.Messages.Behind(spot, func(h backlog.Handle) bool {
			add(h)
			n++
			spot = p.Messages.Spot(h)
			return n < p.Limit
		})
		return n < p.Limit
	}
}

func (p *peeking) answerNumbered(list []numbered) Answer {
	for _, x := range list {
		if !p.room() {
			break
		}
		if x.scheduled {
			p.showScheduled(x.h)
		} else {
			p.showQueued(x.h)
		}
		p.reply.Next = &mail.Cursor{Seq: x.seq}
	}
	return p.finished()
}
