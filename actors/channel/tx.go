package channel

import (
	"slices"

	"candlemark/actors/channel/routing"
	"candlemark/actors/channel/unacked"
	"candlemark/actors/mail"
	"candlemark/internal/message"
	"candlemark/internal/topology"
	"candlemark/protocol"
)

// tx is a transactional channel [AMQP 1.9]: what is published and settled waits
// for tx.commit. As in RabbitMQ the checks and the routing are done before, and
// the queues are told one after the other: it is not atomic over several.
type tx struct {
	publishes []publishing
	targets   int   // queues of them, together
	kept      int64 // bytes of them
	settles   []verdict
	// What ends it: commit or rollback while there is work to be done, else nil, and
	// how many publishes and settles are done with.
	ending          protocol.Method
	published, done int
	// While tx.commit waits: how many answers are missing for the publishes from
	// first to last, and whether one was a refusal.
	left        int
	first, last uint64
	refused     bool
}

type publishing struct {
	message   message.Message
	queues    []*topology.Queue
	caps      []int64
	mandatory bool
}

type verdict struct {
	tag     uint64
	unacked unacked.Delivery
	how     mail.Settlement
}

// publishingBytes is the cost of a message that waits for tx.commit besides its
// content, in bytes, and targetBytes what each of its queues does.
const (
	publishingBytes = 256
	targetBytes     = 16
)

// endLimit is how many settles, publishes and queues of publishes the end of a
// transaction deals with in one turn, but for the last publish (ADR 29).
const endLimit = 4096

// publishLater keeps a message for the commit, in memory of its own.
func (s *state) publishLater(m *message.Message, targets []*routing.Target, mandatory bool) error {
	t := s.tx
	bytes := int64(m.Size() + publishingBytes + targetBytes*len(targets))
	if ok, most := s.cfg.Arrivals.Keep(bytes); !ok {
		return protocol.ChannelErrorf(protocol.PreconditionFailed,
			"no memory for the transaction: uncommitted messages of all channels may have %d bytes together", most)
	}
	t.kept += bytes
	m.Own()
	p := publishing{message: *m, mandatory: mandatory, caps: slices.Clone(s.routes.Caps()), queues: make([]*topology.Queue, len(targets))}
	for i, to := range targets {
		p.queues[i] = to.Queue
	}
	t.publishes = append(t.publishes, p)
	t.targets += len(targets)
	return nil
}

// forgetPublishes: they have gone to their queues, or will not.
func (s *state) forgetPublishes() {
	s.cfg.Arrivals.Drop(s.tx.kept)
	s.tx.publishes, s.tx.targets, s.tx.kept = nil, 0, 0
}

func (t *tx) addSettle(tag uint64, u unacked.Delivery, how mail.Settlement) {
	t.settles = append(t.settles, verdict{tag, u, how})
}

// selectTx makes the channel transactional, for good.
func (s *state) selectTx() error {
	if s.confirms.On() {
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "cannot switch from confirm to tx mode")
	}
	if s.tx == nil {
		s.tx = &tx{}
	}
	s.output.Reply(&protocol.TxSelectOk{})
	return nil
}

// selectConfirms is the other choice.
func (s *state) selectConfirms(m *protocol.ConfirmSelect) error {
	if s.tx != nil {
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "cannot switch from tx to confirm mode")
	}
	s.confirms.Start()
	if !m.NoWait {
		s.output.Reply(&protocol.ConfirmSelectOk{})
	}
	return nil
}

func notTransactional() error {
	return protocol.ChannelErrorf(protocol.PreconditionFailed, "channel is not transactional")
}

// commit publishes, settles, and waits until the queues have what they are to
// keep. Deadlines begin now (TTL-12).
func (s *state) commit(m *protocol.TxCommit) error {
	t := s.tx
	if t == nil {
		return notTransactional()
	}
	t.first, t.left, t.refused = t.last+1, t.targets, false
	t.last += uint64(len(t.publishes))
	t.ending = m
	s.endTx()
	return nil
}

// endTx does a turn's worth of a commit or a rollback. What the client sends waits
// for all of it. The channel's own end needs no turns: what waits is let go.
func (s *state) endTx() {
	t := s.tx
	if t == nil || t.ending == nil {
		return
	}
	_, keep := t.ending.(*protocol.TxCommit)
	for left := endLimit; t.published < len(t.publishes) || t.done < len(t.settles); left-- {
		if left <= 0 {
			s.request(t.ending, nil)
			s.await.patient = true
			s.rest()
			return
		}
		if t.published < len(t.publishes) {
			p := &t.publishes[t.published]
			p.message.Number = t.first + uint64(t.published)
			t.published++
			left -= len(p.queues)
			s.deliverTo(s.batches.Targets(p.queues), p.caps, &p.message, p.mandatory)
			continue
		}
		x := t.settles[t.done]
		t.done++
		if keep {
			s.unacked.Settle(x.unacked, x.how)
		} else {
			s.unacked.Restore(x.tag, x.unacked)
		}
	}
	s.endedTx(keep)
}

// endedTx answers, or waits for the queues.
func (s *state) endedTx(commit bool) {
	t := s.tx
	m := t.ending
	s.forgetPublishes()
	t.settles, t.published, t.done, t.ending, s.await = nil, 0, 0, nil, nil
	if !commit {
		s.output.Reply(&protocol.TxRollbackOk{})
		return
	}
	s.unacked.Limit.Allow()
	switch {
	case t.left > 0:
		s.request(m, nil)
	case t.refused:
		s.fail(partialCompletion(), m)
	default:
		s.output.Reply(&protocol.TxCommitOk{})
	}
}

func partialCompletion() error {
	return protocol.ChannelErrorf(protocol.PreconditionFailed, "partial tx completion")
}

// committed counts a queue's answers to a commit; the last ends it.
func (s *state) committed(r mail.Range, refused bool) {
	t := s.tx
	if t == nil || t.left == 0 || r.First < t.first || r.Last > t.last {
		return
	}
	t.left -= int(r.Last - r.First + 1)
	t.refused = t.refused || refused
	if t.left = max(t.left, 0); t.left > 0 || t.ending != nil {
		return
	}
	command := s.await.method
	s.await = nil
	if t.refused {
		s.fail(partialCompletion(), command)
		return
	}
	s.output.Reply(&protocol.TxCommitOk{})
}

// rollback forgets what was published; what was settled is unacknowledged again.
func (s *state) rollback(m *protocol.TxRollback) error {
	if s.tx == nil {
		return notTransactional()
	}
	s.forgetPublishes()
	s.tx.ending = m
	s.endTx()
	return nil
}
