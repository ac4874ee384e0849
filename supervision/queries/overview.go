package queries

import (
	"context"
	"sync"

	"candlemark/actors/deadletter"
	"candlemark/actors/mail"
	"candlemark/internal/management"
	"candlemark/internal/topology"
	"candlemark/policies"
)

// totals are the messages of all channels that were ever open.
type totals struct {
	mu    sync.Mutex
	ended management.Counts // of channels that are gone
	shown management.Counts // the most that was ever answered
}

func (t *totals) add(c management.Counts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended.Add(c)
}

func (t *totals) before() management.Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// grow is c, or what was shown before where that is more: a channel that ended
// while it was asked is missed once, and a total must not fall.
func (t *totals) grow(c management.Counts) management.Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shown = management.Counts{
		Publish: max(t.shown.Publish, c.Publish), Confirm: max(t.shown.Confirm, c.Confirm),
		Returned: max(t.shown.Returned, c.Returned), Dropped: max(t.shown.Dropped, c.Dropped),
		Deliver: max(t.shown.Deliver, c.Deliver), DeliverNoAck: max(t.shown.DeliverNoAck, c.DeliverNoAck),
		Get: max(t.shown.Get, c.Get), GetNoAck: max(t.shown.GetNoAck, c.GetNoAck), GetEmpty: max(t.shown.GetEmpty, c.GetEmpty),
		Ack: max(t.shown.Ack, c.Ack), Redeliver: max(t.shown.Redeliver, c.Redeliver),
	}
	return t.shown
}

// Overview counts what there is, and what was. The names of the broker and its
// listeners are for others to add.
func (qs *Queries) Overview(ctx context.Context) (o management.Overview, err error) {
	queues, err := qs.Queues(ctx, "")
	if err != nil {
		return o, err
	}
	for i := range queues {
		q := &queues[i]
		o.Ready, o.Unacked, o.Consumers = o.Ready+q.Ready, o.Unacked+q.Unacked, o.Consumers+q.Consumers
	}
	o.Queues = len(queues)
	for _, v := range qs.cfg.VHosts.List("") {
		o.Exchanges += v.Directory().ExchangeCount()
	}
	counts := qs.totals.before()
	all, err := qs.clients(ctx)
	if err != nil {
		return o, err
	}
	channels, err := qs.channels(ctx, all)
	if err != nil {
		return o, err
	}
	for i := range channels {
		counts.Add(channels[i].Counts)
	}
	o.Counts = qs.totals.grow(counts)
	o.Connections, o.Channels = len(all.list), len(channels)
	c := &qs.Churn
	o.Churn = management.Churn{
		ConnectionsOpened: c.ConnectionsOpened.Load(), ConnectionsClosed: c.ConnectionsClosed.Load(),
		ChannelsOpened: c.ChannelsOpened.Load(), ChannelsClosed: c.ChannelsClosed.Load(), QueuesMade: c.QueuesMade.Load(),
	}
	o.Churn.QueuesGone = o.Churn.QueuesMade - min(o.Churn.QueuesMade, uint64(o.Queues))
	return o, nil
}

// ChannelEnded keeps what a channel has counted.
func (qs *Queries) ChannelEnded(c mail.Counts) {
	qs.Churn.ChannelsClosed.Add(1)
	qs.totals.add(countsShown(c))
}

// countsShown are counts as the API shows them.
func countsShown(c mail.Counts) management.Counts {
	return management.Counts{
		Publish: c.Publish, Confirm: c.Confirm, Returned: c.Returned, Dropped: c.Dropped,
		Deliver: c.Deliver, DeliverNoAck: c.DeliverNoAck, Get: c.Get, GetNoAck: c.GetNoAck, GetEmpty: c.GetEmpty,
		Ack: c.Ack, Redeliver: c.Redeliver,
	}
}

// Exchanges implements management.Topology.
func (qs *Queries) Exchanges(ctx context.Context, vhost string) ([]management.Exchange, error) {
	var all []management.Exchange
	for _, v := range qs.cfg.VHosts.List(vhost) {
		list, err := qs.ListPolicies(ctx, v.Name, false)
		if err != nil {
			return nil, err
		}
		set := policies.NewSet(v.Name)
		for _, p := range list {
			set = set.With(p)
		}
		first := len(all)
		var holders []*topology.Queue // of the delayed ones
		for x := range v.Directory().Exchanges() {
			shown := management.Exchange{
				VHost: v.Name, Name: x.Name, Type: x.Type, Durable: x.Durable, AutoDelete: x.AutoDelete,
				Internal: x.Internal, Arguments: x.Arguments,
			}
			if user, _ := set.Match(policies.KindExchange, x.Name); user != nil {
				shown.Policy = user.Name
			}
			all = append(all, shown)
			if q := x.Holder(); q != nil {
				holders = append(holders, q)
			}
		}
		if err := qs.countDelayed(ctx, all[first:], holders); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// countDelayed tells how many messages each delayed exchange holds (DLY-5). One
// whose holder does not answer has no number.
func (qs *Queries) countDelayed(ctx context.Context, all []management.Exchange, holders []*topology.Queue) error {
	held := make(map[string]int, len(holders))
	err := qs.cfg.Asker.All(ctx, len(holders), func(i int, r mail.Request) {
		qs.cfg.Asker.Post(holders[i].PID, &mail.DescribeQueue{Request: r})
	}, func(answer any) {
		if info := answer.(*mail.QueueInfo); !info.Down && info.Err == nil {
			held[info.Name] = info.Scheduled.Count + info.Ready
		}
	})
	if err != nil {
		return err
	}
	for i := range all {
		if count, is := held[topology.HolderName(all[i].Name)]; is {
			all[i].Delayed = &count
		}
	}
	return nil
}

// DeadLetters implements management.Host.
func (qs *Queries) DeadLetters() management.DeadLetters {
	d := &qs.Deaths
	shown := func(s *deadletter.ReasonStats) management.Deaths {
		return management.Deaths{
			Disabled: s.Disabled.Load() + s.NoExchange.Load(), AtMostOnce: s.AtMostOnce.Load(), AtLeastOnce: s.AtLeastOnce.Load(),
			Routed: s.Routed.Load(), Confirmed: s.Confirmed.Load(), Unroutable: s.Unroutable.Load(), Cycles: s.Cycles.Load(),
			Refused: s.Refused.Load(), LostTargets: s.LostTargets.Load(), Kept: s.Kept.Load(), Failed: s.Failed.Load(),
		}
	}
	return management.DeadLetters{
		Expired: shown(&d.Expired), Rejected: shown(&d.Rejected), MaxLen: shown(&d.MaxLen), DeliveryLimit: shown(&d.DeliveryLimit), Hops: shown(&d.Hops),
		QueuesExpired: d.QueuesExpired.Load(), Discarded: d.Discarded.Load(),
	}
}
