package filter

import (
	"math"
	"strings"
	"testing"

	"candlemark/protocol"
)

func TestRuleArguments(t *testing.T) {
	label := Rule{Name: "c", Filter: Correlation, Properties: []Property{{"color", TextOf("red")}, {"n", Value{Kind: Int, Int: 5}}, {"at", Value{Kind: Time, Int: 1_795_000_000_568}}, {"on", Value{Kind: Time, Int: 1_795_000_000_000}}}}
	label.System[Label], label.System[MessageID] = TextOf("order"), TextOf("m")
	for _, r := range []Rule{
		{Name: DefaultRule},
		{Name: "none", Filter: False},
		{Name: "sql", Filter: SQL, SQL: "a = @x", Parameters: []Parameter{{"@x", Value{Kind: Float, Float: 1.5}}}, Action: "SET a = 2"},
		label,
	} {
		back, err := RuleOf(r.Name, r.Arguments())
		if err != nil || !back.Same(&r) {
			t.Errorf("%+v: %+v, %v", r, back, err)
		}
	}
	if got := len(Conditions(label.Arguments())); got != 6 {
		t.Errorf("%d conditions", got)
	}
}

// Arguments of bindings by RabbitMQ's clients need not name the kind of the filter.
func TestRuleOf(t *testing.T) {
	for want, args := range map[FilterKind]protocol.Table{
		True: nil, Correlation: {{Key: "color", Value: "red"}}, SQL: {{Key: argSQL, Value: "a = 1"}}, False: {{Key: argFilter, Value: "false"}},
	} {
		if r, err := RuleOf("r", args); err != nil || r.Filter != want {
			t.Errorf("%v: %+v, %v", args, r, err)
		}
	}
	many := protocol.Table{}
	for i := range MaxProperties + 1 {
		many = append(many, protocol.Field{Key: strings.Repeat("k", i+1), Value: "v"})
	}
	for name, args := range map[string]protocol.Table{
		"not one of":                  {{Key: argFilter, Value: "maybe"}},
		"not a string":                {{Key: argSQL, Value: int32(1)}},
		"not a table":                 {{Key: argParameters, Value: "x"}},
		"not a table of at most 64":   {{Key: "at", Value: protocol.Timestamp(1)}, {Key: argMilliseconds, Value: "x"}},
		"a table of at most 64":       {{Key: "at", Value: protocol.Timestamp(1)}, {Key: argMilliseconds, Value: many}},
		"needs at least one property": {{Key: argFilter, Value: "correlation"}},
		"only a correlation":          {{Key: argFilter, Value: "true"}, {Key: "a", Value: "b"}},
		"only an sql":                 {{Key: argFilter, Value: "true"}, {Key: argSQL, Value: "1=1"}},
		"at character 4":              {{Key: argSQL, Value: "a == 1"}},
		"SQL action":                  {{Key: argAction, Value: "a = 1"}},
		"has no comparable value":     {{Key: "a", Value: nil}},
		"more than 64":                many,
		"x-rule-label":                {{Key: "x-rule-label", Value: int32(1)}},
	} {
		if _, err := RuleOf("r", args); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNewRules_SBR6: Validate refuses new rules with values that can never be set, or with two values of a parameter;
// RuleOf still accepts existing ones.
func TestNewRules_SBR6(t *testing.T) {
	long := strings.Repeat("x", MaxField+1)
	action := func(text string, parameters ...protocol.Field) protocol.Table {
		return protocol.Table{{Key: argAction, Value: text}, {Key: argParameters, Value: protocol.Table(parameters)}}
	}
	for name, args := range map[string]protocol.Table{
		"statement 2 sets sys.Label to a value that has more than 255 bytes": action("SET a = 1; SET sys.Label = '" + long + "'"),
		"statement 1 sets sys.To to a value that has more than 255 bytes":    action("SET sys.To = @p", protocol.Field{Key: "@p", Value: long}),
		"statement 1 sets sys.ReplyTo":                                       action("SET sys.ReplyTo = '\xff'"),
		"statement 1 names a property that has more than 255 bytes":          action("SET " + long + " = 1"),
		"statement 2 names a property that has more than 255 bytes":          action("SET a = 1, REMOVE [" + long + "]"),
		"parameter @P has two values, the second one as number 2":            action("SET a = @p", protocol.Field{Key: "@p", Value: "x"}, protocol.Field{Key: "@P", Value: "y"}),
	} {
		r, err := RuleOf("r", args)
		if err != nil {
			t.Errorf("an older rule is off: %v", err)
		} else if err = r.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, args := range []protocol.Table{
		action("SET sys.Label = '" + long[1:] + "'; SET a = '" + long + "'"), action("REMOVE sys.Label"), action("SET sys.Label = 1"),
		action("SET a = @n", protocol.Field{Key: "@n", Value: math.NaN()}),
		action("SET a = @n", protocol.Field{Key: "@n", Value: int32(1)}, protocol.Field{Key: "@N", Value: int32(1)}),
	} {
		if r, err := RuleOf("r", args); err != nil || r.Validate() != nil {
			t.Errorf("%v: %v, %v", args, err, r.Validate())
		}
	}
}
