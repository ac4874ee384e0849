package output

import (
	"slices"
	"sync/atomic"
	"testing"

	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/outbox"
	"candlemark/protocol"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type sender struct{ grants []*mail.ReturnWindow }

func (s *sender) Self() mail.Address { return nil }
func (s *sender) Send(_ mail.Address, what any) {
	s.grants = append(s.grants, what.(*mail.ReturnWindow))
}

type rig struct {
	Output
	sender
	box     *outbox.Outbox
	unacked unacked.Deliveries
	counts  mail.Counts
	gate    *message.Gate
	ready   int
	written int
}

// newRig makes an output with room for one frame or content at a time.
func newRig() *rig {
	r := &rig{box: outbox.New(1, nil), gate: message.NewGate(1 << 20)}
	r.unacked = unacked.New(&r.sender)
	r.Output = New(Config{
		Outbox: r.box, ID: 1, Gate: r.gate, Replies: new(atomic.Int64), Ready: func() { r.ready++ },
		VHost: topology.NewVHost("/"),
		Trace: func(_ string, items []mail.Delivery) { r.written += len(items) },
	}, &r.sender, &r.unacked, &r.counts)
	r.cfg.VHost.SetTracing(true)
	return r
}

// reads reads everything as the client and returns the names of the methods.
func (r *rig) reads(t *testing.T) (names []string) {
	t.Helper()
	for b := r.box.Take(); b != nil; b = r.box.Take() {
		for len(b) > 0 {
			f, n, _, err := protocol.ParseFrame(b, 0)
			if err != nil {
				t.Fatal(err)
			}
			b = b[n:]
			if f.Type == protocol.FrameMethod {
				m, _ := protocol.DecodeMethod(f.Payload)
				names = append(names, m.Key().String())
			}
		}
		if r.ready > 0 {
			r.ready = 0
			r.HasRoom()
			r.Resume()
		}
	}
	return names
}

func deliver(numbers ...uint64) *mail.Deliver {
	d := mail.NewDeliver(nil, "tag", false)
	for _, n := range numbers {
		d.Items = append(d.Items, mail.Delivery{Number: n, Message: message.Message{Header: []byte{0, 0}, Owned: true}})
	}
	return d
}

// Output without room waits in order; waiting answers stop the input, unsolicited methods do not.
func TestOutput_Order(t *testing.T) {
	r := newRig()
	c := &Consumer{Queue: &unacked.Queue{}, Name: "q"}
	r.Deliver(c, deliver(1, 2))
	r.Notice(&protocol.BasicCancel{})
	if r.Stops() || !r.Full() || r.Len() != 2 {
		t.Errorf("stops %v, full %v, %d held", r.Stops(), r.Full(), r.Len())
	}
	r.Deliver(c, deliver(3))
	r.Reply(&protocol.BasicQosOk{})
	if !r.Stops() {
		t.Error("does not stop")
	}
	want := []string{"basic.deliver", "basic.deliver", "basic.cancel", "basic.deliver", "basic.qos-ok"}
	if got := r.reads(t); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if r.Stops() || r.Len() != 0 || r.written != 3 || r.counts.Deliver != 3 || r.unacked.Len() != 3 {
		t.Errorf("%d held, %d written, %d counted", r.Len(), r.written, r.counts.Deliver)
	}
}

// Leave releases all held output and charges, and later output does not wait.
func TestOutput_Leave(t *testing.T) {
	r := newRig()
	c := &Consumer{Queue: &unacked.Queue{}}
	r.Deliver(c, deliver(1, 2))
	r.Charge(100)
	r.InTurn(func() bool { t.Error("out of turn"); return true })
	replies := &mail.Enqueue{Messages: []message.Message{{Header: []byte{0, 0}, Body: make([]byte, 1000)}}}
	if !r.DeliverReplies(&Consumer{}, "r", replies) || r.cfg.Replies.Load() < 1000 || r.gate.Used() != 100 {
		t.Errorf("%d bytes of replies, %d charged", r.cfg.Replies.Load(), r.gate.Used())
	}
	r.Leave()
	r.Reply(&protocol.BasicQosOk{})
	r.Reply(&protocol.BasicQosOk{})
	if r.Stops() || r.Len() != 0 || r.cfg.Replies.Load() != 0 || r.gate.Used() != 0 {
		t.Errorf("%d held, %d bytes of replies, %d charged", r.Len(), r.cfg.Replies.Load(), r.gate.Used())
	}
}

// Deliveries that a queue has requeued are not written.
func TestOutput_Withdraw(t *testing.T) {
	r := newRig()
	r.Deliver(&Consumer{Queue: &unacked.Queue{}}, deliver(1, 2, 3))
	r.held[0].deliver.Queue = address.Named("queue")
	r.Withdraw(&mail.DeliveriesRequeued{Queue: r.held[0].deliver.Queue, Numbers: []mail.Range{{First: 1, Last: 2}}})
	r.reads(t)
	if r.written != 2 || r.unacked.Len() != 2 { // the first one was written before
		t.Errorf("%d written", r.written)
	}
}
