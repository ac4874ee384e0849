package exposition

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/transport/budget"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// fake is a broker with fixed metrics.
type fake struct {
	management.Broker
	metrics management.Metrics
	due     *management.ExpiryCounts
	err     error
	asked   []string // virtual hosts whose queues were requested
	wait    chan struct{}
	times   [2]*metrics.SpanSummary // of the first queue: wait and processing
}

func newFake() *fake {
	f := &fake{}
	m := &f.metrics
	m.Node, m.ClusterName, m.ClusterID, m.ProductVersion = "candlemark@here", "house", "rabbitmq-cluster-id-1", "0.1.0"
	for kind := range m.Queues {
		for i := range m.Queues[kind] {
			m.Queues[kind][i] = int64(100*(kind+1) + i)
		}
	}
	m.ByProtocol[management.AMQP091].Published.Count(50, 2, true)
	m.ByProtocol[management.AMQP091].Published.Count(5_000, 1, false)
	m.ByProtocol[management.AMQP10].Published.Count(70, 4, true)
	m.ByProtocol[management.AMQP10].Consumers = 6
	m.Expired, m.Released = metrics.DurationBuckets(), metrics.DurationBuckets()
	m.Expired.Counts[3] = 9
	m.DeadLetters.Expired.AtMostOnce = 4
	m.Panics = map[string]uint64{"queue": 2, "channel": 0}
	m.Actors = management.Actors{Busy: 3, Mails: 12, Longest: 7}
	m.Journal = &management.Journal{Commits: metrics.DurationBuckets(), Records: 77}
	m.Logins = auth.LoginCounts{AMQP091: auth.Logins{Succeeded: 1}, AMQP10: auth.Logins{Failed: 4}, HTTP: auth.Logins{Succeeded: 2, Failed: 3}}
	m.MemoryUsed, m.Uptime, m.MemoryAlarm = 12345, 2500, true
	m.Connections, m.Channels, m.Overview.Queues, m.ByProtocol[management.AMQP091].Publishers = 1, 2, 3, 2
	f.due = &management.ExpiryCounts{}
	return f
}

func (f *fake) Unread() *budget.Unread { return nil }

func (f *fake) Clock() *clock.Clock { return clock.New() }

func (f *fake) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(parent, d)
}

func (f *fake) Metrics(context.Context) (management.Metrics, error) {
	if f.wait != nil {
		<-f.wait
	}
	return f.metrics, f.err
}

func (f *fake) Queues(_ context.Context, vhost string) ([]management.Queue, error) {
	f.asked = append(f.asked, vhost)
	list := []management.Queue{
		{
			VHost: "/", Name: "a", Figures: queuestats.Figures{Ready: 1, Unacked: 2, ReadyBytes: 10}, Counts: management.Counts{Ack: 3}, Expiring: management.ExpiryCounts{Within: [5]int{0, 7}, Next: 1500}, Lease: management.Lease{Ends: 2500},
			OldestReady: management.Oldest{Since: 1, Age: 1500}, OldestMessage: management.Oldest{Since: 1, Age: 2250}, Wait: f.times[0], Processing: f.times[1],
		},
		{VHost: "/", Name: "b\n\"\\", Figures: queuestats.Figures{Ready: 4}},
		{VHost: "dev", Name: "a", Figures: queuestats.Figures{Ready: 5}},
	}
	return slices.DeleteFunc(list, func(q management.Queue) bool { return vhost != "" && q.VHost != vhost }), f.err
}

func (f *fake) ListSchedules(_ context.Context, vhost, _ string) ([]management.Schedule, error) {
	return []management.Schedule{{VHost: cmp.Or(vhost, "/"), Name: "s", State: "running", Missed: 3, Due: 1_500, Last: &management.ScheduleRun{Late: 2 * time.Millisecond}}}, nil
}

func (f *fake) OldestReadyAge() int64 { return 12_500 }

func (f *fake) Due(context.Context) (*management.ExpiryCounts, error) {
	return f.due, f.err
}

func (f *fake) Connections(context.Context, string) ([]management.Connection, error) {
	return []management.Connection{{Name: "1 -> 2", VHost: "/", BytesIn: 8}}, f.err
}

func (f *fake) Channels(ctx context.Context, _ string) ([]management.Channel, error) {
	list, err := f.Connections(ctx, "")
	return []management.Channel{{Connection: &list[0], Number: 7, VHost: "/", Unacked: 6}}, err
}

