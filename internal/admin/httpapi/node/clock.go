package node

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// clockItem is the form of the broker's clock (CLK-1).
type clockItem struct {
	Test   bool       `json:"test_clock"`
	Time   string     `json:"time"`
	TimeMS int64      `json:"time_ms"`
	Mode   string     `json:"mode"`
	Speed  float64    `json:"speed"`
	Real   string     `json:"real_time"`
	Next   *clockNext `json:"next"`
}

// clockNext is the form of the next deadline. Its queue or exchange is shown to users who see the virtual host.
type clockNext struct {
	At       string `json:"at"`
	In       int64  `json:"in_ms"`
	Fate     string `json:"fate"`
	VHost    string `json:"vhost,omitempty"`
	Queue    string `json:"queue,omitempty"`
	Exchange string `json:"exchange,omitempty"`
	Schedule string `json:"schedule,omitempty"`
}

// movedItem is the form of a change of the clock.
type movedItem struct {
	Time     string           `json:"time"`
	TimeMS   int64            `json:"time_ms"`
	Moved    int64            `json:"moved_ms"`
	Steps    int              `json:"steps"`
	Done     bool             `json:"done"`
	Stopped  string           `json:"stopped,omitempty"`
	Settled  bool             `json:"settled"`
	Counts   map[string]int64 `json:"counts"`
	Warnings []string         `json:"warnings,omitempty"`
}

// clockStamp returns a time of the clock as its file and its messages have it.
func clockStamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

func clockForm(s management.ClockState, sees func(vhost string) bool) clockItem {
	item := clockItem{Test: s.Test, Time: clockStamp(s.Time), TimeMS: s.Time, Mode: "running", Speed: s.Speed, Real: clockStamp(s.Real.UnixMilli())}
	if s.Speed == 0 {
		item.Mode = "frozen"
	}
	n := &s.Next
	if n.At == 0 {
		return item
	}
	item.Next = &clockNext{At: clockStamp(n.At), In: n.At - s.Time, Fate: "other"}
	switch {
	case n.Name == "" || !sees(n.VHost):
		return item
	case n.Exchange:
		item.Next.Exchange = n.Name
	case n.Fate == management.ScheduleRuns:
		item.Next.Schedule = n.Name
	default:
		item.Next.Queue = n.Name
	}
	item.Next.VHost, item.Next.Fate = n.VHost, n.Fate.String()
	return item
}

func movedForm(m management.ClockMoved) movedItem {
	c := &m.Counts
	return movedItem{
		Time: clockStamp(m.Time), TimeMS: m.Time, Moved: m.Moved, Steps: m.Steps, Done: m.Stopped == "", Stopped: m.Stopped, Settled: m.Settled, Warnings: m.Warnings,
		Counts: map[string]int64{
			"expired": c.Expired, "dead_lettered": c.DeadLettered, "released": c.Released, "leases_ended": c.LeasesEnded,
			"locks_returned": c.LocksReturned, "schedules_fired": c.SchedulesFired, "delivered": c.Delivered, "settled": c.Settled,
		},
	}
}

func clockNow(r *rest.Request) (any, error) {
	return clockForm(r.Broker.ClockState(r.Context()), r.Sees), nil
}

func changeClock(r *rest.Request) (any, error) {
	b := r.JSON()
	if b.Err != nil {
		return nil, b.Err
	}
	return change(r.Context(), r.Broker, b.Fields)
}

// change makes the change of the clock that a JSON object describes.
func change(ctx context.Context, b management.TestClock, fields map[string]json.RawMessage) (any, error) {
	c, err := parseClock(fields)
	if err != nil {
		return nil, rest.Complaint(err.Error())
	}
	moved, err := b.ChangeClock(ctx, c)
	var refused management.ClockError
	switch {
	case errors.Is(err, management.ErrNoTestClock):
		return nil, rest.Refuse(http.StatusConflict, "conflict", err.Error())
	case errors.As(err, &refused):
		return nil, rest.Complaint(err.Error())
	case err != nil:
		return nil, err
	}
	return movedForm(moved), nil
}

// clockKeys are the keys of a change; the first four are the kinds, of which it has one.
var clockKeys = []string{"advance", "set", "next", "mode", "speed", "grace", "timeout"}

// parseClock reads a change of the clock.
func parseClock(fields map[string]json.RawMessage) (c management.ClockChange, err error) {
	kind := ""
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		switch at := slices.Index(clockKeys, key); {
		case at < 0:
			return c, errors.New("unknown key '" + key + "': the keys are " + strings.Join(clockKeys, ", "))
		case at < 4 && kind != "":
			return c, errors.New("'" + kind + "' and '" + key + "' exclude each other")
		case at < 4:
			kind = key
		}
	}
	c.Grace, c.Timeout = management.ClockGrace, management.ClockTimeout
	if c.Grace, err = span(fields, "grace", c.Grace, 0, management.MaxClockGrace); err != nil {
		return c, err
	}
	if c.Timeout, err = span(fields, "timeout", c.Timeout, time.Millisecond, management.MaxClockTimeout); err != nil {
		return c, err
	}
	c.Timeout = min(c.Timeout, management.MaxClockTimeout-time.Second) // the request has no longer
	if _, given := fields["speed"]; given && kind != "mode" {
		return c, errors.New("'speed' needs \"mode\":\"running\"")
	}
	value := rest.BareValue(fields[kind])
	switch kind {
	case "advance":
		by, err := parseSpan(value)
		c.By = &by
		return c, err
	case "set":
		to, err := parseTime(value)
		c.To = &to
		return c, err
	case "next":
		if c.Next, err = strconv.Atoi(value); err != nil || c.Next < 1 || c.Next > maxNext {
			return c, errors.New("'next' is a number of deadlines, 1 to " + strconv.Itoa(maxNext))
		}
		return c, nil
	case "mode":
		c.Speed, err = parseMode(value, fields["speed"])
		return c, err
	}
	return c, errors.New("one of 'advance', 'set', 'next' and 'mode' is needed")
}

