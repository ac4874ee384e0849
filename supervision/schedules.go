package supervision

import (
	"context"
	"encoding/json"

	"candlemark/actors/movers/recurring"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/storage/store"
	"candlemark/internal/transport/budget"
	"candlemark/supervision/ask"
	schedules "candlemark/supervision/recurring"

	"github.com/asynkron/protoactor-go/actor"
)

// schedulesOf makes the keeper of recurring schedules. It begins when the rest of the node exists.
func schedulesOf(n *Node, all *definitions.Parameters) *schedules.Schedules {
	return schedules.New(schedules.Config{
		Parameters: all, VHost: n.VHost, Permissions: n.cfg.Permissions, Works: n.works, Clock: n.clock, Log: n.cfg.Log,
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
