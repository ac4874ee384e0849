package changes

import (
	"fmt"
	"testing"

	"candlemark/policies"
	"candlemark/protocol"
)

// A policy that applies to none of the objects that it matches has a warning with the policies that take precedence.
func TestReach_POL1(t *testing.T) {
	parse := func(name, body string, operator bool) *policies.Policy {
		t.Helper()
		p, err := policies.Parse("/", name, operator, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	set := policies.NewSet("/")
	for i := range 5 {
		set = set.With(parse(fmt.Sprint("high", i), fmt.Sprintf(`{"pattern":"^q%d","definition":{"max-length":1},"priority":5}`, i), false))
	}
	var objects []policies.Object
	for i := range 10 {
		objects = append(objects, policies.QueueObject(fmt.Sprintf("q%d", i), nil))
	}
	objects = append(objects, policies.Object{Kind: policies.KindExchange, Name: "q0"}, policies.QueueObject("q0.dead", protocol.Table{{Key: "x-queue-type", Value: "quorum"}}))
	for body, want := range map[string]string{
		`{"pattern":"^q","definition":{"max-length":9}}`:                              "",
		`{"pattern":"^q0","definition":{"max-length":9}}`:                             "matches 2 queues and 1 exchange, applies to none; shadowed by 'high0'",
		`{"pattern":"^q3$","definition":{"max-length":9},"apply-to":"queues"}`:        "matches 1 queue, applies to none; shadowed by 'high3'",
		`{"pattern":"^q[0-4]$","definition":{"max-length":9},"apply-to":"queues"}`:    "matches 5 queues, applies to none; shadowed by 'high0', 'high1', 'high2', 2 more",
		`{"pattern":"^q[0-4]$","definition":{"max-length":9},"priority":6}`:           "",
		`{"pattern":"^none","definition":{"max-length":9}}`:                           "",
		`{"pattern":"^q0$","definition":{"max-length":9},"apply-to":"quorum_queues"}`: "",
	} {
		p := parse("low", body, false)
		after, reach := set.With(p), Reach{}
		for i := range objects {
			reach.Add(p, &objects[i], after.EffectiveFor(&objects[i]))
		}
		if got := reach.Warning(); got != want {
			t.Errorf("%s: %q", body, got)
		}
		operator := parse("roof", body, true) // no user policy shadows an operator policy
		after, reach = set.With(operator), Reach{}
		for i := range objects {
			reach.Add(operator, &objects[i], after.EffectiveFor(&objects[i]))
		}
		if got := reach.Warning(); got != "" {
			t.Errorf("operator policy %s: %q", body, got)
		}
	}
}
