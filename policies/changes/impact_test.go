package changes

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/policies"
	"candlemark/protocol"
)

func parsed(t *testing.T, name, body string, operator bool) *policies.Policy {
	t.Helper()
	p, err := policies.Parse("/", name, operator, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestImpact asserts which objects are affected, which policies no longer apply to them, and how each key changes.
func TestImpact(t *testing.T) {
	before := policies.NewSet("/").
		With(parsed(t, "low", `{"pattern":"^q","definition":{"message-ttl":50,"expires":900}}`, false)).
		With(parsed(t, "cap", `{"pattern":".","definition":{"max-length":7}}`, true))
	after := before.With(parsed(t, "high", `{"pattern":"^q","definition":{"message-ttl":40,"max-length":9,"overflow":"reject-publish"},"priority":2}`, false))
	args := protocol.Table{{Key: "x-message-ttl", Value: int32(30)}}
	var p Preview
	for _, o := range []policies.Object{
		policies.QueueObject("q1", nil), policies.QueueObject("q2", args), policies.QueueObject("other", nil),
		{Kind: policies.KindExchange, Name: "q"},
	} {
		if i, hit := Of(before, after, &o); hit {
			p.Add(i)
		}
	}
	var got []string
	for _, i := range p.Impacts {
		policy, operator := i.Loses()
		line := fmt.Sprintf("%s loses %q %q:", i.Object.Name, policy, operator)
		for _, s := range i.Settings {
			line += fmt.Sprintf(" %s %v>%v", s.Key, s.Before.Value, s.After.Value)
		}
		got = append(got, line)
	}
	want := []string{
		`q1 loses "low" "": expires 900><nil> message-ttl 50>40 overflow <nil>>reject-publish`,
		`q2 loses "low" "": expires 900><nil> overflow <nil>>reject-publish`,
		`q loses "low" "":`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || p.Queues != 2 || p.Exchanges != 1 {
		t.Errorf("%d %d\n%s", p.Queues, p.Exchanges, strings.Join(got, "\n"))
	}
	if got := fmt.Sprint(p.Loses(), p.Keys()); got != "[{low false 3}] [{expires false 2} {overflow false 2} {message-ttl false 1}]" {
		t.Error(got)
	}
}

// TestClearedOperatorPolicy: the limit is removed, and the user's own value applies again.
func TestClearedOperatorPolicy(t *testing.T) {
	before := policies.NewSet("/").
		With(parsed(t, "p", `{"pattern":"q","definition":{"max-length":9}}`, false)).
		With(parsed(t, "cap", `{"pattern":".","definition":{"max-length":7}}`, true))
	o := policies.QueueObject("q", nil)
	i, hit := Of(before, before.Without(true, "cap"), &o)
	_, operator := i.Loses()
	if !hit || operator != "cap" || fmt.Sprintf("%v %v %v", i.Settings[0].Before.Value, i.Settings[0].Before.Source, i.Settings[0].After.Value) != "7 operator policy 9" {
		t.Errorf("%+v", i)
	}
}

// TestPreviewIsBounded: all affected objects are counted, but only MaxListed are listed.
func TestPreviewIsBounded(t *testing.T) {
	before, after := policies.NewSet("/"), policies.NewSet("/").With(parsed(t, "p", `{"pattern":".","definition":{"max-length":9}}`, false))
	var p Preview
	for n := range 3 * MaxListed {
		o := policies.QueueObject(fmt.Sprint("q", n), nil)
		i, _ := Of(before, after, &o)
		if at := p.Add(i); (at < 0) != (n >= MaxListed) {
			t.Fatal(n, at)
		}
	}
	if p.Queues != 3*MaxListed || len(p.Impacts) != MaxListed || p.Keys()[0].Objects != 3*MaxListed {
		t.Errorf("%d %d", p.Queues, len(p.Impacts))
	}
}

// TestMessagesAddUp: the earliest new deadline is kept, and the sum is inexact if one queue's numbers are.
func TestMessagesAddUp(t *testing.T) {
	m := Messages{Retimed: 1, Earliest: 9}
	m.Add(Messages{Retimed: 2, Expiring: 3, Dropped: 4})
	m.Add(Messages{AtMost: true, Earliest: 5})
	if m != (Messages{Retimed: 3, Expiring: 3, Dropped: 4, AtMost: true, Earliest: 5}) {
		t.Errorf("%+v", m)
	}
	m = Messages{}
	m.Retime(0, false, true)
	m.Retime(7, true, true)
	m.Retime(9, false, false)
	other := Messages{}
	other.Retime(8, false, true)
	m.Add(other)
	if m != (Messages{Retimed: 4, Restored: 3, Earliest: 7, Undoable: 3, UndoableUntil: 8}) {
		t.Errorf("%+v", m)
	}
}
