package forms

import "candlemark/internal/admin/management"

// QueueTotals are messages of a queue, or of all.
type QueueTotals struct {
	Messages int `json:"messages"`
	Ready    int `json:"messages_ready"`
	Unacked  int `json:"messages_unacknowledged"`
}

// QueueTotalsOf returns the totals of ready and unacknowledged messages.
func QueueTotalsOf(ready, unacked int) QueueTotals {
	return QueueTotals{ready + unacked, ready, unacked}
}

// Histogram is the form of the numbers of messages by due time: each is in one of the classes.
type Histogram struct {
	Second int `json:"within_1s"`
	Minute int `json:"within_1m"`
	Hour   int `json:"within_1h"`
	Day    int `json:"within_1d"`
	Later  int `json:"later"`
}

// HistogramOf returns the form of the counts within 1 s, 1 min, 1 h, 1 d, and later.
func HistogramOf(w [5]int) Histogram {
	return Histogram{w[0], w[1], w[2], w[3], w[4]}
}

// Expiring is the form of the counts of expiring messages.
type Expiring struct {
	Count     int       `json:"messages_expiring"`
	Next      *string   `json:"next_expiry"`
	Histogram Histogram `json:"expiry_histogram"`
}

// ExpiringOf returns the form of the counts of a queue, or of several.
func ExpiringOf(c *management.ExpiryCounts) Expiring {
	return Expiring{c.Count, Optional(c.Next), HistogramOf(c.Within)}
}

// Stats is the form of Counts.
type Stats struct {
	Ack            uint64 `json:"ack"`
	AckRate        Rate   `json:"ack_details"`
	Confirm        uint64 `json:"confirm"`
	ConfirmRate    Rate   `json:"confirm_details"`
	Deliver        uint64 `json:"deliver"`
	DeliverRate    Rate   `json:"deliver_details"`
	DeliverGet     uint64 `json:"deliver_get"`
	DeliverGetRate Rate   `json:"deliver_get_details"`
	DeliverNoAck   uint64 `json:"deliver_no_ack"`
	NoAckRate      Rate   `json:"deliver_no_ack_details"`
	Drop           uint64 `json:"drop_unroutable"`
	DropRate       Rate   `json:"drop_unroutable_details"`
	Get            uint64 `json:"get"`
	GetRate        Rate   `json:"get_details"`
	GetEmpty       uint64 `json:"get_empty"`
	GetEmptyRate   Rate   `json:"get_empty_details"`
	GetNoAck       uint64 `json:"get_no_ack"`
	GetNoAckRate   Rate   `json:"get_no_ack_details"`
	Publish        uint64 `json:"publish"`
	PublishRate    Rate   `json:"publish_details"`
	Redeliver      uint64 `json:"redeliver"`
	RedeliverRate  Rate   `json:"redeliver_details"`
	Return         uint64 `json:"return_unroutable"`
	ReturnRate     Rate   `json:"return_unroutable_details"`
}

// statsOf names the counts of an object apart from its lengths.
func statsOf(object string) string { return "stats " + object }

// Stats returns the form of the counts of an object.
func (l *Look) Stats(object string, c management.Counts) Stats {
	all := c.Deliver + c.DeliverNoAck + c.Get + c.GetNoAck
	f := l.Passed(statsOf(object), float64(c.Ack), float64(c.Confirm), float64(c.Deliver), float64(all), float64(c.DeliverNoAck),
		float64(c.Dropped), float64(c.Get), float64(c.GetEmpty), float64(c.GetNoAck), float64(c.Publish), float64(c.Redeliver), float64(c.Returned))
	return Stats{
		Ack: c.Ack, AckRate: f[0], Confirm: c.Confirm, ConfirmRate: f[1], Deliver: c.Deliver, DeliverRate: f[2],
		DeliverGet: all, DeliverGetRate: f[3], DeliverNoAck: c.DeliverNoAck, NoAckRate: f[4], Drop: c.Dropped, DropRate: f[5],
		Get: c.Get, GetRate: f[6], GetEmpty: c.GetEmpty, GetEmptyRate: f[7], GetNoAck: c.GetNoAck, GetNoAckRate: f[8],
		Publish: c.Publish, PublishRate: f[9], Redeliver: c.Redeliver, RedeliverRate: f[10], Return: c.Returned, ReturnRate: f[11],
	}
}
