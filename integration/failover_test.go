package integration

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

var failovers = flag.Int("failovers", 1, "how often TestFailover_Silence kills the leader; it reports the silence of confirms, with its parts")

// silence is the time without a confirm around the end of a leader, in its parts.
type silence struct {
	all       time.Duration
	detection time.Duration // until a node becomes a candidate
	election  time.Duration // until it leads
	start     time.Duration // of the broker on what is committed
	client    time.Duration // until the first confirm
}

// logged returns when a node has logged a line last, and the line's took_ms.
func (c *nodes) logged(i int, text string) (at time.Time, took time.Duration) {
	c.Helper()
	all, err := os.ReadFile(c.logs[i])
	if err != nil {
		c.Fatal(err)
	}
	for line := range strings.Lines(string(all)) {
		var l struct {
			Time    time.Time `json:"time"`
			Message string    `json:"message"`
			Took    int64     `json:"took_ms"`
		}
		if json.Unmarshal([]byte(line), &l) == nil && strings.HasPrefix(l.Message, text) {
			at, took = l.Time, time.Duration(l.Took)*time.Millisecond
		}
	}
	return at, took
}

// confirms publishes 1,000 messages a second until ctx ends, and reports the time of each confirm.
func (c *nodes) confirms(ctx context.Context, times chan<- time.Time) {
	defer close(times)
	for ctx.Err() == nil {
		conn := c.dial()
		if conn == nil {
			return
		}
		ch, err := conn.Channel()
		if err == nil {
			_, err = ch.QueueDeclare("silent", true, false, false, false, amqp.Table{"x-queue-type": "quorum", "x-max-length": 1000})
		}
		if err == nil {
			err = ch.Confirm(false)
		}
		if err != nil {
			_ = conn.Close()
			continue
		}
		confirmed, closed := ch.NotifyPublish(make(chan amqp.Confirmation, 10_000)), ch.NotifyClose(make(chan *amqp.Error, 1))
		tick := time.NewTicker(time.Millisecond)
		for open := true; open && ctx.Err() == nil; {
			select {
			case <-tick.C:
				open = ch.Publish("", "silent", false, false, amqp.Publishing{DeliveryMode: 2, Body: make([]byte, 1024)}) == nil
			case _, open = <-confirmed:
				if open {
					times <- time.Now()
				}
			case <-closed:
				open = false
			}
		}
		tick.Stop()
		_ = conn.Close()
	}
}

// TestFailover_Silence: confirms come again after the leader was killed. With -failovers 100 it measures for how long there are none, on a machine with nothing
// else to do.
func TestFailover_Silence(t *testing.T) {
	besideOthers(t, "failovers")
	c := startNodes(t, nil)
	ctx, end := context.WithCancel(t.Context())
	times := make(chan time.Time, 100_000)
	go c.confirms(ctx, times)
	var all []silence
	last := <-times
	for range *failovers {
		for until := time.Now().Add(2 * time.Second); last.Before(until); {
			last = <-times
		}
		old := c.leader()
		c.signal(old, syscall.SIGKILL)
		killed := time.Now()
		c.wait(old)
		var first time.Time
		for first = range times {
			if first.Sub(killed) > 20*time.Millisecond && first.Sub(last) > 20*time.Millisecond { // not one that was under way
				break
			}
			last = first
		}
		if first.IsZero() || first.Before(killed) {
			t.Fatal("no confirms")
		}
		now := c.leader()
		leads, took := c.logged(now, "this node leads the cluster")
		s := silence{all: first.Sub(last), start: took, client: first.Sub(leads)}
		s.election = leads.Add(-took).Sub(killed)
		if at, _ := c.logged(now, "the process of the leader has ended"); at.After(killed) && at.Before(leads) {
			s.detection, s.election = at.Sub(killed), s.election-at.Sub(killed)
		}
		all, last = append(all, s), first
		c.start(old)
	}
	end()
	for range times {
	}
	show := func(what string, of func(silence) time.Duration) {
		var list []time.Duration
		for _, s := range all {
			list = append(list, of(s).Round(time.Millisecond))
		}
		slices.Sort(list)
		t.Logf("%-44s median %v, p99 %v, most %v", what, list[len(list)/2], list[(len(list)*99+99)/100-1], list[len(list)-1])
	}
	show("silence of confirms after kill -9:", func(s silence) time.Duration { return s.all })
	show("  until a node is a candidate:", func(s silence) time.Duration { return s.detection })
	show("  until it leads (all, if it was not told):", func(s silence) time.Duration { return s.election })
	show("  start of the broker:", func(s silence) time.Duration { return s.start })
	show("  until a client has a confirm:", func(s silence) time.Duration { return s.client })
}
