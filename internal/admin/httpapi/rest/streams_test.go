package rest

import (
	"fmt"
	"testing"
)

// The number of streams is bounded, for each user and in all; streams that end make room for others.
func TestStreams(t *testing.T) {
	for connections, want := range map[int]struct{ all, ofUser int }{512: {64, 16}, 64: {16, 4}, 8: {2, 1}, 1: {1, 1}} {
		s := newStreams()
		s.Share(connections)
		var leave []func()
		enter := func(user string) int {
			n := 0
			for out, ok := s.Enter(user); ok; out, ok = s.Enter(user) {
				leave = append(leave, out)
				n++
			}
			return n
		}
		if n := enter("one"); n != want.ofUser {
			t.Errorf("%d connections: %d streams of a user, want %d", connections, n, want.ofUser)
		}
		for i := range want.all {
			enter(fmt.Sprint(i))
		}
		if len(leave) != want.all {
			t.Errorf("%d connections: %d streams, want %d", connections, len(leave), want.all)
		}
		for _, out := range leave {
			out()
		}
		if len(s.by) != 0 || s.all != 0 {
			t.Errorf("%d connections: %d streams when all have left", connections, s.all)
		}
	}
}
