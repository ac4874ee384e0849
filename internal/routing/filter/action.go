package filter

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxStatements is the maximum number of statements of an action.
const MaxStatements = 32

// RuleName is the property with the name of the rule, in a copy made by an action.
const RuleName = "RuleName"

// Action is a parsed SQL action: SET and REMOVE, one after the other. It is immutable.
type Action struct {
	Rule       string // name of its rule
	ID         string // identifies the rule's binding within the virtual host; a restart does not change it
	Failed     bool   // the rule could not be applied to the message: there is no copy, and nothing else is set but Rule and ID (SBR-7)
	nodes      []node
	statements []statement
}

type statement struct {
	to    int32 // a property
	value int32 // its new value, -1 to remove it
}

// Change is a property that an action has changed.
type Change struct {
	System bool // Field names it, else Name
	Field  Field
	Name   string
	Value  Value // Absent to remove it
}

// ParseAction reads the text of an action. Errors: *Error, or that the text is too long.
func ParseAction(source string, parameters []Parameter) (*Action, error) {
	p, err := newParser(source, parameters)
	if err != nil {
		return nil, err
	}
	a := &Action{}
	for {
		if len(a.statements) == MaxStatements {
			return nil, fail(p.source, p.now.at, "more than %d statements", MaxStatements)
		}
		s, err := p.statement()
		if err != nil {
			return nil, err
		}
		a.statements = append(a.statements, s)
		for p.now.is(";") || p.now.is(",") {
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
		if p.now.kind == end {
			a.nodes = p.nodes
			return a, nil
		}
	}
}

// MaxField is the maximum size in bytes of a field of Service Bus, and of the name of a property: the size of a 0-9-1
// short string.
const MaxField = 255

// sets checks whether the properties named by the statements can be set, and literal values be assigned.
func (a *Action) sets() error {
	wrong := func(text string) bool { return len(text) > MaxField || !utf8.ValidString(text) }
	for i, s := range a.statements {
		to := &a.nodes[s.to]
		switch {
		case to.op == opUser && wrong(to.value.Text):
			return fmt.Errorf("statement %d names a property that has more than %d bytes or is not UTF-8", i+1, MaxField)
		case to.op == opSystem && s.value >= 0 && wrong(a.nodes[s.value].value.Text):
			return fmt.Errorf("statement %d sets sys.%s to a value that has more than %d bytes or is not UTF-8", i+1, to.field, MaxField)
		}
	}
	return nil
}

func (p *parser) statement() (s statement, err error) {
	set := p.now.is("SET")
	if !set && !p.now.is("REMOVE") {
		return s, p.unexpected("SET or REMOVE")
	}
	if err = p.advance(); err != nil {
		return s, err
	}
	s.value = -1
	if s.to, err = p.property(); err != nil || !set {
		return s, err
	}
	if err = p.expect("="); err == nil {
		s.value, err = p.operand()
	}
	return s, err
}

// maxGrowth is the number of bytes of properties above which no copy is made (SBR-6).
const maxGrowth = 120 << 10

// Growth returns the maximum number of bytes that the values of the action add to a message with so many bytes of
// properties.
func (a *Action) Growth(properties int) (bytes int) {
	longest := 0 // of a value that a property may have
	for i := range a.nodes {
		switch n := &a.nodes[i]; n.op {
		case opValue:
			longest = max(longest, len(n.value.Text))
		case opAdd:
			longest = max(longest, MaxText)
		case opNewID:
			longest = max(longest, idLength)
		default: // no text, or a property's
		}
	}
	longest = max(longest, properties)
	for _, s := range a.statements {
		if s.value < 0 {
			continue
		}
		switch n := &a.nodes[s.value]; n.op {
		case opValue:
			bytes += len(n.value.Text)
		case opAdd:
			bytes += MaxText
		case opNewID:
			bytes += idLength
		case opUser, opSystem, opProperty:
			bytes += longest
		default: // a number or a boolean
		}
	}
	return min(bytes, maxGrowth)
}

// idLength is the length of the text that newid() makes.
const idLength = 36

// The cost of an action in steps: of the copy that it makes, and of a node that makes a text; and the bytes of the copy
// read and written per step.
const costCopy, costText, bytesPerStep = 100, 16, 8

// Cost returns the maximum number of steps of Run and the copy after it, for a message with so many bytes of
// properties. A step takes about as long as one of Match.
func (a *Action) Cost(properties int) int {
	cost := costCopy + len(a.nodes) + properties/bytesPerStep + a.Growth(properties)/bytesPerStep
	for i := range a.nodes {
		if op := a.nodes[i].op; op == opAdd || op == opProperty || op == opNewID {
			cost += costText
		}
	}
	return cost
}

// Run returns the changes to a message by the action, each property once, with the property RuleName unless the
// action sets it. A property is removed if its statement fails or has no value.
func (a *Action) Run(m Message) []Change {
	r := running{Message: m}
	v := evaluation{a.nodes, &r, 0, MaxSteps}
	for _, s := range a.statements {
		var c Change
		if to := &a.nodes[s.to]; to.op == opSystem {
			c.System, c.Field = true, to.field
		} else {
			c.Name = to.value.Text
		}
		if s.value >= 0 {
			if c.Value = v.of(s.value); c.Value.Kind == Null || c.Value.Kind == Other {
				c.Value = Value{}
			}
		}
		if at := r.find(c.System, c.Field, c.Name); at >= 0 {
			r.changes[at].Value = c.Value
		} else {
			r.changes = append(r.changes, c)
		}
	}
	if r.find(false, 0, RuleName) < 0 {
		r.changes = append(r.changes, Change{Name: RuleName, Value: TextOf(a.Rule)})
	}
	return r.changes
}

// running is a message with the changes so far.
type running struct {
	Message
	changes []Change
}

func (r *running) find(system bool, f Field, name string) int {
	for i := range r.changes {
		c := &r.changes[i]
		if c.System == system && (system && c.Field == f || !system && strings.EqualFold(c.Name, name)) {
			return i
		}
	}
	return -1
}

// System implements Message.
func (r *running) System(f Field) Value {
	if at := r.find(true, f, ""); at >= 0 {
		return r.changes[at].Value
	}
	return r.Message.System(f)
}

// User implements Message.
func (r *running) User(lower string) Value {
	if at := r.find(false, 0, lower); at >= 0 {
		return r.changes[at].Value
	}
	return r.Message.User(lower)
}
