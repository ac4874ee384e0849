package queries

import (
	"context"
	"iter"
	"sync"

	"candlemark/actors/movers/republish"
	"candlemark/actors/names/vhost/refusal"
	"candlemark/actors/system/mail"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
)

// totals counts the messages of all channels ever opened.
type totals struct {
	mu    sync.Mutex
	ended byProtocol // of closed channels
	shown byProtocol // the highest counts ever returned
	// vhosts has the counts of closed channels by virtual host; of a deleted one until the next query.
	vhosts map[string]*management.Counts
}

// byProtocol has the counts of channels, and of sessions.
type byProtocol [management.Protocols]published

// published has the counts of channels.
type published struct {
	counts management.Counts
	more   metrics.Published
}

func (p *published) add(counts management.Counts, more *metrics.Published) {
	p.counts.Add(counts)
	p.more.Add(more)
}

func (t *totals) add(protocol management.Protocol, vhost string, counts management.Counts, more *metrics.Published) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended[protocol].add(counts, more)
	if t.vhosts[vhost] == nil {
		if t.vhosts == nil {
			t.vhosts = map[string]*management.Counts{}
		}
		t.vhosts[vhost] = &management.Counts{}
	}
	t.vhosts[vhost].Add(counts)
}

// within returns the counts of closed channels for each of the virtual hosts, and forgets others.
func (t *totals) within(vhosts []*topology.VHost) map[string]management.Traffic {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept, shown := map[string]*management.Counts{}, map[string]management.Traffic{}
	for _, v := range vhosts {
		if c := t.vhosts[v.Name]; c != nil {
			kept[v.Name], shown[v.Name] = c, management.Traffic{Counts: *c}
		}
	}
	t.vhosts = kept
	return shown
}

