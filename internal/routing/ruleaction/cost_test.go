package ruleaction

import (
	"fmt"
	"strings"
	"testing"

	"candlemark/internal/routing/filter"
	"candlemark/internal/routing/message"
	"candlemark/protocol"
)

// BenchmarkCopies reports the time of a copy in ns per step of its cost, for different headers.
func BenchmarkCopies(b *testing.B) {
	a, _ := filter.ParseAction("SET quantity = quantity * 2; SET sys.Label = 'x'", nil)
	nested := protocol.Table{}
	for i := range 3000 {
		nested = append(nested, protocol.Field{Key: fmt.Sprint("n", i), Value: protocol.Array{int32(1), int32(2)}})
	}
	var small, long protocol.Table
	for i := range 9000 {
		small = append(small, protocol.Field{Key: fmt.Sprint("n", i), Value: true})
	}
	for i := range 24 {
		long = append(long, protocol.Field{Key: fmt.Sprint("n", i), Value: strings.Repeat("x", 4000)})
	}
	for name, table := range map[string]protocol.Table{"none": nil, "few": small[:5], "small": small, "long": long, "nested": {{Key: "t", Value: nested}}} {
		raw := (&protocol.Properties{Flags: protocol.FlagHeaders, Headers: table}).Append(nil)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m := message.Message{Header: raw}
				Apply(a, &m)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(a.Cost(len(raw))), "ns/step")
			b.ReportMetric(float64(len(raw)), "header-B")
		})
	}
}
