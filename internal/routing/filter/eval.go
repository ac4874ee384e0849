package filter

import (
	"crypto/rand"
	"fmt"
	"math"
	"strings"
)

// The bounds of one evaluation.
const (
	// MaxSteps is the maximum number of nodes and characters that it examines.
	MaxSteps = 20_000
	// MaxText is the maximum length in bytes of a text that it makes.
	MaxText = 4096
)

// Match reports whether a message is selected, and the number of steps taken.
func (e *Expression) Match(m Message) (yes bool, steps int) { return e.MatchWithin(m, MaxSteps) }

// MatchWithin is Match with a limit of steps, at most MaxSteps, beyond which the result is unknown.
func (e *Expression) MatchWithin(m Message, limit int) (yes bool, steps int) {
	v := evaluation{e.nodes, m, 0, limit}
	yes = v.of(e.root).isTrue() && v.steps <= limit
	return yes, v.steps
}

// evaluation evaluates one expression for one message.
type evaluation struct {
	nodes   []node
	message Message
	steps   int
	limit   int // of steps
}

// spend counts steps; false if there were too many.
func (v *evaluation) spend(n int) bool {
	v.steps += n
	return v.steps <= v.limit
}

func (v *evaluation) of(at int32) Value {
	n := &v.nodes[at]
	if !v.spend(1) {
		return Value{}
	}
	switch n.op {
	case opValue:
		return n.value
	case opSystem, opUser, opProperty:
		return v.property(n)
	case opOr, opAnd, opNot:
		return v.logic(n)
	case opEqual, opUnequal, opLess, opLessEqual, opGreater, opGreaterEqual:
		return v.compared(n.op, v.of(n.left), v.of(n.right))
	case opIn:
		return v.in(n)
	case opLike:
		return v.like(n)
	case opIsNull:
		of := v.of(n.left)
		return truth((of.Kind == Absent || of.Kind == Null) != n.not)
	case opExists:
		return truth(v.of(n.left).Kind != Absent)
	case opNegate:
		switch of := v.of(n.left); of.Kind {
		case Int:
			return Value{Kind: Int, Int: -of.Int}
		case Float:
			return Value{Kind: Float, Float: -of.Float}
		case Absent, Null, Bool, Text, Time, Other:
		}
		return Value{}
	case opAdd, opSubtract, opMultiply, opDivide, opModulo:
		return v.arithmetic(n.op, v.of(n.left), v.of(n.right))
	case opNewID:
		return TextOf(newID())
	}
	return Value{}
}

// newID returns a random UUID.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func (v *evaluation) property(n *node) Value {
	switch n.op {
	case opSystem:
		return v.message.System(n.field)
	case opUser:
		return v.message.User(n.lower)
	default:
		if by := v.of(n.left); by.Kind == Text && v.spend(len(by.Text)) {
			return v.message.User(strings.ToLower(by.Text))
		}
		return Value{}
	}
}

// logic evaluates AND and OR with three values: true, false, and unknown, which is anything but a Bool.
func (v *evaluation) logic(n *node) Value {
	left := v.of(n.left)
	switch {
	case n.op == opNot:
		if left.Kind != Bool {
			return Value{}
		}
		return truth(left.isFalse())
	case n.op == opOr && left.isTrue(), n.op == opAnd && left.isFalse():
		return left
	}
	right := v.of(n.right)
	switch {
	case n.op == opOr && right.isTrue(), n.op == opAnd && right.isFalse():
		return right
	case left.Kind == Bool && right.Kind == Bool:
		return right // or: false, and: true, as left is
	}
	return Value{}
}

func (v *evaluation) compared(what op, a, b Value) Value {
	order, ok := compare(a, b)
	if !ok || !v.spend(min(len(a.Text), len(b.Text))/8) {
		return Value{}
	}
	switch what {
	case opEqual:
		return truth(order == 0)
	case opUnequal:
		return truth(order != 0)
	default:
	}
	if a.Kind == Bool {
		return Value{}
	}
	switch what {
	case opLess:
		return truth(order < 0)
	case opLessEqual:
		return truth(order <= 0)
	case opGreater:
		return truth(order > 0)
	default:
		return truth(order >= 0)
	}
}

// in evaluates IN. It is unknown if the value is, or if only unknown items of the list could be equal to it.
func (v *evaluation) in(n *node) Value {
	left := v.of(n.left)
	if left.Kind == Absent || left.Kind == Null {
		return Value{}
	}
	unknown := false
	for _, one := range n.list {
		equal := v.compared(opEqual, left, v.of(one))
		if equal.isTrue() {
			return truth(!n.not)
		}
		unknown = unknown || equal.Kind != Bool
	}
	if unknown {
		return Value{}
	}
	return truth(n.not)
}

func (v *evaluation) arithmetic(what op, a, b Value) Value {
	switch {
	case what == opAdd && a.Kind == Text && b.Kind == Text:
		if len(a.Text)+len(b.Text) > MaxText || !v.spend(len(a.Text)+len(b.Text)) {
			return Value{}
		}
		return TextOf(a.Text + b.Text)
	case a.Kind == Int && b.Kind == Int:
		return integers(what, a.Int, b.Int)
	case a.number() && b.number():
		return Value{Kind: Float, Float: floats(what, a.float(), b.float())}
	}
	return Value{}
}

// integers computes with 64 bits and wraps; division by 0 is unknown.
func integers(what op, a, b int64) Value {
	switch what {
	case opAdd:
		a += b
	case opSubtract:
		a -= b
	case opMultiply:
		a *= b
	default:
		if b == 0 {
			return Value{}
		}
		if what == opDivide {
			a /= b
		} else {
			a %= b
		}
	}
	return Value{Kind: Int, Int: a}
}

func floats(what op, a, b float64) float64 {
	switch what {
	case opAdd:
		return a + b
	case opSubtract:
		return a - b
	case opMultiply:
		return a * b
	case opDivide:
		return a / b
	default:
		return math.Mod(a, b)
	}
}
