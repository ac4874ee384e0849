package broker

import (
	"testing"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// dies publishes a message that expires in q, whose dead letters are routed to dead by the default exchange, and returns the dead
// letter.
func dies(b *testkit.Bubble, ch *testkit.Channel, headers amqp.Table) amqp.Delivery {
	ch.Send("", "q", amqp.Publishing{Headers: headers, Body: []byte("m")})
	b.Advance(10 * ms)
	d := ch.Fetch("dead")
	if d == nil {
		b.Fatal("it did not arrive")
	}
	return *d
}

// The history begins anew for a message that a client republishes, unless the queue is configured to continue counting.
func TestDL23_ClientHistory(t *testing.T) {
	for _, tt := range []struct {
		name      string
		argument  any
		headers   amqp.Table // nil: the headers of the first death
		want      string
		wantFirst string
	}{
		{"ignored", false, nil, "q/expired×1 (q)", "q expired  q expired "},
		{"continued", true, nil, "q/expired×2 (q)", "q expired  q expired "},
		{"another form", true, amqp.Table{"x-death": "many"}, "q/expired×1 (q)", "q expired  q expired "},
		{"another queue first", true, amqp.Table{"x-death": []any{amqp.Table{
			"count": int64(7), "reason": "rejected", "queue": "w", "exchange": "x", "routing-keys": []any{"k"}, "time": time.Unix(5, 0),
		}}}, "q/expired×1 (q); w/rejected×7 x(k)", "w rejected x q expired "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				ch := b.Connect().Open()
				ch.Declare("dead", nil)
				ch.Declare("q", amqp.Table{
					"x-message-ttl": 5, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead",
					"x-dead-letter-continue": tt.argument,
				})
				headers := tt.headers
				if headers == nil {
					headers = dies(b, ch, nil).Headers
				}
				d := dies(b, ch, headers)
				if got := deaths(d); got != tt.want {
					t.Errorf("x-death %s, want %s", got, tt.want)
				}
				if got := history(d); got != tt.wantFirst {
					t.Errorf("first and last death %q, want %q", got, tt.wantFirst)
				}
			})
		})
	}
}

// x-death-count lets a headers exchange route by the number of attempts.
func TestDL20_FlatCount(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("dead", nil)
		ch.Declare("third", nil)
		ch.Exchange("attempts", "headers")
		if err := ch.QueueBind("third", "", "attempts", false, amqp.Table{"x-match": "all-with-x", "x-death-count": int64(3)}); err != nil {
			t.Fatal(err)
		}
		ch.Declare("q", amqp.Table{
			"x-message-ttl": 5, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead",
			"x-dead-letter-continue": true, "x-dead-letter-count": true,
		})
		var headers amqp.Table
		for n := int64(1); n <= 3; n++ {
			headers = dies(b, ch, headers).Headers
			if headers["x-death-count"] != n {
				t.Errorf("death %d: x-death-count %v", n, headers["x-death-count"])
			}
		}
		ch.Send("attempts", "", amqp.Publishing{Headers: headers})
		b.Advance(ms)
		if ch.Fetch("third") == nil {
			t.Error("not routed by it")
		}
	})
}
