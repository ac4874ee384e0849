package schedules

import (
	"encoding/json"
	"time"

	"candlemark/internal/admin/management"
	"candlemark/internal/measure/recurrence"
	"candlemark/internal/storage/parameters"
)

// item is the JSON form of a schedule: the keys of its value, and its status.
type item struct {
	Name         string          `json:"name"`
	VHost        string          `json:"vhost"`
	User         json.RawMessage `json:"user,omitempty"`
	Cron         json.RawMessage `json:"cron,omitempty"`
	Zone         json.RawMessage `json:"zone,omitempty"`
	Every        json.RawMessage `json:"every,omitempty"`
	At           json.RawMessage `json:"at,omitempty"`
	Start        json.RawMessage `json:"start,omitempty"`
	End          json.RawMessage `json:"end,omitempty"`
	Count        json.RawMessage `json:"count,omitempty"`
	Jitter       json.RawMessage `json:"jitter,omitempty"`
	Queue        json.RawMessage `json:"queue,omitempty"`
	Exchange     json.RawMessage `json:"exchange,omitempty"`
	RoutingKey   json.RawMessage `json:"routing_key,omitempty"`
	Body         json.RawMessage `json:"body,omitempty"`
	BodyBase64   json.RawMessage `json:"body_base64,omitempty"`
	Templates    json.RawMessage `json:"templates,omitempty"`
	Properties   json.RawMessage `json:"properties,omitempty"`
	Headers      json.RawMessage `json:"headers,omitempty"`
	Expires      json.RawMessage `json:"expires,omitempty"`
	Overlap      json.RawMessage `json:"overlap,omitempty"`
	Missed       json.RawMessage `json:"missed,omitempty"`
	MissedWindow json.RawMessage `json:"missed_window,omitempty"`
	Paused       bool            `json:"paused"`
	Note         json.RawMessage `json:"note,omitempty"`
	DeleteAtEnd  json.RawMessage `json:"delete_at_end,omitempty"`
	Created      string          `json:"created"`
	Status       status          `json:"status"`
}

type status struct {
	State      string `json:"state"`
	Next       any    `json:"next"` // nominal; null for none
	Due        any    `json:"due"`  // with jitter
	Runs       int64  `json:"runs"`
	Stored     int64  `json:"stored"`
	Skipped    int64  `json:"skipped"`
	Missed     int64  `json:"missed"`
	Refused    int64  `json:"refused"`
	Unroutable int64  `json:"unroutable"`
	Last       *ran   `json:"last"`
	History    []ran  `json:"history,omitempty"`
	// Backfill is nil for none.
	Backfill *filling `json:"backfill"`
}

// filling is the JSON form of a backfill.
type filling struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Rate    int    `json:"rate"`
	Overlap string `json:"overlap"`
	Runs    int64  `json:"runs"` // so far
}

type ran struct {
	Time   string  `json:"time"`
	Fired  string  `json:"fired"`
	Late   float64 `json:"late_ms"`
	By     string  `json:"by"`
	Result string  `json:"result"`
	Reason string  `json:"reason,omitempty"`
}

// upcoming is the JSON form of a time of a schedule.
type upcoming struct {
	Time   string `json:"time"` // in the schedule's zone
	UTC    string `json:"utc"`
	Due    string `json:"due"` // with jitter
	Reason string `json:"reason,omitempty"`
}

func date(ms int64) any {
	if ms == 0 {
		return nil
	}
	return parameters.RunDate(ms, time.UTC)
}

func ranForm(r *management.ScheduleRun) ran {
	return ran{
		Time: parameters.RunDate(r.Time, time.UTC), Fired: parameters.RunDate(r.Fired, time.UTC), Late: float64(r.Late.Microseconds()) / 1000,
		By: r.By, Result: r.Result, Reason: r.Reason,
	}
}

// form returns the JSON form of a schedule, without its message unless the user may read it (REC-12).
func form(s *management.Schedule, reads bool) item {
	var i item
	value := map[string]json.RawMessage{}
	_ = json.Unmarshal(s.Value, &value) // it was checked
	delete(value, "created")
	delete(value, "backfill")
	if text, err := json.Marshal(value); err == nil {
		_ = json.Unmarshal(text, &i)
	}
	i.Name, i.VHost = s.Name, s.VHost
	if s.Spec != nil {
		i.Created = parameters.RunDate(s.Spec.Created, time.UTC)
	}
	if !reads {
		i.Body, i.BodyBase64, i.Properties, i.Headers = nil, nil, nil, nil
	}
	i.Status = status{
		State: s.State, Next: date(s.Next), Due: date(s.Due), Runs: s.Runs, Stored: s.Stored, Skipped: s.Skipped, Missed: s.Missed,
		Refused: s.Refused, Unroutable: s.Unroutable,
	}
	if s.Last != nil {
		last := ranForm(s.Last)
		i.Status.Last = &last
	}
	if s.Spec != nil && s.Spec.Backfill != nil {
		b := s.Spec.Backfill
		i.Status.Backfill = &filling{parameters.RunDate(b.From, time.UTC), parameters.RunDate(b.To, time.UTC), b.Rate, string(b.Overlap), s.Filled}
	}
	for k := range s.History {
		i.Status.History = append(i.Status.History, ranForm(&s.History[k]))
	}
	return i
}

// MaxTimes is the maximum number of times that a request may ask for (REC-11).
const MaxTimes = 1000

// upcomingOf returns the next times of a schedule after a date in ms, with the reasons of their differences from the wall clock.
func upcomingOf(spec *parameters.ScheduleSpec, after int64, count int) []upcoming {
	list, zone := []upcoming{}, spec.Times.Zone
	if zone == nil {
		zone = time.UTC
	}
	for len(list) < count {
		at, why, ok := spec.Times.Next(after)
		if !ok {
			break
		}
		due := at + spec.Times.Delay(at)
		if why == "" && due != at {
			why = recurrence.Jitter
		}
		list = append(list, upcoming{
			Time: parameters.RunDate(at, zone), UTC: parameters.RunDate(at, time.UTC), Due: parameters.RunDate(due, zone), Reason: string(why),
		})
		after = at
	}
	return list
}
