package shovels

import (
	"context"
	"encoding/json"
	"net"
	"slices"
	"sync"

	"candlemark/actors/movers/shovel"
	"candlemark/actors/system/mail"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/clock"
	"candlemark/internal/servicebus/status"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/parameters"

	"github.com/rs/zerolog"
)

// Config is the interface of the shovels to a broker.
type Config struct {
	Parameters *definitions.Parameters
	// VHost reports whether there is a virtual host of that name.
	VHost func(name string) bool
	// Lock prevents changes of virtual hosts until Unlock. Error: ctx's.
	Lock   func(ctx context.Context) error
	Unlock func()
	// Spawn makes an actor, End stops it.
	Spawn func(ctx context.Context, cfg shovel.Config) (mail.Address, error)
	End   func(mail.Address)
	// Done is called with the parameter of a shovel that has deleted itself.
	Done func(p parameters.Parameter)
	// Schedules run by the parameters of their component.
	Schedules Schedules
	// Dial connects to the broker of an address: see shovel.Config.
	Dial func(ctx context.Context, to *parameters.URI, as Login) (conn net.Conn, direct bool, err error)
	// Allowed returns why a parameter may not have a shovel, nil if it may; Changed returns a channel that is closed before the
	// answer changes.
	Allowed func(p parameters.Parameter) error
	Changed func() <-chan struct{}
	// Read reads a file that an address names.
	Read       func(ctx context.Context, name string) ([]byte, error)
	Cluster    func() string // the name of this broker
	MaxMessage uint64
	Clock      *clock.Clock
	Log        zerolog.Logger
}

// Schedules are told of the parameters of schedules.
type Schedules interface {
	// Stamp checks a new value, and completes it.
	Stamp(p parameters.Parameter) (parameters.Parameter, error)
	// Put begins with a stored value, Remove ends with a deleted one, Forget with all of a virtual host.
	Put(ctx context.Context, p parameters.Parameter)
	Remove(p parameters.Parameter)
	Forget(vhost string, gone []parameters.Parameter)
}

// Login identifies a shovel to this broker.
type Login struct {
	Setter parameters.Setter
	// Checked: it publishes only messages whose user-ids this broker has checked before.
	Checked bool
}

// Shovels are the shovels of a broker.
type Shovels struct {
	cfg      Config
	finished sync.WaitGroup // goroutines that delete finished shovels

	mu      sync.Mutex
	begun   bool // Begin was called, End was not
	running map[name]*one
}

type name struct{ vhost, name string }

// one is a shovel.
type one struct {
	status shovel.Status // of a shovel without an actor
	work   *parameters.ShovelSpec
	handle *shovel.Handle // nil without an actor
	pid    mail.Address
}

// New returns the shovels of a broker. None runs before Begin.
func New(cfg Config) *Shovels { return &Shovels{cfg: cfg, running: map[name]*one{}} }

// Begin starts all stored shovels. The virtual hosts must exist.
func (s *Shovels) Begin(ctx context.Context) {
	s.mu.Lock()
	s.begun = true
	s.mu.Unlock()
	for _, p := range s.cfg.Parameters.All("") {
		s.put(ctx, p)
	}
}

// End ends all shovels and waits until they have closed their connections. None starts again.
func (s *Shovels) End() {
	s.mu.Lock()
	s.begun = false
	var handles []*shovel.Handle
	for key := range s.running {
		handles = append(handles, s.remove(key))
	}
	s.mu.Unlock()
	for _, h := range handles {
		if h != nil {
			<-h.Left()
		}
	}
	s.finished.Wait()
}

// Parameters implements management.Shovels.
func (s *Shovels) Parameters(vhost string) []parameters.Parameter {
	return s.cfg.Parameters.All(vhost)
}

// Statuses returns the statuses of entities of Azure Service Bus, as set by parameters.
func (s *Shovels) Statuses() *status.Table { return s.cfg.Parameters.Statuses() }

