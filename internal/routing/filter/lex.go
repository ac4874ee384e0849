package filter

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of a text.
const (
	MaxLength = 4096 // bytes
	MaxDepth  = 64   // nested parentheses, NOT and signs
)

// Error is a syntax error with its position.
type Error struct {
	At   int // in characters, from 1
	Text string
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("at character %d: %s", e.At, e.Text) }

type tokenKind uint8

const (
	end    tokenKind = iota
	name             // of a property, not quoted
	quoted           // of a property
	keyword
	text
	integer
	decimal
	parameter
	operator
)

type token struct {
	kind tokenKind
	text string // keywords in upper case
	at   int    // offset in bytes
}

func (t token) String() string {
	if t.kind == end {
		return "the end"
	}
	return strconv.Quote(t.text)
}

func (t token) is(text string) bool {
	return (t.kind == keyword || t.kind == operator) && t.text == text
}

// keywords cannot be names of properties, unless in brackets.
var keywords = map[string]bool{
	"AND": true, "OR": true, "NOT": true, "IN": true, "LIKE": true, "ESCAPE": true, "IS": true, "NULL": true, "EXISTS": true,
	"TRUE": true, "FALSE": true, "SET": true, "REMOVE": true,
}

// lexer splits a text into tokens.
type lexer struct {
	source string
	at     int
}

func fail(source string, at int, format string, args ...any) *Error {
	return &Error{At: utf8.RuneCountInString(source[:at]) + 1, Text: fmt.Sprintf(format, args...)}
}

// next returns the next token.
func (l *lexer) next() (token, error) {
	for l.at < len(l.source) {
		r, n := utf8.DecodeRuneInString(l.source[l.at:])
		if !unicode.IsSpace(r) {
			break
		}
		l.at += n
	}
	begin, rest := l.at, l.source[l.at:]
	if rest == "" {
		return token{kind: end, at: begin}, nil
	}
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case r == '\'':
		return l.enclosed(text, '\'')
	case r == '"':
		return l.enclosed(quoted, '"')
	case r == '[':
		return l.enclosed(quoted, ']')
	case r == '@':
		l.at++
		word := l.word()
		return l.named(token{parameter, "@" + word, begin}, word)
	case unicode.IsLetter(r):
		word := l.word()
		if upper := strings.ToUpper(word); keywords[upper] {
			return token{keyword, upper, begin}, nil
		}
		return token{name, word, begin}, nil
	case r >= '0' && r <= '9', r == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		return l.number(), nil
	}
	for _, op := range [...]string{"<>", "!=", ">=", "<=", "=", "<", ">", "+", "-", "*", "/", "%", "(", ")", ",", ".", ";"} {
		if strings.HasPrefix(rest, op) {
			l.at += len(op)
			return token{operator, op, begin}, nil
		}
	}
	return token{}, fail(l.source, begin, "%q is unexpected", r)
}

func (l *lexer) named(t token, word string) (token, error) {
	if word == "" {
		return t, fail(l.source, t.at, "a name is missing after @")
	}
	return t, nil
}

// word reads letters, digits and underscores.
func (l *lexer) word() string {
	begin := l.at
	for l.at < len(l.source) {
		r, n := utf8.DecodeRuneInString(l.source[l.at:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) || r == utf8.RuneError && n == 1 {
			break
		}
		l.at += n
	}
	return l.source[begin:l.at]
}

// enclosed reads a token that ends with closing, which is doubled inside.
func (l *lexer) enclosed(kind tokenKind, closing byte) (token, error) {
	begin := l.at
	var b strings.Builder
	for l.at++; l.at < len(l.source); l.at++ {
		c := l.source[l.at]
		if c == closing {
			if l.at++; l.at == len(l.source) || l.source[l.at] != closing {
				if kind == quoted && b.Len() == 0 {
					return token{}, fail(l.source, begin, "the name of a property is empty")
				}
				return token{kind, b.String(), begin}, nil
			}
		}
		b.WriteByte(c)
	}
	return token{}, fail(l.source, begin, "%q is missing", closing)
}

func (l *lexer) number() token {
	begin, kind := l.at, integer
	digits := func() {
		for l.at < len(l.source) && l.source[l.at] >= '0' && l.source[l.at] <= '9' {
			l.at++
		}
	}
	digits()
	if l.at < len(l.source) && l.source[l.at] == '.' {
		kind = decimal
		l.at++
		digits()
	}
	if l.at < len(l.source) && l.source[l.at]|0x20 == 'e' {
		before := l.at
		if l.at++; l.at < len(l.source) && (l.source[l.at] == '+' || l.source[l.at] == '-') {
			l.at++
		}
		from := l.at
		if digits(); l.at == from {
			l.at = before
		} else {
			kind = decimal
		}
	}
	return token{kind, l.source[begin:l.at], begin}
}
