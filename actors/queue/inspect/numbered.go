package inspect

import (
	"candlemark/actors/mail"
	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
)

// numbered is a message wherever it is.
type numbered struct {
	seq       uint64
	h         backlog.Handle
	scheduled bool
}

// byNumber shows messages in the order of their numbers (LOCK-6). Deliveries are gone over some at a time, and ready messages
// too if they are not in that order, as when scheduled ones were released.
func (p *peeking) byNumber() Question {
	limit := limitOf(p.asked.Limit) + 1
	first := lowest[numbered]{limit: limit, compare: by(func(x numbered) uint64 { return x.seq })}
	add := func(h backlog.Handle) {
		if seq := p.Messages.Seq(h); seq > p.asked.After.Seq {
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
	n := 0
	p.Deferred.From(p.asked.After.Seq, func(h backlog.Handle) bool {
		if p.states&mail.Deferred != 0 {
			add(h)
		}
		n++
		return n < limit && p.states&mail.Deferred != 0
	})
	return Question{
		Step: func() bool {
			if len(steps) > 0 && steps[0]() {
				steps = steps[1:]
			}
			return len(steps) == 0
		},
		Answer: func() Answer {
			if x := p.Scheduled; x != nil && p.states&mail.Scheduled != 0 {
				x.Messages.From(p.asked.After.Seq, limit, func(h backlog.Handle) {
					first.add(numbered{seq: x.Messages.Seq(h), h: h, scheduled: true})
				})
			}
			return p.answerNumbered(first.list())
		},
	}
}

// readyByNumber calls add for the ready messages, the lowest of which are wanted.
func (p *peeking) readyByNumber(limit int, add func(backlog.Handle)) (step func() (done bool)) {
	spot := backlog.Spot(0)
	return func() bool {
		if backlog.Ordered(p.Messages) {
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
