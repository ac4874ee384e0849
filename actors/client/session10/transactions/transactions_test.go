package transactions

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/routing/filter"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect/transactions"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type anybody struct{}

func (anybody) Excused() bool { return true }
func (anybody) Evict()        {}

func condition(err error) amqp10.Symbol {
	var e *amqp10.Error
	if errors.As(err, &e) {
		return e.Condition
	}
	return ""
}

// TestBounds_TXN7: the work of a transaction is limited, and its messages count towards the limit of incomplete work; a
// transaction that exceeds a limit is rolled back.
func TestBounds_TXN7(t *testing.T) {
	intake := budget.NewIntake()
	intake.SetLimits(0, 1<<20)
	arrivals := intake.Of(anybody{})
	var known transactions.Known
	known.Set([]byte{1}, true)
	for name, add := range map[string]func(x *Transaction[int]) error{
		"settlements": func(x *Transaction[int]) error { return x.Settle(Settlement[int]{}, 0) },
		"bytes": func(x *Transaction[int]) error {
			return x.Publish(Publish{Message: message.Message{Body: make([]byte, 1000)}})
		},
		"queues": func(x *Transaction[int]) error { return x.Publish(Publish{Queues: make([]*topology.Queue, 10_000)}) },
	} {
		var table Table[int]
		x, err := table.Join([]byte{1}, &known, arrivals)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for ; err == nil && n <= MaxWork; n++ {
			err = add(x)
		}
		want := map[string]int{"settlements": MaxWork + 1, "bytes": (1<<20)/(1000+PublishBytes) + 1}[name]
		if condition(err) != amqp10.ResourceLimitExceeded || condition(x.Err()) != transactions.Rollback || want != 0 && n != want || n > MaxWork+1 {
			t.Errorf("%s: %d, then %v", name, n, err)
		}
		if ids := table.Clear(); len(ids) != 1 || arrivals.Held() != 0 {
			t.Errorf("%s: %d bytes are left", name, arrivals.Held())
		}
	}
}

func TestClose_TXN5(t *testing.T) {
	var known transactions.Known
	var table Table[int]
	known.Set([]byte{1}, true)
	table.Close([]byte{1}, &known)
	for _, id := range []byte{1, 2} {
		if _, err := table.Join([]byte{id}, &known, nil); condition(err) != transactions.UnknownID {
			t.Error(id, err)
		}
	}
	if table.Delete("\x01") == nil || table.Delete("\x02") != nil {
		t.Error("closed, and not kept")
	}
}

// Work that arrives after the end of the transaction, because a route was searched, is refused and holds nothing.
func TestTooLate_TXN7(t *testing.T) {
	var known transactions.Known
	known.Set([]byte{1}, true)
	for name, end := range map[string]func(tb *Table[int]){
		"over": func(tb *Table[int]) { tb.Delete(string([]byte{1})).Forget() },
		"ends": func(tb *Table[int]) { tb.Clear() },
	} {
		var tb Table[int]
		intake := budget.NewIntake()
		intake.SetLimits(0, 1<<20)
		arrivals := intake.Of(anybody{})
		x, err := tb.Join([]byte{1}, &known, arrivals)
		if err != nil {
			t.Fatal(err)
		}
		end(&tb)
		if err := x.Publish(Publish{Message: message.Message{Body: make([]byte, 1000)}}); err == nil || arrivals.Held() != 0 {
			t.Errorf("%s: %v, %d bytes are held", name, err, arrivals.Held())
		}
	}
}

// TestBytes_TXN7: messages count with their queues, settlements with their outcomes; all bytes are released with the work.
func TestBytes_TXN7(t *testing.T) {
	queues := func(n int) []*topology.Queue { return make([]*topology.Queue, n) }
	for name, c := range map[string]struct {
		add  func(x *Transaction[int]) error
		want int64
	}{
		"a message": {func(x *Transaction[int]) error {
			return x.Publish(Publish{Message: message.Message{Body: make([]byte, 1000)}})
		}, 1000 + PublishBytes},
		"its queues": {func(x *Transaction[int]) error {
			return x.Publish(Publish{Queues: queues(3), Histories: queues(2)})
		}, PublishBytes + 5*TargetBytes},
		"a settlement": {func(x *Transaction[int]) error { return x.Settle(Settlement[int]{}, 70) }, 70 + SettleBytes},
	} {
		intake := budget.NewIntake()
		intake.SetLimits(0, 1<<20)
		x := Transaction[int]{of: intake.Of(anybody{})}
		for n := range int64(3) {
			if held := x.of.Held(); held != n*c.want {
				t.Errorf("%s: %d bytes of %d, want %d each", name, held, n, c.want)
			}
			if err := c.add(&x); err != nil {
				t.Error(name, err)
			}
		}
		if x.Forget(); x.of.Held() != 0 {
			t.Errorf("%s: %d bytes are left", name, x.of.Held())
		}
	}
}

