package policies

import (
	"fmt"
	"slices"

	"candlemark/protocol"
)

// Object has the properties of a queue or an exchange that matter to policies.
type Object struct {
	Kind      Kind
	Name      string
	Arguments protocol.Table // of its declaration; of a queue, with x-queue-type
	Delayed   bool           // an exchange that holds messages until they are due
}

// QueueObject returns the object of a queue with that name and arguments.
func QueueObject(name string, args protocol.Table) Object {
	return Object{Kind: KindOf(args), Name: name, Arguments: args}
}

// NotBy returns the names whose user policies do not apply to the object: a dead-letter queue that the broker made has
// its own policies, not its queue's.
func (o *Object) NotBy() []string {
	if o.Kind != KindExchange && IsDeadLetterQueue(o.Name, o.Arguments) {
		return []string{DeadLettersFrom(o.Arguments)}
	}
	return nil
}

// EffectiveFor is Effective for an object.
func (s *Policies) EffectiveFor(o *Object) Effective {
	return s.Effective(o.Kind, o.Name, o.NotBy()...)
}

// Explanation explains which policies apply to an object.
type Explanation struct {
	Effective Effective
	// Candidates are the policies whose pattern matches or might, user policies first, in the order in which they are
	// tried, at most MaxCandidates; there are Others.
	Candidates []Candidate
	Others     int
	Unmatched  int // policies whose pattern does not match
	Settings   []Setting
}

// MaxCandidates is the maximum number of candidates in an explanation.
const MaxCandidates = 100

// Candidate is a policy that might apply.
type Candidate struct {
	Policy  *Policy
	Applies bool
	Why     string // or why not
}

// Explain explains which policies apply to an object, and why others do not.
func (s *Policies) Explain(o *Object) Explanation {
	x := Explanation{Effective: s.EffectiveFor(o)}
	for i, winner := range [2]*Policy{x.Effective.user, x.Effective.operator} {
		for _, p := range s.stores[i] {
			c := Candidate{Policy: p, Applies: p == winner}
			if c.Why = s.verdict(p, winner, o); c.Why == "" {
				x.Unmatched++
				continue
			}
			if len(x.Candidates) == MaxCandidates {
				x.Others++
				continue
			}
			x.Candidates = append(x.Candidates, c)
		}
	}
	x.Settings = o.Settings(x.Effective)
	return x
}

// Meets reports whether a policy would apply to an object if it were the only one, and returns the policy of its sort that
// does apply, nil for none. e is EffectiveFor of the object, by a set with the policy.
func (p *Policy) Meets(o *Object, e Effective) (meets bool, applies *Policy) {
	if applies = e.user; p.Operator {
		applies = e.operator
	}
	if !appliesTo[p.ApplyTo].has(o.Kind) || !p.covers.has(o.Kind) {
		return false, applies
	}
	found, decided := p.pattern.Search(o.Name)
	return (found || p.Operator && !decided) && (p.Operator || !slices.ContainsFunc(o.NotBy(), p.pattern.Match)), applies
}

// verdict returns the reason why p applies, or does not; "" for a pattern that does not match.
func (s *Policies) verdict(p, winner *Policy, o *Object) string {
	found, decided := p.pattern.Search(o.Name)
	switch {
	case decided && !found:
		return ""
	case !appliesTo[p.ApplyTo].has(o.Kind):
		return fmt.Sprintf("it applies only to %s", p.ApplyTo)
	case !p.covers.has(o.Kind):
		return "it is skipped as a whole: this queue type does not support " + p.foreignKey(o.Kind)
	case p == winner && !decided:
		return "matching its pattern takes too many steps, in which case an operator policy applies"
	case p == winner:
		return "its pattern matches, and no other matching policy takes precedence"
	case !decided:
		return "matching its pattern takes too many steps"
	case !p.Operator && slices.ContainsFunc(o.NotBy(), p.pattern.Match):
		return "it applies to the queue whose dead letters are in this one"
	case winner == nil, compareOrder(p, winner) < 0: // see Match
		return "it was not tried: matching the pattern of another policy takes too many steps"
	case compareNumbers(winner.Priority, p.Priority) > 0:
		return fmt.Sprintf("'%s' has a higher priority, %s", winner.Name, winner.Priority)
	}
	return fmt.Sprintf("'%s' has the same priority and comes first by name", winner.Name)
}

// foreignKey returns a key of the policy that objects of this kind do not support.
func (p *Policy) foreignKey(kind Kind) string {
	for _, e := range p.Definition {
		if p.Definition.unsupported(e.Key).has(kind) {
			return e.Key
		}
	}
	return ""
}
