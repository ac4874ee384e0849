package policies

import (
	"strings"
	"testing"
)

func setOf(list ...*Policy) *Policies {
	s := NewSet("/")
	for _, p := range list {
		s = s.With(p)
	}
	return s
}

func names(list []*Policy) string {
	var all []string
	for _, p := range list {
		all = append(all, p.Name)
	}
	return strings.Join(all, " ")
}

func TestMatch(t *testing.T) {
	s := setOf(
		parsed(t, "low", "^q", `{"max-length":2}`, `"priority":1`),
		parsed(t, "high", "^q", `{"max-length":1}`, `"priority":9`),
		parsed(t, "limit", "^quorum", `{"max-length":1,"delivery-limit":3}`, `"priority":12`),
		parsed(t, "lazy", "^lazy", `{"queue-mode":"lazy"}`, `"priority":20`),
		parsed(t, "rest", "", `{"max-length":7}`, `"priority":-1`),
		parsed(t, "float", "^f", `{"expires":5}`, `"priority":0.5`),
		parsed(t, "b", "^tie", `{"expires":5}`, `"priority":4`),
		parsed(t, "a", "^tie", `{"expires":6}`, `"priority":4.0`),
		parsed(t, "ae", "^x", `{"alternate-exchange":"ae"}`, `"apply-to":"exchanges"`),
		parsed(t, "aequeue", "^x", `{"max-length":7}`, `"apply-to":"queues"`, `"priority":100`),
		operator(t, "op", "^q", `{"max-length":5}`, `"apply-to":"quorum_queues"`),
		operator(t, "opclassic", "^q1", `{"max-length":5}`, `"apply-to":"classic_queues"`),
	)
	tests := []struct {
		name           string
		kind           Kind
		object         string
		user, operator string
	}{
		{"POL-1 highest priority", KindClassicQueue, "q1", "high", "opclassic"},
		{"POL-1 nothing else matches", KindClassicQueue, "other", "rest", ""},
		{"POL-1 float priority", KindClassicQueue, "f1", "float", ""},
		{"POL-1 equal priority: by name", KindClassicQueue, "tie", "a", ""},
		{"POL-4 a key that classic queues lack", KindClassicQueue, "quorum-1", "high", ""},
		{"POL-4 the same key on a quorum queue", KindQuorumQueue, "quorum-1", "limit", "op"},
		{"POL-4 a key that quorum queues lack", KindQuorumQueue, "lazy", "rest", ""},
		{"POL-4 the same key on a classic queue", KindClassicQueue, "lazy", "lazy", ""},
		{"POL-4 streams lack most", KindStream, "q1", "", ""},
		{"POL-3 exchanges", KindExchange, "x1", "ae", ""},
		{"POL-3 all covers exchanges", KindExchange, "q1", "high", ""},
		{"POL-3 queues", KindQuorumQueue, "x1", "aequeue", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := s.Effective(test.kind, test.object)
			if e.Policy != test.user || e.OperatorPolicy != test.operator {
				t.Errorf("%q %q, want %q %q", e.Policy, e.OperatorPolicy, test.user, test.operator)
			}
		})
	}
	if got := names(s.Policies(false)); got != "rest ae float low a b high limit lazy aequeue" {
		t.Errorf("POL-13 order %s", got)
	}
}

