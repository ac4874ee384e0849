package filter

import (
	"strings"
	"testing"

	"candlemark/protocol"
)

// Expressions at the limits of length, depth and cost are accepted, beyond them refused; adjacent operands do not add to the depth.
func TestBounds_SBR2(t *testing.T) {
	many := func(n int, text, between string) string { return strings.Repeat(text+between, n-1) + text }
	for source, want := range map[string]bool{
		strings.Repeat(" ", MaxLength-3) + "1=1": true, strings.Repeat(" ", MaxLength-2) + "1=1": false,
		strings.Repeat("(", 64) + "1=1" + strings.Repeat(")", 64): true, strings.Repeat("(", 65) + "1=1" + strings.Repeat(")", 65): false,
		many(100, "(a=1)", " AND "): true, many(100, "NOT a=1", " OR "): true, many(100, "- a", "+") + "=1": true, many(100, "p('a')", "+") + "=1": true,
	} {
		if _, err := Parse(source, nil); (err == nil) != want {
			t.Errorf("%.40s: %v", source, err)
		}
	}
	half := strings.Repeat("a", MaxText/2)
	for m, want := range map[string]bool{half: true, half + "a": false} {
		e, err := Parse("EXISTS(a) AND a + a = a + a", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, steps := e.Match(sent{"a": m}); got != want || want && steps < 2*MaxText {
			t.Errorf("twice %d bytes: %v in %d steps", len(m), got, steps)
		}
	}
}

// An expression that takes exactly MaxSteps steps is evaluated; with one more step its result is unknown.
func TestSteps_SBR2(t *testing.T) {
	e, err := Parse("a LIKE '%b'", nil)
	if err != nil {
		t.Fatal(err)
	}
	steps := func(n int) (bool, int) { return e.Match(sent{"a": strings.Repeat("a", n) + "b"}) }
	_, one := steps(1000)
	_, two := steps(1001)
	n := 1000 + (MaxSteps-one)/(two-one)
	for last := one; ; n++ {
		yes, took := steps(n)
		if yes != (took <= MaxSteps) {
			t.Fatalf("%d bytes: %v after %d steps", n, yes, took)
		}
		if !yes {
			if last != MaxSteps {
				t.Errorf("the longest text takes %d steps", last)
			}
			return
		}
		last = took
	}
}

// TestCostlyFilterIsRefused_SBR2: a new rule whose filter takes more than MaxSteps steps for a message without properties is
// refused; an old one is not.
func TestCostlyFilterIsRefused_SBR2(t *testing.T) {
	for n, refused := range map[int]bool{50: false, 80: true} {
		r := Rule{Name: "r", Filter: SQL, SQL: "color = 'red' AND '" + strings.Repeat("a", 400) + "' LIKE '%" + strings.Repeat("a", n) + "b'"}
		if err := r.Validate(); (err != nil) != refused || refused && err.Error() != "SQL filter: takes more than 20000 steps for a message without properties" {
			t.Errorf("%d: %v", n, err)
		}
		if _, err := RuleOf("r", r.Arguments()); err != nil {
			t.Error(err)
		}
	}
}

// Timestamps in seconds are converted to ms; timestamps too large for ms are capped.
func TestTimes(t *testing.T) {
	if v := Of(protocol.Timestamp(7)); v.Kind != Time || v.Int != 7000 {
		t.Errorf("%+v", v)
	}
	if v := Of(protocol.Timestamp(1 << 60)); v.Int != 1000<<52 {
		t.Errorf("%+v", v)
	}
}

// The cost of an action is the sum of the costs of the copy, its nodes, the texts that it creates, and the properties of the message.
func TestCost_SBR6(t *testing.T) {
	cost := func(text string) int {
		a, err := ParseAction(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.nodes) == 0 {
			t.Fatal(text)
		}
		const size = 1000 * bytesPerStep
		if properties := a.Cost(size) - a.Growth(size)/bytesPerStep - a.Cost(0) + a.Growth(0)/bytesPerStep; properties != 1000 {
			t.Errorf("%s: properties cost %d", text, properties)
		}
		return a.Cost(0) - costCopy - len(a.nodes) - a.Growth(0)/bytesPerStep
	}
	for text, want := range map[string]int{
		"SET a = 1": 0, "SET a = b - 1": 0, "SET a = b + 1": costText, "SET a = p('b')": costText, "SET a = newid()": costText, "SET a = b + b; SET c = newid()": 2 * costText,
	} {
		if got := cost(text); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// An action adds at most the texts that it names, makes or copies, also texts set by earlier statements.
func TestGrowth_SBR6(t *testing.T) {
	for text, want := range map[string]int{
		"SET a = 1": 0, "SET a = b - 1": 0, "REMOVE a": 0, "SET a = 'text'": 4, "SET a = b": 100, "SET sys.Label = 'x'; SET a = sys.Label; SET b = p('c')": 201,
		"SET a = b + 'x'": MaxText, "SET a = b + b; SET c = a": 2 * MaxText, "SET a = newid()": 36,
		"SET a = b + b" + strings.Repeat("; SET c = a", 31): maxGrowth,
	} {
		a, err := ParseAction(text, nil)
		if err != nil {
			t.Fatal(text, err)
		}
		if got := a.Growth(100); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
		if a.Cost(100) < costCopy+(100+want)/bytesPerStep {
			t.Errorf("%s costs %d", text, a.Cost(100))
		}
	}
}

// System and user properties of the same name are distinct, and the name of the rule is set unless the action sets it.
func TestActionNames_SBR6(t *testing.T) {
	a, err := ParseAction("SET sys.Label = 'system'; SET Label = 'user'; SET sys.To = 'x'; SET RULENAME = 'mine'", nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Rule = "r"
	changes := a.Run(order)
	if len(changes) != 4 || changes[0].Value != TextOf("system") || changes[1].Value != TextOf("user") || changes[2].Field != To || changes[3].Value != TextOf("mine") {
		t.Errorf("%+v", changes)
	}
}
