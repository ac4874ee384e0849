package supervision

import (
	"context"
	"encoding/json"

	"candlemark/actors/movers/recurring"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/measure/events"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/storage/store"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"
	"candlemark/supervision/ask"
	schedules "candlemark/supervision/recurring"

	"github.com/asynkron/protoactor-go/actor"
)

// schedulesOf makes the keeper of recurring schedules. It begins when the rest of the node exists.
func schedulesOf(n *Node, all *definitions.Parameters) *schedules.Schedules {
	return schedules.New(schedules.Config{
		Parameters: all, VHost: n.VHost, Permissions: n.cfg.Permissions, Works: n.works, Clock: n.clock, Events: n.parameters.events, Log: n.cfg.Log,
		Spawn: func(ctx context.Context, cfg recurring.Config) (mail.Address, error) {
			cfg.Copies, cfg.Journal, cfg.Alarm = n.monitor.Copies(), n.journal, n.monitor.Valve().Shut
			return spawn(ctx, n, KindRecurring, func() actor.Actor { return recurring.New(cfg) })
		},
		End:  func(who mail.Address) { n.system.Root.Stop(actorlib.PID(who)) },
		Post: func(to mail.Address, what any) { n.asker.Post(to, what) },
		Load: func(of store.QueueID, again bool, done func([]store.Recovered, error)) {
			if again {
				n.journal.Recall(of, done)
				return
			}
			n.works.Begin()
			go func() {
				defer n.works.End()
				done(n.cfg.Journal.Take(of), nil)
			}()
		},
		Account: func(name string) (auth.User, bool) {
			account, known := n.cfg.Users.Account(name)
			return auth.User{Name: name, Tags: account.Tags}, known
		},
		Incarnation: func() uint64 { return n.incarnations.Add(1) },
		Objects:     func() *budget.Objects { return n.monitor.Objects() },
		Put: func(ctx context.Context, p parameters.Parameter) (bool, error) {
			return n.parameters.PutParameter(ctx, p)
		},
		Change: func(ctx context.Context, p parameters.Parameter, change func(json.RawMessage) (json.RawMessage, error)) (bool, error) {
			return n.parameters.ChangeParameter(ctx, p, change)
		},
		Delete: func(ctx context.Context, p parameters.Parameter) (bool, error) {
			return n.parameters.DeleteParameter(ctx, p)
		},
		Asker: func() *ask.Asker { return n.asker },
	})
}

// scheduleEvents publishes the events of a change of a schedule. Its value before is nil if it is new, and after if it is deleted. The record of
// the change is that of its parameter.
func (k *parameterKeeper) scheduleEvents(by *events.Origin, p parameters.Parameter, before, after json.RawMessage) {
	if !k.events.Wanted() {
		return
	}
	publish := func(name string, more ...protocol.Field) {
		k.events.Publish(events.Unrecorded, func() *events.Event {
			return &events.Event{Name: name, VHost: p.VHost, By: by, Fields: append(protocol.Table{{Key: "name", Value: p.Name}, {Key: "vhost", Value: p.VHost}}, more...)}
		})
	}
	none := &parameters.ScheduleSpec{}
	was, err := parameters.ParseSchedule(p.VHost, p.Name, before)
	if err != nil {
		was = none
	}
	is, err := parameters.ParseSchedule(p.VHost, p.Name, after)
	switch {
	case after == nil:
		publish("schedule.deleted")
		return
	case err != nil: // it was checked
		return
	case before == nil:
		publish("schedule.created", protocol.Field{Key: "user", Value: is.User})
	}
	switch {
	case is.Paused && !was.Paused:
		publish("schedule.paused", protocol.Field{Key: "note", Value: is.Note})
	case was.Paused && !is.Paused:
		publish("schedule.resumed")
	}
	switch {
	case is.Backfill != nil && was.Backfill == nil:
		publish("schedule.backfill.started", protocol.Field{Key: "from_ms", Value: is.Backfill.From}, protocol.Field{Key: "to_ms", Value: is.Backfill.To})
	case was.Backfill != nil && is.Backfill == nil:
		publish("schedule.backfill.stopped")
	}
}
