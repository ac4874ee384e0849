package policy

import (
	"candlemark/internal/transport/budget"
	"candlemark/policies"
)

// Policies are objects of their virtual host (PRO-21): it is not known who has set them.

func memoryOf(set *policies.Policies) (bytes int64) {
	for _, operator := range []bool{false, true} {
		for _, p := range set.Policies(operator) {
			bytes += budget.PricePolicy + p.Memory()
		}
	}
	return bytes
}

// room returns why a virtual host has no room for a set of policies, nil if it has.
func (s *state) room(vhost string, set *policies.Policies) error {
	more := memoryOf(set)
	if v := s.vhosts[vhost]; v != nil {
		more -= v.held
	}
	if more <= 0 {
		return nil
	}
	if err := s.objects.Definitions("", vhost).Notes().Room(more); err != nil {
		return &policies.ValidationError{Text: err.Error()}
	}
	return nil
}

// hold counts the policies of a virtual host.
func (s *state) hold(name string, v *vhost) {
	now := memoryOf(v.set)
	s.objects.Definitions("", name).Hold(now - v.held)
	v.held = now
}

// release counts no policies any more: the actor ends.
func (s *state) release() {
	for name, v := range s.vhosts {
		s.objects.Definitions("", name).Hold(-v.held)
		v.held = 0
	}
}
