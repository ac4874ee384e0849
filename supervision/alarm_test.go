package supervision_test

import (
	"testing"
	"time"

	"candlemark/internal/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// An alarm stops who publishes, before it or during it, and nobody else.
func TestBlocked_Alarm(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		consumer := b.Connect()
		ch := consumer.Open()
		ch.Declare("q", nil)
		taken := ch.Tail("q")
		quiet := consumer.NotifyBlocked(make(chan amqp.Blocking, 10))
		old := b.Connect()
		publishers := []*testkit.Client{old}
		old.Open().Send("", "q", testkit.Text("before"))
		testkit.Receive(b, taken)
		b.Node.Block("low on memory")
		b.Node.Block("low on disk")
		b.Advance(0)
		publishers = append(publishers, b.Connect())
		var told []<-chan amqp.Blocking
		for _, c := range publishers {
			news := c.NotifyBlocked(make(chan amqp.Blocking, 10))
			told = append(told, news)
			testkit.Silent(b, news, time.Second)
			p := c.Open()
			p.Send("", "q", testkit.Text("during"))
			if n := testkit.Receive(b, news); !n.Active || n.Reason != "low on memory" {
				t.Errorf("%+v", n)
			}
			testkit.Receive(b, taken) // what was read is taken
			go p.Send("", "q", testkit.Text("waits"))
		}
		testkit.Silent(b, taken, time.Second) // before the library wants to send a heartbeat and cannot
		if ch.Fetch("q") != nil {             // it is read and answered
			t.Error("the queue is not empty")
		}
		b.Node.Unblock()
		for _, news := range told {
			if n := testkit.Receive(b, news); n.Active {
				t.Errorf("%+v", n)
			}
			if d := testkit.Receive(b, taken); string(d.Body) != "waits" {
				t.Errorf("%s", d.Body)
			}
		}
		testkit.Silent(b, quiet, 0)
		b.Connect().Open().Send("", "q", testkit.Text("after"))
		testkit.Receive(b, taken)
	})
}
