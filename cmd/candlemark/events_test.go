package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Events are published to the event exchange and streamed as server-sent events, with the same names and keys. Verbs
// change the log level and stop the broker.
func TestEventsAndStop(t *testing.T) {
	var out shared
	cfg := demoConfig(t.TempDir())
	cfg.EventsIn, cfg.LogFormat, cfg.LogLevel = "/", "json", "info"
	log, _, err := logger(&out, cfg)
	if err != nil {
		t.Fatal(err)
	}
	b, err := startBroker(cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan int, 1)
	go func() { ended <- b.run(t.Context(), func() {}, log) }()
	url := "http://" + b.HTTP.String()
	heard := publishEvents(t, "amqp://"+b.AMQP[0].String()+"/", url)
	each(t, url, [][2]string{{"-q|set_log_level|debug", ""}, {"-q|set_log_level|warning", ""}, {"-q|rotate_logs", "The broker logs to its standard error and has no file to rotate\n"}})
	if level := b.process.LogLevel(); level != "warn" {
		t.Error(level)
	}
	if _, _, code := candlemark(url, "-q", "set_log_level", "loud"); code == 0 {
		t.Error("a level that there is not")
	}
	if _, stderr, code := candlemark(url, "stop"); code != 0 {
		t.Error(stderr)
	}
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
	for event := range heard { // until the stream ends
		if event != "queue.deleted events" {
			t.Error(event)
		}
	}
	levels := slices.DeleteFunc(onRecord(t, out.String()), func(l recordedLine) bool { return l.Event != "log.level.set" })
	if len(levels) != 2 || levels[1].What["level"] != "warn" || levels[1].Before != "debug" {
		t.Errorf("%+v", levels)
	}
}

// publishEvents makes changes and checks that both interfaces report them; further events are allowed.
func publishEvents(t *testing.T, address, url string) <-chan string {
	t.Helper()
	conn, err := amqp.Dial(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	q, err := ch.QueueDeclare("events", false, true, true, false, nil)
	if err == nil {
		err = ch.QueueBind(q.Name, "#", "amq.rabbitmq.event", false, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	heard := listening(t, url+"/api/x/events?pattern=queue.*&pattern=user.%23")
	for _, verb := range []string{"add_user|ann|sesame", "set_user_tags|ann|monitoring"} {
		if _, stderr, code := candlemark(url, append([]string{"-q"}, strings.Split(verb, "|")...)...); code != 0 {
			t.Errorf("%s: %s", verb, stderr)
		}
	}
	if _, err := ch.QueueDeclare("q", false, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	deliveries, err := ch.Consume(q.Name, "", true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for d := range deliveries {
		got = append(got, d.RoutingKey)
		if d.Headers["user_who_performed_action"] != "guest" || d.Headers["timestamp_in_ms"] == nil || d.DeliveryMode != 2 || len(d.Body) > 0 {
			t.Errorf("%s: %v", d.RoutingKey, d.Headers)
		}
		if d.RoutingKey == "queue.created" {
			if d.Headers["name"] != "q" || d.Headers["vhost"] != "/" || d.Headers["durable"] != false {
				t.Errorf("%v", d.Headers)
			}
			break
		}
	}
	if !slices.Contains(got, "user.created") || !slices.Contains(got, "user.tags.set") {
		t.Errorf("messages: %q", got)
	}
	for _, want := range []string{"user.created ann", "user.tags.set ann", "queue.created q"} {
		if event := <-heard; event != want {
			t.Errorf("%s, want %s", event, want)
		}
	}
	return heard
}

// listening subscribes to the event stream and returns the event and object names. The channel is closed at the end of the stream.
func listening(t *testing.T, url string) <-chan string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("guest", "guest")
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(answer, err)
	}
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() && lines.Text() != ": events" {
	}
	heard := make(chan string, 100)
	go func() {
		defer func() { _ = answer.Body.Close() }()
		defer close(heard)
		for lines.Scan() {
			if text, found := strings.CutPrefix(lines.Text(), "data: "); found {
				var event struct{ Event, Name string }
				_ = json.Unmarshal([]byte(text), &event)
				heard <- event.Event + " " + event.Name
			}
		}
	}()
	return heard
}