// scraped requests a page in the text format as Prometheus does, and parses it.
func scraped(t *testing.T, f *fake, path string) map[string]*dto.MetricFamily {
	t.Helper()
	answer := request(f, path, "text/plain;version=0.0.4")
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	if answer.Code != 200 || err != nil || !strings.HasPrefix(answer.Header().Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatal(answer.Code, answer.Header(), err)
	}
	return families
}

func request(f *fake, path, accept string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept", accept)
	NewHandler(f, false).ServeHTTP(answer, r)
	return answer
}

// value finds a value by its family and its labels, which are names and values in turn.
func value(t *testing.T, families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	t.Helper()
	for _, m := range families[name].GetMetric() {
		if hasLabels(m, labels) {
			switch families[name].GetType() {
			case dto.MetricType_COUNTER:
				return m.GetCounter().GetValue()
			case dto.MetricType_GAUGE:
				return m.GetGauge().GetValue()
			case dto.MetricType_HISTOGRAM:
				return float64(m.GetHistogram().GetSampleCount())
			case dto.MetricType_SUMMARY, dto.MetricType_UNTYPED, dto.MetricType_GAUGE_HISTOGRAM:
			}
			return m.GetUntyped().GetValue()
		}
	}
	t.Errorf("no %s %q", name, labels)
	return -1
}

func hasLabels(m *dto.Metric, labels []string) bool {
	for i := 0; i < len(labels); i += 2 {
		if !slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == labels[i] && l.GetValue() == labels[i+1] }) {
			return false
		}
	}
	return true
}

// The series that the panels of RabbitMQ's Overview dashboard read exist, with the labels that they select by.
func TestOverviewDashboardFindsItsSeries(t *testing.T) {
	families := scraped(t, newFake(), wholePath)
	plain := []string{
		"rabbitmq_erlang_uptime_seconds", "rabbitmq_queue_messages_ready", "rabbitmq_queue_messages_unacked", "rabbitmq_queues",
		"rabbitmq_channels", "rabbitmq_connections", "rabbitmq_resident_memory_limit_bytes", "rabbitmq_process_resident_memory_bytes",
		"rabbitmq_disk_space_available_bytes", "rabbitmq_disk_space_available_limit_bytes", "rabbitmq_process_max_fds", "rabbitmq_process_open_fds",
		"rabbitmq_queues_declared_total", "rabbitmq_queues_created_total", "rabbitmq_queues_deleted_total", "rabbitmq_channels_opened_total",
		"rabbitmq_channels_closed_total", "rabbitmq_connections_opened_total", "rabbitmq_connections_closed_total",
		"rabbitmq_alarms_memory_used_watermark", "rabbitmq_alarms_free_disk_space_watermark", "rabbitmq_alarms_file_descriptor_limit",
	}
	for _, name := range plain {
		if m := families[name].GetMetric(); len(m) != 1 || len(m[0].GetLabel()) != 0 {
			t.Errorf("%s: %v", name, m)
		}
	}
	for _, name := range []string{"publishers", "consumers", "messages_received_total", "messages_received_confirm_total", "messages_routed_total", "messages_confirmed_total", "messages_unroutable_dropped_total", "messages_unroutable_returned_total"} {
		value(t, families, "rabbitmq_global_"+name, "protocol", "amqp091")
		value(t, families, "rabbitmq_global_"+name, "protocol", "amqp10")
	}
	for _, name := range []string{
		"delivered", "delivered_consume_auto_ack", "delivered_consume_manual_ack", "delivered_get_auto_ack", "delivered_get_manual_ack",
		"redelivered", "acknowledged", "get_empty",
	} {
		for _, queueType := range []string{"rabbit_classic_queue", "rabbit_quorum_queue", "rabbit_stream_queue"} {
			value(t, families, "rabbitmq_global_messages_"+name+"_total", "protocol", "amqp091", "queue_type", queueType)
		}
	}
	for _, name := range []string{"expired", "rejected", "maxlen", "delivery_limit"} {
		for _, strategy := range []string{"at_least_once", "at_most_once", "disabled"} {
			value(t, families, "rabbitmq_global_messages_dead_lettered_"+name+"_total", "dead_letter_strategy", strategy)
		}
	}
	value(t, families, "rabbitmq_global_messages_dead_lettered_confirmed_total")
	value(t, families, "rabbitmq_identity_info", "rabbitmq_node", "candlemark@here", "rabbitmq_cluster", "house",
		"rabbitmq_cluster_permanent_id", "rabbitmq-cluster-id-1", "rabbitmq_endpoint", "aggregated")
	value(t, families, "rabbitmq_build_info", "rabbitmq_version", "4.3.6", "erlang_version", "", "prometheus_plugin_version", "4.3.6",
		"prometheus_client_version", "", "product_name", "Candlemark", "product_version", "0.1.0")
}

