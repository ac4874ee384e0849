package segment

import (
	"fmt"
	"testing"
	"testing/synctest"

	"candlemark/internal/storage/store/vfs"
)

// CarryAnswers: each batch is answered within one call of carry, in order.
func TestCarryAnswers(t *testing.T) {
	bubble(t, func(t *testing.T, fs *vfs.Memory) {
		j := open(t, fs, "/data/journal", Options{SegmentSize: smallSegment})
		within, answers := false, []string{}
		j.CarryAnswers(func(call func()) {
			within = true
			call()
			within = false
		})
		for seq := range uint64(3) {
			list := messages(seq+1, seq+1, "m")
			j.Append(1, list, func(err error) { answers = append(answers, fmt.Sprint(seq, within, err)) })
			synctest.Wait()
		}
		if got := fmt.Sprint(answers); got != "[0 true <nil> 1 true <nil> 2 true <nil>]" {
			t.Error(got)
		}
		j.close()
	})
}
