package settlement

import (
	"cmp"

	"candlemark/actors/system/mail"
	"candlemark/internal/transport/seqmap"
	"candlemark/protocol/amqp10"
)

// Unconfirmed holds messages that queues have not confirmed, by publish number. L is the kind of link.
type Unconfirmed[L any] struct{ seqmap.Map[Publish[L]] }

// Publish is a message that queues have not confirmed.
type Publish[L any] struct {
	Link   L
	Batch  *Batch // that contains it, nil for none
	ID     uint32
	At     int32 // in the batch
	Queues int32 // number of queues that have not answered

	refused bool
	why     *amqp10.Error // of the first refusal that gave a reason
}

// Answered handles a queue's answer. why is the reason of a refusal. It calls done for each message that all queues
// have answered. It returns how many messages the queue has answered.
func (u *Unconfirmed[L]) Answered(m *mail.EnqueueReply, why *amqp10.Error, done func(p Publish[L], state amqp10.State)) (answered int) {
	type waiting struct {
		number uint64
		Publish[L]
	}
	var others []waiting
	seqs := m.Seqs
	for _, r := range m.Ranges {
		u.TakeRange(r.First, r.Last, func(n uint64, p Publish[L]) {
			p.refused, p.why = p.refused || m.Refused, cmp.Or(p.why, why)
			if i := n - r.First; i < uint64(len(seqs)) {
				p.Batch.Numbered(m.Queue, p.At, seqs[i])
			}
			switch p.Queues--; {
			case p.Queues > 0:
				others = append(others, waiting{n, p})
			case p.refused:
				done(p, amqp10.State{Kind: amqp10.Rejected, Error: p.why})
			default:
				done(p, amqp10.State{Kind: amqp10.Accepted})
			}
		})
		count := int(r.Last - r.First + 1)
		seqs = seqs[min(count, len(seqs)):]
		answered += count
	}
	for _, w := range others {
		u.Restore(w.number, w.Publish)
	}
	return answered
}
