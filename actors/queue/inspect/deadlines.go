package inspect

import (
	"cmp"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/system/mail"
)

// byDeadline lists ready messages that expire, by deadline and then number. It examines few other messages, except that
// all messages due at the same ms have to be examined; as these may be many, it takes several turns.
func (p *peeking) byDeadline() Query {
	b, limit, after := p.Messages, limitOf(p.asked.Limit)+1, p.asked.After
	first := lowest[backlog.Handle]{limit: limit, compare: func(x, y backlog.Handle) int {
		return cmp.Or(cmp.Compare(b.Deadline(x), b.Deadline(y)), cmp.Compare(b.Seq(x), b.Seq(y)))
	}}
	all := p.Expiry.Scan(after.Due)
	return Query{
		Still: true,
		Step: func() (done bool) {
			for looked := 0; looked < p.Limit; {
				whole, anew, more := all.Step(p.Limit-looked, func(h backlog.Handle) {
					looked++
					if d := b.Deadline(h); d > after.Due || d == after.Due && b.Seq(h) > after.Seq {
						first.add(h)
					}
				})
				if anew {
					first.kept = nil
				}
				if !more || whole && len(first.kept) >= limit {
					return true
				}
			}
			return false
		},
		Answer: func() Answer {
			for _, h := range first.list() {
				if !p.room() {
					break
				}
				m := p.entry(b, h)
				m.State = mail.Ready
				p.show(b, h, m)
				p.reply.Next = &mail.Cursor{Due: b.Deadline(h), Seq: b.Seq(h)}
			}
			if !p.closed {
				p.reply.Next = nil
			}
			return Answer{To: p.asked.ReplyTo, Reply: p.reply, Want: p.missing.refs(), Found: p.read}
		},
	}
}
