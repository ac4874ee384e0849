package channel

import (
	"candlemark/actors/client/channel/tx"
	"candlemark/actors/client/input"
	"candlemark/actors/client/routing"
	"candlemark/protocol"
)

// selectTx makes the channel transactional, until its end.
func (s *state) selectTx() error {
	if s.confirms.On() {
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "cannot switch from confirm to tx mode")
	}
	if s.tx == nil {
		s.tx = tx.New(s.cfg.Arrivals)
	}
	s.output.Reply(&protocol.TxSelectOk{})
	return nil
}

// selectConfirms turns on publisher confirms.
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

// conclude commits or rolls back. A commit publishes, settles, and waits until the queues have stored both (DUR-3); deadlines start
// now (TTL-12). A rollback discards publishes; settled deliveries become unacked again.
func (s *state) conclude(m protocol.Method) error {
	if s.tx == nil {
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "channel is not transactional")
	}
	switch m := m.(type) {
	case *protocol.TxCommit:
		s.tx.Commit(m)
	case *protocol.TxRollback:
		s.tx.Rollback(m)
	}
	s.endTx()
	return nil
}

// endTx processes a commit or a rollback up to a turn's limit. All input waits until it is complete. When the channel
// itself ends, publishes that wait are dropped without further turns.
func (s *state) endTx() {
	if s.tx == nil || s.tx.Ending() == nil {
		return
	}
	m := s.tx.Ending()
	if n := s.tx.Copies(); n > 0 && !s.in.Leaving && !routing.MayCopy(s.cfg.Copies, s.cfg.Gate, n) { // DL-33
		s.request(m, nil)
		s.in.Patient()
		self, post := s.mail.Self(), s.cfg.Post
		s.cfg.Copies.Await(func() { post(self, input.Resume{}) })
		return
	}
	if s.tx.Advance(&s.queues.Unacked, s.mail.Self(), func(p *tx.Publish) {
		s.deliverTo(s.queues.Batches.Targets(p.Queues), s.queues.Batches.Targets(p.Histories), p.Caps, &p.Message, p.Mandatory)
	}) {
		s.request(m, nil)
		s.in.Patient()
		s.queues.Rest()
		return
	}
	s.endWait()
	if _, ok := m.(*protocol.TxRollback); ok {
		s.output.Reply(&protocol.TxRollbackOk{})
		return
	}
	s.queues.Unacked.Limit.Allow()
	if s.tx.Waits() {
		s.request(m, nil)
		return
	}
	s.committed(m)
}

// committed answers tx.commit.
func (s *state) committed(m protocol.Method) {
	s.endWait()
	if s.tx.Refused() {
		s.fail(protocol.ChannelErrorf(protocol.PreconditionFailed, "partial tx completion"), m)
		return
	}
	s.output.Reply(&protocol.TxCommitOk{})
}
