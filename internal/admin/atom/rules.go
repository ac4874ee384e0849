package atom

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"candlemark/internal/routing/filter"
	"candlemark/internal/servicebus/entity"
)

// ReadRule reads the entry that creates a rule of that name, or changes it. It fails for invalid XML and values; the
// rule is not validated.
func ReadRule(body []byte, name string) (filter.Rule, error) {
	from, err := described(body, "RuleDescription")
	if err != nil {
		return filter.Rule{}, err
	}
	r, err := readRule(from, name)
	r.Name = name
	return r, err
}

// readRule reads a description of a rule, which need not have a name.
func readRule(from *element, name string) (filter.Rule, error) {
	r := filter.Rule{Name: name}
	if e := from.child("Name"); e != nil && strings.TrimSpace(e.Text) != "" {
		r.Name = strings.TrimSpace(e.Text)
	}
	var wrong []error
	if f := from.child("Filter"); f != nil && !f.isNil() {
		wrong = append(wrong, readFilter(&r, f))
	}
	if a := from.child("Action"); a != nil && !a.isNil() {
		switch kind := a.kind(); kind {
		case "EmptyRuleAction", "":
		case "SqlRuleAction":
			if e := a.child("SqlExpression"); e != nil {
				r.Action = e.Text
			}
			wrong = append(wrong, readValues(a.child("Parameters"), addParameter(&r)))
		default:
			wrong = append(wrong, fmt.Errorf("an action of type %q is not known", kind))
		}
	}
	return r, errors.Join(wrong...)
}

func addParameter(r *filter.Rule) func(string, filter.Value) {
	return func(name string, v filter.Value) {
		if p := (filter.Parameter{Name: name, Value: v}); !slices.Contains(r.Parameters, p) { // filter and action share parameters
			r.Parameters = append(r.Parameters, p)
		}
	}
}

func readFilter(r *filter.Rule, f *element) error {
	switch kind := f.kind(); kind {
	case "TrueFilter":
	case "FalseFilter":
		r.Filter = filter.False
	case "SqlFilter":
		r.Filter = filter.SQL
		if e := f.child("SqlExpression"); e != nil {
			r.SQL = e.Text
		}
		return readValues(f.child("Parameters"), addParameter(r))
	case "CorrelationFilter":
		r.Filter = filter.Correlation
		for field := range filter.Fields {
			if e := f.child(field.String()); e != nil && !e.isNil() && e.Text != "" {
				r.System[field] = filter.TextOf(e.Text)
			}
		}
		return readValues(f.child("Properties"), func(name string, v filter.Value) {
			r.Properties = append(r.Properties, filter.Property{Name: name, Value: v})
		})
	default:
		return fmt.Errorf("a filter of type %q is not known", kind)
	}
	return nil
}

// readValues reads pairs of names and values.
func readValues(from *element, add func(name string, v filter.Value)) error {
	if from == nil {
		return nil
	}
	for i := range from.Children {
		key, value := from.Children[i].child("Key"), from.Children[i].child("Value")
		if key == nil || value == nil {
			return errors.New("a property of a filter has no key or no value")
		}
		v, err := readValue(value)
		if err != nil {
			return fmt.Errorf("property %q: %w", key.Text, err)
		}
		add(key.Text, v)
	}
	return nil
}

func readValue(e *element) (v filter.Value, err error) {
	var of any = e.Text
	kind := e.kind()
	switch kind {
	case "string", "", "guid", "anyURI", "char":
	case "int", "long", "short", "byte", "unsignedByte", "unsignedShort", "unsignedInt":
		of, err = strconv.ParseInt(e.Text, 10, 64)
	case "double", "float", "decimal":
		of, err = strconv.ParseFloat(e.Text, 64)
	case "boolean":
		of, err = strconv.ParseBool(e.Text)
	case "dateTime":
		var at time.Time
		if at, err = time.Parse(time.RFC3339, e.Text); err == nil {
			return filter.Value{Kind: filter.Time, Int: max(at.UnixMilli(), 0)}, nil
		}
	default:
		return v, fmt.Errorf("a value of type %q is not supported", kind)
	}
	if err != nil {
		return v, fmt.Errorf("%.40q is not a value of type %s", e.Text, kind)
	}
	return filter.Of(of), nil
}

