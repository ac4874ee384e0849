package session10

import (
	"slices"
	"testing"

	"candlemark/actors/client/session10/dialects"
	"candlemark/actors/client/session10/incoming"
	"candlemark/actors/client/session10/settlement"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/budget"
	"candlemark/protocol/amqp10"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type anybody struct{}

func (anybody) Excused() bool { return true }
func (anybody) Evict()        {}

// A client's incomplete deliveries are limited, over all its links and together with other clients; aborted, completed
// ones and deliveries of a detached link are released.
func TestUnfinished_Bound(t *testing.T) {
	intake := budget.NewIntake()
	intake.SetLimits(0, 1<<20)
	s := idle()
	s.cfg.Arrivals = intake.Of(anybody{})
	s.output.windows.Incoming = 1 << 30
	for handle := range uint32(4) {
		s.links[handle] = &link{handle: handle, publisher: &publisher{Link: incoming.Link{Credit: 10, MaxMessageSize: 1 << 30}}}
	}
	part := make([]byte, 64<<10)
	n := uint32(0)
	for len(s.output.replies) == 0 {
		s.publishing.transfer(&amqp10.Transfer{Handle: n % 4, DeliveryID: amqp10.Some(n % 4), More: true}, part)
		n++
	}
	if n != 17 {
		t.Errorf("%d parts of 64 KiB", n)
	}
	detached, ok := s.output.replies[0].(*amqp10.Detach)
	if !ok || detached.Error.Condition != amqp10.ResourceLimitExceeded {
		t.Errorf("%+v", s.output.replies[0])
	}
	held := s.cfg.Arrivals.Held()
	s.publishing.transfer(&amqp10.Transfer{Handle: 1, Aborted: true}, nil)
	if freed := held - s.cfg.Arrivals.Held(); freed != 4*64<<10 {
		t.Errorf("%d bytes are free after an abort", freed)
	}
	s.dropBegun()
	if left := s.cfg.Arrivals.Held(); left != 0 {
		t.Errorf("%d bytes are left", left)
	}
}

// Answers without link credit count as unread output, over all links; answers written, or dropped with their link, are
// released, and more requests can follow.
func TestPRO20_Answers(t *testing.T) {
	unread := budget.NewUnread()
	unread.SetLimit(4 << 20) // a quarter for one connection
	s := idle()
	s.output.unread = unread.Of("user", nil).Part()
	s.output.windows.Incoming = 1 << 30
	large := &node{address: "n", run: func(_ []byte, done func(string, []byte)) error {
		done("", make([]byte, 64<<10))
		return nil
	}}
	answering := &link{handle: 9, answers: &answerLink[*link]{Node: "n"}}
	s.links[9] = answering
	for handle := range uint32(4) {
		s.links[handle] = &link{handle: handle, publisher: &publisher{node: large, Link: incoming.Link{Credit: 100, Window: requestCredit, MaxMessageSize: 10, Mode: amqp10.SenderMixed}}}
	}
	n := uint32(0)
	for len(s.output.replies) == 0 {
		s.publishing.transfer(&amqp10.Transfer{Handle: n % 4, DeliveryID: amqp10.Some(n), Settled: true}, nil)
		n++
	}
	if n != 17 {
		t.Errorf("%d answers of 64 KiB", n)
	}
	if detached, ok := s.output.replies[0].(*amqp10.Detach); !ok || detached.Error.Condition != amqp10.ResourceLimitExceeded {
		t.Errorf("%+v", s.output.replies[0])
	}
	if open := s.links[1].publisher.Open; open != 4 {
		t.Errorf("%d requests are open", open)
	}
	s.answering.answersWanted(answering, &amqp10.Flow{LinkCredit: amqp10.Some(uint32(3))})
	if len(s.output.held) != 3 || len(answering.answers.Waiting) != 13 {
		t.Errorf("%d are written, %d wait", len(s.output.held), len(answering.answers.Waiting))
	}
	s.detach(&amqp10.Detach{Handle: 9, Closed: true})
	if left := unread.Used(); left != 0 || len(s.output.held) != 0 || s.links[1].publisher.Open != 0 {
		t.Errorf("%d bytes, %d answers are left", left, len(s.output.held))
	}
}

// When a client that does not read drains its credit or requests flows repeatedly, only one answer of each kind waits per link.
func TestDrained_Bound(t *testing.T) {
	s := idle()
	queue := &unacked.Queue{}
	queue.Address = address.Named("q")
	for handle, tag := range []string{"0", "1"} {
		s.links[uint32(handle)] = &link{consumer: &consumer{queue: queue, tag: tag}}
	}
	for n := range uint32(100) {
		for _, tag := range []string{"0", "1"} {
			s.receiving.creditTaken(&mail.CreditTaken{Drained: n%2 == 0, Queue: queue.Address, Tag: tag, DeliveryCount: n})
		}
	}
	if len(s.output.held) != 4 || s.output.held[0].flow.DeliveryCount != 98 || s.output.held[2].flow.DeliveryCount != 99 {
		t.Errorf("%d answers wait", len(s.output.held))
	}
}

// A batch takes the message numbers of the requested queue only.
func TestNumbered(t *testing.T) {
	var none *settlement.Batch
	none.Numbered(address.Named("q"), 0, 1)
	b := &settlement.Batch{Queue: address.Named("q"), Numbers: make([]uint64, 2)}
	b.Numbered(address.Named("other"), 0, 5)
	b.Numbered(address.Named("q"), 1, 7)
	if !slices.Equal(b.Numbers, []uint64{0, 7}) || none.Counts() || !b.Counts() || (&settlement.Batch{}).Counts() {
		t.Error(b.Numbers)
	}
}

// A request link detached while its answer waits gets no credit when the answer is written or dropped.
func TestAnswers_DetachedRequests(t *testing.T) {
	s := idle()
	s.output.windows.Incoming = 10
	n := &node{address: "n", run: func(_ []byte, done func(string, []byte)) error {
		done("", []byte("answer"))
		return nil
	}}
	s.links[1] = &link{handle: 1, publisher: &publisher{node: n, Link: incoming.Link{Credit: 1, Window: 1, MaxMessageSize: 10}}}
	s.links[2] = &link{handle: 2, answers: &answerLink[*link]{Node: "n"}}
	s.publishing.transfer(&amqp10.Transfer{DeliveryID: amqp10.Some(uint32(0)), Handle: 1}, nil)
	s.detach(&amqp10.Detach{Handle: 1})
	s.output.outcomesWritten()
	s.detach(&amqp10.Detach{Handle: 2})
	for _, r := range s.output.replies {
		if _, ok := r.(*amqp10.Detach); !ok {
			t.Errorf("%T for a link that is detached", r)
		}
	}
	if len(s.output.replies) != 2 || len(s.links) != 0 {
		t.Errorf("%d replies, %d links", len(s.output.replies), len(s.links))
	}
}

// Credit given before a link has its session applies once it has one.
func TestFlow_BeforeASession(t *testing.T) {
	s := idle()
	attach := &amqp10.Attach{Handle: 1, Role: amqp10.RoleReceiver, Source: &amqp10.Source{Address: amqp10.Some("q")}}
	s.links[1] = &link{handle: 1, opening: &opening{
		attach: attach, dialect: dialectOf("q", s), ask: &mail.Consume{Request: mail.Request{ID: 7}, Facts: true}, from: dialects.Source{Queue: &topology.Queue{PID: address.Named("q")}},
	}}
	s.flow(&amqp10.Flow{Handle: amqp10.Some(uint32(1)), LinkCredit: amqp10.Some(uint32(10)), DeliveryCount: amqp10.Some(uint32(0))})
	s.receiving.accepted(&mail.ConsumeReply{Reply: mail.Reply{ID: 7}, Session: &mail.SessionLocked{ID: "a"}})
	if len(s.Out) != 1 || s.Out[0].Mail.(*mail.SetLinkCredit).Credit != 10 {
		t.Errorf("%+v", s.Out)
	}
	if c := s.links[1].consumer; c == nil || c.Credit() != 10 {
		t.Errorf("%+v", c)
	}
}
