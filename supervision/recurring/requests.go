package recurring

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"candlemark/actors/movers/recurring"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"
	"candlemark/internal/storage/parameters"
	"candlemark/protocol"
	"candlemark/supervision/ask"
)

// ListSchedules implements management.Schedules.
func (s *Schedules) ListSchedules(ctx context.Context, vhost, name string) ([]management.Schedule, error) {
	list, statuses := []management.Schedule{}, map[string]map[string]*recurring.Status{}
	for _, p := range s.parameters(vhost, name) {
		of, asked := statuses[p.VHost]
		if !asked {
			var err error
			if of, err = s.statuses(ctx, p.VHost, name); err != nil {
				return nil, err
			}
			statuses[p.VHost] = of
		}
		one := management.Schedule{VHost: p.VHost, Name: p.Name, Value: p.Value, State: "stopped"}
		one.Spec, _ = parameters.ParseSchedule(p.VHost, p.Name, p.Value) // nil with an error
		if status := of[p.Name]; status != nil {
			describe(&one, status)
		}
		list = append(list, one)
	}
	return list, nil
}

// parameters returns those of the schedules of a virtual host, of all for "", or of the one with a name.
func (s *Schedules) parameters(vhost, name string) []parameters.Parameter {
	if name != "" {
		if p, there := s.cfg.Parameters.Get(parameters.Parameter{Component: parameters.Schedule, VHost: vhost, Name: name}); there {
			return []parameters.Parameter{p}
		}
		return nil
	}
	return slices.DeleteFunc(s.cfg.Parameters.All(vhost), func(p parameters.Parameter) bool { return p.Component != parameters.Schedule })
}

// statuses asks the actor of a virtual host, if there is one.
func (s *Schedules) statuses(ctx context.Context, vhost, name string) (map[string]*recurring.Status, error) {
	s.mu.Lock()
	pid := s.running[vhost]
	s.mu.Unlock()
	if pid == nil {
		return nil, nil
	}
	reply, err := ask.One[*recurring.Statuses](ctx, s.cfg.Asker(), pid, func(replyTo mail.Address) any {
		return &recurring.List{Request: mail.Request{ReplyTo: replyTo}, Name: name}
	})
	if err != nil {
		return nil, err
	}
	all := make(map[string]*recurring.Status, len(reply.All))
	for i := range reply.All {
		all[reply.All[i].Name] = &reply.All[i]
	}
	return all, nil
}

func describe(to *management.Schedule, s *recurring.Status) {
	to.State, to.Next, to.Due, to.Why, to.Runs = string(s.State), s.Next, s.Due, string(s.Why), s.Runs
	to.Stored, to.Skipped, to.Refused, to.Unroutable, to.Missed = s.Stored, s.Skipped, s.Refused, s.Unroutable, s.Missed
	to.Filled = s.Filled
	if s.Last != nil {
		last := ran(s.Last)
		to.Last = &last
	}
	for i := range s.History {
		to.History = append(to.History, ran(&s.History[i]))
	}
}

func ran(r *recurring.Ran) management.ScheduleRun {
	return management.ScheduleRun{Time: r.Time, Fired: r.Fired, Late: r.Late, By: r.By, Result: r.Result.String(), Reason: r.Reason}
}

// States returns the number of schedules in each state.
func (s *Schedules) States(ctx context.Context) (map[string]int, error) {
	s.mu.Lock()
	vhosts := slices.Collect(maps.Keys(s.running))
	s.mu.Unlock()
	count := map[string]int{}
	for _, state := range []recurring.State{recurring.Running, recurring.Paused, recurring.Ended, recurring.NoUser, recurring.NoTarget} {
		count[string(state)] = 0
	}
	for _, vhost := range vhosts {
		of, err := s.statuses(ctx, vhost, "")
		if err != nil {
			return nil, err
		}
		for _, status := range of {
			count[string(status.State)]++
		}
	}
	return count, nil
}

