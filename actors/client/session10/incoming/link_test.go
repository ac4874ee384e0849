package incoming

import (
	"errors"
	"testing"

	"candlemark/internal/transport/budget"
	"candlemark/protocol/amqp10"
)

type anybody struct{}

func (anybody) Excused() bool { return true }
func (anybody) Evict()        {}

// A message to an entity that exceeds the size limit or the free room is refused when it is complete, and holds no
// memory until then.
func TestTake_Refused_SBE13(t *testing.T) {
	intake := budget.NewIntake()
	intake.SetLimits(0, 1<<20)
	a := intake.Of(anybody{})
	part := make([]byte, 64<<10)
	for limit, want := range map[uint64]amqp10.Symbol{256 << 10: amqp10.MessageSizeExceeded, 1 << 30: amqp10.ResourceLimitExceeded} {
		l := &Link{Credit: 10}
		l.ToEntity("e", "e", "", limit)
		id := amqp10.Some(uint32(7))
		for range 40 {
			if _, whole, err := l.Take(&amqp10.Transfer{DeliveryID: id, More: true}, part, a); whole || err != nil {
				t.Fatal(whole, err)
			}
		}
		if held := a.Held(); held != 0 {
			t.Errorf("%d bytes are held", held)
		}
		d, whole, err := l.Take(&amqp10.Transfer{}, part, a)
		var refused *amqp10.Error
		if !whole || err != nil || d.ID != 7 || !errors.As(d.Refused, &refused) || refused.Condition != want || d.Payload != nil {
			t.Errorf("%+v, %v, %v, want %s", d, whole, err, want)
		}
		if d, whole, err := l.Take(&amqp10.Transfer{DeliveryID: amqp10.Some(uint32(8))}, part, a); !whole || err != nil || d.Refused != nil || len(d.Payload) != len(part) {
			t.Errorf("the next: %+v, %v, %v", d, whole, err)
		}
	}
}
