package exposition

import (
	"testing"

	"candlemark/internal/measure/metrics"
)

// TestAges_AGE6: the broker's page has the highest age and the histograms by type of queue, the pages of objects have the ages of
// each queue, and its histograms only on request.
func TestAges_AGE6(t *testing.T) {
	f := newFake()
	var of metrics.Queues
	ages := metrics.Ages{Share: of.Of(metrics.Quorum, 1)}
	ages.Waited(3)
	ages.Waited(70_000)
	ages.Processed(40)
	ages.Flush(0)
	f.metrics.Wait[metrics.Quorum], f.metrics.Processing[metrics.Quorum] = of.Times(metrics.Quorum)
	f.times = [2]*metrics.SpanSummary{ages.Wait.Summary(0), ages.Processing.Summary(0)}
	for _, path := range []string{wholePath, objectsPath} {
		families := scraped(t, f, path)
		for name, want := range map[string]float64{"candlemark_wait_seconds": 2, "candlemark_processing_seconds": 1} {
			if got := value(t, families, name, "queue_type", "rabbit_quorum_queue"); got != want {
				t.Errorf("%s: %s: %v", path, name, got)
			}
		}
		if got := value(t, families, "candlemark_oldest_ready_age_seconds"); got != 12.5 {
			t.Errorf("%s: %v", path, got)
		}
	}
	for path, times := range map[string]bool{objectsPath: false, chosenPath + "?family=queue_age_metrics": true, chosenPath + "?family=queue_coarse_metrics": false} {
		families := scraped(t, f, path)
		if path != chosenPath+"?family=queue_coarse_metrics" {
			for name, want := range map[string]float64{"candlemark_queue_oldest_ready_age_seconds": 1.5, "candlemark_queue_oldest_message_age_seconds": 2.25} {
				if got := value(t, families, name, "vhost", "/", "queue", "a"); got != want {
					t.Errorf("%s: %s: %v", path, name, got)
				}
			}
		}
		wait := families["candlemark_queue_wait_seconds"]
		if (wait != nil) != times || times && len(wait.GetMetric()) != 1 {
			t.Errorf("%s: %v", path, wait)
		}
		if times && (value(t, families, "candlemark_queue_wait_seconds", "queue", "a") != 2 || value(t, families, "candlemark_queue_processing_seconds", "queue", "a") != 1) {
			t.Error(path)
		}
	}
}
