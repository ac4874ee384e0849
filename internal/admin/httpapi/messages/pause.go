package messages

import (
	"context"
	"slices"
	"strconv"
	"time"

	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// pauseForm is the form of a pause; Until is null for no end, and for a queue that is not paused.
type pauseForm struct {
	Paused bool    `json:"paused"`
	Until  *string `json:"paused_until"`
}

// pauseQueue stops the deliveries of a queue (PAUSE-1).
func pauseQueue(ctx context.Context, b management.Messages, by management.Asker, at management.Place, w params) (any, error) {
	until, err := w.until()
	if err != nil {
		return nil, err
	}
	return paused(b.PauseQueue(ctx, by, at, management.PauseChange{Until: until}))
}

// resumeQueue lets deliveries go on.
func resumeQueue(ctx context.Context, b management.Messages, by management.Asker, at management.Place, _ params) (any, error) {
	return paused(b.PauseQueue(ctx, by, at, management.PauseChange{Resume: true}))
}

func paused(p management.Pause, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return pauseForm{p.Is, forms.Optional(p.Until)}, nil
}

// until returns the end of a pause: until, a date, or for, a duration; nil for no end. An end that is not understood would be none.
func (w params) until() (*management.When, error) {
	if err := w.only(slices.Concat(ends, others)); err != nil {
		return nil, err
	}
	date, span := w["until"], w["for"]
	switch {
	case date != "" && span != "":
		return nil, rest.Complaint("only one of until and for can be given")
	case date != "":
		ms, err := parseDate("until", date)
		return &management.When{MS: ms}, err
	case span == "":
		return nil, nil
	}
	ms, err := strconv.ParseInt(span, 10, 64)
	if err != nil {
		var d time.Duration
		d, err = time.ParseDuration(span)
		ms = (d + time.Millisecond - 1).Milliseconds()
	}
	if err != nil || ms < 1 {
		return nil, rest.Complaintf("for must be a duration such as 90s or 2h30m, or a number of milliseconds, 1 or more, not %s", span)
	}
	return &management.When{MS: ms, Relative: true}, nil
}
