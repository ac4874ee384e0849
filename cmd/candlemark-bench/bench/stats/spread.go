package stats

import "slices"

// Spread is a figure of several runs: their median, and how far they lie apart.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// SpreadOf sums runs up; the median of an even number is the mean of the two in the middle. Of no runs everything is 0.
func SpreadOf(runs []float64) Spread {
	if len(runs) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(runs))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + median) / 2
	}
	return Spread{median, sorted[0], sorted[len(sorted)-1]}
}

// Ratio is b's median over a's; 0 if a's is 0.
func Ratio(a, b Spread) float64 {
	if a.Median == 0 {
		return 0
	}
	return b.Median / a.Median
}