// rule writes the description of a rule.
func (w *writer) rule(name string, r *filter.Rule) {
	w.open(name, `xmlns="`+connect+`" xmlns:i="`+instance+`"`)
	switch r.Filter {
	case filter.Correlation:
		w.open("Filter", `i:type="CorrelationFilter"`)
		for _, f := range [...]filter.Field{
			filter.CorrelationID, filter.MessageID, filter.To, filter.ReplyTo, filter.Label, filter.SessionID, filter.ReplyToSessionID, filter.ContentType,
		} {
			if v := r.System[f]; v.Kind != filter.Absent {
				w.text(f.String(), v.Text)
			}
		}
		if len(r.Properties) > 0 {
			w.open("Properties", "")
			for _, p := range r.Properties {
				w.value(p.Name, p.Value)
			}
			w.shut("Properties")
		}
	default:
		kind, expression := map[filter.FilterKind]string{filter.SQL: "SqlFilter", filter.False: "FalseFilter"}[r.Filter], r.SQL
		switch r.Filter {
		case filter.True:
			kind, expression = "TrueFilter", "1=1"
		case filter.False:
			expression = "1=0"
		case filter.SQL, filter.Correlation:
		}
		w.open("Filter", `i:type="`+kind+`"`)
		w.text("SqlExpression", expression)
		w.text("CompatibilityLevel", "20")
		w.parameters(r, expression, r.Action)
	}
	w.shut("Filter")
	if r.Action == "" {
		w.raw(`<Action i:type="EmptyRuleAction"/>`)
	} else {
		w.open("Action", `i:type="SqlRuleAction"`)
		w.text("SqlExpression", r.Action)
		w.text("CompatibilityLevel", "20")
		w.parameters(r, r.Action, r.SQL)
		w.shut("Action")
	}
	w.text("CreatedAt", entity.Moment(0))
	w.text("Name", r.Name)
	w.shut(name)
}

// parameters writes the parameters of the filter or the action, which share them here, except parameters that only the
// other expression mentions (SBE-9).
func (w *writer) parameters(r *filter.Rule, expression, other string) {
	w.open("Parameters", "")
	for _, p := range r.Parameters {
		if mentions(expression, p.Name) || !mentions(other, p.Name) {
			w.value(p.Name, p.Value)
		}
	}
	w.shut("Parameters")
}

// mentions reports whether an expression may use a parameter.
func mentions(expression, parameter string) bool {
	return strings.Contains(strings.ToLower(expression), strings.ToLower(parameter))
}

// value writes a pair.
func (w *writer) value(name string, v filter.Value) {
	kind, text := "string", v.Text
	switch v.Kind {
	case filter.Int:
		kind, text = "long", strconv.FormatInt(v.Int, 10)
		if v.Int == int64(int32(v.Int)) { // clients send all integers as int, and some know no other type
			kind = "int"
		}
	case filter.Float:
		kind, text = "double", strconv.FormatFloat(v.Float, 'g', -1, 64)
	case filter.Bool:
		kind, text = "boolean", strconv.FormatBool(v.Int != 0)
	case filter.Time:
		kind, text = "dateTime", entity.Moment(v.Int)
	case filter.Absent, filter.Null, filter.Text, filter.Other:
	}
	w.open("KeyValueOfstringanyType", "")
	w.text("Key", name)
	// The JavaScript client requires a prefix of four characters.
	w.open("Value", `i:type="d6p1:`+kind+`" xmlns:d6p1="`+schema+`"`)
	w.escape(text)
	w.shut("Value")
	w.shut("KeyValueOfstringanyType")
}
