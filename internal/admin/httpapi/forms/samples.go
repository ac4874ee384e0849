package forms

import (
	"net/url"
	"strconv"
	"time"

	"candlemark/internal/admin/config"
)

// Range is the form of past values of an object.
type Range struct {
	Samples []Sample `json:"samples"` // the newest first
	AvgRate float64  `json:"avg_rate"`
	Avg     float64  `json:"avg"`
}

// Sample is the form of a value at a time, in ms since 1970.
type Sample struct {
	Value float64 `json:"sample"`
	At    int64   `json:"timestamp"`
}

// kind is a kind of figures, for which a request asks by parameters of their own.
type kind int

const (
	lengths kind = iota // numbers of stored messages
	counts              // counts of messages
	data                // counts of bytes
)

// wanted is the period and interval of the samples that a request asks for, 0 for none.
type wanted struct{ age, step time.Duration }

// Look shows figures to one request: rates, and samples if it asks for them.
type Look struct {
	*Rates
	wanted  [data + 1]wanted
	samples int // samples so far
}

// Limits on samples in an answer.
const (
	// maxPoints is the maximum number of samples of a figure: steps are longer if there would be more.
	maxPoints = 1000
	// maxSamples is the approximate maximum number of samples of all figures; after that there are only rates.
	maxSamples = 200_000
)

// LookOf reads the parameters of a request. As in RabbitMQ, parameters without a number are ignored.
func (r *Rates) LookOf(query string) *Look {
	l := &Look{Rates: r}
	if query == "" {
		return l
	}
	q, err := url.ParseQuery(query)
	if err != nil {
		return l
	}
	for kind, name := range map[kind]string{lengths: "lengths", counts: "msg_rates", data: "data_rates"} {
		age, bad := strconv.ParseUint(q.Get(name+"_age"), 10, 31)
		step, worse := strconv.ParseUint(q.Get(name+"_incr"), 10, 31)
		if bad == nil && worse == nil && age > 0 && step > 0 {
			l.wanted[kind] = wanted{time.Duration(age) * time.Second, time.Duration(max(step, age/maxPoints)) * time.Second}
		}
	}
	return l
}

// wants reports whether the request asks for any samples.
func (l *Look) wants() bool { return l.wanted != [data + 1]wanted{} }

// Lengths returns how fast numbers of messages change.
func (l *Look) Lengths(object string, values ...float64) []Rate {
	return l.past(lengths, object, values, l.Of(object, values...))
}

// Passed returns how fast counts of messages grow.
func (l *Look) Passed(object string, values ...float64) []Rate {
	return l.past(counts, object, values, l.Counters(object, values...))
}

// Data returns how fast counts of bytes grow.
func (l *Look) Data(object string, values ...float64) []Rate {
	return l.past(data, object, values, l.Counters(object, values...))
}

// past adds the samples that the request asks for, and this look to the samples of an object that has some.
func (l *Look) past(k kind, object string, values []float64, rates []Rate) []Rate {
	now, w := time.Now(), l.wanted[k]
	if w.age == 0 && l.kept.Load() == 0 { // no object has samples
		return rates
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.series[object]
	if s == nil && w.age > 0 {
		s = l.begin(object, now)
	}
	if s == nil {
		return rates
	}
	s.add(now, values, k != lengths)
	if w.age == 0 || l.samples >= maxSamples {
		return rates
	}
	s.asked = now
	with := make([]Rate, len(rates))
	for i := range rates {
		with[i] = Rate{rates[i].Rate, s.past(w, i)}
		l.samples += len(with[i].Samples)
	}
	return with
}

// Limits of the resources for samples.
const (
	// maxSeries is the maximum number of objects with samples at a time.
	maxSeries = 512
	// maxRefreshTime is how long the broker has for all refreshed figures.
	maxRefreshTime = 5 * time.Second
	// maxRefreshed is the maximum number of objects sampled between requests.
	maxRefreshed = 128
)

// Overview is the object whose samples are kept longest.
const Overview = "totals"

// begin starts the samples of an object; nil if there is no room, or samples are not wanted. mu is held.
func (r *Rates) begin(object string, now time.Time) *series {
	r.forget(now)
	spans := r.spansOf(object)
	if len(spans) == 0 || len(r.series) >= maxSeries {
		return nil
	}
	s := &series{asked: now}
	for _, span := range spans {
		s.tiers = append(s.tiers, tier{Span: span})
	}
	if r.series == nil {
		r.series = map[string]*series{}
	}
	r.series[object] = s
	r.kept.Store(int32(len(r.series)))
	return s
}

func (r *Rates) spansOf(object string) []config.Span {
	if object == Overview || object == statsOf(Overview) {
		return r.Samples.Overview
	}
	return r.Samples.Objects
}

// forget drops samples that were not requested for as long as their period; it runs rarely. mu is held.
func (r *Rates) forget(now time.Time) {
	if now.Sub(r.forgot) < sampleEvery {
		return
	}
	r.forgot = now
	for object, s := range r.series {
		if now.Sub(s.asked) > s.longest() {
			delete(r.series, object)
		}
	}
	r.kept.Store(int32(len(r.series)))
}

// series has the samples of an object: the same values in each of its tiers, more and more sparsely.
type series struct {
	asked time.Time // when samples were asked for
	tiers []tier
}

func (s *series) longest() time.Duration { return s.tiers[len(s.tiers)-1].Length }

// tier has the samples of one span, the oldest first.
type tier struct {
	config.Span
	points []point
}

type point struct {
	at     int64 // s since 1970, a multiple of the time between two
	values []float64
}

// add adds values to each tier where the next sample is due. When counts start again, earlier samples are dropped.
func (s *series) add(now time.Time, values []float64, grows bool) {
	if last := s.tiers[0].points; grows && len(last) > 0 {
		for i, before := range last[len(last)-1].values {
			if values[i] < before {
				for t := range s.tiers {
					s.tiers[t].points = nil
				}
				break
			}
		}
	}
	for i := range s.tiers {
		t := &s.tiers[i]
		every := int64(t.Every / time.Second)
		at := now.Unix() / every * every
		if n := len(t.points); n > 0 && t.points[n-1].at >= at {
			continue
		}
		oldest, gone := at-int64(t.Length/time.Second), 0
		for gone < len(t.points) && t.points[gone].at < oldest {
			gone++
		}
		if gone > 0 {
			t.points = t.points[:copy(t.points, t.points[gone:])]
		}
		t.points = append(t.points, point{at, values})
	}
}

// past returns the i-th value in the past, in steps from its newest sample back to the age or the oldest one.
func (s *series) past(w wanted, i int) *Range {
	t := &s.tiers[len(s.tiers)-1]
	for j := range s.tiers {
		if s.tiers[j].Length >= w.age {
			t = &s.tiers[j]
			break
		}
	}
	r := &Range{Samples: []Sample{}}
	n := len(t.points) - 1
	last, step := t.points[n].at, int64(max(w.step, t.Every)/time.Second)
	for at := last; at >= last-int64(w.age/time.Second); at -= step {
		for n >= 0 && t.points[n].at > at {
			n--
		}
		if n < 0 {
			break
		}
		value := t.points[n].values[i]
		r.Samples = append(r.Samples, Sample{value, at * 1000})
		r.Avg += value
	}
	oldest := r.Samples[len(r.Samples)-1]
	if passed := r.Samples[0].At - oldest.At; passed > 0 {
		r.AvgRate = (r.Samples[0].Value - oldest.Value) * 1000 / float64(passed)
	}
	r.Avg /= float64(len(r.Samples))
	return r
}
