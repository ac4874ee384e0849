package topology

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"candlemark/internal/routing/filter"
	"candlemark/protocol"
)

func TestRules_SBR1(t *testing.T) {
	p := protocol.Properties{Flags: protocol.FlagType | protocol.FlagMessageID, Type: "order", MessageID: "m1"}
	sent := table("color", "red", "quantity", int32(10))
	for name, test := range map[string]struct {
		args protocol.Table
		want bool
	}{
		"nothing is true":                {nil, true},
		"true":                           {table("x-rule-filter", "true"), true},
		"false":                          {table("x-rule-filter", "false"), false},
		"a property":                     {table("color", "red"), true},
		"one of another value":           {table("color", "blue"), false},
		"one that is missing":            {table("size", "large"), false},
		"a number of another width":      {table("quantity", int64(10)), true},
		"a field":                        {table("x-rule-label", "order"), true},
		"a field of another value":       {table("x-rule-label", "color"), false},
		"a field that is missing":        {table("x-rule-to", "order"), false},
		"all that is asked for":          {table("x-rule-label", "order", "x-rule-message-id", "m1", "color", "red", "quantity", int32(10)), true},
		"all but one":                    {table("x-rule-label", "order", "x-rule-message-id", "m2", "color", "red"), false},
		"an expression":                  {table("x-rule-sql", "sys.Label = 'order' AND quantity > 5"), true},
		"one that is false":              {table("x-rule-sql", "quantity > 50"), false},
		"one that is unknown":            {table("x-rule-sql", "size > 5"), false},
		"other arguments are of no rule": {table("x-other", int32(1)), true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.router.Properties = func() (protocol.Properties, []byte, int) { return p, nil, 0 }
			x := h.exchange("x", filter.ExchangeType)
			h.bind(x, "q", "rule", test.args)
			if got := len(h.route(x, "", sent)) == 1; got != test.want {
				t.Errorf("matched: %v", got)
			}
			r, ok := x.Routes().Without(Binding{Destination: "q", RoutingKey: "rule", Arguments: test.args})
			m := r.matcher.(*rules)
			if !ok || m.correlated.conditional() || m.correlated.always.len()+m.correlated.names+m.sql.len() != 0 {
				t.Errorf("after unbinding: ok %v, left %+v", ok, m)
			}
		})
	}
}

// A message that several rules of a queue select is routed to it once.
func TestRulesOfOneQueue_SBR1(t *testing.T) {
	h := newFixture(t)
	x := h.exchange("x", filter.ExchangeType)
	for i, args := range []protocol.Table{nil, table("color", "red"), table("x-rule-sql", "color LIKE 'r%'"), table("x-rule-sql", "1=1")} {
		h.bind(x, "q", fmt.Sprint("rule", i), args)
	}
	h.bind(x, "other", "rule", table("color", "red"))
	if got := h.route(x, "", table("color", "red")); len(got) != 2 {
		t.Errorf("%v", got)
	}
	if h.router.Steady() {
		t.Error("the route is remembered, whatever the next message is")
	}
}

