package shovel

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"candlemark/internal/measure/clock"
)

// The test checks the status that a shovel publishes, and its reaction to the end of a session; mail of old sessions is ignored.
func TestState(t *testing.T) {
	s := state{reconnect: 5 * time.Second}
	now := clock.Instant(time.Second)
	for i, step := range []struct {
		do   func() action
		want string
	}{
		{func() action { return s.due(now) }, "{true 0 false} {starting  1000  }"},
		{func() action { s.blocked(&blocked{1, true}); return action{} }, "{false 0 false} {starting  1000  }"},
		{func() action { s.connected(now+1e9, &connected{1, "a", "b"}); return action{} }, "{false 0 false} {running  2000 a b}"},
		{func() action { s.blocked(&blocked{1, true}); return action{} }, "{false 0 false} {blocked  2000 a b}"},
		{func() action { s.blocked(&blocked{1, false}); return action{} }, "{false 0 false} {running  2000 a b}"},
		{func() action { return s.ended(now, &ended{1, errors.New("why")}) }, "{false 5000000000 false} {terminated why 1000  }"},
		{func() action { return s.due(now) }, "{true 0 false} {starting  1000  }"},
		{func() action { s.connected(now, &connected{1, "a", "b"}); return action{} }, "{false 0 false} {starting  1000  }"},
		{func() action { return s.ended(now, &ended{1, errors.New("late")}) }, "{false 0 false} {starting  1000  }"},
		{func() action { return s.ended(now, &ended{2, errFinished}) }, "{false 0 true} {starting  1000  }"},
	} {
		if got := fmt.Sprint(step.do(), " ", s.status); got != step.want {
			t.Errorf("step %d: %s, want %s", i, got, step.want)
		}
	}
}