// Panels join on rabbitmq_identity_info: it has one series, and no other family but rabbitmq_build_info has labels like its own.
func TestLabelsJoin(t *testing.T) {
	for _, path := range []string{wholePath, objectsPath} {
		for name, f := range scraped(t, newFake(), path) {
			for _, m := range f.GetMetric() {
				for _, l := range m.GetLabel() {
					if strings.HasPrefix(l.GetName(), "rabbitmq_") && name != "rabbitmq_identity_info" && name != "rabbitmq_build_info" {
						t.Errorf("%s has the label %s", name, l.GetName())
					}
				}
			}
			if name == "rabbitmq_identity_info" && len(f.GetMetric()) != 1 {
				t.Errorf("%s: %v", path, f)
			}
		}
	}
}

func TestValues(t *testing.T) {
	families := scraped(t, newFake(), wholePath)
	for _, test := range []struct {
		want   float64
		name   string
		labels []string
	}{
		{600 + 3*queuestats.Ready, "rabbitmq_queue_messages_ready", nil}, // without holders
		{200 + queuestats.Acked, "rabbitmq_global_messages_acknowledged_total", []string{"queue_type", "rabbit_quorum_queue"}},
		{400 + queuestats.Delivered + queuestats.DeliveredNoAck + queuestats.Got + queuestats.GotNoAck, "rabbitmq_global_messages_delivered_total", []string{"queue_type", "rabbit_classic_queue"}},
		{1000 + 4*queuestats.Scheduled, "candlemark_scheduled_messages", nil}, // with holders
		{3, "rabbitmq_global_messages_routed_total", []string{"protocol", "amqp091"}},
		{4, "rabbitmq_global_messages_routed_total", []string{"protocol", "amqp10"}},
		{6, "rabbitmq_global_consumers", []string{"protocol", "amqp10"}},
		{1, "rabbitmq_global_messages_received_confirm_total", []string{"protocol", "amqp091"}},
		{2, "rabbitmq_message_size_bytes", []string{"protocol", "amqp091"}},
		{9, "candlemark_expiry_lateness_seconds", nil},
		{4, "candlemark_dead_letters_total", []string{"reason", "expired", "strategy", "at_most_once"}},
		{2, "candlemark_actor_panics_total", []string{"actor", "queue"}},
		{3, "candlemark_actors_busy", nil},
		{12, "candlemark_mailbox_mails", nil},
		{7, "candlemark_mailbox_longest_mails", nil},
		{77, "candlemark_journal_records_total", nil},
		{12345, "rabbitmq_process_resident_memory_bytes", nil},
		{2.5, "rabbitmq_erlang_uptime_seconds", nil},
		{5, "rabbitmq_auth_attempts_total", []string{"protocol", "http"}},
		{3, "rabbitmq_auth_attempts_failed_total", []string{"protocol", "http"}},
		{1, "rabbitmq_auth_attempts_succeeded_total", []string{"protocol", "amqp091"}},
		{4, "rabbitmq_auth_attempts_failed_total", []string{"protocol", "amqp10"}},
		{1, "rabbitmq_alarms_memory_used_watermark", nil},
	} {
		if got := value(t, families, test.name, test.labels...); got != test.want {
			t.Errorf("%s %v: %v, want %v", test.name, test.labels, got, test.want)
		}
	}
	if families["go_goroutines"] == nil || families["process_start_time_seconds"] == nil {
		t.Error("nothing about the process")
	}
}