// Rules of a queue without an action yield one copy in all; each rule with an action yields a copy of its own.
func TestRulesWithActions_SBR6(t *testing.T) {
	h := newFixture(t)
	x := h.exchange("x", filter.ExchangeType)
	plain := x.Routes()
	for i, args := range []protocol.Table{
		nil, table("color", "red"), table("x-rule-sql", "1=1"), table("x-rule-action", "SET a = 1"), table("color", "red", "x-rule-action", "SET a = 2"),
		table("x-rule-sql", "color = 'red'", "x-rule-action", "SET a = 1"), table("color", "blue", "x-rule-action", "SET a = 3"), table("x-rule-filter", "false", "x-rule-action", "SET a = 3"),
	} {
		h.bind(x, "q", fmt.Sprint("rule", i), args)
	}
	copies := func() (list []string) {
		for _, q := range h.router.Route(h.directory, x, nil, func() protocol.Table { return table("color", "red") }) {
			name := "none"
			if q.Action != nil {
				name = q.Action.Rule
			}
			if list = append(list, name); q.Name != "q" {
				t.Errorf("%+v", q)
			}
		}
		slices.Sort(list)
		return list
	}
	want := []string{"none", "rule3", "rule4", "rule5"}
	if got := copies(); !slices.Equal(got, want) || h.router.Steady() || h.router.Steps() < 3*100 {
		t.Errorf("%q, steady %v, %d steps", got, h.router.Steady(), h.router.Steps())
	}
	moved := &Queue{Name: "q", Incarnation: 7}
	x.Publish(x.Routes().WithMoved(moved))
	for _, q := range h.router.Route(h.directory, x, nil, func() protocol.Table { return table("color", "red") }) {
		if q.Incarnation != 7 {
			t.Errorf("%+v is not where the queue went", q)
		}
	}
	if got := copies(); !slices.Equal(got, want) {
		t.Errorf("moved: %q", got)
	}
	x.Publish(x.Routes().WithoutDestination("q", false))
	if got, m := copies(), x.Routes().matcher.(*rules); len(got) != 0 || !reflect.DeepEqual(*m, *plain.matcher.(*rules)) && (m.actions != 0 || m.sql.len() != 0 || m.correlated.always.len() != 0) {
		t.Errorf("unbound: %q, %+v", got, m)
	}
}

// The action of each binding has its own ID, which is the same whenever its exchange is created.
func TestActionsHaveIDs_SBR6(t *testing.T) {
	ids := map[string]string{}
	for _, exchange := range []string{"x", "y", "x"} {
		routes, _ := NewRoutes(filter.ExchangeType, nil)
		routes = routes.Of(exchange)
		for key, args := range map[string]protocol.Table{
			"1": table("x-rule-action", "SET a = 1"), "2": table("x-rule-action", "SET a = 1"), "": table("x-rule-action", "SET a = 1", "color", "red"),
		} {
			routes, _ = routes.With(Binding{Destination: "q", RoutingKey: key, Arguments: args}, Target{Queue: &Queue{Name: "q"}})
		}
		h := newFixture(t)
		x := h.exchange(exchange, filter.ExchangeType)
		x.Publish(routes)
		for _, q := range h.router.Route(h.directory, x, nil, func() protocol.Table { return table("color", "red") }) {
			of := exchange + "/" + q.Action.Rule
			if was, known := ids[q.Action.ID]; known && was != of {
				t.Errorf("%s has the id of %s", of, was)
			}
			ids[q.Action.ID] = of
		}
	}
	if len(ids) != 6 {
		t.Errorf("%d ids: %q", len(ids), ids)
	}
}

// Copies count as steps of the route.
func TestActionsAreBounded_SBR6(t *testing.T) {
	h := newFixture(t)
	x := h.exchange("x", filter.ExchangeType)
	for i := range TurnSteps/100 + 1 {
		h.bind(x, "q", fmt.Sprint("rule", i), table("x-rule-action", "SET a = 1"))
	}
	if h.router.Route(h.directory, x, nil, nil); !h.router.Over() {
		t.Errorf("%d copies in %d steps", len(h.router.queues.list), h.router.Steps())
	}
}

// sized makes the router's messages ones with so many bytes of properties.
func (h *fixture) sized(bytes int) {
	h.router.Properties = func() (protocol.Properties, []byte, int) { return protocol.Properties{}, nil, bytes }
}

// costlyQueue returns a queue that counts its rules that are too expensive.
func (h *fixture) costlyQueue(name string) *Queue {
	q := h.queue(name)
	q.Stats = NewVHost("/").NewQueueStats(name)
	return q
}

// copies returns how many copies by actions the last route has for each queue.
func (h *fixture) copies() map[string]int {
	n := map[string]int{}
	for _, q := range h.router.queues.list {
		if q.Action != nil {
			n[q.Name]++
		}
	}
	return n
}