func TestSetIsImmutable(t *testing.T) {
	empty := NewSet("/")
	one := empty.With(parsed(t, "p", "a", `{"expires":1}`))
	two := one.With(parsed(t, "p", "b", `{"expires":1}`)).With(operator(t, "p", "c", `{"expires":1}`))
	none := two.Without(false, "p").Without(true, "p")
	if empty.Version != 0 || one.Version != 1 || two.Version != 3 || none.Version != 5 {
		t.Error("POL-9 versions", empty.Version, one.Version, two.Version, none.Version)
	}
	if empty.Lookup(false, "p") != nil || one.Lookup(false, "p").Pattern != "a" || two.Lookup(false, "p").Pattern != "b" ||
		two.Lookup(true, "p").Pattern != "c" || none.Lookup(true, "p") != nil || len(two.Policies(false)) != 1 {
		t.Error("POL-1 a change shows in an older set")
	}
	if one.With(parsed(t, "p", "a", `{ "expires" : 1 }`)) != one || one.Without(false, "q") != one || one.Without(true, "p") != one {
		t.Error("POL-9 an identical value changed something")
	}
	if one.With(parsed(t, "p", "a", `{"expires":1}`, `"priority":1`)) == one {
		t.Error("POL-9 another priority changed nothing")
	}
}

func TestSame(t *testing.T) {
	s := setOf(parsed(t, "p", "^q", `{"expires":1}`), parsed(t, "other", "^z", `{"expires":1}`))
	before := s.Effective(KindClassicQueue, "q")
	after := s.With(parsed(t, "other", "^z", `{"expires":2}`))
	if !after.Effective(KindClassicQueue, "q").Same(before) {
		t.Error("POL-9: reported as changed although its policy did not change")
	}
	if after.Effective(KindClassicQueue, "q").Version == before.Version {
		t.Error("POL-9 version")
	}
	for name, changed := range map[string]*Policies{
		"priority": s.With(parsed(t, "p", "^q", `{"expires":1}`, `"priority":1`)),
		"pattern":  s.With(parsed(t, "p", "^q.*", `{"expires":1}`)),
		"operator": s.With(operator(t, "op", "^q", `{"expires":9}`)),
		"cleared":  s.Without(false, "p"),
		"same name in the other store": s.Without(false, "p").
			With(operator(t, "p", "^q", `{"expires":1}`)),
	} {
		if changed.Effective(KindClassicQueue, "q").Same(before) {
			t.Error("POL-9: not reported as changed:", name)
		}
	}
	if !(Effective{}).Same(NewSet("/").Effective(KindExchange, "x")) {
		t.Error("POL-9 an object without policies")
	}
}

func TestMerge(t *testing.T) {
	tests := []struct{ name, user, operator, want string }{
		{"POL-7 numbers: lower", `{"expires":5,"max-length":1}`, `{"expires":4,"max-length":2}`, `{"expires":4,"max-length":1}`},
		{
			"POL-7 numbers beyond 64 bits", `{"max-length":99999999999999999999}`, `{"max-length":99999999999999999998}`,
			`{"max-length":99999999999999999998}`,
		},
		{"POL-7 one of them", `{"dead-letter-exchange":"d"}`, `{"message-ttl":1}`, `{"dead-letter-exchange":"d","message-ttl":1}`},
		{"POL-7 delivery-limit", `{"delivery-limit":5}`, `{"delivery-limit":3}`, `{"delivery-limit":3}`},
		{"POL-7 delivery-limit unlimited by user", `{"delivery-limit":-1}`, `{"delivery-limit":3}`, `{"delivery-limit":3}`},
		{"POL-7 delivery-limit unlimited by operator", `{"delivery-limit":5}`, `{"delivery-limit":-1}`, `{"delivery-limit":5}`},
		{"POL-7 overflow: operator", `{"overflow":"drop-head"}`, `{"overflow":"reject-publish"}`, `{"overflow":"reject-publish"}`},
		{"POL-7 queue-version: operator", `{"queue-version":1}`, `{"queue-version":2}`, `{"queue-version":2}`},
		{"POL-7 target-group-size: higher", `{"target-group-size":5}`, `{"target-group-size":3}`, `{"target-group-size":5}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := setOf(parsed(t, "p", "", test.user), operator(t, "o", "", test.operator))
			if got := s.Effective(KindQuorumQueue, "q").Definition.String(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
	if got := NewSet("/").Effective(KindClassicQueue, "q").Definition.String(); got != "{}" {
		t.Errorf("POL-11 without policies %s", got)
	}
}
