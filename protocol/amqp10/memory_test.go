package amqp10

import "testing"

// The estimate includes small values, of which many fit in few bytes of a frame, as well as large texts.
func TestMap_Memory(t *testing.T) {
	none := make(List, 1000)
	for _, c := range []struct {
		m           Map
		least, most int64
	}{
		{nil, 0, 0},
		{Map{{Symbol("k"), int64(1)}}, 60, 100},
		{Map{{"k", string(make([]byte, 1000))}}, 1000, 1200},
		{Map{{Symbol("k"), Described{Symbol("a"), make([]byte, 1000)}}}, 1000, 1300},
		{Map{{"k", none}}, 16_000, 40_000},
		{Map{{"k", Map{{"k", Array{TypeNull, none}}}}}, 16_000, 40_000},
	} {
		if got := c.m.Memory(); got < c.least || got > c.most {
			t.Errorf("%d, want %d to %d", got, c.least, c.most)
		}
	}
}
