package session10

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/actors/client/input"
	"candlemark/actors/client/session10/dialects"
	"candlemark/internal/transport/budget"
	"candlemark/protocol/amqp10"
)

// The broker keeps the name and the addresses of each link, so their lengths are limited.
func TestAttach_LongNames(t *testing.T) {
	for _, c := range []struct {
		name, address, replies int
		fails                  bool
	}{
		{dialects.MaxLinkName, 10, 10, false}, {dialects.MaxLinkName + 1, 10, 10, true}, {10, dialects.MaxLinkAddress + 1, 10, true}, {10, 10, dialects.MaxLinkAddress + 1, true},
	} {
		for _, receives := range []bool{false, true} {
			s, _ := crowded(1)
			s.cfg.HandleMax = 255
			address := func(n int) amqp10.Optional[string] {
				return amqp10.Some(strings.Repeat("x", n-len("/$management")) + "/$management")
			}
			m := &amqp10.Attach{Name: strings.Repeat("n", c.name), Role: amqp10.RoleSender, Source: &amqp10.Source{Address: address(max(c.replies, 13))}, Target: &amqp10.Target{Address: address(max(c.address, 13))}}
			if receives {
				m.Role, m.Source.Address, m.Target.Address = amqp10.RoleReceiver, m.Target.Address, m.Source.Address
			}
			s.attach(m)
			fails := c.fails && (receives || c.replies < dialects.MaxLinkAddress) // the source of a sender to a node is not kept
			if (s.in.Phase != input.Open) != fails || (len(s.links) == 0) != fails {
				t.Errorf("%+v, receives %v: phase %v, %d links", c, receives, s.in.Phase, len(s.links))
			}
		}
	}
}

// A session's links take room of its connection according to what the broker keeps of them; beyond that they are refused, and
// a link that ends makes room.
func TestAttach_Room_PRO21(t *testing.T) {
	s, _ := crowded(1)
	s.cfg.HandleMax = 1000
	objects := budget.NewObjects()
	objects.SetLimit(1)
	s.cfg.Objects = objects.Connection("guest", "/")
	s.attachments.objects = s.cfg.Objects
	attach := func(handle uint32) {
		address := amqp10.Some("q/$management")
		s.attach(&amqp10.Attach{
			Name: fmt.Sprint(handle), Handle: handle, Role: amqp10.RoleReceiver, Target: &amqp10.Target{Address: address},
			Source: &amqp10.Source{Address: address}, Properties: amqp10.Map{{Key: amqp10.Symbol("k"), Value: strings.Repeat("x", 1_000_000)}},
		})
		s.attachments.count(s.links, s.in.Waits())
	}
	for handle := range uint32(16) {
		attach(handle)
	}
	if held := s.cfg.Objects.Held(); len(s.links) != 16 || held < 16_000_000 {
		t.Fatalf("%d links, %d bytes, %+v", len(s.links), held, s.links[0])
	}
	s.detach(&amqp10.Detach{Handle: 3, Closed: true})
	attach(3)
	if len(s.links) != 16 || s.in.Phase != input.Open {
		t.Fatalf("%d links, phase %v", len(s.links), s.in.Phase)
	}
	attach(16)
	if s.in.Phase == input.Open && s.links[16] != nil && !s.links[16].closing {
		t.Errorf("%d links, %d bytes", len(s.links), s.cfg.Objects.Held())
	}
	s.leaveQueues()
	s.attachments.count(s.links, s.in.Waits())
	if held := s.cfg.Objects.Held(); held != 0 {
		t.Errorf("%d bytes are left", held)
	}
}
