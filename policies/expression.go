package policies

import "fmt"

// Expression is a Perl-compatible regular expression, as policies and
// permissions have them. It is safe for concurrent use.
type Expression struct {
	source  string
	pattern *pattern
}

// ExpressionError says why an expression could not be compiled, in the words of
// the engine that RabbitMQ uses. At is an offset in bytes.
type ExpressionError struct {
	Source  string
	Message string
	At      int
}

// Error implements error.
func (e *ExpressionError) Error() string { return fmt.Sprintf("%s at offset %d", e.Message, e.At) }

// CompileExpression compiles source. The error is an *ExpressionError.
func CompileExpression(source string) (*Expression, error) {
	p, bad := compile(source)
	if bad != nil {
		return nil, bad
	}
	return &Expression{source, p}, nil
}

// String is the source.
func (e *Expression) String() string { return e.source }

// Match tells whether the expression is found anywhere in name. One that takes
// too long is not found.
func (e *Expression) Match(name string) bool { return e.pattern.match(name) }
