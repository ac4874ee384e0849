package httpapi

import (
	"math"
	"sync"
	"time"
)

// Rates are made when somebody looks: between two looks at least sampleEvery
// apart. Nothing is measured for nobody.
const (
	sampleEvery = 5 * time.Second
	forgetAfter = 10 * time.Minute
)

// rate is the form of a change per second.
type rate struct {
	Rate float64 `json:"rate"`
}

// sample holds what was seen of an object.
type sample struct {
	at     time.Time
	values []float64
	rates  []rate
}

// rates remembers what was last seen of the objects that somebody looks at.
type rates struct {
	mu    sync.Mutex
	seen  map[string]*sample
	swept time.Time
}

// of is how fast the values of an object change. The first look at it, or at one
// that began anew, finds no change.
func (r *rates) of(object string, values ...float64) []rate {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep(now)
	s := r.seen[object]
	if s == nil || len(s.values) != len(values) {
		s = &sample{at: now, values: values, rates: make([]rate, len(values))}
		if r.seen == nil {
			r.seen = map[string]*sample{}
		}
		r.seen[object] = s
		return s.rates
	}
	passed := now.Sub(s.at)
	if passed < sampleEvery {
		return s.rates
	}
	changes := make([]rate, len(values))
	for i, v := range values {
		// One place behind the point, as RabbitMQ shows it.
		changes[i].Rate = math.Round((v-s.values[i])/passed.Seconds()*10) / 10
	}
	*s = sample{now, values, changes}
	return changes
}

// sweep forgets what nobody has looked at for long. mu is held.
func (r *rates) sweep(now time.Time) {
	if now.Sub(r.swept) < forgetAfter {
		return
	}
	r.swept = now
	for object, s := range r.seen {
		if now.Sub(s.at) >= forgetAfter {
			delete(r.seen, object)
		}
	}
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
