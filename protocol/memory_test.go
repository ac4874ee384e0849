package protocol

import "testing"

// The estimate includes small values, of which many fit in few bytes of a frame, as well as large texts.
func TestTable_Memory(t *testing.T) {
	none := make(Array, 1000)
	for _, c := range []struct {
		t           Table
		least, most int64
	}{
		{nil, 0, 0},
		{Table{{"x-expires", int64(1)}}, 40, 60},
		{Table{{"k", string(make([]byte, 1000))}}, 1000, 1100},
		{Table{{"k", make([]byte, 1000)}}, 1000, 1100},
		{Table{{"k", none}}, 16_000, 30_000},
		{Table{{"k", Table{{"k", Array{none, none}}}}}, 32_000, 60_000},
	} {
		if got := c.t.Memory(); got < c.least || got > c.most {
			t.Errorf("%d, want %d to %d", got, c.least, c.most)
		}
	}
}
