package filter

import (
	"errors"
	"strconv"
	"strings"
)

// Expression is a parsed SQL filter. It is immutable.
type Expression struct {
	nodes []node
	root  int32
}

// Parameter is the value of a name that begins with @ in a text.
type Parameter struct {
	Name  string // with the @
	Value Value
}

// op is the kind of a node.
type op uint8

const (
	opValue    op = iota // value
	opSystem             // field
	opUser               // value is the name
	opProperty           // left is its name
	opOr
	opAnd
	opNot
	opEqual
	opUnequal
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opIn   // left in list
	opLike // left like right, list has the escape
	opIsNull
	opExists
	opAdd
	opSubtract
	opMultiply
	opDivide
	opModulo
	opNegate
	opNewID
)

// node is a part of an expression. Its operands are indexes in the expression.
type node struct {
	op          op
	not         bool // of opIn, opLike, opIsNull
	field       Field
	left, right int32
	list        []int32
	value       Value
	lower       string // of opUser, whose name value has
}

// predicate reports whether the node has a truth value.
func (n *node) predicate() bool {
	switch n.op {
	case opValue:
		return n.value.Kind == Bool
	case opSystem, opUser, opProperty:
		return true
	case opOr, opAnd, opNot, opEqual, opUnequal, opLess, opLessEqual, opGreater, opGreaterEqual, opIn, opLike, opIsNull, opExists:
		return true
	case opAdd, opSubtract, opMultiply, opDivide, opModulo, opNegate, opNewID:
	}
	return false
}

// operand reports whether the node can be compared and used in arithmetic.
func (n *node) operand() bool {
	switch n.op {
	case opOr, opAnd, opNot, opEqual, opUnequal, opLess, opLessEqual, opGreater, opGreaterEqual, opIn, opLike, opIsNull, opExists:
		return false
	case opValue, opSystem, opUser, opProperty, opAdd, opSubtract, opMultiply, opDivide, opModulo, opNegate, opNewID:
	}
	return true
}

// Parse reads the text of an SQL filter. Errors: *Error, or an error if the text is too long.
func Parse(source string, parameters []Parameter) (*Expression, error) {
	p, err := newParser(source, parameters)
	if err != nil {
		return nil, err
	}
	root, err := p.predicate()
	if err == nil && p.now.kind != end {
		err = p.unexpected("an operator")
	}
	if err != nil {
		return nil, err
	}
	return &Expression{p.nodes, root}, nil
}

// Cost returns the approximate steps of an evaluation, without the lengths of texts.
func (e *Expression) Cost() int { return len(e.nodes) }

// parser makes nodes of tokens.
type parser struct {
	lexer
	now        token
	parameters []Parameter
	nodes      []node
	depth      int
}

var errTooLong = errors.New("the expression has more than " + strconv.Itoa(MaxLength) + " bytes")

func newParser(source string, parameters []Parameter) (*parser, error) {
	if len(source) > MaxLength {
		return nil, errTooLong
	}
	p := &parser{lexer: lexer{source: source}, parameters: parameters}
	return p, p.advance()
}

func (p *parser) advance() (err error) {
	p.now, err = p.next()
	return err
}

func (p *parser) unexpected(wanted string) error {
	return fail(p.source, p.now.at, "%s instead of %s", p.now, wanted)
}

// take consumes a keyword or operator, if it is next.
func (p *parser) take(text string) (bool, error) {
	if !p.now.is(text) {
		return false, nil
	}
	return true, p.advance()
}

// expect consumes a keyword or operator, which must be next.
func (p *parser) expect(text string) error {
	if !p.now.is(text) {
		return p.unexpected(strconv.Quote(text))
	}
	return p.advance()
}

func (p *parser) add(n node) int32 {
	p.nodes = append(p.nodes, n)
	return int32(len(p.nodes) - 1)
}

