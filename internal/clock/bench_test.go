package clock

import "testing"

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
