package topology

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/queuestats"
	"candlemark/policies"
	"candlemark/protocol"
)

// queueItem is the JSON form of a queue, as in the lists of RabbitMQ.
type queueItem struct {
	figures queuestats.Figures // added by MarshalJSON

	Arguments      forms.Object        `json:"arguments"`
	AutoDelete     bool                `json:"auto_delete"`
	Capacity       float64             `json:"consumer_capacity"`
	Utilisation    float64             `json:"consumer_utilisation"`
	Retry          string              `json:"delayed_retry,omitempty"`
	DeliveryLimit  any                 `json:"delivery_limit,omitempty"`
	Durable        bool                `json:"durable"`
	Effective      policies.Definition `json:"effective_policy_definition"`
	Exclusive      bool                `json:"exclusive"`
	ExclusiveTag   *string             `json:"exclusive_consumer_tag"`
	HeadTimestamp  *uint64             `json:"head_message_timestamp"`
	IdleSince      *string             `json:"idle_since"`
	Internal       bool                `json:"internal"`       // false: there are no queues of plugins
	InternalOwner  bool                `json:"internal_owner"` // as above
	Leader         string              `json:"leader,omitempty"`
	May            rest.May            `json:"may,omitzero"`
	Members        []string            `json:"members,omitempty"`
	Stats          forms.Stats         `json:"message_stats"`
	MessagesRate   forms.Rate          `json:"messages_details"`
	ReadyRate      forms.Rate          `json:"messages_ready_details"`
	NextAttempt    *string             `json:"dlx_next_attempt_at"`
	UnackedRate    forms.Rate          `json:"messages_unacknowledged_details"`
	Name           string              `json:"name"`
	NextDue        *string             `json:"next_due"`
	NextExpiry     *string             `json:"next_expiry"`
	Expiries       forms.Histogram     `json:"expiry_histogram"`
	LeaseExpires   *string             `json:"lease_expires_at"`
	LeaseRenewed   *string             `json:"lease_renewed_at"`
	LeaseUse       *string             `json:"lease_renewed_by"`
	Node           string              `json:"node"`
	OldestUnacked  *string             `json:"oldest_unacked_at"`
	OldestReady    *string             `json:"oldest_ready_at"`
	OldestReadyAge float64             `json:"oldest_ready_age"` // s
	Oldest         *string             `json:"oldest_message_at"`
	OldestAge      float64             `json:"oldest_message_age"` // s
	WaitMedian     *float64            `json:"wait_p50"`           // s, as the following
	WaitP99        *float64            `json:"wait_p99"`
	ProcMedian     *float64            `json:"processing_p50"`
	ProcP99        *float64            `json:"processing_p99"`
	Online         []string            `json:"online,omitempty"`
	OperatorPolicy *string             `json:"operator_policy"`
	PausedUntil    *string             `json:"paused_until"`
	Policy         *string             `json:"policy"`
	CostlyRules    uint64              `json:"rules_too_costly"`
	ActiveTag      *string             `json:"single_active_consumer_tag"`
	State          string              `json:"state"`
	Type           string              `json:"type"`
	VHost          string              `json:"vhost"`
}

// detailedQueue is the form of one queue that was asked for by name.
type detailedQueue struct {
	queueItem
	details
}

// details are the fields that only detailedQueue has.
type details struct {
	ConsumerDetails []forms.Consumer      `json:"consumer_details"`
	Deliveries      []struct{}            `json:"deliveries"` // per channel, which the broker does not count
	Incoming        []struct{}            `json:"incoming"`   // per exchange, as above
	Owner           *forms.ConnectionLink `json:"owner_pid_details,omitempty"`
	Histogram       forms.Histogram       `json:"scheduled_histogram"`
	Wait            *forms.Times          `json:"wait_histogram"` // null if there are none, as the following
	Processing      *forms.Times          `json:"processing_histogram"`
}

// MarshalJSON implements json.Marshaler.
func (q queueItem) MarshalJSON() ([]byte, error) {
	type fields queueItem
	return withFigures(fields(q), &q.figures)
}

// MarshalJSON implements json.Marshaler.
func (q detailedQueue) MarshalJSON() ([]byte, error) {
	type item queueItem
	return withFigures(struct {
		item
		details
	}{item(q.queueItem), q.details}, &q.figures)
}

// withFigures encodes an object, which has other fields, with all figures.
func withFigures(object any, f *queuestats.Figures) ([]byte, error) {
	b, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	b = b[:len(b)-1]
	for i := range queuestats.Table {
		row := &queuestats.Table[i]
		b = append(append(append(b, `,"`...), row.Name...), `":`...)
		b = strconv.AppendInt(b, row.Of(f), 10)
	}
	return append(b, '}'), nil
}

