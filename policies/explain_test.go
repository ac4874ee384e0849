package policies

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"candlemark/policies/retry"
	"candlemark/protocol"
)

// TestExplain asserts for each policy why it applies or does not.
func TestExplain(t *testing.T) {
	s := setOf(
		parsed(t, "a", "^orders", `{"message-ttl":60}`, `"priority":1`),
		parsed(t, "b", "^orders", `{"message-ttl":50}`, `"priority":1`),
		parsed(t, "low", "", `{"expires":5}`),
		parsed(t, "quorum", "^orders", `{"delivery-limit":5}`, `"priority":9`),
		parsed(t, "exchanges", "^orders", `{"alternate-exchange":"ae"}`, `"priority":9`, `"apply-to":"exchanges"`),
		parsed(t, "other", "^bills", `{"expires":5}`),
		operator(t, "cap", ".", `{"message-ttl":40,"max-length":7}`),
	)
	o := QueueObject("orders", table("x-message-ttl", int32(55), "x-max-length", int32(3), "x-queue-mode", "lazy", "x-max-priority", int32(4)))
	x := s.Explain(&o)
	var got []string
	for _, c := range x.Candidates {
		got = append(got, fmt.Sprintf("%s %t: %s", c.Policy.Name, c.Applies, c.Why))
	}
	want := []string{
		"exchanges false: it applies only to exchanges",
		"quorum false: it is skipped as a whole: this queue type does not support delivery-limit",
		"a true: its pattern matches, and no other matching policy takes precedence",
		"b false: 'a' has the same priority and comes first by name",
		"low false: 'a' has a higher priority, 1",
		"cap true: its pattern matches, and no other matching policy takes precedence",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || x.Unmatched != 1 || x.Others != 0 || x.Effective.Policy != "a" {
		t.Errorf("%d unmatched\n%s", x.Unmatched, strings.Join(got, "\n"))
	}
	settings := ""
	for _, e := range x.Settings {
		settings += fmt.Sprintf("%s %v/%v/%v: %v by %s %s\n", e.Key, e.Argument, e.Policy, e.Operator, e.Value, e.Source, e.Note)
	}
	if settings != `max-length 3/<nil>/7: 3 by argument 
max-priority 4/<nil>/<nil>: 4 by argument 
message-ttl 55/60/40: 40 by operator policy 
queue-mode lazy/<nil>/<nil>: <nil> by  it has no effect here
` {
		t.Error(settings)
	}
}

// TestExplainExchange asserts the effective settings of an exchange and of the messages that it holds.
func TestExplainExchange(t *testing.T) {
	s := setOf(
		parsed(t, "p", "x", `{"message-ttl":60,"alternate-exchange":"ae","overdue-messages":"dead-letter","max-length":5}`, `"apply-to":"exchanges"`),
		operator(t, "o", "x", `{"message-ttl":50}`),
	)
	o := Object{Kind: KindExchange, Name: "x", Delayed: true, Arguments: table("alternate-exchange", "mine", "x-release-rate", int32(9))}
	got := ""
	for _, e := range s.Explain(&o).Settings {
		got += fmt.Sprintf("%s: %v by %s %s\n", e.Key, e.Value, e.Source, e.Note)
	}
	if got != `alternate-exchange: mine by argument 
max-length: <nil> by  it has no effect here
message-ttl: 60 by policy 
overdue-messages: dead-letter by policy it is treated as deliver: an exchange does not dead-letter
release-rate: 9 by argument 
` {
		t.Error(got)
	}
}

// TestExplainedDeadLetterQueue: a policy for a queue does not apply to its dead-letter queue.
func TestExplainedDeadLetterQueue(t *testing.T) {
	s := setOf(parsed(t, "p", "^q", `{"max-length":5}`, `"priority":3`), parsed(t, "d", "dlq$", `{"max-length":6}`))
	o := QueueObject("q.dlq", DeadLetterQueueArguments("q"))
	x := s.Explain(&o)
	if x.Effective.Policy != "d" || x.Candidates[0].Why != "it applies to the queue whose dead letters are in this one" {
		t.Errorf("%+v", x)
	}
}

// TestExplanationIsBounded: at most MaxCandidates candidates are listed; the others are counted.
func TestExplanationIsBounded(t *testing.T) {
	s := NewSet("/")
	for i := range MaxCandidates + 7 {
		s = s.With(parsed(t, fmt.Sprint("p", i), ".", `{"expires":5}`))
	}
	o := QueueObject("q", nil)
	if x := s.Explain(&o); len(x.Candidates) != MaxCandidates || x.Others != 7 {
		t.Errorf("%d and %d", len(x.Candidates), x.Others)
	}
}

// TestSettingsAreThoseExplained: the effective values of an explanation, given as arguments without policies, yield the same settings.
func TestSettingsAreThoseExplained(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	values := map[string][]any{
		keyOverflow: {overflowDropHead, overflowReject, overflowRejectDLX}, keyDeadLetterStrategy: {strategyLeastOnce, strategyMostOnce},
		keyExpiryOrder: {expiryOrderEager, expiryOrderStrict}, keyOverdue: {OverdueDeliver, OverdueDrop, OverdueDeadLetter},
		keyRenewedBy: {"publish", "peek"}, keyDeadLetterExchange: {"a", ""}, keyDeadLetterKey: {"k", "l"}, keyForwardTo: {"x", ""},
		keyRetryType: {retry.All, retry.Failed, retry.Returned, retry.Disabled}, keyRetryLadder: {"1s,2s", "7"}, keyDeliverAt: {"h", "i"}, keyExpiresAt: {"h", "i"}, "queue-mode": {"lazy"},
	}
	number := func() int64 { return []int64{0, 1, 2, 3, 50, 1 << 60}[random.IntN(6)] }
	draw := func(key string) any {
		switch {
		case values[key] != nil:
			return values[key][random.IntN(len(values[key]))]
		case byName[key].policy.valid != nil && byName[key].policy.valid(true):
			return random.IntN(2) == 0
		case key == keyDeliveryLimit:
			return number() - 1
		}
		return max(number(), 1)
	}
	for range 5000 {
		args := table("x-queue-type", []string{"classic", "quorum"}[random.IntN(2)])
		definitions := [2]Definition{}
		for _, k := range allKeys {
			key := k.name
			if k.wins == nobody {
				continue
			}
			if random.IntN(3) == 0 {
				args = append(args, protocol.Field{Key: "x-" + key, Value: draw(key)})
			}
			for i := range definitions {
				if k.policy.valid != nil && random.IntN(3) == 0 && (i == 0 || k.policy.operator != nil) {
					definitions[i] = append(definitions[i], Entry{key, asJSON(draw(key))})
				}
			}
		}
		set := NewSet("/")
		for i, d := range definitions {
			text := fmt.Sprintf(`{"pattern":"q","definition":%s}`, d)
			if p, err := Parse("/", "p", i == 1, []byte(text)); err == nil {
				set = set.With(p)
			}
		}
		o := QueueObject("q", args)
		e := set.EffectiveFor(&o)
		effective := table("x-queue-type", args[0].Value)
		for _, s := range o.Settings(e) {
			if s.Value != nil && byName[s.Key].argument.check != nil {
				effective = append(effective, protocol.Field{Key: "x-" + s.Key, Value: asField(s.Value)})
			}
			if (s.Source == FromPolicy) && s.Policy == nil || s.Source == FromOperator && s.Operator == nil || s.Source == FromArgument && s.Argument == nil {
				t.Fatalf("%+v", s)
			}
		}
		want, got := SettingsFor(args, e), SettingsFor(effective, Effective{})
		if got.PausedUntil = want.PausedUntil; want != got { // there is no argument for it
			t.Fatalf("%v %v\nwant %+v\ngot  %+v", args, e.Definition, want, got)
		}
	}
}

func asJSON(v any) any {
	if n, ok := v.(int64); ok {
		return json.Number(fmt.Sprint(n))
	}
	return v
}

func asField(v any) any {
	if n, ok := integer(v); ok {
		return n
	}
	return v
}
