package clock

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	c := New()
	for b.Loop() {
		c.Read()
	}
}

func BenchmarkLook(b *testing.B) {
	c := New()
	for b.Loop() {
		c.Look()
	}
}

// BenchmarkAt stops a timer and starts another, while many others are pending.
func BenchmarkAt(b *testing.B) {
	for _, waiting := range []int{0, 100_000} {
		b.Run(strconv.Itoa(waiting), func(b *testing.B) {
			c := New()
			if err := c.EnablePreciseTimers(); err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			now := c.Now().Floor()
			timers := make([]*Timer, waiting+1)
			for i := range timers {
				timers[i] = c.At(now+60_000+rand.Int64N(3_600_000), func() {})
			}
			b.ReportAllocs()
			for b.Loop() {
				i := rand.IntN(len(timers))
				timers[i].Stop()
				timers[i] = c.At(now+60_000+rand.Int64N(3_600_000), func() {})
			}
			for _, t := range timers {
				t.Stop()
			}
		})
	}
}