// briefQueue is the form of a queue without statistics: disable_stats=true.
// Totals come with enable_queue_totals=true.
type briefQueue struct {
	Arguments     forms.Object        `json:"arguments"`
	AutoDelete    bool                `json:"auto_delete"`
	DeliveryLimit any                 `json:"delivery_limit,omitempty"`
	Durable       bool                `json:"durable"`
	Effective     policies.Definition `json:"effective_policy_definition"`
	Exclusive     bool                `json:"exclusive"`
	Leader        string              `json:"leader,omitempty"`
	Members       []string            `json:"members,omitempty"`
	*forms.QueueTotals
	Name           string   `json:"name"`
	Node           string   `json:"node"`
	Online         []string `json:"online,omitempty"`
	OperatorPolicy *string  `json:"operator_policy"`
	Policy         *string  `json:"policy"`
	State          string   `json:"state"`
	Type           string   `json:"type"`
	VHost          string   `json:"vhost"`
}

// nameOf identifies a queue among the queues of all virtual hosts.
func nameOf(q *management.Queue) string { return "queue " + q.VHost + "\x00" + q.Name }

// ratesOf returns the rates of a queue's lengths, and its counts.
func ratesOf(l *forms.Look, q *management.Queue) ([]forms.Rate, forms.Stats) {
	return l.Lengths(nameOf(q), float64(q.Ready+q.Unacked), float64(q.Ready), float64(q.Unacked)), l.Stats(nameOf(q), q.Counts)
}

func queueForm(r *rest.Request, q *management.Queue) queueItem {
	f, stats := ratesOf(r.Rates, q)
	item := queueItem{
		figures:   q.Figures,
		Arguments: forms.Object(q.Arguments), AutoDelete: q.AutoDelete, Durable: q.Durable,
		Effective: q.Effective.Definition, Exclusive: q.Exclusive, IdleSince: idleSince(q, r.Broker.Clock().Wall()),
		Stats: stats, MessagesRate: f[0], ReadyRate: f[1], UnackedRate: f[2], Name: q.Name, Node: r.Node,
		OperatorPolicy: forms.OrNull(q.Effective.OperatorPolicy), Policy: forms.OrNull(q.Effective.Policy),
		State: q.State, Type: q.Type, VHost: q.VHost, May: mayQueue(r, q), CostlyRules: q.CostlyRules,
		PausedUntil: forms.Optional(q.PausedUntil),
		NextAttempt: forms.Optional(q.NextAttempt), NextDue: forms.Optional(q.Scheduled.NextDue),
		OldestUnacked: forms.Optional(q.OldestUnacked), NextExpiry: forms.Optional(q.Expiring.Next), Expiries: forms.HistogramOf(q.Expiring.Within),
		LeaseExpires: forms.Optional(q.Lease.Ends), LeaseRenewed: forms.Optional(q.Lease.Renewed), LeaseUse: forms.OrNull(q.Lease.By),
	}
	item.OldestReady, item.OldestReadyAge = forms.Optional(q.OldestReady.Since), float64(q.OldestReady.Age)/1000
	item.Oldest, item.OldestAge = forms.Optional(q.OldestMessage.Since), float64(q.OldestMessage.Age)/1000
	item.WaitMedian, item.WaitP99 = forms.Percentiles(q.Wait)
	item.ProcMedian, item.ProcP99 = forms.Percentiles(q.Processing)
	if q.Consumers > 0 && q.Ready == 0 { // a new message can be delivered at once
		item.Capacity, item.Utilisation = 1, 1
	}
	if r.Monitors() { // other users see only their own consumers
		item.ExclusiveTag, item.ActiveTag = forms.OrNull(q.ExclusiveTag), forms.OrNull(q.ActiveTag)
	}
	if q.HeadTimestamp != 0 {
		item.HeadTimestamp = &q.HeadTimestamp
	}
	if q.Type == "quorum" {
		item.Leader, item.Members, item.Online = replicas(r)
	}
	if q.Type == "quorum" || q.Retry.On() {
		item.DeliveryLimit, item.Retry = deliveryLimit(q), q.Retry.String()
	}
	return item
}

// replicas returns the nodes that have all queues: in a cluster, all members (CLU-22).
func replicas(r *rest.Request) (leader string, members, online []string) {
	if c := r.Broker.ClusterState(); len(c.Members) > 0 {
		return c.Leader, c.Names(false), c.Names(true)
	}
	return r.Node, []string{r.Node}, []string{r.Node}
}

// idleSince returns when the queue was used last, null for one in use: monitoring calls a queue with this time idle.
func idleSince(q *management.Queue, now int64) *string {
	const busy = 5000 // ms, after which RabbitMQ's next sample has the time
	if now-q.IdleSince < busy {
		return nil
	}
	return forms.Optional(q.IdleSince)
}

// deliveryLimit returns the limit of a queue, a text for none.
func deliveryLimit(q *management.Queue) any {
	if q.DeliveryLimit < 0 {
		return "unlimited"
	}
	return q.DeliveryLimit
}

