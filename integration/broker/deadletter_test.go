package broker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// deaths prints x-death, newest first: queue/reason×count exchange(keys).
func deaths(d amqp.Delivery) string {
	list, _ := d.Headers["x-death"].([]any)
	var out []string
	for _, entry := range list {
		e := entry.(amqp.Table)
		var keys []string
		for _, k := range e["routing-keys"].([]any) {
			keys = append(keys, k.(string))
		}
		text := fmt.Sprintf("%s/%s×%d %s(%s)", e["queue"], e["reason"], e["count"].(int64), e["exchange"], strings.Join(keys, ","))
		if ttl, ok := e["original-expiration"]; ok {
			text += fmt.Sprintf(" ttl=%s", ttl)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// history prints the x-first-death and x-last-death headers (DL-22).
func history(d amqp.Delivery) string {
	var out []string
	for _, which := range []string{"first", "last"} {
		for _, what := range []string{"queue", "reason", "exchange"} {
			out = append(out, fmt.Sprint(d.Headers["x-"+which+"-death-"+what]))
		}
	}
	return strings.Join(out, " ")
}

// A message passes from a to b to c for three different reasons (DL-15 to DL-22).
func TestDL20Chain(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Exchange("x", "topic")
		ch.Exchange("dlx", "direct")
		ch.Declare("a", amqp.Table{"x-dead-letter-exchange": "dlx"})
		ch.Declare("b", amqp.Table{"x-dead-letter-exchange": "dlx", "x-dead-letter-routing-key": "to-c", "x-max-length": 0})
		ch.Declare("c", amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "d"})
		ch.Declare("d", nil)
		ch.Bind("a", "orders.#", "x")
		ch.Bind("b", "orders.eu", "dlx")
		ch.Bind("c", "to-c", "dlx")
		b.AdvanceTo(time.Hour + 700*ms)
		second := time.Now().Unix()
		ch.Send("x", "orders.eu", amqp.Publishing{
			Body: []byte("m"), Expiration: "1500", MessageId: "id", DeliveryMode: 2, Headers: amqp.Table{"mine": "kept"},
		})
		b.Advance(1500 * ms)
		d, ok, err := ch.Get("c", false)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		if got, want := deaths(d), "b/maxlen×1 dlx(orders.eu); a/expired×1 x(orders.eu) ttl=1500"; got != want {
			t.Errorf("in c: %s, want %s", got, want)
		}
		if d.Exchange != "dlx" || d.RoutingKey != "to-c" || d.Redelivered || d.MessageId != "id" || d.DeliveryMode != 2 ||
			d.Expiration != "" || d.Headers["mine"] != "kept" {
			t.Errorf("in c: %+v", d)
		}
		if err := d.Reject(false); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		last := ch.Fetch("d")
		if got, want := deaths(*last), "c/rejected×1 dlx(to-c); b/maxlen×1 dlx(orders.eu); a/expired×1 x(orders.eu) ttl=1500"; got != want {
			t.Errorf("in d: %s, want %s", got, want)
		}
		if got, want := history(*last), "a expired x c rejected dlx"; got != want {
			t.Errorf("history %s, want %s", got, want)
		}
		first := last.Headers["x-death"].([]any)[2].(amqp.Table)
		if at := first["time"].(time.Time).Unix(); at != second+2 { // .7 s + 1.5 s
			t.Errorf("died at %d, published at %d", at, second)
		}
	})
}

// Cycles by DL-25: at which queue the message ends, if any.
func TestDL25Cycles(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("self", deadTo("self", "x-message-ttl", 10))
		ch.Declare("a", deadTo("b", "x-message-ttl", 10))
		ch.Declare("b", deadTo("a", "x-message-ttl", 10))
		ch.Declare("work", deadTo("wait"))
		ch.Declare("wait", deadTo("work", "x-message-ttl", 10))
		ch.Confirms()
		for _, q := range []string{"self", "a"} {
			ch.Publish("", q, testkit.Text("m"))
		}
		b.Advance(time.Second)
		for _, q := range []string{"self", "a", "b"} {
			if n := b.Describe(q).Ready; n != 0 {
				t.Errorf("%s has %d", q, n)
			}
		}
		if n := b.Log.Count("cycle"); n != 2 {
			t.Errorf("%d warnings of cycles", n)
		}
		// The message is rejected in work, expires in wait, and returns to work: the retry pattern continues without end (DL-26).
		deliveries := ch.Subscribe("work", 1)
		from := b.Elapsed()
		ch.Publish("", "work", testkit.Text("m"))
		for n := 1; n <= 100; n++ {
			d := testkit.Receive(b, deliveries)
			if want := "wait/expired×%d (wait); work/rejected×%[1]d (work)"; n > 1 && deaths(d) != fmt.Sprintf(want, n-1) {
				t.Fatalf("round %d: %s", n, deaths(d))
			}
			_ = d.Reject(false)
		}
		if took := b.Elapsed() - from; took < 990*ms || took > 1100*ms {
			t.Errorf("100 rounds of 10 ms took %s", took)
		}
		if n := b.Log.Count("cycle"); n != 2 {
			t.Errorf("%d warnings of cycles after the retries", n)
		}
	})
}

