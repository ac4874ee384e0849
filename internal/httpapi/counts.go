package httpapi

// queueTotals are messages of a queue, or of all.
type queueTotals struct {
	Messages int `json:"messages"`
	Ready    int `json:"messages_ready"`
	Unacked  int `json:"messages_unacknowledged"`
}

// histogram is the form of how many messages are due when: each is in one of them.
type histogram struct {
	Second int `json:"within_1s"`
	Minute int `json:"within_1m"`
	Hour   int `json:"within_1h"`
	Day    int `json:"within_1d"`
	Later  int `json:"later"`
}

// histogramForm is that of what a queue or exchange counts.
func histogramForm(c *ScheduledCounts) histogram {
	w := c.Within
	return histogram{w[0], w[1], w[2], w[3], w[4]}
}

// messageStats is the form of Counts.
type messageStats struct {
	Ack            uint64 `json:"ack"`
	AckRate        rate   `json:"ack_details"`
	Confirm        uint64 `json:"confirm"`
	ConfirmRate    rate   `json:"confirm_details"`
	Deliver        uint64 `json:"deliver"`
	DeliverRate    rate   `json:"deliver_details"`
	DeliverGet     uint64 `json:"deliver_get"`
	DeliverGetRate rate   `json:"deliver_get_details"`
	DeliverNoAck   uint64 `json:"deliver_no_ack"`
	NoAckRate      rate   `json:"deliver_no_ack_details"`
	Drop           uint64 `json:"drop_unroutable"`
	DropRate       rate   `json:"drop_unroutable_details"`
	Get            uint64 `json:"get"`
	GetRate        rate   `json:"get_details"`
	GetEmpty       uint64 `json:"get_empty"`
	GetEmptyRate   rate   `json:"get_empty_details"`
	GetNoAck       uint64 `json:"get_no_ack"`
	GetNoAckRate   rate   `json:"get_no_ack_details"`
	Publish        uint64 `json:"publish"`
	PublishRate    rate   `json:"publish_details"`
	Redeliver      uint64 `json:"redeliver"`
	RedeliverRate  rate   `json:"redeliver_details"`
	Return         uint64 `json:"return_unroutable"`
	ReturnRate     rate   `json:"return_unroutable_details"`
}

// stats is the form of what an object has counted.
func (r *rates) stats(object string, c Counts) messageStats {
	all := c.Deliver + c.DeliverNoAck + c.Get + c.GetNoAck
	f := r.of("stats "+object, float64(c.Ack), float64(c.Confirm), float64(c.Deliver), float64(all), float64(c.DeliverNoAck),
		float64(c.Dropped), float64(c.Get), float64(c.GetEmpty), float64(c.GetNoAck), float64(c.Publish), float64(c.Redeliver), float64(c.Returned))
	for i := range f {
		if f[i].Rate < 0 { // it began anew
			f = make([]rate, len(f))
			break
		}
	}
	return messageStats{
		Ack: c.Ack, AckRate: f[0], Confirm: c.Confirm, ConfirmRate: f[1], Deliver: c.Deliver, DeliverRate: f[2],
		DeliverGet: all, DeliverGetRate: f[3], DeliverNoAck: c.DeliverNoAck, NoAckRate: f[4], Drop: c.Dropped, DropRate: f[5],
		Get: c.Get, GetRate: f[6], GetEmpty: c.GetEmpty, GetEmptyRate: f[7], GetNoAck: c.GetNoAck, GetNoAckRate: f[8],
		Publish: c.Publish, PublishRate: f[9], Redeliver: c.Redeliver, RedeliverRate: f[10], Return: c.Returned, ReturnRate: f[11],
	}
}
