package topology

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/internal/servicebus/filter"
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
			h := newHouse(t)
			h.router.Properties = func() (protocol.Properties, []byte) { return p, nil }
			x := h.exchange("x", filter.ExchangeType)
			h.bind(x, "q", "rule", test.args)
			if got := len(h.route(x, "", sent)) == 1; got != test.want {
				t.Errorf("matched: %v", got)
			}
			r, ok := x.Routes().Without(Binding{Destination: "q", RoutingKey: "rule", Arguments: test.args})
			m := r.matcher.(*rules)
			if !ok || m.correlated.always.len()+m.correlated.conditions.len()+m.sql.len() != 0 {
				t.Errorf("after unbinding: ok %v, left %+v", ok, m)
			}
		})
	}
}

// A message that several rules of a subscription select arrives once.
func TestRulesOfOneQueue_SBR1(t *testing.T) {
	h := newHouse(t)
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

// What rules cost is counted among the steps of the route.
func TestRulesAreBounded_SBR2(t *testing.T) {
	h := newHouse(t)
	x := h.exchange("x", filter.ExchangeType)
	for i := range 1000 {
		h.bind(x, fmt.Sprint("q", i), "rule", table("x-rule-sql", "text LIKE '%a%a%a%b' OR "+strings.Repeat("text = 'x' OR ", 20)+"text = 'y'"))
	}
	if h.route(x, "", table("text", strings.Repeat("a", 2000))); !h.router.Over() || h.router.Steps() > 3*TurnSteps {
		t.Errorf("over %v after %d steps", h.router.Over(), h.router.Steps())
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
	err := check(table("x-rule-sql", "a = "))
	if err == nil || !strings.Contains(err.Error(), "rule 'r': SQL filter: at character 5: the end instead of a value") {
		t.Error(err)
	}
}