// Only the queue that would close the cycle gets no copy (DL-25); the other targets do.
func TestDL25OtherTargets(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Exchange("dlx", "fanout")
		ch.Declare("q", amqp.Table{"x-dead-letter-exchange": "dlx", "x-message-ttl": 10})
		ch.Declare("other", nil)
		ch.Bind("q", "", "dlx")
		ch.Bind("other", "", "dlx")
		ch.Send("", "q", testkit.Text("m"))
		b.Advance(time.Second)
		if q, other := b.Describe("q").Ready, b.Describe("other").Ready; q != 0 || other != 1 {
			t.Errorf("q has %d, other %d", q, other)
		}
	})
}

// The queue-per-delay pattern: messages with different delays pass through hold queues; each is delivered at its own
// time, messages of one queue in order of publishing.
func TestHoldQueues(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Exchange("due", "direct")
		ch.Declare("work", nil)
		ch.Bind("work", "job", "due")
		delays := []int{1000, 60_000, 3_600_000, 86_400_000}
		for _, d := range delays {
			ch.Declare(fmt.Sprint("hold-", d), amqp.Table{
				"x-dead-letter-exchange": "due", "x-dead-letter-routing-key": "job", "x-message-ttl": d,
				"x-expires": d + 60_000,
			})
		}
		arrivals := b.Connect().Open().Watch("work")
		b.AdvanceTo(time.Second)
		type sent struct{ delay, n int }
		var all []sent
		for n := range 200 {
			d := delays[n%len(delays)]
			all = append(all, sent{d, n})
			ch.Send("", fmt.Sprint("hold-", d), testkit.Text(strconv.Itoa(n)))
		}
		slices.SortStableFunc(all, func(x, y sent) int { return x.delay - y.delay })
		for _, want := range all {
			a := <-arrivals
			if due := time.Second + time.Duration(want.delay)*ms; string(a.Body) != strconv.Itoa(want.n) || a.At != due {
				t.Fatalf("%s at %s, want %d at %s", a.Body, a.At, want.n, due)
			}
		}
		b.Advance(2 * time.Minute)
		if b.Queue("hold-86400000") != nil {
			t.Error("the last hold queue has not expired")
		}
	})
}

// A missing dead-letter exchange, an internal one, and one that routes nowhere (DL-13, DL-14), and dead-lettering by each
// overflow behaviour (DL-10).
func TestDL13Targets(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Confirms()
		ch.Declare("dead", nil)
		if err := ch.ExchangeDeclare("internal", "fanout", false, false, true, false, nil); err != nil {
			t.Fatal(err)
		}
		ch.Bind("dead", "", "internal")
		if err := ch.ExchangeDeclare("empty", "direct", false, false, false, false, amqp.Table{"alternate-exchange": "internal"}); err != nil {
			t.Fatal(err)
		}
		for dlx, reached := range map[string]int{"nowhere": 0, "internal": 1, "amq.topic": 0, "empty": 1} {
			name := "to-" + dlx
			ch.Declare(name, amqp.Table{"x-dead-letter-exchange": dlx, "x-message-ttl": 0})
			if !ch.Publish("", name, testkit.Text("m")) {
				t.Error("nack")
			}
			synctest.Wait()
			if n := len(ch.Drain("dead")); n != reached {
				t.Errorf("%s: %d reached the dead-letter queue, want %d", dlx, n, reached)
			}
		}
	})
}

func TestDL10Overflow(t *testing.T) {
	for overflow, want := range map[string]struct {
		second     bool
		dead, left string
	}{
		"drop-head":          {true, "1", "2"},
		"reject-publish":     {false, "", "1"},
		"reject-publish-dlx": {false, "2", "1"},
	} {
		t.Run(overflow, func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				ch := b.Connect().Open()
				ch.Confirms()
				ch.Declare("dead", nil)
				ch.Declare("q", deadTo("dead", "x-max-length", 1, "x-overflow", overflow))
				if !ch.Publish("", "q", testkit.Text("1")) {
					t.Error("first: nack")
				}
				if ack := ch.Publish("", "q", testkit.Text("2")); ack != want.second {
					t.Errorf("second: ack %v", ack)
				}
				synctest.Wait()
				d := ch.Fetch("dead")
				if want.dead == "" && d != nil || want.dead != "" && (d == nil || string(d.Body) != want.dead || deaths(*d) != "q/maxlen×1 (q)") {
					t.Errorf("dead: %+v", d)
				}
				if left := ch.Drain("q"); len(left) != 1 || left[0] != want.left {
					t.Errorf("left: %v", left)
				}
			})
		})
	}
}

