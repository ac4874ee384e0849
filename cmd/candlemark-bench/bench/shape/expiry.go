package shape

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"candlemark/cmd/candlemark-bench/bench/report"
	"candlemark/cmd/candlemark-bench/bench/wire"
	"candlemark/internal/admin/httpapi/client"
	"candlemark/protocol"
)

// patience is the timeout of operations outside the measurement.
const patience = 2 * time.Minute

// expiry is messages that expire, and how late they are dead-lettered.
func (b *Bench) expiry() error {
	var groups []string
	if b.Mode == "policy" {
		groups = []string{"before_policy", "after_policy", "when_purged"}
	}
	t, err := b.arrive("expiry", groups...)
	if err != nil {
		return err
	}
	source := b.name + "q"
	args := append(toTarget(t.target), b.QueueArgs...)
	if b.Mode == "queue" {
		args = args.Set("x-message-ttl", b.TTL.Max().Milliseconds())
	}
	if err := b.queue(source, args); err != nil {
		return t.finish(err)
	}
	b.sample()
	how := b.publishing("", source)
	if b.Mode != "message" {
		how.Dress = func(dst []byte, _ *wire.Publish, _ time.Duration) []byte { return dst }
	}
	if b.Mode == "policy" {
		t.notBefore.Store(1 << 62) // none is due until there is a policy
	}
	began := time.Now()
	if err := t.publish(how); err != nil {
		return t.finish(err)
	}
	b.result.Add("publish_per_s", report.Rate(b.run.Sent.Load(), time.Since(began)))
	if b.Mode != "policy" {
		t.settled(0)
		return t.finish(nil)
	}
	remove, err := t.set(source)
	defer remove()
	how.Limit = max(1, how.Limit/10)
	if err == nil {
		err = t.publish(how)
	}
	if err != nil {
		return t.finish(err)
	}
	// A broker that applies policies only to new messages keeps the earlier ones, and the next messages queue behind them.
	t.settled(0)
	m, err := b.control.Call(1, &protocol.QueuePurge{Queue: source})
	purged, _ := m.(*protocol.QueuePurgeOk)
	if err != nil || purged == nil {
		return t.finish(errors.Join(err, errors.New("the queue is not purged")))
	}
	err = t.publish(how)
	t.settled(int64(purged.MessageCount))
	b.result.Add("never_expired", float64(purged.MessageCount))
	err = t.finish(err)
	b.result.Verify.Lost = max(0, b.result.Verify.Lost-int64(purged.MessageCount))
	return err
}

// set sets a policy with the TTL for a queue; remove removes it.
func (t *dueMessages) set(queue string) (remove func(), err error) {
	remove = func() {}
	if t.HTTP == "" {
		return remove, errors.New("--mode policy wants --http")
	}
	api, err := client.New(t.HTTP)
	if err != nil {
		return remove, err
	}
	name, vhost := t.name+"ttl", t.run.Wire.VHost()
	remove = func() {
		_ = api.ClearPolicy(context.WithoutCancel(t.Context), vhost, name, false) // it hits nothing any more
		api.Close()
	}
	p := client.Policy{
		Pattern: "^" + regexp.QuoteMeta(queue) + "$", ApplyTo: "queues", Priority: "0", VHost: vhost, Name: name,
		Definition: fmt.Appendf(nil, `{"message-ttl":%d}`, t.TTL.Max().Milliseconds()),
	}
	t.notBefore.Store(wire.Now())
	return remove, api.SetPolicy(t.Context, p, false)
}
