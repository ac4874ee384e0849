package filter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"candlemark/protocol"
)

// ExchangeType is the type of exchange that routes by rules: a binding to a queue is a rule of a subscription, its key the name of the rule.
const ExchangeType = "x-rules"

// DefaultRule is the name of the initial rule of a subscription.
const DefaultRule = "$Default"

// CompareNames compares names of rules in the order in which they are listed: DefaultRule first, then ascending, without regard to case.
func CompareNames(a, b string) int {
	rank := func(name string) int {
		if strings.EqualFold(name, DefaultRule) {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(strings.ToLower(a), strings.ToLower(b)))
}

// The arguments of a binding. Arguments that do not begin with "x-" are application properties that a correlation
// filter compares.
const (
	argFilter     = "x-rule-filter"
	argSQL        = "x-rule-sql"
	argParameters = "x-rule-parameters"
	argAction     = "x-rule-action"
	// argMilliseconds is a table with the ms of dates of application properties, which a field table holds in seconds.
	argMilliseconds = "x-rule-milliseconds"
)

// systemArguments name the fields that a correlation filter compares.
var systemArguments = [Fields]string{
	"x-rule-content-type", "x-rule-correlation-id", "x-rule-label", "x-rule-message-id",
	"x-rule-reply-to", "x-rule-reply-to-session-id", "x-rule-session-id", "x-rule-to",
}

// FilterKind is the kind of filter of a rule.
type FilterKind uint8

// The kinds of filters.
const (
	True FilterKind = iota
	False
	SQL
	Correlation
)

var filterKinds = [...]string{"true", "false", "sql", "correlation"}

// String returns the word for the kind in arguments.
func (k FilterKind) String() string { return filterKinds[k] }

// Sizes in bytes, measured with many rules.
const (
	nodeBytes      = 128 // of an expression
	conditionBytes = 40  // of a correlation
)

// MaxProperties is the maximum number of conditions of a correlation filter, and of parameters of an expression.
const MaxProperties = 64

// Rule is a rule of a subscription.
type Rule struct {
	Name   string
	Filter FilterKind
	SQL    string // of SQL
	// Parameters of SQL and Action, by name.
	Parameters []Parameter
	// System and Properties are the values that a Correlation filter requires of fields and application properties.
	// Absent requires nothing.
	System     [Fields]Value
	Properties []Property
	Action     string // "" for none
}

// Property is an application property and its value.
type Property struct {
	Name  string
	Value Value
}

// Arguments returns the arguments of the rule's binding, in a fixed order.
func (r *Rule) Arguments() protocol.Table {
	t := protocol.Table{{Key: argFilter, Value: r.Filter.String()}}
	if r.Filter == SQL {
		t = append(t, protocol.Field{Key: argSQL, Value: r.SQL})
	}
	if len(r.Parameters) > 0 {
		given := protocol.Table{}
		for _, p := range r.Parameters {
			given = append(given, protocol.Field{Key: p.Name, Value: p.Value.Any()})
		}
		t = append(t, protocol.Field{Key: argParameters, Value: given})
	}
	for f, v := range r.System {
		if v.Kind != Absent {
			t = append(t, protocol.Field{Key: systemArguments[f], Value: v.Any()})
		}
	}
	var ms protocol.Table
	for _, p := range r.Properties {
		t = append(t, protocol.Field{Key: p.Name, Value: p.Value.Any()})
		if rest := p.Value.Int % 1000; p.Value.Kind == Time && rest > 0 {
			ms = append(ms, protocol.Field{Key: p.Name, Value: rest})
		}
	}
	if len(ms) > 0 {
		t = append(t, protocol.Field{Key: argMilliseconds, Value: ms})
	}
	if r.Action != "" {
		t = append(t, protocol.Field{Key: argAction, Value: r.Action})
	}
	return t
}

// RuleOf reads the arguments of a binding with that key. Without x-rule-filter the rule is a correlation, if it has
// conditions, or true. The rule may be an older one that Validate would refuse: then the first value of a parameter
// counts. Errors, some of them *Error, describe an invalid argument.
func RuleOf(key string, args protocol.Table) (Rule, error) {
	r := Rule{Name: key}
	kind := ""
	for _, f := range args {
		if err := r.argument(f, &kind); err != nil {
			return r, err
		}
	}
	asks := r.asks()
	switch at := slices.Index(filterKinds[:], kind); {
	case kind == "" && asks:
		r.Filter = Correlation
	case kind == "" && r.SQL != "":
		r.Filter = SQL
	case kind == "":
	case at < 0:
		return r, fmt.Errorf("%s is %q, not one of %s", argFilter, kind, strings.Join(filterKinds[:], ", "))
	default:
		r.Filter = FilterKind(at)
	}
	if err := r.understood(); err != nil {
		return r, err
	}
	given, _ := args.Get(argMilliseconds)
	return r, r.refine(given)
}

// refine adds the milliseconds of an argument to the dates of application properties, nil for none.
func (r *Rule) refine(given any) error {
	ms, ok := given.(protocol.Table)
	if !ok && given != nil || len(ms) > MaxProperties {
		return fmt.Errorf("%s is not a table of at most %d numbers", argMilliseconds, MaxProperties)
	}
	for i := range r.Properties {
		p := &r.Properties[i]
		v, _ := ms.Get(p.Name)
		if rest, _ := protocol.Int64(v); p.Value.Kind == Time && rest > 0 && rest < 1000 {
			p.Value.Int += rest
		}
	}
	return nil
}

// Memory returns approximately how many bytes the compiled rule of a binding with that key takes; 0 if there is none.
func Memory(key string, args protocol.Table) int64 {
	r, err := RuleOf(key, args)
	if err != nil {
		return 0
	}
	nodes := 0
	if r.Filter == SQL {
		if e, err := Parse(r.SQL, r.Parameters); err == nil {
			nodes += cap(e.nodes)
		}
	}
	if a := r.Change(); a != nil {
		nodes += cap(a.nodes)
	}
	conditions := len(r.Properties)
	for _, v := range r.System {
		if v.Kind != Absent {
			conditions++
		}
	}
	return int64(nodes)*nodeBytes + int64(conditions)*conditionBytes
}

// Change returns the rule's action, or nil if there is none. The rule must be valid.
func (r *Rule) Change() *Action {
	if r.Action == "" {
		return nil
	}
	a, err := ParseAction(r.Action, r.Parameters)
	if err == nil {
		a.Rule = r.Name
	}
	return a
}

func (r *Rule) asks() bool {
	return len(r.Properties) > 0 || slices.ContainsFunc(r.System[:], func(v Value) bool { return v.Kind != Absent })
}

// argument reads one argument; it ignores arguments that begin with x- but do not belong to rules.
func (r *Rule) argument(f protocol.Field, kind *string) error {
	text, isText := f.Value.(string)
	if at := slices.Index(systemArguments[:], f.Key); at >= 0 {
		if !isText {
			return fmt.Errorf("%s is not a string", f.Key)
		}
		r.System[at] = TextOf(text)
		return nil
	}
	switch f.Key {
	case argFilter, argSQL, argAction:
		if !isText {
			return fmt.Errorf("%s is not a string", f.Key)
		}
		*map[string]*string{argFilter: kind, argSQL: &r.SQL, argAction: &r.Action}[f.Key] = text
	case argParameters:
		given, ok := f.Value.(protocol.Table)
		if !ok {
			return fmt.Errorf("%s is not a table", f.Key)
		}
		for _, p := range given {
			r.Parameters = append(r.Parameters, Parameter{p.Key, Of(p.Value)})
		}
	default:
		if !strings.HasPrefix(f.Key, "x-") {
			r.Properties = append(r.Properties, Property{f.Key, Of(f.Value)})
		}
	}
	return nil
}

// Validate checks a new rule, also whether its filter takes too many steps for any message (SBR-2). Syntax errors have an
// *Error in the chain.
func (r *Rule) Validate() error {
	if err := r.understood(); err != nil {
		return err
	}
	for i, p := range r.Parameters {
		at := slices.IndexFunc(r.Parameters, func(other Parameter) bool { return strings.EqualFold(other.Name, p.Name) })
		if at < i && r.Parameters[at].Value != p.Value {
			return fmt.Errorf("parameter %s has two values, the second one as number %d", p.Name, i+1)
		}
	}
	if e, err := Parse(r.SQL, r.Parameters); r.Filter == SQL && err == nil {
		if _, steps := e.Match(nothing{}); steps > MaxSteps {
			return fmt.Errorf("SQL filter: takes more than %d steps for a message without properties", MaxSteps)
		}
	}
	if a := r.Change(); a != nil {
		if err := a.sets(); err != nil {
			return fmt.Errorf("SQL action: %w", err)
		}
	}
	return nil
}

// nothing is a message without fields and properties.
type nothing struct{}

func (nothing) System(Field) Value { return Value{} }
func (nothing) User(string) Value  { return Value{} }

// understood checks whether a rule can be parsed and applied.
func (r *Rule) understood() error {
	switch {
	case len(r.Properties) > MaxProperties || len(r.Parameters) > MaxProperties:
		return fmt.Errorf("a rule has more than %d properties or parameters", MaxProperties)
	case r.Filter == Correlation && !r.asks():
		return fmt.Errorf("a correlation filter needs at least one property")
	case r.Filter != Correlation && r.asks():
		return fmt.Errorf("only a correlation filter can have properties, not %q", r.Filter)
	case r.Filter != SQL && r.SQL != "":
		return fmt.Errorf("only an sql filter can have an expression, not %q", r.Filter)
	}
	for _, p := range r.Properties {
		switch {
		case p.Value.Kind == Absent || p.Value.Kind == Null || p.Value.Kind == Other:
			return fmt.Errorf("property %q of a correlation filter has no comparable value", p.Name)
		case p.Name == "" || strings.HasPrefix(p.Name, "x-"):
			return fmt.Errorf("a correlation filter cannot compare property %q", p.Name)
		}
	}
	if r.Filter == SQL {
		if _, err := Parse(r.SQL, r.Parameters); err != nil {
			return fmt.Errorf("SQL filter: %w", err)
		}
	}
	if r.Action != "" {
		if _, err := ParseAction(r.Action, r.Parameters); err != nil {
			return fmt.Errorf("SQL action: %w", err)
		}
	}
	return nil
}

// Same reports whether two rules are equal, including their names.
func (r *Rule) Same(other *Rule) bool {
	return r.Name == other.Name && r.Filter == other.Filter && r.SQL == other.SQL && r.Action == other.Action && r.System == other.System &&
		slices.Equal(r.Parameters, other.Parameters) && slices.Equal(r.Properties, other.Properties)
}

// Condition is an argument of a correlation filter: a field of the message, or an application property, must have the
// value of an argument.
type Condition struct {
	System bool
	Field  Field
	Name   string
	Value  any // of a field table
}

// Conditions returns the conditions of a binding with these arguments.
func Conditions(args protocol.Table) (all []Condition) {
	for _, f := range args {
		if at := slices.Index(systemArguments[:], f.Key); at >= 0 {
			all = append(all, Condition{System: true, Field: Field(at), Value: f.Value})
		} else if !strings.HasPrefix(f.Key, "x-") {
			all = append(all, Condition{Name: f.Key, Value: f.Value})
		}
	}
	return all
}
