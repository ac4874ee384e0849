package budget

import (
	"math"
	"testing"
	"testing/synctest"
)

func TestValve_Nil(t *testing.T) {
	var none *Valve
	if none.Full() || none.Shut() || !none.Wait(nil) {
		t.Error("nil holds back")
	}
}

func TestValve(t *testing.T) {
	for name, relieve := range map[string]func(*Budget, *Valve){
		"contents leave": func(b *Budget, v *Valve) { b.Add(-50); v.Relieve() },
		"more may stay":  func(_ *Budget, v *Valve) { v.SetMax(200); v.Relieve() },
		"no bound":       func(_ *Budget, v *Valve) { v.SetMax(0); v.Relieve() },
		"an alarm":       func(_ *Budget, v *Valve) { v.SetShut(true) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &Budget{}
				v := NewValve(b)
				if v.Max() != math.MaxInt64 {
					t.Error(v.Max())
				}
				v.SetMax(100)
				b.Add(100)
				if !v.Wait(nil) {
					t.Error("shut at the limit")
				}
				b.Add(1)
				done := make(chan struct{})
				closed, passed := make(chan bool, 1), make(chan bool, 3)
				go func() { closed <- v.Wait(done) }()
				for range cap(passed) {
					go func() { passed <- v.Wait(nil) }()
				}
				synctest.Wait()
				close(done)
				if <-closed {
					t.Error("done was not called")
				}
				if !v.Relieve() || len(passed) > 0 {
					t.Error("nobody waits")
				}
				relieve(b, v)
				for range cap(passed) {
					if !<-passed {
						t.Error("refused")
					}
				}
				if v.Relieve() {
					t.Error("somebody waits")
				}
			})
		})
	}
}
