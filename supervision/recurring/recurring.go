package recurring

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"candlemark/actors/movers/recurring"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/measure/activity"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/storage/store"
	"candlemark/internal/transport/budget"
	"candlemark/supervision/ask"

	"github.com/rs/zerolog"
)

// Config is the interface of the schedules to a broker.
type Config struct {
	Parameters *definitions.Parameters
	VHost      func(name string) (*topology.VHost, bool)
	// Spawn makes an actor, End stops it.
	Spawn func(ctx context.Context, cfg recurring.Config) (mail.Address, error)
	End   func(mail.Address)
	Post  func(to mail.Address, what any)
	Asker func() *ask.Asker
	// Actor has what all actors share: the journal, the alarms.
	Actor recurring.Config
	// Load reads what the journal has, again if it was read before.
	Load func(of store.QueueID, again bool, done func([]store.Recovered, error))
	// Account returns a user, false if there is none.
	Account     func(name string) (auth.User, bool)
	Permissions auth.Permissions
	Incarnation func() uint64
	// Objects has the price of schedules (REC-13).
	Objects func() *budget.Objects
	// Put, Change and Delete change parameters as a client would, with their events.
	Put    func(ctx context.Context, p parameters.Parameter) (created bool, err error)
	Change func(ctx context.Context, p parameters.Parameter, change func(json.RawMessage) (json.RawMessage, error)) (found bool, err error)
	Delete func(ctx context.Context, p parameters.Parameter) (found bool, err error)
	Works  *activity.Works
	Events *events.Hub
	Clock  *clock.Clock
	Log    zerolog.Logger
}

// Schedules are the schedules of a broker.
type Schedules struct {
	cfg      Config
	stats    recurring.Stats
	deleting sync.WaitGroup // ended schedules

	mu      sync.Mutex
	begun   bool // Begin was called, End was not
	running map[string]mail.Address
	read    map[store.QueueID]bool // what the journal had when it was opened
	prices  map[named]price        // of all schedules
}

// New returns the schedules of a broker. None runs before Begin.
func New(cfg Config) *Schedules {
	return &Schedules{cfg: cfg, running: map[string]mail.Address{}, read: map[store.QueueID]bool{}, prices: map[named]price{}}
}

// Stats returns the counts of all runs.
func (s *Schedules) Stats() *recurring.Stats { return &s.stats }

// specs returns the schedules of a virtual host, of all for "".
func (s *Schedules) specs(vhost string) (list []*parameters.ScheduleSpec) {
	for _, p := range s.cfg.Parameters.All(vhost) {
		if p.Component != parameters.Schedule {
			continue
		}
		spec, err := parameters.ParseSchedule(p.VHost, p.Name, p.Value)
		if err != nil { // of another version
			s.cfg.Log.Error().Err(err).Str("vhost", p.VHost).Str("schedule", p.Name).Msg("a schedule cannot run")
			continue
		}
		list = append(list, spec)
	}
	return list
}

// Begin starts all stored schedules. The virtual hosts must exist.
func (s *Schedules) Begin(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = true
	for _, spec := range s.specs("") {
		s.start(ctx, spec.VHost)
	}
}

// End ends all schedules.
func (s *Schedules) End() {
	s.mu.Lock()
	s.begun = false
	for vhost, pid := range s.running {
		s.cfg.End(pid)
		delete(s.running, vhost)
	}
	s.mu.Unlock()
	s.deleting.Wait()
}

// start starts the actor of a virtual host, unless it runs. The mutex is held.
func (s *Schedules) start(ctx context.Context, vhost string) (started bool) {
	handle, found := s.cfg.VHost(vhost)
	if s.running[vhost] != nil || !found {
		return false
	}
	cfg := s.cfg.Actor
	cfg.VHost, cfg.Schedules, cfg.Stats = handle, func() []*parameters.ScheduleSpec { return s.specs(vhost) }, &s.stats
	cfg.Load, cfg.Ended, cfg.Clock, cfg.Events, cfg.Log = s.load, s.ended, s.cfg.Clock, s.cfg.Events, s.cfg.Log
	cfg.May = func(user, exchange, key string) (bool, error) { return s.may(vhost, user, exchange, key) }
	pid, err := s.cfg.Spawn(ctx, cfg)
	if err != nil {
		s.cfg.Log.Error().Err(err).Str("vhost", vhost).Msg("the schedules of a virtual host cannot run")
		return false
	}
	s.running[vhost] = pid
	return true
}

// load reads how far a schedule came: what the journal had when it was opened, or has now.
func (s *Schedules) load(of store.QueueID, done func([]store.Recovered, error)) {
	s.mu.Lock()
	again := s.read[of]
	s.read[of] = true
	s.mu.Unlock()
	s.cfg.Load(of, again, done)
}

// Stamp checks a parameter of a schedule for its setter (REC-12), and sets what the broker sets.
func (s *Schedules) Stamp(p parameters.Parameter) (parameters.Parameter, error) {
	var before *parameters.ScheduleSpec
	if known, there := s.cfg.Parameters.Get(p); there {
		before, _ = parameters.ParseSchedule(p.VHost, p.Name, known.Value) // a new one replaces what cannot be read
	}
	spec, err := parameters.ParseSchedule(p.VHost, p.Name, p.Value)
	if err != nil {
		return p, parameters.Refusal(err.Error())
	}
	if p.Setter.User != "" {
		if err := s.maySet(p.Setter.User, spec, before); err != nil {
			return p, err
		}
	}
	incarnation := uint64(0)
	if before == nil {
		incarnation = s.newIncarnation()
	}
	if p.Value, err = parameters.StampSchedule(p.Value, before, p.Setter.User, s.cfg.Clock.Wall(), incarnation); err != nil {
		return p, parameters.Refusal(err.Error())
	}
	if spec, err = parameters.ParseSchedule(p.VHost, p.Name, p.Value); err != nil { // its intervals depend on the date
		return p, parameters.Refusal(err.Error())
	}
	if p.Setter.User == "" {
		return p, nil
	}
	return p, s.room(p.VHost, p.Name, priceOf(spec, p.Value))
}

