package policies

import (
	"fmt"
	"strings"

	"candlemark/internal/text/erlang"
)

// checkDefinition returns the text of the first thing wrong with the definition v of the policy called name, "" when it
// is valid (POL-5, POL-6, POL-14). Keys are checked in byte order; a bad value is reported before unknown keys.
func checkDefinition(name string, v any, operator bool) string {
	d, ok := v.(Definition)
	if !ok {
		return checkOddDefinition(name, v, operator)
	}
	if len(d) == 0 {
		return "no policy provided"
	}
	var unknown []string
	for _, e := range d {
		k, known := policyKeyOf(e.Key)
		if !known || operator && k.operator == nil {
			unknown = append(unknown, "{"+erlang.Binary(e.Key)+","+jsonTerm(e.Value)+"}")
			continue
		}
		if !k.valid(e.Value) {
			return jsonTerm(e.Value) + " " + k.text
		}
	}
	if text := checkDelayedRetry(d); text != "" {
		return text
	}
	if unknown != nil {
		return pairList(unknown) + " are not recognised policy settings"
	}
	return ""
}

// checkOddDefinition returns the error for a definition that is not an object.
func checkOddDefinition(name string, v any, operator bool) string {
	validator := "policy_validator"
	if operator {
		validator = "operator_policy_validator"
	}
	list, ok := v.([]any)
	switch {
	case !ok:
		return fmt.Sprintf("parse error while reading policy %s: %s. Validator: %s.", name, jsonTerm(v), validator)
	case len(list) == 0:
		return "no policy provided"
	default:
		return "definition must be a dictionary: " + jsonTerm(v)
	}
}

// pairList prints a list of pairs as Erlang does: on one line while it fits.
func pairList(pairs []string) string {
	line := "[" + strings.Join(pairs, ",") + "]"
	if len(line) <= lineWidth {
		return line
	}
	return "[" + strings.Join(pairs, ",\n ") + "]"
}

// lineWidth is the longest term that Erlang prints on one line.
const lineWidth = 78