func (t *totals) before() byProtocol {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// grow returns all, or the counts shown before where they are higher: a channel that ended while it was asked is missed
// once, and a total must not decrease.
func (t *totals) grow(all byProtocol) byProtocol {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range all {
		t.shown[i].atLeast(&all[i])
	}
	return t.shown
}

func (p *published) atLeast(o *published) {
	shown, c := p.counts, o.counts
	p.counts = management.Counts{
		Publish: max(shown.Publish, c.Publish), Confirm: max(shown.Confirm, c.Confirm),
		Returned: max(shown.Returned, c.Returned), Dropped: max(shown.Dropped, c.Dropped),
		Deliver: max(shown.Deliver, c.Deliver), DeliverNoAck: max(shown.DeliverNoAck, c.DeliverNoAck),
		Get: max(shown.Get, c.Get), GetNoAck: max(shown.GetNoAck, c.GetNoAck), GetEmpty: max(shown.GetEmpty, c.GetEmpty),
		Ack: max(shown.Ack, c.Ack), Redeliver: max(shown.Redeliver, c.Redeliver),
	}
	p.more.AtLeast(&o.more)
}

// Lateness implements management.Monitoring.
func (qs *Queries) Lateness() (expired, released metrics.Buckets) {
	return qs.Sums.Expired(), qs.Sums.Released()
}

// OldestReadyAge returns the age of the oldest ready message of all queues at now, in ms of the broker's time.
func OldestReadyAge(vhosts *topology.VHosts, now int64) (age int64) {
	for _, v := range vhosts.List("") {
		for q := range v.Directory().AllListed() {
			if at := q.Stats.OldestReady(); at != 0 {
				age = max(age, now-at)
			}
		}
	}
	return age
}

// Overview returns current and past counts. Callers add the names of the broker and its listeners.
func (qs *Queries) Overview(ctx context.Context) (management.Overview, error) {
	m, err := qs.Metrics(ctx)
	for _, v := range qs.cfg.VHosts.List("") {
		if n := held(v); n > 0 {
			t := m.VHosts[v.Name]
			t.Held = n
			m.VHosts[v.Name] = t
		}
	}
	return m.Overview, err
}

// held returns how many messages the delayed exchanges and topics of a virtual host hold, as they have reported.
func held(v *topology.VHost) (n int) {
	for x := range v.Directory().Exchanges() {
		if q := x.Holder(); q != nil && q.Stats != nil {
			n += int(q.Stats.Get(queuestats.Scheduled) + q.Stats.Get(queuestats.Ready))
		}
	}
	return n
}

// objects adds what all virtual hosts have.
func objects(m *management.Metrics, vhosts []*topology.VHost) {
	for _, v := range vhosts {
		m.Exchanges += v.Directory().ExchangeCount()
		m.Overview.Queues += v.Directory().QueueCount()
		m.SkippedBindings += v.SkippedBindings()
		m.CostlyRules += v.CostlyRules()
	}
}

// Metrics returns the metrics of queues, channels and connections without asking a queue. Callers add the node's.
func (qs *Queries) Metrics(ctx context.Context) (m management.Metrics, err error) {
	for kind := range m.Queues {
		m.Queues[kind] = qs.Sums.Total(metrics.Kind(kind))
	}
	for kind := range metrics.Holder {
		m.Wait[kind], m.Processing[kind] = qs.Sums.Times(kind)
	}
	m.Expired, m.Released, m.DeadLetters = qs.Sums.Expired(), qs.Sums.Released(), qs.DeadLetters()
	o, all := &m.Overview, qs.Sums.All()
	o.Ready, o.Unacked, o.Consumers = int(all[queuestats.Ready]), int(all[queuestats.Unacked]), int(all[queuestats.Consumers])
	objects(&m, qs.cfg.VHosts.List(""))
	total := qs.totals.before()
	o.VHosts = qs.totals.within(qs.cfg.VHosts.List(""))
	clients, err := qs.clients(ctx, "")
	if err != nil {
		return m, err
	}
	for _, c := range clients.list {
		v := o.VHosts[c.shown.VHost]
		v.BytesIn, v.BytesOut = v.BytesIn+c.shown.BytesIn, v.BytesOut+c.shown.BytesOut
		o.VHosts[c.shown.VHost] = v
	}
	channels, err := describeChannels(ctx, qs, clients, false)
	if err != nil {
		return m, err
	}
	for i := range channels {
		c := &channels[i]
		protocol := management.AMQP091
		if c.Session != nil {
			protocol = management.AMQP10
		}
		total[protocol].add(c.Counts, &c.Published)
		by := &m.ByProtocol[protocol]
		by.Consumers += c.Consumers
		v := o.VHosts[c.VHost]
		v.Counts.Add(c.Counts)
		o.VHosts[c.VHost] = v
		m.Unconfirmed, m.Uncommitted, m.AcksUncommitted = m.Unconfirmed+c.Unconfirmed, m.Uncommitted+c.Uncommitted, m.AcksUncommitted+c.AcksUncommitted
		if c.Counts.Publish > 0 {
			by.Publishers++
		}
	}
	total = qs.totals.grow(total)
	for i := range total {
		o.Counts.Add(total[i].counts)
		m.ByProtocol[i].Counts, m.ByProtocol[i].Published = total[i].counts, total[i].more
	}
	o.Connections, o.Channels = len(clients.list), len(channels)
	c := &qs.Churn
	o.Churn = management.Churn{
		ConnectionsOpened: c.ConnectionsOpened.Load(), ConnectionsClosed: c.ConnectionsClosed.Load(),
		ChannelsOpened: c.ChannelsOpened.Load(), ChannelsClosed: c.ChannelsClosed.Load(), QueuesDeclared: c.QueuesMade.Load(),
	}
	o.Churn.QueuesDeleted = o.Churn.QueuesDeclared - min(o.Churn.QueuesDeclared, uint64(o.Queues))
	return m, nil
}

// ChannelEnded adds the counts of a closed channel.
func (qs *Queries) ChannelEnded(vhost string, c mail.Counts, p *metrics.Published) {
	qs.Churn.ChannelsClosed.Add(1)
	qs.totals.add(management.AMQP091, vhost, countsShown(c), p)
}

// SessionEnded adds the counts of an ended AMQP 1.0 session.
func (qs *Queries) SessionEnded(vhost string, c mail.Counts, p *metrics.Published) {
	qs.Churn.ChannelsClosed.Add(1)
	qs.totals.add(management.AMQP10, vhost, countsShown(c), p)
}

// countsShown returns counts as the API shows them.
func countsShown(c mail.Counts) management.Counts {
	return management.Counts{
		Publish: c.Publish, Confirm: c.Confirm, Returned: c.Returned, Dropped: c.Dropped,
		Deliver: c.Deliver, DeliverNoAck: c.DeliverNoAck, Get: c.Get, GetNoAck: c.GetNoAck, GetEmpty: c.GetEmpty,
		Ack: c.Ack, Redeliver: c.Redeliver,
	}
}

// Exchanges implements management.Topology.
func (qs *Queries) Exchanges(ctx context.Context, vhost string) (all []management.Exchange, err error) {
	for _, v := range qs.cfg.VHosts.List(vhost) {
		some, err := describeExchanges(ctx, qs, v, v.Directory().Exchanges())
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// Exchange implements management.Topology.
func (qs *Queries) Exchange(ctx context.Context, vhost, name string) (*management.Exchange, error) {
	v, there := qs.cfg.VHosts.Find(vhost)
	if !there {
		return nil, nil
	}
	x := v.Directory().Exchange([]byte(name))
	if x == nil {
		return nil, nil
	}
	one, err := describeExchanges(ctx, qs, v, func(yield func(*topology.Exchange) bool) { yield(x) })
	if err != nil {
		return nil, err
	}
	return &one[0], nil
}

// describeExchanges describes some exchanges of a virtual host.
func describeExchanges(ctx context.Context, qs *Queries, v *topology.VHost, some iter.Seq[*topology.Exchange]) (all []management.Exchange, err error) {
	list, err := qs.Policies.ListPolicies(ctx, v.Name, false)
	if err != nil {
		return nil, err
	}
	set := policies.NewSet(v.Name)
	for _, p := range list {
		set = set.With(p)
	}
	rules := refusal.Rules{VHost: v.Name, System: qs.cfg.SystemExchanges}
	var holders []*topology.Queue // of the delayed ones
	for x := range some {
		shown := management.Exchange{
			VHost: v.Name, Name: x.Name, Type: x.Type, Durable: x.Durable, AutoDelete: x.AutoDelete,
			Internal: x.Internal, Arguments: x.Arguments,
			Permanent: rules.DeleteExchange(x.Name) != nil, System: rules.Ends(x.Name, &topology.Binding{}) != nil,
		}
		shown.In, shown.Out = x.Published()
		shown.Skipped = x.Skipped()
		if at := x.LastPublish(); at != 0 {
			shown.LastUse = qs.cfg.Asker.Clock.Date(at)
		}
		if user, _ := set.Match(policies.KindExchange, x.Name); user != nil {
			shown.Policy = user.Name
		}
		all = append(all, shown)
		if q := x.Holder(); q != nil {
			holders = append(holders, q)
		}
	}
	return all, countDelayed(ctx, qs, all, holders)
}

// countDelayed returns how many messages each delayed exchange holds (DLY-5). One whose holder does not answer has no
// number.
func countDelayed(ctx context.Context, qs *Queries, all []management.Exchange, holders []*topology.Queue) error {
	held := make(map[string]*mail.QueueInfo, len(holders))
	err := qs.cfg.Asker.All(ctx, len(holders), func(i int, r mail.Request) {
		qs.cfg.Asker.Post(holders[i].PID, &mail.DescribeQueue{Request: r})
	}, func(answer any) {
		if info := answer.(*mail.QueueInfo); !info.Down && info.Err == nil {
			held[info.Name] = info
		}
	})
	if err != nil {
		return err
	}
	for i := range all {
		if info, is := held[topology.HolderName(all[i].Name)]; is {
			count := info.Scheduled.Count + info.Ready
			all[i].Delayed, all[i].DelayedBytes = &count, info.Scheduled.Bytes+info.ReadyBytes
			if info.Counts.Publish > 0 {
				all[i].LastUse = max(all[i].LastUse, info.LastUse)
			}
		}
	}
	return nil
}

// DeadLetters implements management.Host.
func (qs *Queries) DeadLetters() management.DeadLetters {
	d := &qs.Deaths
	shown := func(s *republish.ReasonStats) management.Deaths {
		return management.Deaths{
			Disabled: s.Disabled.Load() + s.NoExchange.Load(), AtMostOnce: s.AtMostOnce.Load(), AtLeastOnce: s.AtLeastOnce.Load(),
			Routed: s.Routed.Load(), Confirmed: s.Confirmed.Load(), Unroutable: s.Unroutable.Load(), Cycles: s.Cycles.Load(),
			Refused: s.Refused.Load(), LostTargets: s.LostTargets.Load(), Kept: s.Kept.Load(), Failed: s.Failed.Load(),
			TooManyCopies: s.Exceeded.Load(),
		}
	}
	return management.DeadLetters{
		Expired: shown(&d.Expired), Rejected: shown(&d.Rejected), MaxLen: shown(&d.MaxLen), DeliveryLimit: shown(&d.DeliveryLimit), Hops: shown(&d.Hops), Copies: shown(&d.Copies), RuleFailed: shown(&d.RuleFailed),
		Answered:      shown(&d.Answered),
		QueuesExpired: d.QueuesExpired.Load(), Discarded: d.Discarded.Load(),
	}
}
