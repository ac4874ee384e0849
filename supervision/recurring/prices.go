package recurring

import (
	"encoding/json"

	"candlemark/internal/storage/parameters"
	"candlemark/internal/transport/budget"
)

type named struct{ vhost, name string }

// price has the room that a schedule takes among the objects of its user.
type price struct {
	user  string
	bytes int64
}

func priceOf(spec *parameters.ScheduleSpec, value json.RawMessage) price {
	return price{spec.User, budget.PriceSchedule + 3*int64(len(value))}
}

// pay counts the price of a schedule, and no longer that of the one before it. The mutex is held.
func (s *Schedules) pay(vhost, name string, p price) {
	key, objects := named{vhost, name}, s.cfg.Objects()
	before := s.prices[key]
	objects.Definitions(before.user, vhost).Hold(-before.bytes)
	objects.Definitions(p.user, vhost).Hold(p.bytes)
	if s.prices[key] = p; p.bytes == 0 {
		delete(s.prices, key)
	}
}

// SchedulesOf implements management.Schedules.
func (s *Schedules) SchedulesOf(user string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.prices {
		if p.user == user {
			n++
		}
	}
	return n
}

// room returns why there is no room for a schedule, nil if there is. The room of the one that it replaces is free.
func (s *Schedules) room(vhost, name string, p price) error {
	s.mu.Lock()
	before := s.prices[named{vhost, name}]
	s.mu.Unlock()
	if before.user == p.user {
		p.bytes -= before.bytes
	}
	if p.bytes <= 0 {
		return nil
	}
	if err := s.cfg.Objects().Definitions(p.user, vhost).Room(p.bytes); err != nil {
		return parameters.Refusal("cannot set schedule '" + name + "' in vhost '" + vhost + "': " + err.Error())
	}
	return nil
}