// PutParameter stores a parameter, and returns its value before, nil for a new one, and after.
func (s *Shovels) PutParameter(ctx context.Context, p parameters.Parameter) (before, after json.RawMessage, err error) {
	if err := s.cfg.Lock(ctx); err != nil {
		return nil, nil, err
	}
	defer s.cfg.Unlock()
	if !s.cfg.VHost(p.VHost) {
		return nil, nil, parameters.Refusal("vhost_not_found")
	}
	known, _ := s.cfg.Parameters.Get(p)
	after, err = s.store(ctx, p)
	return known.Value, after, err
}

// store stores a parameter, and has it take effect. The virtual hosts are locked.
func (s *Shovels) store(ctx context.Context, p parameters.Parameter) (value json.RawMessage, err error) {
	if p.Component == parameters.Schedule {
		if p, err = s.cfg.Schedules.Stamp(p); err != nil {
			return nil, err
		}
	}
	if _, err = s.cfg.Parameters.Put(p); err == nil {
		s.put(ctx, p)
	}
	return p.Value, err
}

// ChangeParameter changes a parameter, known by its names, by a function of its value, with the setter of p: no other change comes between.
// Found reports whether there is one. Errors: those of change and of PutParameter.
func (s *Shovels) ChangeParameter(ctx context.Context, p parameters.Parameter, change func(json.RawMessage) (json.RawMessage, error)) (before, after json.RawMessage, found bool, err error) {
	if err := s.cfg.Lock(ctx); err != nil {
		return nil, nil, false, err
	}
	defer s.cfg.Unlock()
	known, found := s.cfg.Parameters.Get(p)
	if !found {
		return nil, nil, false, nil
	}
	if p.Value, err = change(known.Value); err == nil {
		after, err = s.store(ctx, p)
	}
	return known.Value, after, true, err
}

// DeleteParameter deletes a parameter, and returns its value before.
func (s *Shovels) DeleteParameter(ctx context.Context, p parameters.Parameter) (before json.RawMessage, found bool, err error) {
	if err := s.cfg.Lock(ctx); err != nil {
		return nil, false, err
	}
	defer s.cfg.Unlock()
	return s.delete(p)
}

func (s *Shovels) delete(p parameters.Parameter) (before json.RawMessage, found bool, err error) {
	known, _ := s.cfg.Parameters.Get(p)
	if found, err = s.cfg.Parameters.Delete(p); found && err == nil && p.Component == parameters.Schedule {
		s.cfg.Schedules.Remove(known)
	}
	if err == nil && p.Component == parameters.Shovel {
		s.mu.Lock()
		s.remove(name{p.VHost, p.Name})
		s.mu.Unlock()
	}
	return known.Value, found, err
}

// Forget ends the shovels of a deleted virtual host and deletes its parameters. Virtual hosts are locked.
func (s *Shovels) Forget(vhost string) {
	gone := slices.DeleteFunc(s.cfg.Parameters.All(vhost), func(p parameters.Parameter) bool { return p.Component != parameters.Schedule })
	s.cfg.Parameters.Forget(vhost)
	s.cfg.Schedules.Forget(vhost, gone)
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.running {
		if key.vhost == vhost {
			s.remove(key)
		}
	}
}

// RestartShovel implements management.Shovels.
func (s *Shovels) RestartShovel(ctx context.Context, vhost, of string) (found bool, err error) {
	if err := s.cfg.Lock(ctx); err != nil {
		return false, err
	}
	defer s.cfg.Unlock()
	for _, p := range s.cfg.Parameters.All(vhost) {
		if p.Component == parameters.Shovel && p.Name == of {
			s.put(ctx, p)
			return true, nil
		}
	}
	return false, nil
}

// ListShovels implements management.Shovels.
func (s *Shovels) ListShovels(vhost string) []management.Shovel {
	list := []management.Shovel{}
	for _, p := range s.cfg.Parameters.All(vhost) {
		s.mu.Lock()
		x := s.running[name{p.VHost, p.Name}]
		s.mu.Unlock()
		if p.Component == parameters.Shovel && x != nil {
			list = append(list, x.describe(p, s.cfg.Clock.Dates()))
		}
	}
	return list
}

