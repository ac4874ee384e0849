package policies

import (
	"encoding/json"
	"slices"
	"strconv"

	"candlemark/protocol"
)

// Source is the origin of a setting's value.
type Source string

// The sources.
const (
	FromArgument Source = "argument"
	FromPolicy   Source = "policy"
	FromOperator Source = "operator policy"
)

// Setting is one key of an object with its values and the result. Values are JSON values (see Definition), or nil if
// there is none.
type Setting struct {
	Key                        string
	Argument, Policy, Operator any // the value of each
	// Value is the effective value, from Source; nil and "" without one.
	Value  any
	Source Source
	Note   string // additional information
}

// Settings returns for each key of the arguments or the policies which source SettingsFor, or ExchangeSettingsFor,
// uses.
func (o *Object) Settings(e Effective) (list []Setting) {
	for _, key := range explained {
		s := Setting{Key: key, Argument: o.argument(key)}
		if e.user != nil {
			s.Policy, _ = e.user.Definition.Get(key)
		}
		if e.operator != nil {
			s.Operator, _ = e.operator.Definition.Get(key)
		}
		if s.Argument == nil && s.Policy == nil && s.Operator == nil {
			continue
		}
		if o.Kind == KindExchange {
			s.decideExchange(o, e)
		} else {
			s.decideQueue(o, e)
		}
		list = append(list, s)
	}
	return list
}

// explained are the names of the keys that policies can set or that have an effect on queues, in byte order.
var explained = func() (names []string) {
	for i := range allKeys {
		if k := &allKeys[i]; k.policy.valid != nil || k.wins != nobody {
			names = append(names, k.name)
		}
	}
	slices.Sort(names)
	return names
}()

const changesNothing = "it has no effect here"

func (s *Setting) decideQueue(o *Object, e Effective) {
	merged, _ := e.Definition.Get(s.Key)
	k := byName[s.Key]
	how, argument := k.wins, s.Argument
	quorum := o.Kind == KindQuorumQueue
	switch {
	case !quorum && s.Key == keyDeliveryLimit && SettingsFor(o.Arguments, e).Retry.On():
	case !quorum && k.argument.on == onQuorum:
		how = nobody
	case isLadderStep(s.Key) && SettingsFor(o.Arguments, e).Retry.Ladder != "":
		s.Note = "the queue has a " + keyRetryLadder
		return
	case s.Key == keyConsumerTimeout:
		argument, merged = unlessZero(argument), unlessZero(merged)
		if argument == nil && merged == nil {
			s.Note = "0 means: not set"
			return
		}
	case s.Key == keyOverflow && quorum && merged != nil:
		argument = nil // the policy decides there (DL-7)
	}
	s.decide(how, argument, merged)
	switch {
	case quorum && s.Key == keyOverflow && s.Value == overflowRejectDLX:
		s.Note = "it is treated as " + overflowDropHead + " in a quorum queue"
	case s.Key == keyDeadLetterStrategy && s.Value == strategyLeastOnce && !SettingsFor(o.Arguments, e).DeadLetterAtLeastOnce:
		s.Note = "it requires a dead-letter exchange and overflow " + overflowReject
	case s.Key == keyDeathQueue && s.Value == true && !SettingsFor(o.Arguments, e).Routed(o.Name).DeadLetterQueue:
		s.Note = "the queue has no dead-letter queue: its dead letters go elsewhere, or the name would not be valid"
	}
}

func (s *Setting) decideExchange(o *Object, e Effective) {
	merged, _ := e.Definition.Get(s.Key)
	switch {
	case s.Key == keyAlternateExchange, s.Key == keyOverdue && o.Delayed:
		s.decide(argumentWins, s.Argument, merged)
	case s.Key == keyReleaseRate && o.Delayed:
		s.decide(lowestWins, s.Argument, merged)
	case s.Key == keyMessageTTL:
		s.decideCap(e)
	default:
		s.Note = changesNothing
	}
	if s.Key == keyOverdue && s.Value == OverdueDeadLetter {
		s.Note = "it is treated as " + OverdueDeliver + ": an exchange does not dead-letter"
	}
}

// decideCap decides the TTL cap of an exchange: only policies for exchanges alone count.
func (s *Setting) decideCap(e Effective) {
	for _, p := range [...]*Policy{e.user, e.operator} {
		if p == nil || p.covers != onExch {
			continue
		}
		v, has := p.Definition.Get(keyMessageTTL)
		if has && (s.Value == nil || compareNumbers(v.(json.Number), s.Value.(json.Number)) < 0) {
			s.Value, s.Source = v, FromPolicy
			if p.Operator {
				s.Source = FromOperator
			}
		}
	}
	if s.Value == nil {
		s.Note = "it applies to exchanges only in a policy with apply-to exchanges"
	}
}

// decide chooses between an argument and the merged value of the policies.
func (s *Setting) decide(how choice, argument, merged any) {
	switch {
	case how == nobody:
		s.Note = changesNothing
	case argument == nil && merged == nil:
	case merged == nil, argument != nil && how == argumentWins, argument != nil && how == lowestWins && s.lower(argument, merged):
		s.Value, s.Source = argument, FromArgument
	default:
		s.Value, s.Source = merged, FromOperator
		if s.Policy != nil && EqualValues(s.Policy, merged) {
			s.Source = FromPolicy
		}
	}
}

// lower reports whether a numeric argument takes precedence over the policy, as the lower limit.
func (s *Setting) lower(argument, merged any) bool {
	a, _ := integer(argument)
	p, _ := integer(merged)
	if s.Key == keyDeliveryLimit && (a < 0 || p < 0) { // negative is unlimited
		return a >= p
	}
	return a <= p
}

func unlessZero(v any) any {
	if n, ok := integer(v); ok && n == 0 {
		return nil
	}
	return v
}

// argument returns the object's own value for a key, as JSON; nil if it has none, or one of a wrong type.
func (o *Object) argument(key string) any {
	name := "x-" + key
	if key == keyAlternateExchange {
		if name = key; o.Kind != KindExchange {
			return nil
		}
	}
	v, _ := o.Arguments.Get(name)
	switch v := v.(type) {
	case string, bool:
		return v
	}
	if n, ok := protocol.Int64(v); ok {
		return json.Number(strconv.FormatInt(n, 10))
	}
	return nil
}