// Panels select these values of le, which Prometheus gets because it requests OpenMetrics.
func TestBucketsByName(t *testing.T) {
	answer := request(newFake(), wholePath, "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
	body := answer.Body.String()
	if !strings.HasPrefix(answer.Header().Get("Content-Type"), "application/openmetrics-text") || !strings.HasSuffix(body, "# EOF\n") {
		t.Fatal(answer.Header())
	}
	for _, le := range []string{"100.0", "1000.0", "10000.0", "100000.0", "1e+06", "1e+07", "5e+07", "1e+08", "+Inf"} {
		if !strings.Contains(body, `rabbitmq_message_size_bytes_bucket{protocol="amqp091",le="`+le+`"} `) {
			t.Error("no bucket", le)
		}
	}
}

// A request without a format, or with an unknown one, gets the text format.
func TestTextByDefault(t *testing.T) {
	for _, accept := range []string{"", "*/*", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited", "text/html"} {
		if got := request(newFake(), wholePath, accept).Header().Get("Content-Type"); !strings.HasPrefix(got, "text/plain; version=0.0.4") {
			t.Errorf("%q: %s", accept, got)
		}
	}
}

// Messages due to expire are counted by remaining time, for all queues, unless too many queues would be read, and for each queue.
func TestDue(t *testing.T) {
	f := newFake()
	f.due = nil
	if families := scraped(t, f, wholePath); families["candlemark_messages_due"] != nil {
		t.Error("shown though unknown")
	}
	f.due = &management.ExpiryCounts{Count: 9, Within: [5]int{1, 0, 2, 0, 6}, Next: 1_800_000_000_500}
	families := scraped(t, f, wholePath)
	for within, want := range map[string]float64{"1s": 1, "1m": 0, "1h": 2, "1d": 0, "later": 6} {
		if got := value(t, families, "candlemark_messages_due", "within", within); got != want {
			t.Errorf("%v within %s, want %v", got, within, want)
		}
	}
	if got := value(t, families, "candlemark_next_expiry_timestamp_seconds"); got != 1_800_000_000.5 {
		t.Error(got)
	}
	for _, path := range []string{objectsPath, chosenPath + "?family=queue_expiry_metrics"} {
		families = scraped(t, f, path)
		for name, want := range map[string]float64{
			"candlemark_queue_messages_due_1s": 0, "candlemark_queue_messages_due_1m": 7, "candlemark_queue_next_expiry_timestamp_seconds": 1.5,
			"candlemark_queue_lease_expires_timestamp_seconds": 2.5,
		} {
			if got := value(t, families, name, "vhost", "/", "queue", "a"); got != want {
				t.Errorf("%s: %s is %v", path, name, got)
			}
		}
	}
}

// No page has a family twice: Prometheus would reject the whole page.
func TestFamiliesComeOnce(t *testing.T) {
	for _, path := range []string{wholePath, objectsPath, chosenPath + "?family=queue_coarse_metrics&family=channel_metrics"} {
		seen := map[string]bool{}
		for line := range strings.Lines(request(newFake(), path, "text/plain").Body.String()) {
			if name, is := strings.CutPrefix(line, "# TYPE "); is {
				if seen[name] {
					t.Error(path, name)
				}
				seen[name] = true
			}
		}
		if len(seen) < 5 {
			t.Error(path, seen)
		}
	}
}

func TestPerObject(t *testing.T) {
	families := scraped(t, newFake(), objectsPath)
	for _, test := range []struct {
		want   float64
		name   string
		labels []string
	}{
		{3, "rabbitmq_queue_messages", []string{"vhost", "/", "queue", "a"}},
		{5, "rabbitmq_queue_messages", []string{"vhost", "dev", "queue", "a"}},
		{4, "rabbitmq_queue_messages_ready", []string{"queue", "b\n\"\\"}},
		{3, "rabbitmq_queue_messages_acked_total", []string{"vhost", "/", "queue", "a"}},
		{8, "rabbitmq_connection_incoming_bytes_total", []string{"channel", "1 -> 2"}},
		{6, "rabbitmq_channel_messages_unacked", []string{"channel", "1 -> 2 (7)"}},
	} {
		if got := value(t, families, test.name, test.labels...); got != test.want {
			t.Errorf("%s %v: %v, want %v", test.name, test.labels, got, test.want)
		}
	}
}

// The setting prometheus.return_per_object_metrics has the metrics of each object at /metrics.
func TestPerObjectEverywhere(t *testing.T) {
	answer := httptest.NewRecorder()
	NewHandler(newFake(), true).ServeHTTP(answer, httptest.NewRequest("GET", wholePath, nil))
	if page := answer.Body.String(); !strings.Contains(page, `rabbitmq_queue_messages{vhost="/",queue="a"} 3`) || !strings.Contains(page, `rabbitmq_endpoint="per-object"`) {
		t.Errorf("%.500s", page)
	}
}

// Only the chosen families and virtual hosts are read from the broker and shown.
func TestChosenFamilies(t *testing.T) {
	f := newFake()
	families := scraped(t, f, chosenPath+"?family=queue_coarse_metrics&family=queue_consumer_count&vhost=dev&vhost=dev")
	if value(t, families, "rabbitmq_detailed_queue_messages_ready", "vhost", "dev") != 5 || len(families["rabbitmq_detailed_queue_messages"].GetMetric()) != 1 {
		t.Error(families)
	}
	if len(families) != 6 || !slices.Equal(f.asked, []string{"dev"}) {
		t.Error(len(families), f.asked)
	}
	f = newFake()
	if families = scraped(t, f, chosenPath); len(families) != 2 || f.asked != nil {
		t.Error(families, f.asked)
	}
	if families = scraped(t, newFake(), chosenPath+"?family=nothing&family=connection_coarse_metrics&vhost=dev"); len(families) != 2 {
		t.Error(families)
	}
}

// The dashboard shipped with the broker uses only existing series.
func TestOwnDashboardFindsItsSeries(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/deploy/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	families, found := scraped(t, newFake(), wholePath), 0
	for _, name := range regexp.MustCompile(`candlemark_[a-z_]+`).FindAllString(string(text), -1) {
		found++
		for _, suffix := range []string{"_bucket", "_count"} {
			name = strings.TrimSuffix(name, suffix)
		}
		if families[name] == nil {
			t.Error("no", name)
		}
	}
	if found < 15 {
		t.Error(found)
	}
}

func TestCompressed(t *testing.T) {
	answer := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, wholePath, nil)
	r.Header.Set("Accept-Encoding", "gzip")
	NewHandler(newFake(), false).ServeHTTP(answer, r)
	packed, err := gzip.NewReader(answer.Body)
	if err != nil || answer.Header().Get("Content-Encoding") != "gzip" {
		t.Fatal(err, answer.Header())
	}
	if body, err := io.ReadAll(packed); err != nil || !strings.Contains(string(body), "rabbitmq_identity_info") {
		t.Error(err, string(body))
	}
}

