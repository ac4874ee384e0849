package forms

import (
	"math"

	"candlemark/internal/measure/metrics"
)

// Times is the form of a histogram of times in s.
type Times struct {
	Bounds []float64 `json:"bounds_s"`
	Counts []uint64  `json:"counts"` // up to each bound and above the one before; last, above all bounds
	Count  uint64    `json:"count"`
	Sum    float64   `json:"sum_s"`
}

// TimesOf returns the form of a histogram, nil if there is none.
func TimesOf(s *metrics.SpanSummary) *Times {
	if s == nil {
		return nil
	}
	return &Times{s.Bounds, s.Counts, s.Count(), s.Sum}
}

// Percentiles returns the median and the 99th percentile of the last 1 to 2 min in s, nil if there are none.
func Percentiles(s *metrics.SpanSummary) (median, p99 *float64) {
	if s == nil || s.Median < 0 {
		return nil, nil
	}
	median, p99 = new(float64), new(float64)
	*median, *p99 = toMillis(s.Median), toMillis(s.P99)
	return median, p99
}

// toMillis rounds a time in s to ms.
func toMillis(s float64) float64 { return math.Round(s*1000) / 1000 }
