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

// checkDelayedRetry checks the delayed-retry keys together.
func checkDelayedRetry(d Definition) string {
	kind, hasKind := d.Get(keyRetryType)
	low, hasLow := d.Get(keyRetryMin)
	high, hasHigh := d.Get(keyRetryMax)
	if hasKind && kind != "disabled" && !hasLow {
		return fmt.Sprintf("%s is required when %s is %s", keyRetryMin, keyRetryType, kind)
	}
	a, _ := integer(low)
	b, _ := integer(high)
	if hasLow && hasHigh && b < a {
		return fmt.Sprintf("%s (%d) must not be smaller than %s (%d)", keyRetryMax, b, keyRetryMin, a)
	}
	return ""
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