// maxNext is the maximum number of deadlines of one change.
const maxNext = 100_000

// parseMode returns the speed of a mode.
func parseMode(mode string, speed json.RawMessage) (*float64, error) {
	v := 1.0
	switch {
	case mode == "frozen" && speed == nil:
		v = 0
		return &v, nil
	case mode == "frozen":
		return nil, errors.New("a frozen clock has no speed")
	case mode != "running":
		return nil, errors.New("'mode' is \"frozen\" or \"running\"")
	case speed == nil:
		return &v, nil
	}
	v, err := strconv.ParseFloat(rest.BareValue(speed), 64)
	if err != nil || !(v >= management.MinClockSpeed && v <= management.MaxClockSpeed) {
		return nil, errors.New("'speed' is a number from 0.001 to 1000000")
	}
	return &v, nil
}

// span reads a duration within limits.
func span(fields map[string]json.RawMessage, key string, otherwise, least, most time.Duration) (time.Duration, error) {
	text, given := fields[key]
	if !given {
		return otherwise, nil
	}
	d, err := parseSpan(rest.BareValue(text))
	if err != nil || d < least || d > most {
		return 0, errors.New("'" + key + "' is a time such as 500ms or 2s, or a number of ms, at most " + most.String())
	}
	return d, nil
}

// parseSpan reads a duration: such as 24h, 1h30m, 1w2d12h, or a number of ms.
func parseSpan(text string) (d time.Duration, err error) {
	wrong := errors.New("'" + text + "' is not a time such as 90s, 24h, 7d or 2w, or a number of ms")
	const most = 290 * 365 * 24 * time.Hour // more overflows
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Duration(max(min(ms, int64(most/time.Millisecond)), -int64(most/time.Millisecond))) * time.Millisecond, nil // the limits are refused later
	}
	left := text
	for _, unit := range []struct {
		word string
		of   time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, after, found := strings.Cut(left, unit.word)
		if !found {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n > -1e6 && n < 1e6) {
			return 0, wrong
		}
		d, left = d+time.Duration(n*float64(unit.of)), after
	}
	if left == "" && text != "" {
		return d, nil
	}
	more, err := time.ParseDuration(left)
	if err != nil {
		return 0, wrong
	}
	return d + more, nil
}

// parseTime reads a date, in RFC 3339 with or without seconds, or in ms since 1970.
func parseTime(text string) (time.Time, error) {
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.UnixMilli(ms), nil
	}
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(form, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errors.New("'" + text + "' is not a time such as 2027-01-01T00:00:00Z, or a number of ms since 1970")
}

// commandPatience is how long a command over AMQP may take: less than its sender waits.
const commandPatience = 25 * time.Second

// ClockCommand executes a command about the clock that came over AMQP with a routing key; its body is as over HTTP. The result writes the
// reply as JSON.
func ClockCommand(ctx context.Context, b management.TestClock, u auth.User, vhost, key string, body []byte) func() []byte {
	return rest.ForAMQP(clockCommand(ctx, b, u, vhost, key, body))
}

func clockCommand(ctx context.Context, b management.TestClock, u auth.User, vhost, key string, body []byte) (any, error) {
	fields := map[string]json.RawMessage{}
	if len(body) > 0 && json.Unmarshal(body, &fields) != nil {
		return nil, rest.Complaint("not_json")
	}
	verb := strings.TrimPrefix(key, "clock.")
	if verb == "get" {
		return clockForm(b.ClockState(ctx), func(of string) bool { return of == vhost || u.HasTag("administrator") }), nil
	}
	if !u.HasTag("administrator") {
		return nil, rest.Unauthorised("Not administrator user")
	}
	switch verb {
	case "advance", "set":
	case "next":
		if fields[verb] == nil {
			fields[verb] = json.RawMessage("1")
		}
	case "freeze":
		fields["mode"] = json.RawMessage(`"frozen"`)
	case "run":
		fields["mode"] = json.RawMessage(`"running"`)
	default:
		return nil, rest.Nonexistent("unknown command '" + key + "'")
	}
	if verb != "freeze" && verb != "run" && fields[verb] == nil {
		return nil, rest.Complaint("[{key_missing," + verb + "}]")
	}
	if fields["timeout"] == nil {
		fields["timeout"] = json.RawMessage(strconv.FormatInt(commandPatience.Milliseconds(), 10))
	}
	return change(ctx, b, fields)
}