func briefForm(r *rest.Request, q *management.Queue) briefQueue {
	item := briefQueue{
		Arguments: forms.Object(q.Arguments), AutoDelete: q.AutoDelete, Durable: q.Durable, Effective: q.Effective.Definition,
		Exclusive: q.Exclusive, Name: q.Name, Node: r.Node, OperatorPolicy: forms.OrNull(q.Effective.OperatorPolicy),
		Policy: forms.OrNull(q.Effective.Policy), State: q.State, Type: q.Type, VHost: q.VHost,
	}
	if q.Type == "quorum" {
		item.Leader, item.Members, item.Online = replicas(r)
		item.DeliveryLimit = deliveryLimit(q)
	}
	if r.URL.Query().Get("enable_queue_totals") == "true" {
		totals := forms.QueueTotalsOf(q.Ready, q.Unacked)
		item.QueueTotals = &totals
	}
	return item
}

// queues lists the queues of one virtual host, or of all that the user may see.
func queues(r *rest.Request) (any, error) {
	if withoutStats(r) {
		return listQueues(r, briefForm)
	}
	return listQueues(r, queueForm)
}

// listQueues asks no more queues than it has to.
func listQueues[F any](r *rest.Request, form func(*rest.Request, *management.Queue) F) (any, error) {
	f, err := filterOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	keys := slices.DeleteFunc(r.Broker.QueueNames(r.VHost), func(q management.QueueSummary) bool {
		return !r.Sees(q.VHost) || !f.may(&q, func() int64 { return r.Broker.Clock().Now().Ceil() })
	})
	forms := func(all []management.Queue) []F {
		return rest.Forms(all, rest.All, func(q *management.Queue) F { return form(r, q) })
	}
	if !f.asks() {
		return rest.Listing[management.QueueSummary, F]{
			Keys: keys, Name: func(q *management.QueueSummary) string { return q.Name }, By: known,
			Get: func(names []management.QueueSummary) ([]F, error) {
				all, err := r.Broker.QueuesNamed(r.Context(), names)
				return forms(all), err
			},
		}.Answer(r)
	}
	all, err := r.Broker.QueuesNamed(r.Context(), keys)
	if err != nil {
		return nil, err
	}
	now := r.Broker.Clock().Wall()
	return rest.Listing[management.Queue, F]{
		Keys: slices.DeleteFunc(all, func(q management.Queue) bool { return !f.lets(&q, now) }), Name: func(q *management.Queue) string { return q.Name },
		By: map[string]func(*management.Queue) rest.Key{
			"name": func(q *management.Queue) rest.Key { return rest.TextKey(q.Name) }, "vhost": func(q *management.Queue) rest.Key { return rest.TextKey(q.VHost) },
		},
		Get: func(shown []management.Queue) ([]F, error) { return forms(shown), nil },
	}.Answer(r)
}

func withoutStats(r *rest.Request) bool { return r.URL.Query().Get("disable_stats") == "true" }

func queue(r *rest.Request) (any, error) {
	q, err := r.Broker.Queue(r.Context(), r.VHost, r.Name)
	if err != nil {
		return nil, err
	}
	if withoutStats(r) {
		return rest.One(r, briefForm(r, &q)), nil
	}
	broker, vhost, name := r.Broker, r.VHost, r.Name
	r.Rates.Refresh(nameOf(&q), func(ctx context.Context, l *forms.Look) error {
		q, err := broker.Queue(ctx, vhost, name)
		if err == nil {
			ratesOf(l, &q)
		}
		return err
	})
	item := detailedQueue{queueForm(r, &q), details{
		ConsumerDetails: []forms.Consumer{}, Deliveries: []struct{}{}, Incoming: []struct{}{},
		Histogram: forms.HistogramOf(q.Scheduled.Within), Wait: forms.TimesOf(q.Wait), Processing: forms.TimesOf(q.Processing),
	}}
	if d := q.Details; d != nil {
		item.ConsumerDetails = rest.Forms(d.Consumers, func(c *management.Consumer) bool { return r.Owns(c.Connection) }, forms.ConsumerOf(r.Node))
		if len(item.ConsumerDetails) > 0 {
			item.ExclusiveTag, item.ActiveTag = forms.OrNull(q.ExclusiveTag), forms.OrNull(q.ActiveTag)
		}
		if d.Owner != nil && r.Owns(d.Owner) {
			owner := forms.LinkTo(d.Owner)
			item.Owner = &owner
		}
	}
	return rest.One(r, item), nil
}

// queueAction supports no action, like RabbitMQ 4: earlier actions were about mirrors.
func queueAction(r *rest.Request) (any, error) {
	if _, err := r.Broker.Queue(r.Context(), r.VHost, r.Name); err != nil {
		if code, _ := rest.ProtocolError(err); code == protocol.NotFound {
			err = rest.Nonexistent("queue_not_found")
		}
		return nil, err
	}
	b := r.JSON("action")
	b.Fail(rest.TupleOf("unknown", b.Fields["action"]))
	return nil, b.Err
}