// TestTargets_TXN7: up to MaxTargets target queues fit, including message histories; the count restarts at zero when the work is
// dropped.
func TestTargets_TXN7(t *testing.T) {
	intake := budget.NewIntake()
	intake.SetLimits(0, 1<<30)
	x := Transaction[int]{of: intake.Of(anybody{})}
	for range 2 {
		for _, n := range []int{1, MaxTargets/2 - 1, MaxTargets / 2} {
			if err := x.Publish(Publish{Queues: make([]*topology.Queue, n-n/3), Histories: make([]*topology.Queue, n/3)}); err != nil {
				t.Errorf("%d queues: %v", n, err)
			}
		}
		if err := x.Settle(Settlement[int]{}, 0); err != nil || x.Err() != nil {
			t.Errorf("a settlement besides: %v", err)
		}
		x.Settles = nil
		if err := x.Publish(Publish{}); err != nil {
			t.Errorf("a message without queues: %v", err)
		}
		x.Forget()
	}
	if err := x.Publish(Publish{Queues: make([]*topology.Queue, MaxTargets+1)}); condition(err) != amqp10.ResourceLimitExceeded || !x.HasWork() {
		t.Errorf("one queue more: %v", err)
	}
}

// TestWorkOfBothKinds_TXN7: messages and settlements are counted together, and each of them is work.
func TestWorkOfBothKinds_TXN7(t *testing.T) {
	intake := budget.NewIntake()
	intake.SetLimits(0, 1<<30)
	x := Transaction[int]{of: intake.Of(anybody{})}
	if x.HasWork() {
		t.Error("work of nothing")
	}
	for n := range MaxWork {
		var err error
		if n%2 == 0 {
			err = x.Publish(Publish{})
		} else {
			err = x.Settle(Settlement[int]{}, 0)
		}
		if err != nil || !x.HasWork() {
			t.Fatal(n, err)
		}
	}
	if err := x.Publish(Publish{}); condition(err) != amqp10.ResourceLimitExceeded {
		t.Errorf("a message more: %v", err)
	}
	settlement := Transaction[int]{Settles: x.Settles[:1]}
	if !settlement.HasWork() {
		t.Error("a settlement is no work")
	}
}

// The discharge continues, and the client receives the dispositions, when all queues have stored the settlements.
func TestSettleWaits_DUR3(t *testing.T) {
	for _, failure := range []error{nil, mail.NotRecorded()} {
		posts, known := &mail.Posts{}, transactions.Known{}
		known.Set([]byte{1}, true)
		all := unacked.New(sender{posts})
		n, dispositions := uint64(0), 0
		s := Session[int]{Connection: address.Named("connection"), Unacked: &all, Reply: func(amqp10.Composite) { dispositions++ }, Send: posts.Send, Number: func() mail.Request {
			n++
			return mail.Request{ID: n}
		}}
		x, err := s.Join([]byte{1}, &known, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b", "a"} {
			q := &unacked.Queue{}
			q.Address = address.Named(name)
			if i := slices.IndexFunc(x.Settles, func(one Settlement[int]) bool { of, _ := one.Delivery.Of(); return mail.Same(of.Address, q.Address) }); i >= 0 {
				q, _ = x.Settles[i].Delivery.Of()
			}
			tag := all.Tag(q, uint64(len(x.Settles)+1), true)
			all.Take(tag, tag, func(_ uint64, u unacked.Unacked) {
				x.Settles = append(x.Settles, Settlement[int]{Tag: tag, Delivery: u})
			})
		}
		s.Step(&mail.StepTransaction{ID: string([]byte{1}), Step: mail.SettleTransaction})
		if n != 2 || len((*posts)) != 2 {
			t.Fatalf("%d answers requested, %d mails", n, len((*posts)))
		}
		s.Answered(2, failure)
		if dispositions > 0 || len((*posts)) != 2 {
			t.Fatal("it did not wait for the other queue")
		}
		s.Answered(1, nil)
		s.Answered(1, nil) // repeated
		last, ok := (*posts)[len((*posts))-1].Mail.(*mail.StepTransactionReply)
		if len((*posts)) != 3 || !ok || last.Step != mail.SettleTransaction || (last.Err == nil) != (failure == nil) || (dispositions > 0) != (failure == nil) {
			t.Errorf("%+v, %d dispositions", (*posts)[2], dispositions)
		}
	}
}

// sender is the session as the unacked deliveries see it.
type sender struct{ *mail.Posts }

func (sender) Self() mail.Address { return address.Named("session") }

// TestPrepareCopies_TXN7: the preparation makes no copies by actions, which would take the size of their properties each.
func TestPrepareCopies_TXN7(t *testing.T) {
	intake := budget.NewIntake()
	intake.SetLimits(0, 1<<30)
	x := Transaction[int]{of: intake.Of(anybody{})}
	action, err := filter.ParseAction("SET a = 1", nil)
	if err != nil {
		t.Fatal(err)
	}
	plain := &topology.Queue{Name: "q", PID: address.Named("q")}
	copied := *plain
	copied.Action = action
	header := (&protocol.Properties{Flags: protocol.FlagHeaders, Headers: protocol.Table{{Key: "k", Value: strings.Repeat("x", 90_000)}}}).Append(nil)
	if err := x.Publish(Publish{Message: message.Message{Header: header, Body: []byte("body")}, Queues: append(slices.Repeat([]*topology.Queue{&copied}, 10_000), plain)}); err != nil {
		t.Fatal(err)
	}
	asked := 0
	if allocated := testing.AllocsPerRun(1, func() {
		x.Prepare(nil, func(_ mail.Address, m *mail.PrepareWork) {
			if asked++; m.Copies != 10_000 || len(m.Headers) != 1 || m.Bytes != 40_004 {
				t.Errorf("%d copies, %d messages of %d bytes", m.Copies, len(m.Headers), m.Bytes)
			}
		})
		x.Prepared, x.asked = nil, nil
	}); allocated > 100 || asked != 2 || x.Err() != nil {
		t.Errorf("%v allocations, %d requests, %v", allocated, asked, x.Err())
	}
}
