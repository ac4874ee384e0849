package queries

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"

	"candlemark/actors/movers/move"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// dryRun is the maximum duration of a dry run in ns: it returns the counts up to then.
const dryRun = 10e9

// Moves implements management.Moves. It holds running moves and the last finished ones.
type Moves struct {
	qs   *Queries
	mu   sync.Mutex
	last uint64
	list []*moving // by their numbers
}

// moving is a running or finished move.
type moving struct {
	of     management.MoveStatus // without the changing fields
	handle *move.Handle
	pid    mail.Address
}

func (m *moving) over() bool { return m.handle.Status().Phase != move.Running }

// Move implements management.Moves.
func (ms *Moves) Move(ctx context.Context, by management.Asker, at management.Place, how management.Move) (management.MoveStatus, error) {
	q, err := ms.qs.findQueueFor(by, at)
	if err != nil {
		return management.MoveStatus{}, err
	}
	v, _ := ms.qs.cfg.VHosts.Find(at.VHost) // reach has found it
	to := move.To{Queue: how.Queue, Exchange: how.Exchange, Key: how.Key, HasKey: how.HasKey, Origin: how.Origin}
	job := move.Job{VHost: v, From: q, To: to, Rate: how.Rate, DryRun: how.DryRun, May: ms.publisher(by.User, v)}
	if err := mayMove(&job); err != nil {
		return management.MoveStatus{}, err
	}
	if how.IDs != nil {
		job.IDs = map[uint64]struct{}{}
		for _, id := range how.IDs {
			job.IDs[id] = struct{}{}
		}
	}
	m := &moving{of: management.MoveStatus{VHost: at.VHost, Queue: at.Name, User: by.Name, How: how}, handle: move.NewHandle()}
	if err := ms.add(m); err != nil {
		return management.MoveStatus{}, err
	}
	pid, err := ms.qs.cfg.SpawnMove(ctx, move.Config{Job: job, Clock: ms.qs.cfg.Asker.Clock, Handle: m.handle})
	if err != nil {
		ms.remove(m)
		return management.MoveStatus{}, err
	}
	ms.began(m, pid)
	if how.DryRun {
		defer ms.remove(m)
		ms.await(ctx, m)
		return ms.shownMove(m), ctx.Err()
	}
	ms.publishMove(ctx, "move.started", m)
	return ms.shownMove(m), nil
}

// await waits for the end of a dry run.
func (ms *Moves) await(ctx context.Context, m *moving) {
	wait, cancel := ms.qs.cfg.Asker.Clock.WithTimeout(ctx, dryRun)
	defer cancel()
	select {
	case <-m.handle.Ended():
	case <-wait.Done():
		ms.qs.cfg.Asker.Post(m.pid, move.Stop{})
	}
}

// mayMove refuses moves that could not move any message.
func mayMove(j *move.Job) error {
	to := &j.To
	switch {
	case to.Queue == j.From.Name:
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "the messages are already in queue '%s'", to.Queue)
	case to.Queue != "":
		if j.VHost.Directory().Queue([]byte(to.Queue)) == nil {
			return protocol.ChannelErrorf(protocol.NotFound, "no queue '%s' in vhost '%s'", to.Queue, j.VHost.Name)
		}
		return j.May("", to.Queue)
	case to.Origin:
		return j.May("", "")
	case j.VHost.Directory().Exchange([]byte(to.Exchange)) == nil:
		return protocol.ChannelErrorf(protocol.NotFound, "no exchange '%s' in vhost '%s'", to.Exchange, j.VHost.Name)
	case to.HasKey:
		return j.May(to.Exchange, to.Key)
	}
	return nil
}

// publisher returns a check of the permission to publish, as in a channel; it uses the current permissions.
func (ms *Moves) publisher(user auth.User, v *topology.VHost) func(exchange, key string) error {
	p := ms.qs.cfg.Permissions
	return func(exchange, key string) error {
		if err := p.Check(user, v.Name, auth.Resource{Kind: auth.Exchange, Name: exchange}, auth.Write); err != nil {
			return err
		}
		x := v.Directory().Exchange([]byte(exchange))
		switch {
		case x == nil:
			return nil // with its own error
		case x.Internal:
			return protocol.ChannelErrorf(protocol.AccessRefused, "cannot publish to internal exchange '%s' in vhost '%s'", exchange, v.Name)
		case x.Type == "topic" && p.HasTopics(user, v.Name, exchange):
			return p.CheckTopic(user, v.Name, exchange, key, auth.Write)
		}
		return nil
	}
}

