package transactions

import (
	"errors"
	"testing"

	"candlemark/internal/budget"
	"candlemark/internal/dialect/transactions"
	"candlemark/internal/message"
	"candlemark/internal/topology"
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

// TestBounds_TXN7: a transaction has so much work and no more, and its messages count among what clients have begun; what is beyond that has it rolled back.
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
		for ; err == nil && n <= MostWork; n++ {
			err = add(x)
		}
		want := map[string]int{"settlements": MostWork + 1, "bytes": (1<<20)/(1000+PublishBytes) + 1}[name]
		if condition(err) != amqp10.ResourceLimitExceeded || condition(x.Err()) != transactions.Rollback || want != 0 && n != want || n > MostWork+1 {
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

// Work that comes when the transaction is over, for a route was looked for, is refused and holds nothing.
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
