package exposition

import (
	"net/http"
	"strings"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/measure/metrics"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// writer writes families, each when the next one begins. The first error ends the writing.
type writer struct {
	encoder expfmt.Encoder
	open    *dto.MetricFamily // not written yet
	err     error
}

// page writes the families of an answer.
type page func(*writer)

// formats are the formats that a scrape may request.
var formats = []expfmt.Format{expfmt.FmtOpenMetrics_1_0_0, expfmt.FmtOpenMetrics_0_0_1, expfmt.FmtText}

// rendered returns the answer to a scrape in the requested format, and sets its headers.
func (p page) rendered(h http.Header, r *http.Request) *rest.Packed {
	format := expfmt.NegotiateAccept(r.Header, formats...)
	h.Set("Content-Type", string(format))
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "accept, accept-encoding")
	body := rest.NewPacked(h, r)
	out := &writer{encoder: expfmt.NewEncoder(body, format)}
	p(out)
	out.begin(nil)
	if c, ok := out.encoder.(expfmt.Closer); ok {
		_ = c.Close()
	}
	body.Close()
	return body
}

// begin writes the family that was open.
func (w *writer) begin(f *dto.MetricFamily) {
	if w.open != nil && w.err == nil {
		w.err = w.encoder.Encode(w.open)
	}
	w.open = f
}

// family opens a family, unless it is open.
func (w *writer) family(name, help string, kind dto.MetricType) *dto.MetricFamily {
	if w.open == nil || w.open.GetName() != name {
		w.begin(&dto.MetricFamily{Name: &name, Help: &help, Type: &kind})
	}
	return w.open
}

// number writes one number; labels are names and values in turn.
func (w *writer) number(kind dto.MetricType, name, help string, v float64, labels ...string) {
	f := w.family(name, help, kind)
	f.Metric = append(f.Metric, newRow(&v, labels...))
}

// newRow has a number for any type of family.
func newRow(v *float64, labels ...string) *dto.Metric {
	return &dto.Metric{Label: labelled(labels...), Gauge: &dto.Gauge{Value: v}, Counter: &dto.Counter{Value: v}, Untyped: &dto.Untyped{Value: v}}
}

func labelled(labels ...string) []*dto.LabelPair {
	pairs := make([]*dto.LabelPair, 0, len(labels)/2)
	for i := 0; i+1 < len(labels); i += 2 {
		value := strings.ToValidUTF8(labels[i+1], "\uFFFD") // names of queues may be any bytes
		pairs = append(pairs, &dto.LabelPair{Name: &labels[i], Value: &value})
	}
	return pairs
}

func (w *writer) gauge(name, help string, v float64, labels ...string) {
	w.number(dto.MetricType_GAUGE, name, help, v, labels...)
}

func (w *writer) counter(name, help string, v uint64, labels ...string) {
	w.number(dto.MetricType_COUNTER, name, help, float64(v), labels...)
}

// info writes a metric of value 1 with labels.
func (w *writer) info(name, help string, labels ...string) {
	w.number(dto.MetricType_UNTYPED, name, help, 1, labels...)
}

func (w *writer) histogram(name, help string, b metrics.Buckets, labels ...string) {
	h := &dto.Histogram{SampleSum: &b.Sum}
	sum := uint64(0)
	for i := range b.Bounds {
		sum += b.Counts[i]
		upTo := sum
		h.Bucket = append(h.Bucket, &dto.Bucket{UpperBound: &b.Bounds[i], CumulativeCount: &upTo})
	}
	all := b.Count()
	h.SampleCount = &all
	f := w.family(name, help, dto.MetricType_HISTOGRAM)
	f.Metric = append(f.Metric, &dto.Metric{Label: labelled(labels...), Histogram: h})
}