// Copies by actions that are too expensive for a message are not made, at the expense of the subscription that has them,
// and counted there: the publish and other subscriptions are as before.
func TestCopiesOfLargePropertiesAreBounded_SBR6(t *testing.T) {
	h := newFixture(t)
	h.router.pause = func() bool { return true }
	x := h.exchange("x", filter.ExchangeType)
	costly, victim := h.costlyQueue("costly"), h.costlyQueue("victim")
	for i := range 400 {
		h.bind(x, "costly", fmt.Sprint("rule", i), table("x-rule-action", "SET a = 1"))
	}
	h.bind(x, "victim", "z", table("x-rule-action", "SET a = 1"))
	h.bind(x, "plain", "rule", nil)
	front := h.exchange("front", "fanout")
	h.bindExchange(front, x, "")
	for of, want := range map[*Exchange]int{x: actionSteps, front: chainSteps} {
		h.sized(94 << 10)
		was, skipped := costly.Stats.CostlyRules(), x.Skipped()
		h.router.Route(h.directory, of, nil, nil)
		n := h.copies()
		each := 100 + 94<<10/8
		if h.router.Over() || n["costly"] > want/each || n["costly"] < want/each-3 || n["victim"] != 1 || !slices.Contains(h.router.queues.list, h.queue("plain")) {
			t.Errorf("%s: over %v, copies %v", of.Name, h.router.Over(), n)
		}
		if lost := costly.Stats.CostlyRules() - was; lost != uint64(400-n["costly"]) || victim.Stats.CostlyRules() != 0 || x.Skipped() != skipped+1 {
			t.Errorf("%s: %d and %d are counted, %d at the exchange", of.Name, lost, victim.Stats.CostlyRules(), x.Skipped())
		}
		h.sized(10)
		if h.router.Route(h.directory, of, nil, nil); h.router.Over() || h.copies()["costly"] != 400 {
			t.Errorf("a small message pays for the one before it: %v", h.copies())
		}
	}
}

// With many subscriptions, each has its part, and what it leaves is for those that need more.
func TestSubscriptionsShareCopies_SBR6(t *testing.T) {
	h := newFixture(t)
	h.router.pause = func() bool { return true }
	x := h.exchange("x", filter.ExchangeType)
	join := "SET a = 'x'" + strings.Repeat("; SET b = sys.Label", 31)
	for i := range 100 {
		name := fmt.Sprint("costly", i)
		for k := range 3 {
			h.bind(x, name, fmt.Sprint(k), table("x-rule-action", join))
		}
		h.bind(x, fmt.Sprint("victim", i), "1", table("x-rule-action", "REMOVE a"))
	}
	h.sized(40 << 10)
	h.router.Route(h.directory, x, nil, nil)
	n, sum := h.copies(), 0
	for i := range 100 {
		sum += n[fmt.Sprint("costly", i)]
		if n[fmt.Sprint("victim", i)] != 1 {
			t.Errorf("victim%d: %v", i, n)
		}
	}
	if h.router.Over() || sum == 0 || sum > 100 {
		t.Errorf("over %v, %d copies", h.router.Over(), sum)
	}
}

// Actions that make copies large are refused when they are bound: what is created for one small message is bounded.
func TestEnlargedCopiesAreBounded_SBR6(t *testing.T) {
	h := newFixture(t)
	h.router.pause = func() bool { return true }
	x := h.exchange("x", filter.ExchangeType)
	action := "SET a = 'x'" + strings.Repeat("; SET a = a + a", 12) + strings.Repeat("; SET b = a", 19)
	permitted := 0
	for i := range 300 {
		if h.bindIfPermitted(x, Binding{Destination: "q", RoutingKey: fmt.Sprint("rule", i), Arguments: table("x-rule-action", action)}) {
			permitted++
		}
	}
	if h.router.Route(h.directory, x, nil, nil); h.router.Over() || len(h.router.queues.list) != permitted || permitted < 100 || permitted > 150 {
		t.Errorf("%d of %d copies", len(h.router.queues.list), permitted)
	}
	x.Publish(x.Routes().WithoutDestination("q", false))
	if n := x.Routes().matcher.(*rules).actions; n != 0 {
		t.Errorf("%d steps of nothing", n)
	}
}

