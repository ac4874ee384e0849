package rules

import (
	"strings"

	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// CostlyPattern returns one of many patterns, all of whose parts a key of many words "a" keeps apart: 700 take more steps
// than a route may have.
func CostlyPattern(i int) string {
	words := []string{"#"}
	for bit := range 61 {
		words = append(words, []string{"a", "*"}[i>>(bit%12)&1], "#")
	}
	return strings.Join(append(words, "b"), ".")
}

// LongWords is the number of words of LongKey.
const LongWords = 10

// LongKey is a key that takes some 1,000 steps at an exchange with LongPatterns.
var LongKey = strings.Repeat("a.", LongWords-1) + "a"

// LongPatterns returns patterns that an exchange permits.
func LongPatterns() (list []string) {
	for i := range 1 << LongWords {
		words := make([]string, LongWords)
		for k := range words {
			words[k] = []string{"a", "*"}[i>>k&1]
		}
		list = append(list, strings.Join(words, "."))
	}
	return list
}

// Enlarging returns the queue as the target of a rule whose action makes two texts of up to 4,096 bytes.
func Enlarging(q *topology.Queue) *topology.Queue { return Acting(q, "SET a = b + b; SET c = a") }

// Acting returns the queue as the target of a rule with that action.
func Acting(q *topology.Queue, action string) *topology.Queue {
	r, _ := topology.NewRoutes("x-rules", nil)
	b := topology.Binding{Destination: q.Name, Arguments: protocol.Table{{Key: "x-rule-action", Value: action}}}
	r, _ = r.With(b, topology.Target{Queue: q})
	x := &topology.Exchange{Name: "rules", Type: "x-rules"}
	x.Publish(r)
	router := topology.Router{Properties: func() (protocol.Properties, []byte, int) { return protocol.Properties{}, nil, 0 }}
	return router.Route(topology.NewVHost("/").Directory(), x, nil, nil)[0]
}
