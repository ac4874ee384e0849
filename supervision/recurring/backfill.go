package recurring

import (
	"context"
	"encoding/json"
	"errors"

	"candlemark/internal/access/auth"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/storage/store"
)

// ErrFilling refuses a backfill of a schedule that has one.
var ErrFilling = errors.New("a backfill of the schedule is under way: wait for its end, or cancel it")

// Backfill implements management.Schedules.
func (s *Schedules) Backfill(ctx context.Context, by auth.User, vhost, name string, b parameters.Backfill, preview bool) (runs int, found bool, err error) {
	p, err := s.find(by, vhost, name)
	if p == nil || err != nil {
		return 0, false, err
	}
	spec, err := parameters.ParseSchedule(vhost, name, p.Value)
	if err != nil {
		return 0, true, parameters.Refusal(err.Error())
	}
	now := s.cfg.Clock.Wall()
	if b.To == 0 {
		b.To = now
	}
	runs, err = spec.NewBackfill(b, now)
	if err == nil && spec.Filled() != 0 {
		err = ErrFilling
	}
	switch {
	case err != nil:
		return 0, true, parameters.Refusal(err.Error())
	case preview:
		return runs, true, nil
	}
	b.Incarnation = s.newIncarnation()
	return runs, true, s.putBackfill(ctx, *p, 0, &b)
}

// CancelBackfill implements management.Schedules.
func (s *Schedules) CancelBackfill(ctx context.Context, by auth.User, vhost, name string) (found bool, err error) {
	p, err := s.find(by, vhost, name)
	if p == nil || err != nil {
		return false, err
	}
	spec, err := parameters.ParseSchedule(vhost, name, p.Value)
	if err != nil || spec.Filled() == 0 {
		return true, parameters.Refusal("the schedule has no backfill")
	}
	return true, s.putBackfill(ctx, *p, spec.Filled(), nil)
}

// putBackfill replaces the backfill of a stored schedule with an incarnation, 0 for none, by another; nil ends it. ErrFilling: it has another.
func (s *Schedules) putBackfill(ctx context.Context, p parameters.Parameter, was uint64, b *parameters.Backfill) error {
	p.Setter = parameters.Setter{Operator: true}
	_, err := s.cfg.Change(ctx, p, func(value json.RawMessage) (json.RawMessage, error) {
		spec, err := parameters.ParseSchedule(p.VHost, p.Name, value)
		switch {
		case err != nil:
			return nil, err
		case spec.Filled() != was:
			return nil, parameters.Refusal(ErrFilling.Error())
		}
		return parameters.WithBackfill(value, b), nil
	})
	if err == nil && was != 0 {
		s.mu.Lock()
		delete(s.read, store.QueueID(was))
		s.mu.Unlock()
	}
	return err
}