// The cost of rules counts as steps of the route.
func TestRulesAreBounded_SBR2(t *testing.T) {
	h := newFixture(t)
	x := h.exchange("x", filter.ExchangeType)
	for i := range 1000 {
		h.bind(x, fmt.Sprint("q", i), "rule", table("x-rule-sql", "text LIKE '%a%a%a%b' OR "+strings.Repeat("text = 'x' OR ", 20)+"text = 'y'"))
	}
	if h.route(x, "", table("text", strings.Repeat("a", 2000))); !h.router.Over() || h.router.Steps() > 3*TurnSteps {
		t.Errorf("over %v after %d steps", h.router.Over(), h.router.Steps())
	}
}

// TestCostlyRulesClosePublishersNot_SBR2: a subscriber may bind any number of expensive rules: the route is found, and
// the rules of others match as before.
func TestCostlyRulesClosePublishersNot_SBR2(t *testing.T) {
	for _, rules := range []int{300, 2000} {
		h := newFixture(t)
		x := h.exchange("x", filter.ExchangeType)
		h.bind(x, "victim", "rule", table("x-rule-sql", "color = 'red' AND color LIKE 'r%'"))
		for i := range rules {
			h.bind(x, fmt.Sprint("q", i), "rule", table("x-rule-sql", "'"+strings.Repeat("a", 300)+"' LIKE '%"+strings.Repeat("a", 70)+"b'"))
		}
		h.router.pause = func() bool { return true }
		got := h.route(x, "", table("color", "red"))
		if h.router.Over() || h.router.Steps() > MaxSteps*3/4 || !strings.Contains(fmt.Sprint(got), "victim") {
			t.Errorf("%d rules: over %v after %d steps, to %v", rules, h.router.Over(), h.router.Steps(), got)
		}
	}
}

// TestFailedRulesReachTheirQueue_SBR7: a message for which rules take too many steps is sent once to each of their queues that
// takes failures, and not to others.
func TestFailedRulesReachTheirQueue_SBR7(t *testing.T) {
	h := newFixture(t)
	h.router.pause = func() bool { return true }
	x := h.exchange("x", filter.ExchangeType)
	x.Publish(x.Routes().WithMaxTTL(1000))
	costly := table("x-rule-sql", "'"+strings.Repeat("a", 300)+"' LIKE '%"+strings.Repeat("a", 70)+"b'")
	for _, name := range []string{"takes", "takes not"} {
		h.costlyQueue(name).Stats.TakeFailures(name == "takes")
		for i := range 150 {
			h.bind(x, name, fmt.Sprint("filter", i), costly)
			h.bind(x, name, fmt.Sprint("action", i), table("x-rule-action", "SET a = 1"))
		}
	}
	front := h.exchange("front", "fanout")
	h.bindExchange(front, x, "")
	for range 2 {
		for _, from := range []*Exchange{x, front} {
			h.sized(94 << 10)
			h.router.Route(h.directory, from, nil, nil)
			failed, ids := map[string]int{}, map[string]bool{}
			for i, q := range h.router.queues.list {
				if q.Action != nil && q.Action.Failed {
					failed[q.Name]++
				}
				if q.Action == nil || ids[q.Action.ID] || h.router.Caps()[i] != 1000 {
					t.Errorf("%+v, %d", q, h.router.Caps()[i])
				}
				ids[q.Action.ID] = true
			}
			if len(failed) != 1 || failed["takes"] != 1 || h.router.Over() || Copies(h.router.queues.list, 0) != len(h.router.queues.list)-1 {
				t.Errorf("%v, over %v", failed, h.router.Over())
			}
		}
	}
	if s := h.router.caps.step; len(s.costly) > 600 || len(h.router.failures.list) != 0 {
		t.Errorf("%d queues are kept", len(s.costly))
	}
	h.sized(0)
	h.router.Route(h.directory, h.exchange("empty", filter.ExchangeType), nil, nil)
	if len(h.router.queues.list) != 0 {
		t.Error("a failure is remembered")
	}
}

