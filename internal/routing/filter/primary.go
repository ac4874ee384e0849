package filter

import (
	"strconv"
	"strings"
)

// comparison parses a comparison, or a single value.
func (p *parser) comparison() (int32, error) {
	at := p.now.at
	left, err := p.sum()
	if err != nil {
		return 0, err
	}
	compared := p.now
	what, plain := comparisons[compared.text]
	plain = plain && compared.kind == operator
	if !plain && !compared.is("NOT") && !compared.is("IN") && !compared.is("LIKE") && !compared.is("IS") {
		return left, nil
	}
	if !p.nodes[left].operand() {
		return 0, fail(p.source, at, "a value is missing before %s", compared)
	}
	if err := p.advance(); err != nil {
		return 0, err
	}
	if plain {
		right, err := p.operand()
		return p.add(node{op: what, left: left, right: right}), err
	}
	n := node{left: left}
	if compared.is("IS") {
		return p.isNull(n)
	}
	if n.not = compared.is("NOT"); n.not {
		if compared = p.now; !compared.is("IN") && !compared.is("LIKE") {
			return 0, p.unexpected("IN or LIKE")
		}
		if err := p.advance(); err != nil {
			return 0, err
		}
	}
	if compared.is("IN") {
		return p.in(n)
	}
	return p.like(n)
}

// isNull parses the rest after IS, which is only for properties.
func (p *parser) isNull(n node) (int32, error) {
	n.op = opIsNull
	var err error
	if n.not, err = p.take("NOT"); err != nil {
		return 0, err
	}
	if of := p.nodes[n.left].op; of != opSystem && of != opUser && of != opProperty {
		return 0, fail(p.source, p.now.at, "IS NULL is for properties only")
	}
	return p.add(n), p.expect("NULL")
}

func (p *parser) in(n node) (int32, error) {
	n.op = opIn
	if err := p.expect("("); err != nil {
		return 0, err
	}
	for {
		one, err := p.operand()
		if err != nil {
			return 0, err
		}
		n.list = append(n.list, one)
		more, err := p.take(",")
		if err != nil {
			return 0, err
		}
		if !more {
			return p.add(n), p.expect(")")
		}
	}
}

func (p *parser) like(n node) (int32, error) {
	n.op = opLike
	var err error
	if n.right, err = p.operand(); err != nil {
		return 0, err
	}
	escaped, err := p.take("ESCAPE")
	if err != nil || !escaped {
		return p.add(n), err
	}
	at := p.now.at
	escape, err := p.operand()
	if err != nil {
		return 0, err
	}
	if e := &p.nodes[escape]; e.op == opValue && (e.value.Kind != Text || len([]rune(e.value.Text)) != 1) {
		return 0, fail(p.source, at, "ESCAPE requires a string of one character")
	}
	n.list = []int32{escape}
	return p.add(n), nil
}

// primary parses a value, a property, a function, or an expression in parentheses.
func (p *parser) primary() (int32, error) {
	t := p.now
	switch t.kind {
	case text:
		return p.constant(TextOf(t.text))
	case integer:
		n, err := strconv.ParseInt(t.text, 10, 64)
		if err != nil {
			return 0, fail(p.source, t.at, "%s does not fit in 64 bits", t.text)
		}
		return p.constant(Value{Kind: Int, Int: n})
	case decimal:
		f, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			return 0, fail(p.source, t.at, "%s is not a number", t.text)
		}
		return p.constant(Value{Kind: Float, Float: f})
	case parameter:
		for _, given := range p.parameters {
			if strings.EqualFold(given.Name, t.text) {
				return p.constant(given.Value)
			}
		}
		return 0, fail(p.source, t.at, "no value is given for %s", t.text)
	case name, quoted:
		return p.named()
	case keyword:
		switch t.text {
		case "TRUE", "FALSE":
			return p.constant(truth(t.text == "TRUE"))
		case "NULL":
			return p.constant(Value{Kind: Null})
		case "EXISTS":
			return p.exists()
		}
	case operator:
		if t.text == "(" {
			return p.enclosedExpression()
		}
	case end:
	}
	return 0, p.unexpected("a value")
}

func (p *parser) constant(v Value) (int32, error) { return p.add(node{value: v}), p.advance() }

func (p *parser) enclosedExpression() (int32, error) {
	if err := p.deeper(); err != nil {
		return 0, err
	}
	if err := p.advance(); err != nil {
		return 0, err
	}
	of, err := p.or()
	p.depth--
	if err != nil {
		return 0, err
	}
	return of, p.expect(")")
}

func (p *parser) exists() (int32, error) {
	if err := p.advance(); err != nil {
		return 0, err
	}
	if err := p.expect("("); err != nil {
		return 0, err
	}
	of, err := p.property()
	if err != nil {
		return 0, err
	}
	return p.add(node{op: opExists, left: of}), p.expect(")")
}

// named parses a property or a function.
func (p *parser) named() (int32, error) {
	first := p.now
	before := p.lexer
	if first.kind == name {
		following, err := p.next()
		if p.lexer = before; err != nil {
			return 0, err
		}
		if following.is("(") {
			return p.function(first)
		}
	}
	return p.property()
}

func (p *parser) function(called token) (int32, error) {
	if strings.EqualFold(called.text, "newid") {
		return p.newID()
	}
	if !strings.EqualFold(called.text, "p") && !strings.EqualFold(called.text, "property") {
		return 0, fail(p.source, called.at, "there is no function %s", called.text)
	}
	if err := p.deeper(); err != nil {
		return 0, err
	}
	if err := p.advance(); err != nil {
		return 0, err
	}
	if err := p.advance(); err != nil { // the parenthesis
		return 0, err
	}
	of, err := p.operand()
	p.depth--
	if err != nil {
		return 0, err
	}
	return p.add(node{op: opProperty, left: of}), p.expect(")")
}

func (p *parser) newID() (int32, error) {
	if err := p.advance(); err != nil {
		return 0, err
	}
	if err := p.advance(); err != nil { // the parenthesis
		return 0, err
	}
	return p.add(node{op: opNewID}), p.expect(")")
}

// property parses the name of a property with its scope.
func (p *parser) property() (int32, error) {
	first := p.now
	if first.kind != name && first.kind != quoted {
		return 0, p.unexpected("the name of a property")
	}
	if err := p.advance(); err != nil {
		return 0, err
	}
	scoped, err := p.take(".")
	if err != nil {
		return 0, err
	}
	if !scoped {
		return p.add(node{op: opUser, value: TextOf(first.text), lower: strings.ToLower(first.text)}), nil
	}
	of := p.now
	if of.kind != name && of.kind != quoted && of.kind != keyword {
		return 0, p.unexpected("the name of a property")
	}
	if of.kind == keyword {
		of.text = p.source[of.at : of.at+len(of.text)]
	}
	if err := p.advance(); err != nil {
		return 0, err
	}
	switch strings.ToLower(first.text) {
	case "user":
		return p.add(node{op: opUser, value: TextOf(of.text), lower: strings.ToLower(of.text)}), nil
	case "sys":
		f, known := FieldOf(of.text)
		if !known {
			return 0, fail(p.source, of.at, "there is no property sys.%s", of.text)
		}
		return p.add(node{op: opSystem, field: f}), nil
	}
	return 0, fail(p.source, first.at, "%s is neither sys nor user", first.text)
}
