package mailbox_test

import (
	"testing"

	"candlemark/actors/system/mailbox"

	"github.com/asynkron/protoactor-go/actor"
)

// TestLoad counts mail that waits behind a running turn, and behind scheduled turns.
func TestLoad(t *testing.T) {
	system, d := newSystem(t), newDispatcher(t, 1)
	begun, goOn := make(chan struct{}), make(chan struct{})
	var left []chan struct{}
	spawn := func(mails int) {
		done := make(chan struct{})
		left = append(left, done)
		pid := system.Root.Spawn(props(d, mailbox.New(func(any) {}), func(c actor.Context) {
			switch c.Message() {
			case 0:
				begun <- struct{}{}
				<-goOn
			case mails - 1:
				close(done)
			}
		}))
		for i := range mails {
			system.Root.Send(pid, i)
			if len(left) == 1 && i == 0 {
				<-begun
			}
		}
	}
	spawn(4) // the first actor holds the only worker
	spawn(7)
	spawn(2)
	if l := d.Load(); l != (mailbox.Load{Actors: 3, Mails: 3 + 7 + 2, Longest: 7}) {
		t.Errorf("%+v", l)
	}
	go func() {
		for range 2 {
			<-begun
		}
	}()
	close(goOn)
	for _, done := range left {
		<-done
	}
	d.Stop()
	if l := d.Load(); l != (mailbox.Load{}) {
		t.Errorf("when all is done: %+v", l)
	}
}
