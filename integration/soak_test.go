package integration

import (
	number "encoding/binary"
	"flag"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

var (
	soakFor = flag.Duration("soak", 2*time.Second, "how long TestSoakUnderAttack attacks")
	eachFor = flag.Duration("each", 0, "how long TestEachAttack repeats each attack, which it does at least once")
)

const (
	soakWatermark = 400_000_000 // bytes
	soakMargin    = 200_000_000 // bytes by which memory may exceed the watermark under attack (docs/security.md)
	soakRest      = 150_000_000 // bytes that the broker may use after the attackers have disconnected
	soakEvery     = 10 * time.Millisecond
)

// silence stays idle for a second, and then reads one byte if the peer has sent any.
func (a *attacker) silence() error {
	if err := a.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	<-time.After(time.Second) // chosen by the attacker
	_, err := a.Read(make([]byte, 1))
	return err
}

// attackHTTP begins a request without ending it.
func (b *broker) attackHTTP() (*attacker, error) {
	conn, err := net.DialTimeout("tcp", b.http, attackTime)
	if err != nil {
		return nil, err
	}
	a := &attacker{Conn: conn}
	return a, a.say([]byte("GET /api/overview HTTP/1.1\r\nHost: x\r\n"))
}

// watcher publishes persistent messages at a fixed rate and consumes them, on two connections.
type watcher struct {
	*testing.T
	from, to  *client
	published uint64
	taken     chan struct{} // closed when the consumer has ended
	lateness  []time.Duration
	next      uint64
}

func (b *broker) watcher() *watcher {
	w := &watcher{T: b.T, from: b.dial(), to: b.dial(), taken: make(chan struct{})}
	_, err := w.from.QueueDeclare("bystander", true, false, false, false, nil)
	w.from.must(err)
	go w.take(w.to.consume("bystander", false))
	return w
}

// publish publishes until stop is closed. Each message contains its scheduled send time, so that delays of the publisher count as
// lateness.
func (w *watcher) publish(stop <-chan struct{}) {
	confirms := w.from.NotifyPublish(make(chan amqp.Confirmation, 1<<16))
	due := time.Now()
	for ; ; due = due.Add(soakEvery) {
		select {
		case <-stop:
			for n := range w.published {
				select {
				case c := <-confirms:
					if !c.Ack {
						w.Errorf("publish %d was refused", n)
					}
				case <-time.After(patience):
					w.Errorf("%d of %d were confirmed", n, w.published)
					return
				}
			}
			return
		case <-time.After(time.Until(due)):
		}
		body := number.BigEndian.AppendUint64(number.BigEndian.AppendUint64(nil, w.published), uint64(due.UnixNano()))
		if err := w.from.Publish("", "bystander", false, false, amqp.Publishing{DeliveryMode: 2, Body: body}); err != nil {
			w.Error("publish:", err)
			return
		}
		w.published++
	}
}

// take consumes until the last message, which is empty.
func (w *watcher) take(deliveries <-chan amqp.Delivery) {
	defer close(w.taken)
	for d := range deliveries {
		if err := d.Ack(false); err != nil || len(d.Body) == 0 {
			return
		}
		if len(d.Body) != 16 {
			w.Errorf("a message of %d bytes in the bystander's queue", len(d.Body))
			continue
		}
		if n := number.BigEndian.Uint64(d.Body); n != w.next || d.Redelivered {
			w.Errorf("message %d, redelivered %v, in place of %d", n, d.Redelivered, w.next)
		}
		w.next++
		w.lateness = append(w.lateness, time.Since(time.Unix(0, int64(number.BigEndian.Uint64(d.Body[8:])))))
	}
}

// finish checks that all messages have arrived.
func (w *watcher) finish() {
	w.from.put("", "bystander", amqp.Publishing{})
	select {
	case <-w.taken:
	case <-time.After(patience):
		w.Fatal("the bystander's messages do not come")
	}
	if w.next != w.published {
		w.Errorf("%d of %d came", w.next, w.published)
	}
	slices.Sort(w.lateness)
	if n := len(w.lateness); n > 0 {
		w.Logf("bystander: %d messages, p50 %v, p99 %v, longest %v", n, w.lateness[n/2], w.lateness[n*99/100], w.lateness[n-1])
	}
}

// startAttacked starts a broker with a watermark and the attacking users.
func startAttacked(t *testing.T) *broker {
	b := start(t, "--memory-high-watermark", strconv.Itoa(soakWatermark))
	for _, user := range []string{"mallory", "nobody"} {
		b.request("PUT", "/api/users/"+user, fmt.Sprintf(`{"password":%q,"tags":"policymaker"}`, user), 201)
	}
	b.request("PUT", "/api/permissions/%2F/mallory", `{"configure":"^m","write":"^(m|amq\\.default$|candlemark\\.admin$)","read":"^m"}`, 201)
	b.request("PUT", "/api/permissions/%2F/nobody", `{"configure":"","write":"","read":""}`, 201)
	return b
}

// attackUntil attacks until end, each attack at least once and all concurrently, beside a bystander that publishes and consumes
// persistent messages: none is lost, duplicated or out of order, memory stays below the watermark plus a margin, and is released
// afterwards. The lateness of the bystander's messages is logged.
func (b *broker) attackUntil(end time.Time, names ...string) {
	w := b.watcher()
	most, stop, rounds := b.watchMemory(), make(chan struct{}), make([]int, len(names))
	var publishing, attacking sync.WaitGroup
	publishing.Go(func() { w.publish(stop) })
	for i, name := range names {
		attacking.Go(func() {
			for rounds[i] == 0 || time.Now().Before(end) {
				_ = attacks[name](b) // outcomes for attackers are tested elsewhere
				rounds[i]++
				<-time.After(100 * time.Millisecond) // leaves CPU time for the bystander
			}
		})
	}
	attacking.Wait()
	close(stop)
	publishing.Wait()
	w.finish()
	attackingHTTP.CloseIdleConnections()
	for i, name := range names {
		b.Logf("%5d × %s", rounds[i], name)
	}
	peak := most()
	b.Logf("memory came to %d MB at a watermark of %d MB", peak/1e6, soakWatermark/1_000_000)
	if racing {
		return // the race detector multiplies memory
	}
	if peak > soakWatermark+soakMargin {
		b.Errorf("that is more than %d MB above it", soakMargin/1_000_000)
	}
	b.request("DELETE", "/api/vhosts/%2F", "", 204) // deletes the attackers' queues with their messages, too
	eventually(b.T, "memory to return", func() bool { return b.memory() < soakRest })
	eventually(b.T, "the end of the alarm", func() bool {
		return strings.Contains(b.request("GET", "/api/nodes", "", 200), `"mem_alarm":false`)
	})
}

// All attacks concurrently and repeatedly.
func TestSoakUnderAttack(t *testing.T) {
	besideOthers(t, "soak")
	startAttacked(t).attackUntil(time.Now().Add(*soakFor), slices.Sorted(maps.Keys(attacks))...)
}

// Each attack on a broker of its own. By default each is made once, in parallel with other tests; -each repeats it and measures
// how late the bystander's messages are, and then needs the machine for itself.
func TestEachAttack(t *testing.T) {
	besideOthers(t, "each")
	for _, name := range slices.Sorted(maps.Keys(attacks)) {
		t.Run(name, func(t *testing.T) {
			besideOthers(t, "each")
			startAttacked(t).attackUntil(time.Now().Add(*eachFor), name)
		})
	}
}
