package supervision

import (
	"errors"
	"net/url"

	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

// vhostTree is the root's state of a virtual host and its actors.
type vhostTree struct {
	vhost    *topology.VHost
	commands mail.Address
	alive    map[string]*actor.PID // its actors, by id
	number   uint64                // of its requests
	bound    bool                  // the command actor is about to be bound
	ready    chan<- error          // gets a value once it can be used; nil after that
	gone     chan<- error          // gets a value when its last actor has ended; nil while it runs
}

// startVHost makes a virtual host; ready gets a value when it can be used.
type startVHost struct {
	name  string
	ready chan<- error
}

// stopVHost ends a virtual host and everything in it, including its connections; gone gets a value when that is done.
type stopVHost struct {
	name string
	gone chan<- error
}

// Starting and stopping virtual hosts wait for answers in the root's mailbox.
var (
	errVHostThere = errors.New("the virtual host already exists, or is still being deleted")
	errVHostGone  = errors.New("the virtual host does not exist")
)

// startVHost spawns the actors of a virtual host and asks it whether it has made its
// exchanges.
func (t *tree) startVHost(ctx actor.Context, m startVHost) {
	if t.vhosts[m.name] != nil {
		m.ready <- errVHostThere
		return
	}
	n, v := t.node, topology.NewVHost(m.name)
	if known, ok := n.cfg.Users.VHost(m.name); ok {
		v.SetDefaultQueueType(known.DefaultQueueType)
		v.SetTracing(known.Tracing)
	}
	t.serial++
	p := &vhostTree{vhost: v, alive: map[string]*actor.PID{}, number: t.serial, ready: m.ready}
	t.vhosts[m.name] = p
	name := "/" + url.PathEscape(m.name)
	spawn := func(props *actor.Props, kind Kind) (mail.Address, error) {
		pid, err := ctx.SpawnNamed(props, string(kind)+name)
		if err != nil {
			return nil, err
		}
		p.alive[pid.Id] = pid
		return pid, nil
	}
	var err error
	if v.DeadLetter, err = spawn(n.deadLetterProps(v), KindDeadLetter); err == nil {
		// Its queues send to it as soon as it exists, perhaps before spawn returns.
		v.PID = ctx.ActorSystem().NewLocalPID(ctx.Self().Id + "/" + string(KindVHost) + name)
		if _, err = spawn(n.vhostProps(v), KindVHost); err == nil {
			p.commands, err = spawn(n.adminProps(v), KindAdmin)
		}
	}
	if err != nil {
		p.report(err)
		t.stopActors(ctx, p)
		return
	}
	actorlib.Send(ctx, v.PID, &mail.DeclareExchange{
		Request: mail.Request{ReplyTo: ctx.Self(), ID: p.number}, Name: topology.AdminExchange, Passive: true,
	})
}

// vhostStarted continues when a virtual host has its exchanges: the command actor is bound like a queue. Then the
// virtual host is ready.
func (t *tree) vhostStarted(ctx actor.Context, m *mail.TopologyReply) {
	var p *vhostTree
	for _, of := range t.vhosts {
		if of.number == m.ID {
			p = of
		}
	}
	switch {
	case p == nil || p.ready == nil:
	case m.Err != nil:
		p.report(m.Err)
		t.stopActors(ctx, p)
	case p.bound:
		t.node.vhosts.Add(p.vhost)
		p.report(nil)
	default:
		p.bound = true
		actorlib.Send(ctx, p.vhost.Directory().Exchange([]byte(topology.AdminExchange)).PID, &mail.AddBinding{
			Request: mail.Request{ReplyTo: ctx.Self(), ID: p.number},
			Binding: topology.Binding{Destination: topology.AdminExchange},
			Target:  topology.Target{Queue: &topology.Queue{Name: topology.AdminExchange, PID: p.commands}},
		})
	}
}

// report reports once whether the virtual host has started.
func (p *vhostTree) report(err error) {
	if p.ready != nil {
		p.ready <- err
		p.ready = nil
	}
}

// stopVHost closes the connections to a virtual host, which accepts no new ones, and makes it delete its objects. Its
// other actors end after it.
func (t *tree) stopVHost(ctx actor.Context, m stopVHost) {
	p := t.vhosts[m.name]
	if p == nil || p.gone != nil {
		m.gone <- errVHostGone
		return
	}
	p.gone = m.gone
	p.report(errVHostGone)
	t.node.vhosts.Remove(m.name)
	t.sendAll(ctx, &mail.CloseConnection{
		VHost: m.name, Err: protocol.ConnectionErrorf(protocol.ConnectionForced, "vhost '%s' is deleted", m.name),
	})
	actorlib.Send(ctx, p.vhost.PID, &mail.EndVHost{})
}

// actorEnded handles the end of an actor. The virtual host itself is the first of its actors to end, and the name is
// free after the last.
func (t *tree) actorEnded(ctx actor.Context, who *actor.PID) {
	for name, p := range t.vhosts {
		if p.alive[who.Id] == nil {
			continue
		}
		delete(p.alive, who.Id)
		switch {
		case len(p.alive) == 0:
			delete(t.vhosts, name)
			if p.gone != nil {
				p.gone <- nil
			}
		case mail.Same(who, p.vhost.PID):
			t.stopActors(ctx, p)
		}
		return
	}
}

// stopActors ends the remaining actors of a virtual host.
func (t *tree) stopActors(ctx actor.Context, p *vhostTree) {
	for _, pid := range p.alive {
		ctx.Stop(pid)
	}
	if len(p.alive) == 0 {
		delete(t.vhosts, p.vhost.Name)
	}
}
