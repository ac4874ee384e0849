package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/policies"
)

// operation is the kind of a command.
type operation uint8

const (
	setPolicy operation = iota + 1
	clearPolicy
	listPolicies
)

// operations has the operations by the last word of the routing key.
var operations = map[string]operation{"set": setPolicy, "clear": clearPolicy, "list": listPolicies}

// carriedOut are the last words of commands about policies that run as jobs, like commands about messages: they take
// long or need data that the registry does not have.
var carriedOut = []string{"explain", "preview", "history", "undo"}

// isJob reports whether a command runs as a job, by its routing key.
func isJob(key []byte) bool {
	subject, verb, _ := strings.Cut(string(key), ".")
	return topology.IsOpenCommand(key) || subject == "clock" || (subject == "policy" || subject == "operator_policy") && slices.Contains(carriedOut, verb)
}

// params are the parameters of a command.
type params struct {
	operation   operation
	operator    bool // the command is about operator policies
	vhost, name string
	policy      *policies.Policy // for setPolicy
}

// mail returns the command for the registry.
func (w *params) mail(r mail.Request) any {
	switch w.operation {
	case setPolicy:
		return &mail.SetPolicy{Request: r, Policy: w.policy, Operator: w.operator}
	case clearPolicy:
		return &mail.ClearPolicy{Request: r, VHost: w.vhost, Name: w.name, Operator: w.operator}
	case listPolicies:
	}
	return &mail.ListPolicies{Request: r, VHost: w.vhost, Operator: w.operator}
}

// parse parses a command. Errors: a failure, or one of policies.Parse.
func parse(vhost, key string, body []byte) (params, error) {
	subject, verb, _ := strings.Cut(key, ".")
	w := params{operation: operations[verb], vhost: vhost, operator: subject == "operator_policy"}
	if w.operation == 0 || subject != "policy" && !w.operator {
		return w, failure{"not_found", "unknown command '" + key + "'"}
	}
	var names struct {
		VHost *string `json:"vhost"`
		Name  *string `json:"name"`
	}
	if body = bytes.TrimSpace(body); len(body) == 0 {
		body = []byte("{}")
	}
	if err := json.Unmarshal(body, &names); err != nil {
		return w, failure{"bad_request", "not_json"}
	}
	switch {
	case names.VHost != nil && *names.VHost != vhost:
		return w, failure{"not_authorised", "this exchange accepts only commands about the policies of vhost '" + vhost + "'"}
	case w.operation == listPolicies:
		return w, nil
	case names.Name == nil:
		return w, failure{"bad_request", "[{key_missing,name}]"}
	}
	w.name = *names.Name
	var err error
	if w.operation == setPolicy {
		w.policy, err = policies.Parse(vhost, w.name, w.operator, body)
	}
	return w, err
}

// failure is the answer to a command that was not executed.
type failure struct {
	What   string `json:"error"`
	Reason string `json:"reason"`
}

// Error implements error.
func (f failure) Error() string { return f.Reason }

// done, changed and listed are the answers to clearPolicy, setPolicy and
// listPolicies.
type done struct {
	OK bool `json:"ok"`
}

type changed struct {
	OK       bool   `json:"ok"`
	Replaced bool   `json:"replaced"`
	Warning  string `json:"warning,omitempty"`
}

type listed struct {
	OK       bool               `json:"ok"`
	Policies []*policies.Policy `json:"policies"`
}

// refusal returns the answer for an error, in the words of the HTTP API (POL-14).
func refusal(err error) failure {
	var known failure
	var invalid *policies.ValidationError
	var body *policies.BodyError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &invalid):
		return failure{"bad_request", invalid.Reason()}
	case errors.As(err, &body):
		return failure{"bad_request", body.Reason}
	default:
		return failure{"internal_error", err.Error()}
	}
}
