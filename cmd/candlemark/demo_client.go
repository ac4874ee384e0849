package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// start is the zero of all times that messages carry; the clock behind it does
// not jump.
var start = time.Now()

// dueHeader holds when a message should arrive, in ns since start.
const dueHeader = "due"

// demoClient is a connection to a stage with one channel in confirm mode.
type demoClient struct {
	*amqp.Channel
	conn     *amqp.Connection
	returned chan amqp.Return
}

// connect connects. Queues exclusive to the visitor end with the connection.
func (s *stage) connect() (*demoClient, error) {
	conn, err := amqp.DialConfig(s.amqp, amqp.Config{Locale: "en_US", Heartbeat: 10 * time.Second})
	if err != nil {
		return nil, err
	}
	v := &demoClient{conn: conn}
	if v.Channel, err = conn.Channel(); err == nil {
		err = v.Confirm(false)
	}
	if err != nil {
		_ = conn.Close() // the first error says more
		return nil, err
	}
	v.returned = v.NotifyReturn(make(chan amqp.Return, 1))
	return v, nil
}

// leave closes the connection.
func (v *demoClient) leave() { _ = v.conn.Close() } // what matters was confirmed before

// product returns the broker's name for itself.
func (s *stage) product() string {
	v, err := s.connect()
	if err != nil {
		return "other"
	}
	defer v.leave()
	return fmt.Sprint(v.conn.Properties["product"], " ", v.conn.Properties["version"])
}

// own declares a transient exclusive queue.
func (v *demoClient) own(name string, args amqp.Table) error {
	_, err := v.QueueDeclare(name, false, false, true, false, args)
	return err
}

// arrival is a message and when it came.
type arrival struct {
	amqp.Delivery
	at time.Duration // since start
}

// late returns how long after its due time it came, negative for too early.
func (a arrival) late() time.Duration {
	due, _ := a.Headers[dueHeader].(int64)
	return a.at - time.Duration(due)
}

// watch consumes a queue on a channel of its own and stamps what comes. The
// chan is closed with the connection.
func (v *demoClient) watch(queue string) (<-chan arrival, error) {
	ch, err := v.conn.Channel()
	if err != nil {
		return nil, err
	}
	deliveries, err := ch.Consume(queue, "", true, false, false, false, nil)
	if err != nil {
		return nil, err
	}
	stamped := make(chan arrival, 30_000)
	go func() {
		defer close(stamped)
		for d := range deliveries {
			stamped <- arrival{d, time.Since(start)}
		}
	}()
	return stamped, nil
}

// collect takes n arrivals, or fewer if they do not come before the deadline.
func collect(ctx context.Context, from <-chan arrival, n int, deadline time.Time) []arrival {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	var got []arrival
	for len(got) < n {
		select {
		case a, ok := <-from:
			if !ok {
				return got
			}
			got = append(got, a)
		case <-ctx.Done():
			return got
		}
	}
	return got
}

// put publishes to a queue and waits until the broker has it.
func (v *demoClient) put(ctx context.Context, queue string, m amqp.Publishing) error {
	confirm, err := v.PublishWithDeferredConfirmWithContext(ctx, "", queue, false, false, m)
	if err != nil {
		return err
	}
	return taken(ctx, confirm)
}

func taken(ctx context.Context, confirms ...*amqp.DeferredConfirmation) error {
	for _, c := range confirms {
		switch ok, err := c.WaitContext(ctx); {
		case err != nil:
			return err
		case !ok:
			return fmt.Errorf("publish %d was refused", c.DeliveryTag)
		}
	}
	return nil
}

// expiring returns a message that should arrive somewhere else after ttl.
func expiring(ttl time.Duration) amqp.Publishing {
	return amqp.Publishing{
		Headers:    amqp.Table{dueHeader: int64(time.Since(start) + ttl)},
		Expiration: fmt.Sprint(ttl.Milliseconds()),
	}
}

// gone publishes to a queue, which renews no lease, until that is unroutable,
// and returns when this was.
func (v *demoClient) gone(ctx context.Context, queue string) (time.Time, error) {
	every := time.NewTicker(2 * time.Millisecond)
	defer every.Stop()
	for {
		c, err := v.PublishWithDeferredConfirmWithContext(ctx, "", queue, true, false, amqp.Publishing{Type: probe})
		if err == nil {
			err = taken(ctx, c)
		}
		if err != nil {
			return time.Time{}, err
		}
		select {
		case <-v.returned: // comes before the confirm
			return time.Now(), nil
		default:
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("queue %s still exists: %w", queue, ctx.Err())
		}
	}
}

// probe is the type of messages that only find out whether a queue exists.
const probe = "probe"

// policy sends a request for a policy of the virtual host / to the HTTP API.
func (s *stage) policy(ctx context.Context, method, name string, body any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, s.http+"/api/policies/%2F/"+name, bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	if request.URL.User == nil {
		request.SetBasicAuth("guest", "guest")
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		text, _ := io.ReadAll(answer.Body) // the status alone will do
		return fmt.Errorf("%s policy: %s %s", method, answer.Status, text)
	}
	return nil
}

// spread are the lateness figures of many arrivals.
type spread struct {
	early         int
	p50, p99, max time.Duration
}

func lateness(of []arrival) spread {
	if len(of) == 0 {
		return spread{p50: demoLimit, p99: demoLimit, max: demoLimit}
	}
	late := make([]time.Duration, len(of))
	var s spread
	for i, a := range of {
		if late[i] = a.late(); late[i] < 0 {
			s.early++
		}
	}
	slices.Sort(late)
	s.p50, s.p99, s.max = late[len(late)/2], late[len(late)*99/100], late[len(late)-1]
	return s
}

// ms writes a duration for the table.
func ms(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
	if d < 10*time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
