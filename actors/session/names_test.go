package session

import (
	"strings"
	"testing"

	"candlemark/actors/session/entities"
	"candlemark/protocol/amqp10"
)

// The broker keeps the name and the addresses of each link, so their lengths are limited.
func TestAttach_LongNames(t *testing.T) {
	for _, c := range []struct {
		name, address, replies int
		fails                  bool
	}{
		{entities.MaxLinkName, 10, 10, false}, {entities.MaxLinkName + 1, 10, 10, true}, {10, entities.MaxLinkAddress + 1, 10, true}, {10, 10, entities.MaxLinkAddress + 1, true},
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
			fails := c.fails && (receives || c.replies < entities.MaxLinkAddress) // the source of a sender to a node is not kept
			if (s.phase != open) != fails || (len(s.links) == 0) != fails {
				t.Errorf("%+v, receives %v: phase %v, %d links", c, receives, s.phase, len(s.links))
			}
		}
	}
}
