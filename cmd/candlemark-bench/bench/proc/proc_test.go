package proc

import (
	"errors"
	"net"
	"os"
	"slices"
	"testing"
	"time"
)

// Process names may contain any characters.
func TestParse(t *testing.T) {
	const line = "7 (a) b) c) S 3 1 1 0 -1 0 0 0 0 0 100 20 3 4 20 0 9 0 100 200 300 0 0 0\n"
	s, ok := parse([]byte(line))
	if !ok || s != (stat{parent: 3, threads: 9, ticks: 127}) {
		t.Errorf("%+v %v", s, ok)
	}
	for _, line := range []string{"", "7 (a", "7 (a) S 3", "7 (a) Z 3 1 1 0 -1 0 0 0 0 0 100 20 3 4 20 0 9 0 100 200 300 0 0 0"} {
		if _, ok := parse([]byte(line)); ok {
			t.Errorf("%q is a process", line)
		}
	}
}

// Find returns the process that listens on a port, and its resource usage can be sampled.
func TestFind(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	found, err := Find(nil, l.Addr().String())
	if errors.Is(err, ErrNone) {
		t.Skip(err)
	}
	if err != nil || !slices.Contains(found.All(), os.Getpid()) {
		t.Fatal(found, err)
	}
	w := found.Watch(time.Hour)
	if s := found.Sample(); s.Processes < 1 || s.RSS == 0 || s.Files < 3 || s.Threads < 1 || s.At.IsZero() {
		t.Errorf("%+v", s)
	}
	if peak := w.Stop(); peak == 0 {
		t.Error("no peak")
	}
	if busy, _ := Machine(); busy == 0 {
		t.Error("the machine has done nothing")
	}
	if _, err := Find([]int{1 << 30}, ""); err == nil {
		t.Error("found what is not there")
	}
	_ = l.Close()
	if _, err := Find(nil, l.Addr().String()); err == nil {
		t.Error("nobody listens there")
	}
}