// deeper enters another level; it fails beyond MaxDepth.
func (p *parser) deeper() error {
	if p.depth++; p.depth > MaxDepth {
		return fail(p.source, p.now.at, "the expression is nested more than %d levels deep", MaxDepth)
	}
	return nil
}

// predicate parses an expression with a truth value.
func (p *parser) predicate() (int32, error) {
	at := p.now.at
	root, err := p.or()
	if err == nil && !p.nodes[root].predicate() {
		err = fail(p.source, at, "a condition is expected, not a value")
	}
	return root, err
}

// operand parses an expression with any other value.
func (p *parser) operand() (int32, error) {
	at := p.now.at
	root, err := p.sum()
	if err == nil && !p.nodes[root].operand() {
		err = fail(p.source, at, "a value is expected, not a condition")
	}
	return root, err
}

// chain parses operands between operators of equal precedence, from left to right.
func (p *parser) chain(one func() (int32, error), good func(*node) bool, wanted string, ops map[string]op) (int32, error) {
	at := p.now.at
	left, err := one()
	for err == nil && (p.now.kind == operator || p.now.kind == keyword) {
		what, found := ops[p.now.text]
		if !found {
			break
		}
		if !good(&p.nodes[left]) {
			return 0, fail(p.source, at, "%s is missing before %s", wanted, p.now)
		}
		by := p.now
		if err = p.advance(); err != nil {
			break
		}
		at = p.now.at
		var right int32
		if right, err = one(); err == nil && !good(&p.nodes[right]) {
			err = fail(p.source, at, "%s is missing after %s", wanted, by)
		}
		if err == nil {
			left = p.add(node{op: what, left: left, right: right})
		}
	}
	return left, err
}

var (
	disjunction = map[string]op{"OR": opOr}
	conjunction = map[string]op{"AND": opAnd}
	comparisons = map[string]op{
		"=": opEqual, "<>": opUnequal, "!=": opUnequal, "<": opLess, "<=": opLessEqual, ">": opGreater, ">=": opGreaterEqual,
	}
	sums     = map[string]op{"+": opAdd, "-": opSubtract}
	products = map[string]op{"*": opMultiply, "/": opDivide, "%": opModulo}
)

func (p *parser) or() (int32, error) {
	return p.chain(p.and, (*node).predicate, "a condition", disjunction)
}

func (p *parser) and() (int32, error) {
	return p.chain(p.not, (*node).predicate, "a condition", conjunction)
}

func (p *parser) not() (int32, error) {
	negated, err := p.take("NOT")
	if err != nil || !negated {
		if err != nil {
			return 0, err
		}
		return p.comparison()
	}
	if err := p.deeper(); err != nil {
		return 0, err
	}
	at := p.now.at
	of, err := p.not()
	p.depth--
	if err == nil && !p.nodes[of].predicate() {
		err = fail(p.source, at, "a condition is missing after NOT")
	}
	return p.add(node{op: opNot, left: of}), err
}

func (p *parser) sum() (int32, error) {
	return p.chain(p.product, (*node).operand, "a value", sums)
}

func (p *parser) product() (int32, error) {
	return p.chain(p.sign, (*node).operand, "a value", products)
}

func (p *parser) sign() (int32, error) {
	negative := p.now.is("-")
	if !negative && !p.now.is("+") {
		return p.primary()
	}
	if err := p.advance(); err != nil {
		return 0, err
	}
	if negative && p.now.kind == integer && strings.TrimLeft(p.now.text, "0") == "9223372036854775808" {
		return p.add(node{value: Value{Kind: Int, Int: -1 << 63}}), p.advance()
	}
	if err := p.deeper(); err != nil {
		return 0, err
	}
	at := p.now.at
	of, err := p.sign()
	p.depth--
	if err == nil && !p.nodes[of].operand() {
		err = fail(p.source, at, "a number is missing after a sign")
	}
	if err != nil || !negative {
		return of, err
	}
	return p.add(node{op: opNegate, left: of}), nil
}
