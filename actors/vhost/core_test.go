package vhost

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/actors/mail"
	"candlemark/internal/definitions"
	"candlemark/internal/testkit/address"
	"candlemark/internal/topology"

	"github.com/asynkron/protoactor-go/actor"
)

// noStore is a store that is never called, since only the shell calls it.
type noStore struct{ definitions.Store }

// The core runs without actors. A queue is stored before it starts, starts before it is published, and is published before its
// creator gets the answer. Only the shell publishes it.
func TestCoreDecidesInOrder(t *testing.T) {
	vhost := topology.NewVHost("/")
	s := newState(Config{
		VHost: vhost, Meta: noStore{},
		NewQueue:    func(QueueSpec) *actor.Props { return nil },
		NewExchange: func(ExchangeSpec) *actor.Props { return nil },
	})
	change := &stored{} // the answer to the last store operation
	asker, owner := mail.Request{ReplyTo: address.Named("channel")}, address.Named("connection")
	s.handle(begin{address.Named("vhost"), func(parent mail.Address, name string) mail.Address { return address.Named(parent.GetId() + "/" + name) }})
	s.out.take()
	for _, step := range []struct {
		mail any
		want string
	}{
		{&mail.DeclareQueue{Request: asker, Name: "own", VHost: "/", Exclusive: true, Connection: owner}, "spawning watching func() *mail.DeclareQueue>queue/own/7"},
		{&mail.DeclareExchange{Request: asker, Name: "x", Type: "direct"}, "spawning func() *mail.TopologyReply>channel"},
		{&mail.PeerGone{Who: owner}, "*mail.DeleteQueue>queue/own/7"},
		{&mail.DeclareQueue{Request: asker, Name: "kept", VHost: "/", Durable: true}, "storing"},
		{&mail.DeleteQueue{Request: asker, Name: "kept", VHost: "/"}, ""}, // it waits
		{change, "spawning func() *mail.DeclareQueue>queue/kept/9 *mail.DeleteQueue>queue/kept/9"},
	} {
		s.handle(step.mail)
		var got []string
		for _, e := range s.out.take() {
			kind := strings.TrimPrefix(fmt.Sprintf("%T", e), "vhost.")
			switch e := e.(type) {
			case mail.Post:
				kind = fmt.Sprintf("%T>%s", e.Mail, strings.TrimPrefix(e.To.GetId(), "vhost/"))
			case storing:
				change.then = e.then
			case func():
				if before := vhost.Directory(); before == s.directory {
					t.Error("published before the turn was over")
				}
				e()
			}
			got = append(got, kind)
		}
		if got := strings.Join(got, " "); got != step.want || s.failure != nil {
			t.Errorf("%T: %s %v, want %s", step.mail, got, s.failure, step.want)
		}
	}
}
