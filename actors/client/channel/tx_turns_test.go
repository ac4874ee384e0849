package channel

import (
	"slices"
	"testing"

	"candlemark/actors/client/channel/tx"
	"candlemark/actors/client/input"
	"candlemark/actors/system/mail"
	"candlemark/protocol"
)

// turns feeds the end of a transaction and runs turns until it is complete. It returns the number of turns and the totals sent;
// no turn may handle more than tx.EndLimit items and one publish.
func (r *rig) turns(received any) (turns, published, settled int) {
	r.t.Helper()
	of := map[string]uint64{}
	for again := true; again; turns++ {
		unacked := r.queues.Unacked.Len()
		r.turn(received)
		n := r.queues.Unacked.Len() - unacked
		again = false
		for _, p := range r.posts {
			switch m := p.Mail.(type) {
			case input.Resume:
				again = true
				received = m
			case *mail.Enqueue:
				for _, x := range m.Messages {
					published++
					if of[p.To.GetId()]++; x.Number != of[p.To.GetId()] {
						r.t.Fatalf("number %d of the %dth message", x.Number, of[p.To.GetId()])
					}
				}
				n += len(m.Messages)
				m.Release()
			case *mail.Settle:
				for _, x := range m.Ranges {
					n += int(x.Last - x.First + 1)
					settled += int(x.Last - x.First + 1)
				}
			}
		}
		r.posts = nil
		if n > tx.EndLimit+2 {
			r.t.Errorf("a turn dealt with %d things", n)
		}
	}
	return turns, published, settled
}

// large returns a transaction of n publishes to two queues each, and as many acks.
func large(t *testing.T, n int) *rig {
	r := newRig(t)
	r.command(&protocol.TxSelect{})
	r.received("tx.select-ok")
	r.consumes("a", "q1")
	r.delivers("q1", "a", 1, slices.Repeat([]string{"m"}, n)...)
	one := publish("x", "both", "one")
	for range n {
		r.feed(one)
	}
	r.command(&protocol.BasicAck{Multiple: true})
	r.frames()
	r.posts = nil
	return r
}

func TestTx_EndsInTurns(t *testing.T) {
	const n = 2*tx.EndLimit + 10
	t.Run("commit", func(t *testing.T) {
		r := large(t, n)
		turns, published, settled := r.turns(r.inbound(frame(&protocol.TxCommit{}), frame(&protocol.TxSelect{})))
		if turns < 6 || published != 2*n || settled != n {
			t.Errorf("%d turns, %d messages, %d settled", turns, published, settled)
		}
		r.received() // the queues have not answered, and the input behind waits
		for _, q := range []string{"q1", "q2"} {
			r.turn(&mail.EnqueueReply{Queue: pid(q), Ranges: []mail.Range{{First: 1, Last: n}}})
		}
		r.received() // of several turns, each with an answer (DUR-3)
		for range (n + tx.EndLimit - 1) / tx.EndLimit {
			r.turn(&mail.SettleReply{})
		}
		r.received("tx.commit-ok", "tx.select-ok")
		r.balanced()
	})
	t.Run("rollback", func(t *testing.T) {
		r := large(t, n)
		turns, published, settled := r.turns(r.inbound(frame(&protocol.TxRollback{}), frame(&protocol.TxSelect{})))
		if turns < 3 || published+settled > 0 || r.queues.Unacked.Len() != n {
			t.Errorf("%d turns, %d messages, %d settled, %d unacked", turns, published, settled, r.queues.Unacked.Len())
		}
		r.received("tx.rollback-ok", "tx.select-ok")
		r.balanced()
	})
	t.Run("answered meanwhile", func(t *testing.T) {
		r := large(t, n)
		r.command(&protocol.TxCommit{})
		for _, q := range []string{"q1", "q2"} { // all answered in one mail, and not all sent yet
			r.turn(&mail.EnqueueReply{Queue: pid(q), Refused: q == "q1", Ranges: []mail.Range{{First: 1, Last: n}}})
		}
		r.received()
		for range 10 {
			if r.tx != nil {
				r.turn(input.Resume{})
			}
		}
		for range (n + tx.EndLimit - 1) / tx.EndLimit {
			r.turn(&mail.SettleReply{})
		}
		r.received("channel.close {ReplyCode:406 ReplyText:PRECONDITION_FAILED - partial tx completion Class:90 Method:20}")
	})
	// An error that ends the channel releases everything in one step.
	t.Run("channel ends", func(t *testing.T) {
		r := large(t, n)
		r.command(&protocol.TxCommit{})
		for _, p := range r.posts {
			r.describe(p)
		}
		r.posts = nil
		r.fail(internalError("for the test"), nil)
		if turns, published, settled := r.turns(input.Resume{}); turns != 1 || published+settled > 0 || r.tx != nil {
			t.Errorf("%d turns, %d messages, %d settled", turns, published, settled)
		}
		r.balanced()
	})
}