func TestValidateRules(t *testing.T) {
	check := func(args protocol.Table) error {
		if err := ValidateBinding(filter.ExchangeType, Binding{RoutingKey: "r", Arguments: args}, nil); err != nil {
			return err
		}
		return nil
	}
	if err := check(table("x-rule-sql", "a = 1")); err != nil {
		t.Error(err)
	}
	if err := check(table("x-rule-action", "SET a = 1")); err == nil || !strings.Contains(err.Error(), "an action is for queues only") {
		t.Error(err)
	}
	b := Binding{RoutingKey: "r", Arguments: table("x-rule-action", "SET a = 1")}
	if err := ValidateBinding(filter.ExchangeType, b, &Queue{}); err != nil {
		t.Error(err)
	}
	b.Arguments = table("x-rule-action", "SET a 1")
	if err := ValidateBinding(filter.ExchangeType, b, &Queue{}); err == nil || !strings.Contains(err.Error(), `rule 'r': SQL action: at character 7: "1" instead of "="`) {
		t.Error(err)
	}
	err := check(table("x-rule-sql", "a = "))
	if err == nil || !strings.Contains(err.Error(), "rule 'r': SQL filter: at character 5: the end instead of a value") {
		t.Error(err)
	}
}

const priceBinding = 3500 // budget.PriceBinding

// TestRulesArePriced_PRO21: the price of a binding covers what its compiled rule takes, and is not far above it.
func TestRulesArePriced_PRO21(t *testing.T) {
	const count = 300
	conditions := func(i int) (args protocol.Table) {
		for k := range 30 {
			args = append(args, protocol.Field{Key: fmt.Sprint("key", k), Value: fmt.Sprint("value", i, k)})
		}
		return args
	}
	for name, args := range map[string]func(i int) protocol.Table{
		"a short expression": func(i int) protocol.Table { return table("x-rule-sql", fmt.Sprint("a = ", i)) },
		"a long expression": func(i int) protocol.Table {
			return table("x-rule-sql", strings.Repeat("a=1 or ", 140)+fmt.Sprint("b=", i))
		},
		"texts": func(i int) protocol.Table {
			return table("x-rule-sql", "a in ('"+strings.Repeat("x','", 240)+fmt.Sprint(i)+"')")
		},
		"an action": func(i int) protocol.Table {
			return table("x-rule-action", strings.Repeat("set a=1+1;", 30)+fmt.Sprint("set b=", i))
		},
		"a correlation":        conditions,
		"a headers exchange's": func(i int) protocol.Table { return append(conditions(i), protocol.Field{Key: "x-match", Value: "all"}) },
	} {
		h := newFixture(t)
		kind := filter.ExchangeType
		if strings.Contains(name, "headers") {
			kind = "headers"
		}
		r, q := newRoutes(t, kind), h.queue("q")
		before, added, price := heap(), false, int64(priceBinding)
		for i := range count {
			b := Binding{Destination: "q", RoutingKey: fmt.Sprint(i), Arguments: args(i)}
			if r, added = r.With(b, Target{Queue: q}); !added {
				t.Fatal(name)
			}
			price += b.Memory() / count
		}
		taken := (heap() - before) / count
		if price < taken || price > 2*taken+2*priceBinding {
			t.Errorf("%s: the price is %d, %d bytes are taken", name, price, taken)
		}
		runtime.KeepAlive(r)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