// add gives a move its number, unless too many are running, of all users or of this one (ACC-10).
func (ms *Moves) add(m *moving) error {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	running, own := 0, 0
	for _, x := range ms.list {
		if !x.over() {
			running++
			if x.of.User == m.of.User {
				own++
			}
		}
	}
	switch {
	case own >= management.MaxMovesOfUser:
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "user '%s' has %d running moves, the maximum: wait for one to end", m.of.User, own)
	case running >= management.MaxMoves:
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "%d moves are running, the maximum: wait for one to end", running)
	}
	for len(ms.list)-running >= management.MaxMovesEnded {
		ms.forget()
	}
	if !m.of.How.DryRun {
		ms.last++
		m.of.ID = strconv.FormatUint(ms.last, 10)
	}
	ms.list = append(ms.list, m)
	return nil
}

// forget forgets the first finished move of the user who has most of them. The mutex is held.
func (ms *Moves) forget() {
	ended, most := map[string]int{}, ""
	for _, x := range ms.list {
		if x.over() {
			if ended[x.of.User]++; ended[x.of.User] > ended[most] {
				most = x.of.User
			}
		}
	}
	if i := slices.IndexFunc(ms.list, func(x *moving) bool { return x.over() && x.of.User == most }); i >= 0 {
		ms.list = slices.Delete(ms.list, i, i+1)
	}
}

func (ms *Moves) began(m *moving, pid mail.Address) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	m.pid = pid
}

func (ms *Moves) remove(m *moving) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.list = slices.DeleteFunc(ms.list, func(x *moving) bool { return x == m })
}

// ListMoves implements management.Moves.
func (ms *Moves) ListMoves(by management.Asker) []management.MoveStatus {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	list := []management.MoveStatus{}
	for _, m := range ms.list {
		if !m.of.How.DryRun && (m.of.User == by.Name || by.HasTag("monitoring") || by.HasTag("administrator")) {
			list = append(list, ms.shownMove(m))
		}
	}
	return list
}

// StopMove implements management.Moves.
func (ms *Moves) StopMove(ctx context.Context, by management.Asker, id string) (found bool) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	for _, m := range ms.list {
		if m.of.ID == id && m.pid != nil && (m.of.User == by.Name || by.HasTag("administrator")) {
			if !m.over() {
				ms.qs.cfg.Asker.Post(m.pid, move.Stop{})
				ms.publishMove(ctx, "move.stopped", m)
			}
			return true
		}
	}
	return false
}

// shownMove returns the current status of a move.
func (ms *Moves) shownMove(m *moving) management.MoveStatus {
	status, shown, dates := m.handle.Status(), m.of, ms.qs.cfg.Asker.Clock.Dates()
	shown.State, shown.Reason, shown.Moved = string(status.Phase), status.Reason, status.Moved
	shown.Targets, shown.Kept = maps.Clone(status.Targets), maps.Clone(status.Kept)
	if status.Started != 0 {
		shown.Started = dates.Date(status.Started)
	}
	if status.Ended != 0 {
		shown.Ended = dates.Date(status.Ended)
	}
	return shown
}

func (ms *Moves) publishMove(ctx context.Context, name string, m *moving) {
	to := protocol.Field{Key: "to", Value: "origin"}
	switch how := &m.of.How; {
	case how.Queue != "":
		to = protocol.Field{Key: "to_queue", Value: how.Queue}
	case !how.Origin:
		to = protocol.Field{Key: "to_exchange", Value: how.Exchange}
	}
	ms.qs.publish(ctx, events.OriginOf(ctx).Asked(), name, m.of.VHost, protocol.Table{
		{Key: "id", Value: m.of.ID}, {Key: "name", Value: m.of.Queue}, {Key: "vhost", Value: m.of.VHost}, to, {Key: "messages", Value: int64(len(m.of.How.IDs))},
	})
}
