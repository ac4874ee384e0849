package mailbox_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/system/mailbox"

	"github.com/asynkron/protoactor-go/actor"
)

func TestDispatcherRunsInOrder(t *testing.T) {
	d := mailbox.NewDispatcher(1)
	var got []any
	var want []any
	for i := range 1000 {
		want = append(want, i)
		d.Schedule(func() { got = append(got, i) })
	}
	d.Stop()
	expect(t, "turns", got, want...)
}

func TestDispatcherUsesAllWorkers(t *testing.T) {
	d := newDispatcher(t, 3)
	var together sync.WaitGroup
	together.Add(3)
	for range 3 {
		d.Schedule(func() {
			together.Done()
			together.Wait()
		})
	}
	together.Wait()
}

// TestBusyActorYields: with one worker, an actor that keeps sending mail to itself lets another one run.
func TestBusyActorYields(t *testing.T) {
	system, d := newSystem(t), newDispatcher(t, 1)
	var stop atomic.Bool
	busy := system.Root.Spawn(props(d, mailbox.New(func(any) {}), func(c actor.Context) {
		if _, ok := c.Message().(int); ok && !stop.Load() {
			c.Send(c.Self(), 1)
		}
	}))
	system.Root.Send(busy, 1)
	done := make(chan struct{})
	other := system.Root.Spawn(props(d, mailbox.New(func(any) {}), func(c actor.Context) {
		if _, ok := c.Message().(int); ok {
			close(done)
		}
	}))
	system.Root.Send(other, 1)
	<-done
	stop.Store(true)
}

func TestScheduleAfterStopStillRuns(t *testing.T) {
	d := mailbox.NewDispatcher(2)
	d.Stop()
	d.Stop()
	done := make(chan struct{})
	d.Schedule(func() { close(done) })
	<-done
}

// TestStopRacesSchedule: every turn is run, whether scheduled before or after Stop, including turns carried and turns
// scheduled by turns.
func TestStopRacesSchedule(t *testing.T) {
	for name, post := range map[string]func(d *mailbox.Dispatcher, turn func()){
		"schedule": func(d *mailbox.Dispatcher, turn func()) { d.Schedule(turn) },
		"carry":    func(d *mailbox.Dispatcher, turn func()) { d.Carry(func() { d.Schedule(turn) }) },
	} {
		t.Run(name, func(t *testing.T) {
			for range 200 {
				d := mailbox.NewDispatcher(2)
				var turns, posters sync.WaitGroup
				turns.Add(80)
				for range 4 {
					posters.Go(func() {
						for range 10 {
							post(d, func() { d.Schedule(turns.Done); turns.Done() })
						}
					})
				}
				d.Stop()
				posters.Wait()
				turns.Wait()
			}
		})
	}
}

func TestDispatcherInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system, d := newSystem(t), newDispatcher(t, 2)
		begin := time.Now()
		fired := make(chan time.Duration, 1)
		m := mailbox.New(func(any) {})
		pid := system.Root.Spawn(props(d, m, func(c actor.Context) {
			switch mail := c.Message().(type) {
			case time.Duration:
				self := c.Self()
				time.AfterFunc(mail, func() { system.Root.Send(self, "due") })
			case string:
				fired <- time.Since(begin)
			}
		}))
		system.Root.Send(pid, 48*time.Hour)
		if late := <-fired - 48*time.Hour; late != 0 {
			t.Errorf("%v late", late)
		}
		if err := system.Root.StopFuture(pid).Wait(); err != nil {
			t.Error(err)
		}
	})
}

// TestSlowActorYields: with one worker and an actor whose mails take long, another actor does not wait for all of them.
func TestSlowActorYields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system, d := newSystem(t), newDispatcher(t, 1)
		var handled, before atomic.Int32
		before.Store(-1)
		slow := system.Root.Spawn(props(d, mailbox.New(func(any) {}), func(c actor.Context) {
			if _, ok := c.Message().(int); ok {
				time.Sleep(time.Millisecond) // simulates work
				handled.Add(1)
			}
		}))
		other := system.Root.Spawn(props(d, mailbox.New(func(any) {}), func(c actor.Context) {
			if _, ok := c.Message().(int); ok {
				before.Store(handled.Load())
			}
		}))
		for i := range 32 {
			system.Root.Send(slow, i)
		}
		system.Root.Send(other, 1)
		synctest.Wait()
		time.Sleep(time.Second)
		if b, all := before.Load(), handled.Load(); b < 0 || b > 8 || all != 32 {
			t.Errorf("%d of %d mails came first", b, all)
		}
	})
}
