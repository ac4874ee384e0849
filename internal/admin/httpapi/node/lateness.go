package node

import (
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/measure/metrics"
)

// latenessItem is the form of the lateness of due messages since the broker started.
type latenessItem struct {
	Bounds   []float64 `json:"bounds_s"`
	Expired  []uint64  `json:"expired"` // up to each bound and above the one before; last, above all bounds
	Released []uint64  `json:"released"`
}

// lateness returns how late messages have expired, and scheduled ones were released.
func lateness(r *rest.Request) (any, error) {
	expired, released := r.Broker.Lateness()
	return latenessItem{metrics.DurationBuckets().Bounds, expired.Counts, released.Counts}, nil
}
