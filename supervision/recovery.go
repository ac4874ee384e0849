package supervision

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync/atomic"
	"time"

	"candlemark/actors/movers/shovel"
	"candlemark/actors/names/vhost"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/storage/store"
	"candlemark/policies"
	"candlemark/policies/changes"
	"candlemark/supervision/shovels"

	"github.com/asynkron/protoactor-go/actor"

	"candlemark/internal/servicebus/numbers"
)

// recovery is the progress of a start.
type recovery struct {
	began            time.Time
	stored           map[string]*vhost.Stored // by virtual host; the root takes each once
	policies         []*policies.Policy
	history          []*changes.Change          // of policies
	all              int                        // queues to be restored
	queues, messages atomic.Int64               // restored
	reading          chan struct{}              // limits the number of concurrent readers
	written          map[store.QueueID]struct{} // queues of which the journal has something
}

// progressEvery is the interval of log lines about the progress of a start.
const progressEvery = time.Second

var errNoDefinitions = errors.New("the journal has messages, but the definitions of their queues are missing: " +
	"restore the file with the definitions, or declare the queues again with `candlemark journal adopt --data-dir <folder>`, " +
	"or move the journal away to start with an empty one")

// load reads all durable data except messages, and drops messages of deleted queues.
func (n *Node) load() error {
	n.recovery.began, n.recovery.reading = time.Now(), make(chan struct{}, runtime.GOMAXPROCS(0))
	d, m := &definitions.Definitions{}, n.cfg.Meta
	if m != nil {
		var err error
		if d, err = m.Load(); err != nil {
			return fmt.Errorf("definitions: %w", err)
		}
		if d.Revision == 0 && len(n.cfg.Journal.Queues()) > 0 {
			return errNoDefinitions
		}
		if err := definitions.KeepUsers(m, d, n.cfg.Users); err != nil {
			return fmt.Errorf("definitions: %w", err)
		}
		n.recovery.stored, n.recovery.policies, n.recovery.history = sorted(d), d.Policies, d.History
		for _, v := range n.cfg.Users.VHosts() {
			if n.recovery.stored[v.Name] == nil {
				n.recovery.stored[v.Name] = &vhost.Stored{}
			}
		}
	}
	if err := n.parameters.load(n.cfg.Meta, d.Globals); err != nil {
		return fmt.Errorf("definitions: %w", err)
	}
	all := definitions.NewParameters(m, d.Parameters, n.cfg.Limits.Parameters)
	n.schedules = schedulesOf(n, all)
	n.parameters.Shovels = shovels.New(shovels.Config{
		Parameters: all, Schedules: n.schedules, VHost: func(name string) bool { _, is := n.cfg.Users.VHost(name); return is },
		Lock: n.lockVHosts, Unlock: func() { <-n.changing }, End: func(who mail.Address) { n.system.Root.Stop(actorlib.PID(who)) },
		Spawn: func(ctx context.Context, cfg shovel.Config) (mail.Address, error) {
			return spawn(ctx, n, KindShovel, func() actor.Actor { return shovel.New(cfg) })
		},
		Done: func(p parameters.Parameter) {
			n.parameters.parameterEvent(context.Background(), "parameter.cleared", p, p.Value, nil)
		},
		Dial: func(ctx context.Context, to *parameters.URI, as shovels.Login) (net.Conn, bool, error) {
			return dial(ctx, n, to, as)
		},
		Allowed: func(p parameters.Parameter) error { return mayShovel(n, p) }, Changed: n.cfg.Users.Replaced, Read: shovels.NewFiles(n.cfg.ShovelFiles).Read, Cluster: n.parameters.clusterName, MaxMessage: n.cfg.MaxMessage, Clock: n.clock, Log: n.cfg.Log,
	})
	n.recovery.all = len(d.Queues)
	if err := n.reserve(d); err != nil {
		return fmt.Errorf("definitions: %w", err)
	}
	return n.retireEnded(d)
}

// sorted returns the definitions by virtual host.
func sorted(d *definitions.Definitions) map[string]*vhost.Stored {
	all := map[string]*vhost.Stored{}
	of := func(name string) *vhost.Stored {
		if all[name] == nil {
			all[name] = &vhost.Stored{}
		}
		return all[name]
	}
	for _, x := range d.Exchanges {
		s := of(x.VHost)
		s.Exchanges = append(s.Exchanges, x)
	}
	for _, q := range d.Queues {
		s := of(q.VHost)
		s.Queues = append(s.Queues, q)
	}
	for _, b := range d.Bindings {
		s := of(b.VHost)
		s.Bindings = append(s.Bindings, b)
	}
	return all
}

// takeStored returns the stored data of a starting virtual host, nil for a new one. Only the root calls it.
func (n *Node) takeStored(name string) *vhost.Stored {
	s := n.recovery.stored[name]
	delete(n.recovery.stored, name)
	return s
}

// reserve reserves incarnations that no queue of this data folder has had.
func (n *Node) reserve(d *definitions.Definitions) error {
	last, written := d.Incarnation, map[store.QueueID]struct{}{}
	for _, id := range n.cfg.Journal.Queues() {
		last, written[id] = max(last, uint64(id)), struct{}{}
	}
	n.recovery.written = written
	n.incarnations.Store(last)
	n.starts = last / numbers.PerStart
	if n.cfg.Meta == nil {
		return nil
	}
	_, err := definitions.Wait(n.cfg.Meta, definitions.Change{Put: []any{definitions.Incarnation(last + numbers.PerStart)}})
	return err
}

// recovered waits until all virtual hosts are ready, and logs the progress.
func (n *Node) recovered(ready <-chan error, vhosts int) error {
	r := &n.recovery
	progress := time.NewTicker(progressEvery)
	defer progress.Stop()
	say := func(what string) {
		n.cfg.Log.Info().Int64("queues", r.queues.Load()).Int("of", r.all).Int64("messages", r.messages.Load()).
			Int64("took_ms", time.Since(r.began).Milliseconds()).Msg(what)
	}
	for done := 0; done < vhosts; {
		select {
		case err := <-ready:
			if err != nil {
				return err
			}
			done++
		case <-progress.C:
			say("recovering")
		}
	}
	if r.all > 0 {
		say("recovered")
	}
	return nil
}

// empty returns whether the journal had nothing of a queue when the broker started. Each queue is asked for once.
func (r *recovery) empty() func(of store.QueueID) bool {
	return func(of store.QueueID) bool {
		_, is := r.written[of]
		if !is {
			r.queues.Add(1)
		}
		return !is
	}
}

// messages reads the messages of a queue from the journal: the messages it had when it was opened or, with again, the
// messages it has now.
func (n *Node) messages(of store.QueueID, again bool, done func([]store.Recovered, error)) {
	if again {
		n.journal.Recall(of, done)
		return
	}
	r := &n.recovery
	go func() {
		r.reading <- struct{}{}
		list := n.cfg.Journal.Take(of)
		<-r.reading
		r.queues.Add(1)
		r.messages.Add(int64(len(list)))
		done(list, nil)
	}()
}

// retire drops the messages of a deleted queue from the journal and, when that is durable, its incarnation from the
// definitions.
func (n *Node) retire(of store.QueueID) {
	var done func(error)
	if n.meta != nil {
		done = func(err error) {
			if err == nil {
				n.meta.Apply(definitions.Change{Delete: []any{definitions.Ended(of)}}, nil)
			}
		}
	}
	n.journal.Append(of, []store.Record{{Kind: store.Retire, Time: n.clock.Wall()}}, done)
}
