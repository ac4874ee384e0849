package policies

import (
	"encoding/json"

	"candlemark/internal/text/jsonencode"
	"candlemark/policies/pattern"
)

// Policy is one user or operator policy, valid and compiled. It is never
// changed after Parse or Restore made it; a *Policy may be shared freely.
type Policy struct {
	VHost      string
	Name       string
	Operator   bool        // an operator policy (POL-6)
	Pattern    string      // searched, unanchored, in the object's name (POL-2)
	ApplyTo    string      // one of the six values of POL-3
	Priority   json.Number // integer or float, as given; the highest applies (POL-1)
	Definition Definition  // at least one key

	pattern *pattern.Pattern
	covers  kinds // where apply-to reaches and every key is supported (POL-3, POL-4)
}

// Memory returns about how many bytes the pattern and the definition take, besides a fixed amount: a compiled pattern takes some 100 bytes
// for each of its own.
func (p *Policy) Memory() int64 {
	bytes := int64(100*len(p.Pattern) + len(p.Name))
	for _, e := range p.Definition {
		bytes += int64(len(e.Key)) + 100
		if text, is := e.Value.(string); is {
			bytes += int64(len(text))
		}
	}
	return bytes
}

// Equal reports whether both are the same policy with the same values. Storing an equal policy changes nothing (POL-9).
// Nil equals only nil.
func (p *Policy) Equal(other *Policy) bool {
	if p == nil || other == nil || p == other {
		return p == other
	}
	return p.VHost == other.VHost && p.Name == other.Name && p.Operator == other.Operator &&
		p.Pattern == other.Pattern && p.ApplyTo == other.ApplyTo && p.Priority == other.Priority &&
		p.Definition.Equal(other.Definition)
}

// MarshalJSON implements json.Marshaler with the item form of the HTTP API (POL-13): vhost, name, pattern, apply-to,
// definition, priority, in this order. It does not include whether it is an operator policy, as lists never mix the
// two.
func (p *Policy) MarshalJSON() ([]byte, error) {
	dst := jsonencode.Append([]byte(`{"vhost":`), p.VHost)
	dst = jsonencode.Append(append(dst, `,"name":`...), p.Name)
	dst = jsonencode.Append(append(dst, `,"pattern":`...), p.Pattern)
	dst = jsonencode.Append(append(dst, `,"apply-to":`...), p.ApplyTo)
	dst = appendJSON(append(dst, `,"definition":`...), p.Definition)
	dst = append(append(dst, `,"priority":`...), p.Priority...)
	return append(dst, '}'), nil
}
