package policies

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"candlemark/internal/text/erlang"
	"candlemark/policies/pattern"
)

// ValidationError reports that a policy is not valid. Text is RabbitMQ's message, with each failure on its own line, in
// the order definition, apply-to, pattern, priority (POL-14).
type ValidationError struct{ Text string }

// Error implements error.
func (e *ValidationError) Error() string { return e.Text }

// Reason returns the "reason" of the HTTP answer 400 bad_request (POL-14).
func (e *ValidationError) Reason() string { return "Validation failed\n\n" + e.Text + "\n" }

// BodyError reports that a body does not have the form of a policy. Reason is the "reason" of the HTTP answer 400
// bad_request: not_json, [{key_missing,pattern}] and the like (POL-14).
type BodyError struct{ Reason string }

// Error implements error.
func (e *BodyError) Error() string { return e.Reason }

// Parse makes the policy called name from the body of a PUT request or of an
// admin message: pattern and definition are mandatory, priority is 0 and
// apply-to "all" when absent, other keys are ignored (POL-12). An empty body is
// an empty object. Integers have at most 309 digits. The error is a *BodyError or a
// *ValidationError.
func Parse(vhost, name string, operator bool, body []byte) (*Policy, error) {
	object, err := parseBody(body)
	if err != nil {
		return nil, err
	}
	if !inRange(object) {
		return nil, &BodyError{Reason: "number out of range: an integer has at most 309 digits"}
	}
	return fromObject(vhost, name, operator, object)
}

// Restore is Parse for a policy that was stored, perhaps by a version that had no
// bound for numbers.
func Restore(vhost, name string, operator bool, stored []byte) (*Policy, error) {
	object, err := parseBody(stored)
	if err != nil {
		return nil, err
	}
	return fromObject(vhost, name, operator, object)
}

func parseBody(body []byte) (Definition, error) {
	switch string(bytes.TrimSpace(body)) {
	case "", "null", "undefined":
		return Definition{}, nil
	}
	v, err := decodeJSON(body)
	if err != nil {
		return nil, &BodyError{Reason: "not_json"}
	}
	switch v := v.(type) {
	case Definition:
		return v, nil
	case string:
		return nil, &BodyError{Reason: "invalid payload: the request body JSON-decoded to a string. " +
			"Is the input doubly-JSON-encoded?"}
	default:
		return nil, &BodyError{Reason: "not_json"}
	}
}

// fromObject checks every field and reports all errors at once.
func fromObject(vhost, name string, operator bool, object Definition) (*Policy, error) {
	var missing []string
	for _, key := range [...]string{"pattern", "definition"} {
		if _, ok := object.Get(key); !ok {
			missing = append(missing, "{key_missing,"+key+"}")
		}
	}
	if missing != nil {
		return nil, &BodyError{Reason: "[" + strings.Join(missing, ",") + "]"}
	}

	p := &Policy{VHost: vhost, Name: name, Operator: operator}
	definition, _ := object.Get("definition")
	source, _ := object.Get("pattern")
	failures := []string{
		checkDefinition(name, definition, operator),
		p.setApplyTo(object),
		p.setPattern(source),
		p.setPriority(object),
	}
	if text := joinFailures(failures); text != "" {
		return nil, &ValidationError{Text: text}
	}
	p.Definition = definition.(Definition)
	for _, e := range p.Definition {
		p.covers &^= p.Definition.unsupported(e.Key)
	}
	return p, nil
}

func joinFailures(failures []string) string {
	var texts []string
	for _, text := range failures {
		if text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

func (p *Policy) setApplyTo(object Definition) (failure string) {
	v, ok := object.Get("apply-to")
	if !ok {
		v = "all"
	}
	name, ok := v.(string)
	p.ApplyTo, p.covers = name, appliesTo[name]
	if ok && p.covers != 0 {
		return ""
	}
	if !ok {
		name = jsonTerm(v)
	}
	// RabbitMQ has two blanks here.
	return "apply-to '" + name + "' unrecognised; should be one of: 'queues', 'classic_queues',  " +
		"'quorum_queues', 'streams', 'exchanges', or 'all'"
}

func (p *Policy) setPattern(v any) (failure string) {
	source, ok := v.(string)
	if !ok {
		return "pattern should be a binary but was " + jsonTerm(v)
	}
	p.Pattern = source
	p.pattern, failure = compilePattern(source)
	return failure
}

// maxPattern is the longest pattern in bytes (POL-2).
const maxPattern = 1024

// compilePattern compiles source, or returns the error in RabbitMQ's words (POL-14).
func compilePattern(source string) (p *pattern.Pattern, failure string) {
	if len(source) > maxPattern {
		return nil, "pattern must not exceed 1024 bytes"
	}
	p, err := pattern.Compile(source)
	if bad := (*pattern.Error)(nil); errors.As(err, &bad) {
		return nil, "pattern should be regular expression but is invalid: {" + erlang.String(bad.Message) + "," + strconv.Itoa(bad.At) + "}"
	}
	return p, ""
}

func (p *Policy) setPriority(object Definition) (failure string) {
	v, ok := object.Get("priority")
	if !ok {
		v = json.Number("0")
	}
	if p.Priority, ok = v.(json.Number); !ok {
		return "priority should be a number, actually was " + jsonTerm(v)
	}
	return ""
}
