package budget

import (
	"sync"
	"testing"
)

func TestRoom(t *testing.T) {
	var r Room
	if !r.Take(1 << 40) {
		t.Error("a limit without one")
	}
	r.Return(1 << 40)
	r.SetLimit(100)
	if !r.Take(60) || r.Take(41) || !r.Take(40) || r.Take(1) || !r.Take(0) || r.Used() != 100 {
		t.Error(r.Used())
	}
	r.SetLimit(50)
	r.Return(40)
	if r.Take(1) || r.Used() != 60 {
		t.Error("more where there is too much")
	}
	var none *Room
	if !none.Take(5) || none.Used() != 0 {
		t.Error("nil has a limit")
	}
	none.Return(5)
}

// TestRoomOfMany: concurrent users never hold the same room twice.
func TestRoomOfMany(t *testing.T) {
	var r Room
	r.SetLimit(1000)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			held := int64(0)
			for n := range int64(2000) {
				if r.Take(n % 300) {
					held += n % 300
				}
				if held > 1000 {
					t.Error("held", held)
					return
				}
				if n%7 == 0 {
					r.Return(held)
					held = 0
				}
			}
			r.Return(held)
		})
	}
	all.Wait()
	if r.Used() != 0 {
		t.Error(r.Used())
	}
}