// A long chain of dead-letter queues is followed without recursion (DL-31): the message arrives at its end with all deaths in its
// history.
func TestDL31LongChain(t *testing.T) {
	const hops = 300
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		for i := range hops {
			ch.Declare(fmt.Sprint("q", i), deadTo(fmt.Sprint("q", i+1), "x-message-ttl", i%2))
		}
		ch.Declare(fmt.Sprint("q", hops), nil)
		b.AdvanceTo(time.Second)
		ch.Send("", "q0", testkit.Text("m"))
		b.Advance(time.Second)
		d := ch.Fetch(fmt.Sprint("q", hops))
		if d == nil {
			t.Fatal("lost on the way")
		}
		list := d.Headers["x-death"].([]any)
		if len(list) != hops || list[0].(amqp.Table)["queue"] != fmt.Sprint("q", hops-1) {
			t.Errorf("%d deaths, newest %v", len(list), list[0])
		}
		if history(*d) != fmt.Sprintf("q0 expired  q%d expired ", hops-1) {
			t.Errorf("history %q", history(*d))
		}
	})
}

// Dead-lettering does not wait for the consumer of the dead-letter queue, and a queue with many dead letters keeps their order
// (DL-31).
func TestDL31Order(t *testing.T) {
	const count = 9000 // more than the dead-letter actor accepts at a time
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Confirms()
		ch.Declare("dead", nil)
		ch.Declare("q", deadTo("dead", "x-max-length", 10))
		var last *amqp.DeferredConfirmation
		for i := range count {
			last = ch.Begin("", "q", false, testkit.Text(strconv.Itoa(i)))
		}
		if !ch.Await(last) {
			t.Error("nack")
		}
		synctest.Wait()
		deliveries := ch.Tail("dead")
		for i := range count - 10 {
			if d := testkit.Receive(b, deliveries); string(d.Body) != strconv.Itoa(i) {
				t.Fatalf("got %s, want %d", d.Body, i)
			}
		}
		testkit.Silent(b, deliveries, time.Minute)
	})
}

// Dead letters are routed by all routing keys of their publish; BCC is not visible to receivers (DL-15, DL-16, DL-20).
func TestDL15_CarbonCopies(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Exchange("dlx", "direct")
		dlx := amqp.Table{"x-dead-letter-exchange": "dlx", "x-message-ttl": 50}
		ch.Declare("q", dlx)
		ch.Declare("keyed", amqp.Table{"x-dead-letter-exchange": "dlx", "x-message-ttl": 50, "x-dead-letter-routing-key": "dead"})
		for _, name := range []string{"q", "cc", "bcc", "dead"} {
			ch.Declare("for-"+name, nil)
			ch.Bind("for-"+name, name, "dlx")
		}
		headers := func() amqp.Table {
			return amqp.Table{"BCC": []any{"bcc", "nowhere"}, "n": int32(1), "CC": []any{"cc"}}
		}
		ch.Send("", "q", amqp.Publishing{Headers: headers()})
		b.Advance(51 * ms)
		for _, name := range []string{"q", "cc", "bcc"} {
			d := ch.Fetch("for-" + name)
			if d == nil {
				t.Fatal("nothing for", name)
			}
			if d.RoutingKey != "q" || deaths(*d) != "q/expired×1 (q,cc)" || d.Headers["BCC"] != nil || fmt.Sprint(d.Headers["CC"]) != "[cc]" {
				t.Errorf("%s: key %s, %s, %v", name, d.RoutingKey, deaths(*d), d.Headers)
			}
		}
		ch.Send("", "keyed", amqp.Publishing{Headers: headers()})
		b.Advance(51 * ms)
		if d := ch.Fetch("for-dead"); d == nil || deaths(*d) != "keyed/expired×1 (keyed,cc)" || fmt.Sprint(d.Headers["CC"]) != "[cc]" {
			t.Errorf("%+v", d)
		}
		for _, name := range []string{"q", "cc", "bcc"} {
			if d := ch.Fetch("for-" + name); d != nil {
				t.Errorf("%s got %+v", name, d)
			}
		}
	})
}
