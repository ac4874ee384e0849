package exchange

import (
	"slices"

	"candlemark/actors/names/exchange/history"
	"candlemark/actors/system/actorlib"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

// keeper holds the messages of a recent-history exchange, and the bindings that wait because these messages are sent to
// them first (DEC-17). Only one replay is under way at a time; the next one starts when its messages have been taken.
type keeper struct {
	history *history.History
	late    []*late // in order; they precede pending
	// pending are waiting bindings, in order. They are not in the table.
	pending []*mail.AddBinding
	// The replay in progress, or the wait for memory:
	busy   bool
	number uint64
	to     mail.Address // the queue; nil if the replay goes to another exchange
	left   int          // number of messages that the other exchange has not routed yet
	gone   chan struct{}
}

// late holds messages that were routed by an older table than the current one when they arrived: they are sent to the
// bindings added in between. Until then their publisher's credit is withheld.
type late struct {
	list        []message.Message
	first, last uint64 // numbers of the two tables
	begun       bool
	targets     []topology.Target // the remaining targets, once sending has started
	chunk       *message.Chunk
	debt        message.Charge
}

func (l *late) release() {
	l.chunk.Release()
	l.debt.Release()
}

// room: queues may take more messages or copies, or an alarm has started.
type room struct{}

// Answer implements mail.Answerable: there is no answer.
func (room) Answer(mail.Cause) (mail.Address, any) { return nil, nil }

// batch is the number of messages of a replay in one mail, which keeps the receiver's turns short.
const batch = mail.DeadLetterBatch

func newKeeper(cfg *Config) *keeper {
	return &keeper{history: history.New(topology.HistoryLength(cfg.Exchange.Arguments), cfg.Room), gone: make(chan struct{})}
}

// keeps handles mail that only an exchange with kept messages gets.
func (x *exchange) keeps(ctx actor.Context, received any) {
	k := x.keeper
	if k == nil {
		return
	}
	switch m := received.(type) {
	case *mail.Enqueue:
		x.enqueue(ctx, m)
	case *mail.EnqueueReply:
		if k.to != nil && slices.Contains(m.Ranges, mail.Range{First: k.number, Last: k.number}) {
			x.taken(ctx)
		}
	case *mail.DeadLetterReply:
		x.routed(ctx, m)
	case *actor.Terminated: // system mail, ahead of the peer's other mail (PRO-1)
		ctx.Send(ctx.Self(), &mail.PeerGone{Who: m.Who})
	case *mail.PeerGone:
		if mail.Same(k.to, m.Who) {
			x.taken(ctx)
		}
	case room:
		x.idle(ctx)
	}
}

// enqueue keeps routed messages. Bindings added after the routing get them now, because the replay to these bindings
// did not include them.
func (x *exchange) enqueue(ctx actor.Context, e *mail.Enqueue) {
	k, now := x.keeper, x.cfg.Clock.Now()
	answer := &mail.EnqueueReply{Queue: ctx.Self()}
	missed := &late{first: e.Table, last: x.routes.Number()}
	for i := range e.Messages {
		m := &e.Messages[i]
		answer.Add(m.Number)
		if kept, ok := k.history.Keep(m, now); ok && missed.first < missed.last {
			missed.list = append(missed.list, kept)
		}
	}
	if len(missed.list) > 0 {
		missed.chunk, missed.debt = e.DetachCredit()
		k.late = append(k.late, missed)
		x.proceed(ctx)
	}
	e.Release()
	if len(answer.Ranges) > 0 {
		actorlib.Send(ctx, e.From, answer)
	}
}

// bindLater keeps a binding that has to wait; it returns false if it need not wait.
func (x *exchange) bindLater(ctx actor.Context, m *mail.AddBinding) bool {
	k := x.keeper
	if k == nil || k.history.Len() == 0 && len(k.pending) == 0 || x.routes.Has(m.Binding) {
		return false
	}
	k.pending = append(k.pending, m)
	x.proceed(ctx)
	return true
}

// proceed processes waiting messages and bindings as far as possible.
func (x *exchange) proceed(ctx actor.Context) {
	for k := x.keeper; !k.busy; {
		switch {
		case len(k.late) > 0:
			x.giveLate(ctx, k.late[0])
		case len(k.pending) > 0:
			x.bindPending(ctx, k.pending[0])
		default:
			return
		}
	}
}

// giveLate sends late messages to the next destination.
func (x *exchange) giveLate(ctx actor.Context, l *late) {
	if !l.begun {
		l.begun, l.targets = true, slices.Collect(x.routes.Between(l.first, l.last))
	}
	if len(l.targets) == 0 {
		l.release()
		x.keeper.late = slices.Delete(x.keeper.late, 0, 1)
		return
	}
	to := l.targets[0]
	l.targets = l.targets[1:]
	x.replay(ctx, to, slices.Clone(l.list))
}

// bindPending adds the oldest waiting binding, if possible. Kept messages are sent before the new table is published,
// so that they reach the queue before messages routed by it.
func (x *exchange) bindPending(ctx actor.Context, m *mail.AddBinding) {
	k, now := x.keeper, x.cfg.Clock.Now()
	if k.history.Live(now) && !x.routes.Has(m.Binding) {
		switch {
		case x.cfg.Valve.Shut():
			k.withdraw(ctx, m.Binding.Same, protocol.ChannelErrorf(protocol.PreconditionFailed,
				"cannot bind to exchange '%s' in vhost '%s' during a memory or disk alarm: the exchange would send the messages in its history", m.Exchange, m.VHost))
			return
		case x.cfg.Valve.Full():
			k.busy = true
			self, root := ctx.Self(), ctx.ActorSystem().Root
			go func() {
				if x.cfg.Valve.Wait(k.gone) {
					root.Send(self, room{})
				}
			}()
			return
		case !x.cfg.Copies.Ask(k.history.Len()): // the exchange keeps the originals
			k.busy = true
			self, root := ctx.Self(), ctx.ActorSystem().Root
			x.cfg.Copies.Await(func() { root.Send(self, room{}) })
			return
		}
		x.replay(ctx, m.Target, k.history.Replay(now))
	}
	k.pending = slices.Delete(k.pending, 0, 1)
	x.bind(ctx, m)
}

// replay sends messages to a destination; the next replay waits until they are taken.
func (x *exchange) replay(ctx actor.Context, to topology.Target, list []message.Message) {
	k := x.keeper
	k.busy = true
	k.number++
	if to.Queue == nil {
		k.left = len(list)
	} else {
		k.to = to.Queue.PID
		actorlib.Watch(ctx, k.to)
		list[len(list)-1].Number = k.number
	}
	for part := range slices.Chunk(list, batch) {
		if to.Queue != nil {
			actorlib.Send(ctx, k.to, &mail.Enqueue{From: ctx.Self(), Queue: k.to, Messages: part})
			continue
		}
		for i := range part {
			part[i].Number = uint64(i) + 1
		}
		actorlib.Send(ctx, x.cfg.VHost.DeadLetter, &mail.DeadLetter{
			From: ctx.Self(), Incarnation: k.number, Reason: "replayed", Exchange: to.Exchange.Name, Replay: true, Messages: part,
		})
	}
}

// taken ends a replay to a queue.
func (x *exchange) taken(ctx actor.Context) {
	actorlib.Unwatch(ctx, x.keeper.to)
	x.idle(ctx)
}

// routed ends a replay to an exchange when all its messages are routed or the rest is lost.
func (x *exchange) routed(ctx actor.Context, r *mail.DeadLetterReply) {
	k := x.keeper
	if k.left == 0 || k.number != r.Incarnation {
		return
	}
	for _, ids := range r.IDs {
		k.left -= int(ids.Last - ids.First + 1)
	}
	if r.Lost || k.left <= 0 {
		k.left = 0
		x.idle(ctx)
	}
}

func (x *exchange) idle(ctx actor.Context) {
	x.keeper.busy, x.keeper.to = false, nil
	x.proceed(ctx)
}

// waiting returns the number of waiting bindings.
func (k *keeper) waiting() int {
	if k == nil {
		return 0
	}
	return len(k.pending)
}

// withdraw removes waiting bindings and answers them.
func (k *keeper) withdraw(ctx actor.Context, which func(topology.Binding) bool, err error) {
	if k == nil {
		return
	}
	k.pending = slices.DeleteFunc(k.pending, func(m *mail.AddBinding) bool {
		if !which(m.Binding) {
			return false
		}
		reply(ctx, m.Request, &mail.TopologyReply{Reply: m.Done(err)})
		return true
	})
}

// move redirects waiting messages and bindings to the new actor of a queue.
func (k *keeper) move(to *topology.Queue) {
	if k == nil {
		return
	}
	for i, m := range k.pending {
		if m.Target.Queue != nil && m.Target.Queue.Name == to.Name {
			moved := *m
			moved.Target.Queue = to
			k.pending[i] = &moved
		}
	}
	for _, l := range k.late {
		for i := range l.targets {
			if q := l.targets[i].Queue; q != nil && q.Name == to.Name {
				l.targets[i].Queue = to
			}
		}
	}
}

// end drops everything that waits.
func (k *keeper) end(ctx actor.Context, cause mail.Cause) {
	if k == nil {
		return
	}
	close(k.gone)
	if k.to != nil {
		actorlib.Unwatch(ctx, k.to)
	}
	k.history.Clear()
	for _, m := range k.pending {
		actorlib.AnswerAll(ctx, []any{m}, cause)
	}
	for _, l := range k.late {
		l.release()
	}
	k.pending, k.late = nil, nil
}
