package session10

import (
	"candlemark/actors/client/shell"

	"github.com/asynkron/protoactor-go/actor"
)

// Config configures a session.
type Config = config

// New returns the actor, which answers the client's begin when it is spawned. It must not be restarted.
func New(cfg Config) actor.Actor {
	s := &state{}
	s.init(cfg)
	return shell.New(s, s.Mail, s.in, shell.Config{
		Clock: cfg.Clock, Close: cfg.Close, Ended: cfg.Ended, VHost: cfg.VHost.Name, Begin: s.begin,
		BeforeMail: func() { s.attachments.count(s.links, s.in.Waits()) },
	})
}