// AddAhead returns a copy of the deadlines of virtual hosts with the next run of each of their schedules.
func (s *Schedules) AddAhead(ctx context.Context, list []management.Ahead) ([]management.Ahead, error) {
	list = slices.Clone(list)
	now := s.cfg.Clock.Wall()
	for i := range list {
		a := &list[i]
		statuses, err := s.statuses(ctx, a.VHost, "")
		if err != nil {
			return nil, err
		}
		for name, status := range statuses {
			if status.Due == 0 {
				continue
			}
			class := 0
			for class < len(management.AheadHorizons) && status.Due-now > management.AheadHorizons[class] {
				class++
			}
			a.Counts[management.ScheduleRuns][class]++
			a.Next.Earlier(management.Deadline{At: status.Due, Fate: management.ScheduleRuns, VHost: a.VHost, Name: name})
		}
	}
	return list, nil
}

// ScheduleTarget implements management.Schedules.
func (s *Schedules) ScheduleTarget(spec *parameters.ScheduleSpec) bool {
	handle, found := s.cfg.VHost(spec.VHost)
	if !found {
		return false
	}
	dir := handle.Directory()
	if spec.ToQueue {
		return dir.Queue([]byte(spec.Key)) != nil
	}
	return dir.Exchange([]byte(spec.Exchange)) != nil
}

// ScheduleRuns implements management.Schedules.
func (s *Schedules) ScheduleRuns() map[string]int64 { return s.stats.Counts() }

// find returns the parameter of a schedule, if the user may configure it.
func (s *Schedules) find(by auth.User, vhost, name string) (*parameters.Parameter, error) {
	if err := s.cfg.Permissions.Check(by, vhost, auth.Resource{Kind: auth.Queue, Name: name}, auth.Configure); err != nil {
		return nil, err
	}
	if p, there := s.cfg.Parameters.Get(parameters.Parameter{Component: parameters.Schedule, VHost: vhost, Name: name}); there {
		return &p, nil
	}
	return nil, nil
}

// SetSchedule implements management.Schedules.
func (s *Schedules) SetSchedule(ctx context.Context, by auth.User, vhost, name string, value json.RawMessage) (created bool, err error) {
	return s.cfg.Put(ctx, parameters.Parameter{Component: parameters.Schedule, VHost: vhost, Name: name, Value: value, Setter: parameters.Setter{User: by.Name}})
}

// ChangeSchedule implements management.Schedules.
func (s *Schedules) ChangeSchedule(ctx context.Context, by auth.User, vhost, name string, change func(map[string]json.RawMessage)) (found bool, err error) {
	p, err := s.find(by, vhost, name)
	if p == nil || err != nil {
		return false, err
	}
	p.Setter = parameters.Setter{Operator: true} // the permission to change these keys was checked here
	return s.cfg.Change(ctx, *p, func(value json.RawMessage) (json.RawMessage, error) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(value, &fields); err != nil {
			return nil, err
		}
		change(fields)
		return json.Marshal(fields)
	})
}

// DeleteSchedule implements management.Schedules.
func (s *Schedules) DeleteSchedule(ctx context.Context, by auth.User, vhost, name string) (found bool, err error) {
	p, err := s.find(by, vhost, name)
	if p == nil || err != nil {
		return false, err
	}
	return s.cfg.Delete(ctx, *p)
}

// TriggerSchedule implements management.Schedules.
func (s *Schedules) TriggerSchedule(ctx context.Context, by auth.User, vhost, name string, at int64) (run management.ScheduleRun, found bool, err error) {
	p, err := s.find(by, vhost, name)
	if p == nil || err != nil {
		return run, false, err
	}
	s.mu.Lock()
	pid := s.running[vhost]
	s.mu.Unlock()
	if pid == nil {
		return run, false, nil
	}
	reply, err := ask.One[*recurring.TriggerReply](ctx, s.cfg.Asker(), pid, func(replyTo mail.Address) any {
		return &recurring.Trigger{Request: mail.Request{ReplyTo: replyTo}, Name: name, Time: at}
	})
	if err != nil || reply.Gone {
		return run, false, err
	}
	now := s.cfg.Clock.Wall()
	run = management.ScheduleRun{Time: cmp.Or(at, now), Fired: now, By: "trigger", Result: reply.Result.String(), Reason: reply.Reason}
	origin := events.OriginOf(ctx)
	s.cfg.Events.Publish(origin.Declared(false), func() *events.Event {
		return &events.Event{Name: "schedule.triggered", VHost: vhost, By: origin, Fields: protocol.Table{
			{Key: "name", Value: name}, {Key: "vhost", Value: vhost}, {Key: "time_ms", Value: run.Time}, {Key: "result", Value: run.Result},
		}}
	})
	return run, true, nil
}