// The number of concurrent scrapes is bounded; further ones get 503.
func TestScrapesAreBounded(t *testing.T) {
	for path, most := range map[string]int{wholePath: wholeAtATime, objectsPath: objectsAtATime, chosenPath: objectsAtATime} {
		f := newFake()
		f.wait = make(chan struct{})
		h := NewHandler(f, false)
		codes := make(chan int)
		for range most + 3 {
			go func() {
				answer := httptest.NewRecorder()
				h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
				codes <- answer.Code
			}()
		}
		for range 3 {
			if code := <-codes; code != http.StatusServiceUnavailable {
				t.Error(path, code)
			}
		}
		close(f.wait)
		for range most {
			if code := <-codes; code != http.StatusOK {
				t.Error(path, code)
			}
		}
	}
}

func TestBrokerDoesNotAnswer(t *testing.T) {
	for _, path := range []string{wholePath, objectsPath, chosenPath + "?family=queue_coarse_metrics"} {
		f := newFake()
		f.err = errors.New("secret")
		if answer := request(f, path, ""); answer.Code != http.StatusServiceUnavailable || strings.Contains(answer.Body.String(), "secret") {
			t.Error(path, answer.Code, answer.Body)
		}
	}
}

func (*fake) ClusterState() management.ClusterState { return management.ClusterState{} }

// The family of schedules has the figures of each, in the virtual hosts of the query.
func TestSchedules_REC15(t *testing.T) {
	text := request(newFake(), "/metrics/detailed?family=schedule_metrics&vhost=a&vhost=b&vhost=a", "text/plain").Body.String()
	for line, times := range map[string]int{
		`candlemark_schedule_missed_total{vhost="a",schedule="s"} 3`: 1, `candlemark_schedule_last_lateness_seconds{vhost="b",schedule="s"} 0.002`: 1,
		`candlemark_schedule_next_timestamp_seconds{vhost="a",schedule="s"} 1.5`: 1, `candlemark_schedule_running{vhost="b",schedule="s"} 1`: 1,
	} {
		if n := strings.Count(text, line+"\n"); n != times {
			t.Errorf("%d times %s in\n%s", n, line, text)
		}
	}
}
