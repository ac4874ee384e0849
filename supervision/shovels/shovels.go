package shovels

import (
	"context"

	"candlemark/internal/definitions"
	"candlemark/internal/parameters"
)

// Config says what the shovels need of a broker.
type Config struct {
	Parameters *definitions.Parameters
	// VHost tells whether there is a virtual host of that name.
	VHost func(name string) bool
	// Lock keeps virtual hosts from coming and going until Unlock. Error: that of ctx.
	Lock   func(ctx context.Context) error
	Unlock func()
}

// Shovels are those of a broker.
type Shovels struct{ cfg Config }

// New makes those of a broker.
func New(cfg Config) *Shovels { return &Shovels{cfg: cfg} }

// Parameters implements management.Definitions.
func (s *Shovels) Parameters(vhost string) []parameters.Parameter {
	return s.cfg.Parameters.All(vhost)
}

// PutParameter implements management.Definitions.
func (s *Shovels) PutParameter(ctx context.Context, p parameters.Parameter) (created bool, err error) {
	if err := s.cfg.Lock(ctx); err != nil {
		return false, err
	}
	defer s.cfg.Unlock()
	if !s.cfg.VHost(p.VHost) {
		return false, parameters.Refusal("vhost_not_found")
	}
	return s.cfg.Parameters.Put(p)
}

// DeleteParameter implements management.Definitions.
func (s *Shovels) DeleteParameter(ctx context.Context, p parameters.Parameter) (found bool, err error) {
	if err := s.cfg.Lock(ctx); err != nil {
		return false, err
	}
	defer s.cfg.Unlock()
	return s.cfg.Parameters.Delete(p)
}

// Forget ends what belongs to a virtual host that was deleted, and with it what is stored of it. Virtual hosts are locked.
func (s *Shovels) Forget(vhost string) { s.cfg.Parameters.Forget(vhost) }
