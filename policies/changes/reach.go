package changes

import (
	"fmt"
	"strings"

	"candlemark/policies"
)

// Reach counts the objects that a policy matches, and those to which it applies, because no other policy takes
// precedence there. The zero value is that of no objects.
type Reach struct {
	Queues, Exchanges int // that it matches
	Applies           int // queues and exchanges
	shadows           map[Count]int
}

// Add adds an object with its effective policies.
func (r *Reach) Add(p *policies.Policy, o *policies.Object, e policies.Effective) {
	meets, applies := p.Meets(o, e)
	switch {
	case !meets:
		return
	case o.Kind == policies.KindExchange:
		r.Exchanges++
	default:
		r.Queues++
	}
	switch {
	case applies == nil: // matching another pattern timed out
	case applies.Name == p.Name:
		r.Applies++
	default:
		if r.shadows == nil {
			r.shadows = map[Count]int{}
		}
		r.shadows[Count{Name: applies.Name, Operator: p.Operator}]++
	}
}

// ShadowedBy returns the policies that take precedence, most frequent first.
func (r *Reach) ShadowedBy() []Count { return sorted(r.shadows) }

// Warning says that a policy matches objects and applies to none of them; "" if it applies to one, or matches none.
func (r *Reach) Warning() string {
	if r.Applies > 0 || len(r.shadows) == 0 {
		return ""
	}
	var matches []string
	for _, of := range []struct {
		n    int
		what string
	}{{r.Queues, "queue"}, {r.Exchanges, "exchange"}} {
		switch of.n {
		case 0:
		case 1:
			matches = append(matches, "1 "+of.what)
		default:
			matches = append(matches, fmt.Sprintf("%d %ss", of.n, of.what))
		}
	}
	const named = 3
	var by []string
	for i, c := range r.ShadowedBy() {
		if i == named {
			by = append(by, fmt.Sprintf("%d more", len(r.shadows)-named))
			break
		}
		by = append(by, "'"+c.Name+"'")
	}
	return fmt.Sprintf("matches %s, applies to none; shadowed by %s", strings.Join(matches, " and "), strings.Join(by, ", "))
}
