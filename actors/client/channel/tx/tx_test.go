package tx

import (
	"fmt"
	"slices"
	"testing"

	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sender records settlements.
type sender struct{ sent []string }

func (s *sender) Self() mail.Address { return nil }

func (s *sender) Send(_ mail.Address, what any) {
	for _, r := range what.(*mail.Settle).Ranges {
		s.sent = append(s.sent, fmt.Sprint(r.First, "-", r.Last))
	}
}

// begun returns a transaction with publishes to two queues each, and settlements.
func begun(t *testing.T, publishes, settles int) (*Tx, *unacked.Deliveries, *sender) {
	t.Helper()
	s := &sender{}
	d := unacked.New(s)
	x := New(nil)
	queues := []*topology.Queue{{Name: "a"}, {Name: "b"}}
	for i := range publishes {
		if err := x.Publish(Publish{Message: message.Message{Body: []byte(fmt.Sprint(i))}, Queues: queues}); err != nil {
			t.Fatal(err)
		}
	}
	q := &unacked.Queue{}
	for i := range settles {
		tag := d.Tag(q, uint64(i+1), false)
		d.Take(tag, tag, func(tag uint64, u unacked.Unacked) { x.Settle(tag, u, mail.Ack) })
	}
	return x, &d, s
}

func TestTx_Commit(t *testing.T) {
	x, d, s := begun(t, 2, 3)
	for round := range uint64(2) {
		x.Commit(&protocol.TxCommit{})
		var got []string
		if x.Advance(d, nil, func(p *Publish) {
			got = append(got, fmt.Sprintf("%s#%d %v", p.Message.Body, p.Message.Number, p.Message.Owned))
		}) {
			t.Error("more to do")
		}
		d.Flush()
		if publishes, settles := x.Len(); publishes+settles != 0 || x.Ending() != nil {
			t.Error(publishes, settles, x.Ending())
		}
		if round == 1 { // an empty transaction
			if got != nil || x.Waits() {
				t.Error(got, x.Waits())
			}
			break
		}
		if !slices.Equal(got, []string{"0#1 true", "1#2 true"}) || !slices.Equal(s.sent, []string{"1-3"}) {
			t.Errorf("%q, %q", got, s.sent)
		}
		for i, c := range []struct {
			r             mail.Range
			refused, last bool
		}{{mail.Range{First: 1, Last: 2}, false, false}, {mail.Range{First: 3, Last: 3}, true, false}, {mail.Range{First: 1, Last: 1}, true, false}, {mail.Range{First: 2, Last: 2}, false, false}} {
			if !x.Waits() || x.Answered(c.r, c.refused) != c.last {
				t.Errorf("answer %d", i)
			}
		}
		if !x.Waits() || !x.Settled(nil) || x.Settled(nil) { // DUR-3
			t.Error("the settlements")
		}
		if x.Waits() || !x.Refused() {
			t.Errorf("waits %v, refused %v", x.Waits(), x.Refused())
		}
	}
	if x.Refused() {
		t.Error("the next commit was refused, too")
	}
}

func TestTx_Rollback(t *testing.T) {
	x, d, s := begun(t, 2, 3)
	x.Rollback(&protocol.TxRollback{})
	if x.Advance(d, nil, func(*Publish) { t.Error("published") }) || x.Waits() || d.Len() != 3 {
		t.Errorf("waits %v, %d unacked", x.Waits(), d.Len())
	}
	if d.Flush(); s.sent != nil {
		t.Errorf("sent %q", s.sent)
	}
}

// The end takes as many turns as it needs (ADR 29); answers do not end it earlier.
func TestTx_Turns(t *testing.T) {
	x, d, _ := begun(t, EndLimit, EndLimit)
	x.Commit(&protocol.TxCommit{})
	turns, published, before := 1, 0, 0
	for x.Advance(d, nil, func(p *Publish) { published++ }) {
		if n := published - before; n > EndLimit/3+1 {
			t.Errorf("%d publishes to two queues each in a turn", n)
		}
		before = published
		x.Answered(mail.Range{First: 1, Last: 1}, false)
		turns++
	}
	if turns != 4 || published != EndLimit || d.Acked() != EndLimit {
		t.Errorf("%d turns, %d published, %d acked", turns, published, d.Acked())
	}
}
