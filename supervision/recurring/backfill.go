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
	if err == nil && spec.Backfill != nil {
		err = ErrFilling
	}
	switch {
	case err != nil:
		return 0, true, parameters.Refusal(err.Error())
	case preview:
		return runs, true, nil
	}
	b.Incarnation = s.newIncarnation()
	return runs, true, s.putBackfill(ctx, *p, &b)
}

// CancelBackfill implements management.Schedules.
func (s *Schedules) CancelBackfill(ctx context.Context, by auth.User, vhost, name string) (found bool, err error) {
	p, err := s.find(by, vhost, name)
	if p == nil || err != nil {
		return false, err
	}
	if spec, err := parameters.ParseSchedule(vhost, name, p.Value); err != nil || spec.Backfill == nil {
		return true, parameters.Refusal("the schedule has no backfill")
	}
	return true, s.putBackfill(ctx, *p, nil)
}

// putBackfill changes the backfill of a stored schedule; nil ends it.
func (s *Schedules) putBackfill(ctx context.Context, p parameters.Parameter, b *parameters.Backfill) error {
	ended := parameters.Incarnations(&p)
	var fields map[string]json.RawMessage
	err := json.Unmarshal(p.Value, &fields)
	if err != nil {
		return err
	}
	if fields["backfill"], err = json.Marshal(b); err != nil {
		return err
	}
	if p.Value, err = json.Marshal(fields); err != nil {
		return err
	}
	p.Setter = parameters.Setter{Operator: true}
	if _, err = s.cfg.Put(ctx, p); err == nil && b == nil && len(ended) > 1 {
		s.mu.Lock()
		delete(s.read, store.QueueID(ended[1]))
		s.mu.Unlock()
	}
	return err
}