func (x *one) describe(p parameters.Parameter, dates clock.Dates) management.Shovel {
	status, counts := x.status, shovel.Counts{ToTake: -1, ToMove: -1}
	if x.handle != nil {
		status, counts = x.handle.Status(), x.handle.Counts()
	}
	return management.Shovel{
		VHost: p.VHost, Name: p.Name, Work: x.work, State: string(status.Phase), Reason: status.Reason, Since: dates.Date(status.Since),
		Setter: p.Setter, From: status.From, To: status.To, Forwarded: counts.Forwarded, Pending: counts.Pending, ToTake: counts.ToTake, ToMove: counts.ToMove,
	}
}

// put starts the shovel that a parameter defines, if any, and replaces an earlier one.
func (s *Shovels) put(ctx context.Context, p parameters.Parameter) {
	if p.Component == parameters.Upstream {
		s.cfg.Log.Warn().Str("vhost", p.VHost).Str("upstream", p.Name).Msg("the federation upstream has no effect: " + parameters.NoFederation)
	}
	if p.Component == parameters.Schedule {
		s.cfg.Schedules.Put(ctx, p)
	}
	if p.Component != parameters.Shovel {
		return
	}
	key := name{p.VHost, p.Name}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun {
		return
	}
	before := s.remove(key)
	x := &one{}
	s.running[key] = x
	var err error
	if x.work, err = parameters.ParseShovel(p.VHost, p.Name, p.Value); err == nil {
		err = s.spawn(ctx, x, before, p)
	}
	if err != nil {
		x.work = nil
		x.status = shovel.Status{Phase: shovel.Terminated, Reason: err.Error(), Since: s.cfg.Clock.Now().Floor()}
	}
}

func (s *Shovels) spawn(ctx context.Context, x *one, before *shovel.Handle, p parameters.Parameter) (err error) {
	handle := shovel.NewHandle()
	cfg := shovel.Config{
		Work: x.work, Cluster: s.cfg.Cluster, MaxMessage: s.cfg.MaxMessage, Clock: s.cfg.Clock,
		Dial: func(ctx context.Context, to *parameters.URI, checked bool) (net.Conn, bool, error) {
			return s.cfg.Dial(ctx, to, Login{p.Setter, checked})
		},
		Allowed: func() error { return s.cfg.Allowed(p) }, Changed: s.cfg.Changed, Read: s.cfg.Read,
		Log: s.cfg.Log.With().Str("vhost", p.VHost).Str("shovel", p.Name).Logger(), Handle: handle,
		Finished: func() { s.finished.Go(func() { s.finish(x, p) }) },
	}
	if before != nil {
		cfg.After = before.Left()
	}
	if x.pid, err = s.cfg.Spawn(ctx, cfg); err == nil {
		x.handle = handle
	}
	return err
}

// finish deletes a finished shovel, unless another has replaced it.
func (s *Shovels) finish(x *one, p parameters.Parameter) {
	if s.cfg.Lock(context.Background()) != nil {
		return
	}
	defer s.cfg.Unlock()
	s.mu.Lock()
	current := s.running[name{p.VHost, p.Name}] == x
	s.mu.Unlock()
	if !current {
		return
	}
	if _, _, err := s.delete(p); err == nil {
		s.cfg.Done(p)
	} else {
		s.cfg.Log.Error().Err(err).Str("vhost", p.VHost).Str("shovel", p.Name).Msg("a finished shovel could not be deleted")
	}
}

// remove ends a shovel and returns its handle, nil if it has no actor. The mutex is held.
func (s *Shovels) remove(key name) *shovel.Handle {
	x := s.running[key]
	delete(s.running, key)
	if x == nil || x.handle == nil {
		return nil
	}
	x.handle.End()
	s.cfg.End(x.pid)
	return x.handle
}
