package filter

import (
	"errors"
	"strings"
	"testing"

	"candlemark/protocol"
)

// sent is a message for tests; system properties have the prefix "sys.".
type sent map[string]any

func (s sent) System(f Field) Value {
	if v, found := s["sys."+f.String()]; found {
		return Of(v)
	}
	return Value{}
}

func (s sent) User(name string) Value {
	for key, v := range s {
		if strings.EqualFold(key, name) {
			return Of(v)
		}
	}
	return Value{}
}

var order = sent{
	"color": "red", "quantity": int32(10), "price": 2.5, "gift": true, "nothing": nil, "Odd Name": "x]y", "when": protocol.Timestamp(5),
	"bytes": []byte("x"), "percent": "100%", "sys.Label": "order", "sys.MessageId": "m1", "big": int64(1 << 62),
}

func TestMatch(t *testing.T) {
	for source, want := range map[string]bool{
		"1=1": true, "1 = 2": false, "TRUE": true, "false": false, "gift": true, "NOT gift": false, "color": false,
		"color = 'red'": true, "COLOR='red'": true, "color='Red'": false, "user.color = 'red'": true, "color <> 'red'": false, "color != 'blue'": true,
		"quantity = 10": true, "quantity=10.0": true, "quantity >= 10 AND quantity <= 10": true, "quantity > 9.5": true, "quantity < 1E1": false,
		"price * 4 = quantity": true, "price + 7.5 = 10": true, "quantity / 4 = 2": true, "quantity % 4 = 2": true, "quantity / 0 = 1": false,
		"NOT (quantity / 0 = 1)": false, "-quantity = -10": true, "10 + -quantity = 0": true, "2.5 + -price = 0": true, "- -quantity = 10": true, "+quantity = 10": true, "2 + 3 * 4 = 14": true,
		"(2 + 3) * 4 = 20": true, "10 - 3 - 2 = 5": true, "big * 4 = 0": true, "-9223372036854775808 < 0": true,
		"'\uFFFD' LIKE '\xff'": false, "'\uFFFD' LIKE '\uFFFD'": true, "'\xff' LIKE '\xff'": true, "'\uFFFD' LIKE '!\xff' ESCAPE '!'": false,
		"'a' + 'b' = 'ab'": true, "'a' + 1 = 'a1'": false, "'it''s' = 'it''s'": true,
		"sys.Label = 'order'": true, "sys.label='order'": true, "sys.Subject = 'order'": true, "sys.To IS NULL": true, "sys.MessageId LIKE 'm_'": true,
		"color IN ('blue', 'red')": true, "color IN ('blue')": false, "color NOT IN ('blue')": true, "missing IN ('x')": false,
		"missing NOT IN ('x')": false, "color NOT IN ('blue', missing)": false, "color IN ('red', missing)": true, "quantity IN (1, 10)": true,
		"color LIKE 'r%'": true, "color LIKE '%d'": true, "color LIKE '_e_'": true, "color LIKE 'r'": false, "color NOT LIKE 'b%'": true,
		"color LIKE '%'": true, "'' LIKE '%%'": true, "'' LIKE '_'": false, "'aXbXc' LIKE '%X%c'": true, "'ab' LIKE '%b%b'": false,
		`percent LIKE '100\%' ESCAPE '\'`: true, `'1000' LIKE '100\%' ESCAPE '\'`: false, "quantity LIKE '1%'": false, "'äö' LIKE '_ö'": true,
		"missing LIKE '%'": false, "NOT (missing LIKE '%')": false, `'a_' LIKE 'a!_' ESCAPE '!'`: true, `'ab' LIKE 'a!_' ESCAPE '!'`: false,
		"missing IS NULL": true, "nothing IS NULL": true, "color IS NULL": false, "color IS NOT NULL": true, "missing IS NOT NULL": false,
		"EXISTS(color)": true, "EXISTS(nothing)": true, "exists ( missing )": false, "NOT EXISTS(missing)": true, "EXISTS(sys.Label)": true,
		"missing = 1 OR 1 = 1": true, "missing = 1 AND 1 = 2": false, "NOT (missing = 1 AND 1 = 2)": true, "NOT (missing = 1)": false,
		"missing = 1 OR 1 = 2": false, "1 = 1 OR missing = 1": true, "1=2 AND missing=1": false, "missing = NULL": false, "nothing = NULL": false,
		"[Odd Name] = 'x]y'": true, `"Odd Name" = 'x]y'`: true, "user.[Odd Name] LIKE 'x%'": true, "property('color') = 'red'": true,
		"p('col' + 'or') = 'red'": true, "p(1) = 1": false, "gift = TRUE": true, "gift <> FALSE": true, "gift > FALSE": false, "color = 5": false,
		"bytes = 'x'": false, "EXISTS(bytes)": true, "when = when": true, "when < when": false, "quantity > 10": false, "quantity > 9": true, "color > 'blue'": true, "color = 'red' OR color = 'blue' AND 1=2": true,
		"NOT color='red' OR quantity=10": true, "missing + 1 = 1": false, "-color = 1": false, ".5 < 1": true, "@low < quantity": true,
	} {
		e, err := Parse(source, []Parameter{{"@LOW", Value{Kind: Int, Int: 3}}})
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, _ := e.Match(order); got != want {
			t.Errorf("%s: %v", source, got)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for source, at := range map[string]int{
		"": 1, "color": 0, "color =": 8, "color = 'red": 9, "5": 1, "'a'": 1, "a + 1": 1, "NOT 5": 5, "a AND 5": 7, "5 OR a": 1,
		"(a = 1": 7, "a = 1)": 6, "a = (b = 1)": 5, "a = 1 = 2": 7, "a IN ()": 7, "a IN 5": 6, "a LIKE": 7, "a LIKE 'x' ESCAPE 'xy'": 19,
		"a IS 5": 6, "5 IS NULL": 6, "EXISTS(5)": 8, "EXISTS a": 8, "sys.Nothing = 1": 5, "other.a = 1": 1, "newguid() = 1": 1, "a # 1": 3,
		"99999999999999999999 = 1": 1, "a = @none": 5, "@ = 1": 1, "[] = 1": 1, "[a = 1": 1, "a NOT = 1": 7, "äö = #": 6, "SET a = 1": 1,
		strings.Repeat("(", 65) + "a": 65, strings.Repeat("NOT ", 65) + "a": 261,
	} {
		_, err := Parse(source, nil)
		var e *Error
		switch {
		case at == 0:
			if err != nil {
				t.Errorf("%s: %v", source, err)
			}
		case !errors.As(err, &e) || e.At != at:
			t.Errorf("%s: %v, want one at %d", source, err, at)
		}
	}
	if _, err := Parse(strings.Repeat(" ", MaxLength)+"1=1", nil); err == nil || !strings.Contains(err.Error(), "4096 bytes") {
		t.Error(err)
	}
}

// If an expression exceeds the maximum number of steps, its result is unknown, even under NOT.
func TestMatchIsBounded(t *testing.T) {
	m := sent{"a": strings.Repeat("a", 1<<20)}
	for _, source := range []string{"a LIKE '%a%a%a%b'", "NOT (a LIKE '%a%a%a%b')", "a + a = 'x'", "NOT (a + a = 'x')"} {
		e, err := Parse(source, nil)
		if err != nil {
			t.Fatal(err)
		}
		if yes, steps := e.Match(m); yes || steps > 2*MaxSteps {
			t.Errorf("%s: %v in %d steps", source, yes, steps)
		}
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	e, err := Parse("sys.Label = 'order' AND color IN ('blue', 'red') AND quantity * 2 >= 20 AND color LIKE 'r%'", nil)
	if err != nil {
		t.Fatal(err)
	}
	var m Message = order
	if n := testing.AllocsPerRun(100, func() { e.Match(m) }); n > 2 { // allocated by sent for the names of system properties
		t.Errorf("%v allocations", n)
	}
}

func TestAction(t *testing.T) {
	a, err := ParseAction("SET quantity = quantity / 2; SET total = quantity * price REMOVE user.color; SET sys.Label = 'half', SET gone = missing + 1", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{
		{Name: "quantity", Value: Value{Kind: Int, Int: 5}},
		{Name: "total", Value: Value{Kind: Float, Float: 12.5}},
		{Name: "color"},
		{System: true, Field: Label, Value: TextOf("half")},
		{Name: "gone"},
	}
	a.Rule = "halves"
	want = append(want, Change{Name: RuleName, Value: TextOf("halves")})
	got := a.Run(order)
	if len(got) != len(want) {
		t.Fatal(got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
	if a, err = ParseAction("SET a = newid() + '!'; SET RULENAME = 'mine'", nil); err != nil {
		t.Fatal(err)
	}
	one, two := a.Run(order), a.Run(order)
	if len(one) != 2 || len(one[0].Value.Text) != 37 || one[0].Value == two[0].Value || one[1].Value.Text != "mine" {
		t.Errorf("%+v", one)
	}
	for _, source := range []string{strings.Repeat("REMOVE a;", MaxStatements+1), "SET a = newid", "SET a = newid(1)", "", "quantity = 1", "SET quantity", "SET 5 = 1", "SET a = b = 1", "SET sys.Nothing = 1", "REMOVE", "SET a = 1 2"} {
		if _, err := ParseAction(source, nil); (err == nil) != (source == "SET a = newid") { // newid without parentheses is a property
			t.Errorf("%q: %v", source, err)
		}
	}
}

// A text that doubles with each statement is bounded by MaxText; a property that would exceed it is removed.
func TestActionIsBounded_SBR6(t *testing.T) {
	a, err := ParseAction("SET a = 'xxxxxxxx'"+strings.Repeat("; SET a = a + a", MaxStatements-1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Run(order); got[0].Value.Kind != Absent || a.Cost(0)-a.Growth(0)/bytesPerStep > 2000 {
		t.Errorf("%+v, cost %d", got, a.Cost(0))
	}
	at := func(source string) string { _, err := ParseAction(source, nil); return err.Error() }
	if got := at("SET a = 1; SET b ="); got != "at character 19: the end instead of a value" {
		t.Error(got)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a = 1 AND NOT (b LIKE 'x%' ESCAPE '!')", "SET a = 1; REMOVE b", "EXISTS(sys.Label) OR [x y] IN (1, 2.5E3, @p)", "p('a')", "SET sys.Label = newid() + p('color')", "SET a = color; SET a = a + a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		given := []Parameter{{"@p", TextOf("x")}}
		if e, err := Parse(source, given); err == nil {
			if len(e.nodes) > len(source)+1 {
				t.Errorf("%d nodes of %d bytes", len(e.nodes), len(source))
			}
			if _, steps := e.Match(order); steps > 2*MaxSteps {
				t.Errorf("%d steps", steps)
			}
		}
		if a, err := ParseAction(source, given); err == nil {
			before := len(a.Run(order))
			if before > MaxStatements+1 || a.Cost(0) < len(a.nodes) {
				t.Errorf("%d changes at a cost of %d", before, a.Cost(0))
			}
			for _, c := range a.Run(order) {
				if len(c.Value.Text) > max(MaxText, len(source)) {
					t.Errorf("a text of %d bytes", len(c.Value.Text))
				}
			}
		}
	})
}