// newIncarnation returns the number of a schedule or backfill of which the journal has nothing.
func (s *Schedules) newIncarnation() uint64 {
	n := s.cfg.Incarnation()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read[store.QueueID(n)] = true
	return n
}

// ErrOtherUser refuses schedules that publish as another user.
var ErrOtherUser = errors.New("only administrators set schedules of other users")

// maySet checks whether a user may set a schedule. The schedule's user stays the same unless another is named.
func (s *Schedules) maySet(name string, spec, before *parameters.ScheduleSpec) error {
	user, known := s.cfg.Account(name)
	if !known {
		user = auth.User{Name: name}
	}
	publisher := spec.User
	if publisher == "" {
		if publisher = name; before != nil {
			publisher = before.User
		}
	}
	if publisher != name && !user.HasTag("administrator") {
		return parameters.Refusal(ErrOtherUser.Error())
	}
	if err := s.cfg.Permissions.Check(user, spec.VHost, auth.Resource{Kind: auth.Queue, Name: spec.Name}, auth.Configure); err != nil {
		return err
	}
	return s.mayWrite(user, spec.VHost, spec.Exchange, spec.Key)
}

// may checks whether a user may publish now.
func (s *Schedules) may(vhost, name, exchange, key string) (known bool, err error) {
	user, known := s.cfg.Account(name)
	if !known {
		return false, errors.New("user '" + name + "' does not exist")
	}
	if err := s.cfg.Permissions.VHostAccess(user, vhost); err != nil {
		return true, err
	}
	return true, s.mayWrite(user, vhost, exchange, key)
}

func (s *Schedules) mayWrite(user auth.User, vhost, exchange, key string) error {
	if exchange == topology.AdminExchange {
		return auth.Refuse(user, vhost, auth.Resource{Kind: auth.Exchange, Name: exchange}, auth.Write)
	}
	if err := s.cfg.Permissions.Check(user, vhost, auth.Resource{Kind: auth.Exchange, Name: exchange}, auth.Write); err != nil {
		return err
	}
	handle, found := s.cfg.VHost(vhost)
	if !found {
		return nil
	}
	if x := handle.Directory().Exchange([]byte(exchange)); x == nil || x.Type != "topic" {
		return nil
	}
	return s.cfg.Permissions.CheckTopic(user, vhost, exchange, key, auth.Write)
}

// Put starts or changes the schedule that a stored parameter defines.
func (s *Schedules) Put(ctx context.Context, p parameters.Parameter) {
	spec, err := parameters.ParseSchedule(p.VHost, p.Name, p.Value)
	if err != nil { // it was checked
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pay(p.VHost, p.Name, priceOf(spec, p.Value))
	if s.begun && !s.start(ctx, p.VHost) && s.running[p.VHost] != nil {
		s.cfg.Post(s.running[p.VHost], &recurring.Set{Spec: spec})
	}
}

// Remove ends the schedule of a deleted parameter.
func (s *Schedules) Remove(p parameters.Parameter) {
	spec, err := parameters.ParseSchedule(p.VHost, p.Name, p.Value)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pay(p.VHost, p.Name, price{})
	for _, id := range parameters.Incarnations(&p) {
		delete(s.read, store.QueueID(id))
	}
	if pid := s.running[p.VHost]; pid != nil && err == nil {
		s.cfg.Post(pid, &recurring.Remove{Name: spec.Name, Incarnation: spec.Incarnation})
	}
}

// Forget ends the schedules of a virtual host that is being deleted; gone are their parameters.
func (s *Schedules) Forget(vhost string, gone []parameters.Parameter) {
	for _, p := range gone {
		s.Remove(p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if pid := s.running[vhost]; pid != nil {
		s.cfg.Post(pid, recurring.Quit{})
		delete(s.running, vhost)
	}
}

// Look makes the actors compare their times with the machine's clock, which was set, or slept.
func (s *Schedules) Look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, pid := range s.running {
		s.cfg.Post(pid, recurring.Look{})
	}
}

// ended deletes a schedule without further runs, or a backfill.
func (s *Schedules) ended(spec *parameters.ScheduleSpec) {
	s.cfg.Works.Begin()
	s.deleting.Go(func() {
		defer s.cfg.Works.End()
		p, _ := s.cfg.Parameters.Get(parameters.Parameter{Component: parameters.Schedule, VHost: spec.VHost, Name: spec.Name})
		now, err := parameters.ParseSchedule(spec.VHost, spec.Name, p.Value)
		switch {
		case err != nil:
			return
		case now.Filled() == spec.Incarnation:
			if err := s.putBackfill(context.Background(), p, spec.Incarnation, nil); err != nil {
				s.cfg.Log.Error().Err(err).Str("vhost", p.VHost).Str("schedule", p.Name).Msg("the end of a backfill could not be stored")
			}
			return
		case now.Incarnation != spec.Incarnation || !now.DeleteAtEnd || now.Since != spec.Since || now.Count != spec.Count:
			return
		}
		if _, err := s.cfg.Delete(context.Background(), p); err != nil {
			s.cfg.Log.Error().Err(err).Str("vhost", p.VHost).Str("schedule", p.Name).Msg("an ended schedule could not be deleted")
		}
	})
}
