package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode"

	"candlemark/internal/admin/config"

	amqp "github.com/rabbitmq/amqp091-go"
)

// hostileText contains text that would forge a line, colour a terminal, or hide text if it were logged unescaped. Its
// JSON escapes list the characters that the log may not contain.
const hostileText = "x\r\n2026-01-01T00:00:00.000Z INF all is well\n{\"level\":\"info\"}\x1b[31mred\x1b]0;title\a\x7f\u009b5m\u2028\u202ereversed\U000e0041\xff"

// wellFormed reports foreign lines in a log of the broker, and unprintable characters.
func wellFormed(t *testing.T, format, log string) {
	t.Helper()
	begins := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\S+ (TRC|DBG|INF|WRN|ERR) [^ ]`)
	for line := range strings.Lines(log) {
		text, whole := strings.CutSuffix(line, "\n")
		if !whole || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%s: not printable: %q", format, line)
		}
		if format == "json" && !json.Valid([]byte(text)) || format == "console" && !begins.MatchString(text) || strings.HasPrefix(text, "2026-01-01T") {
			t.Errorf("%s: not a line of ours: %q", format, line)
		}
	}
}

func TestLogIsOursAlone(t *testing.T) {
	for _, format := range []string{"console", "json"} {
		var out bytes.Buffer
		log, _, err := logger(&out, config.Config{LogFormat: format, LogLevel: "info"})
		if err != nil {
			t.Fatal(err)
		}
		log.Info().Str("name", hostileText).Err(errors.New(hostileText)).Strs("list", []string{hostileText}).Interface("any", map[string]string{hostileText: hostileText}).Msg(hostileText)
		log.Error().Msgf("user '%s'", hostileText)
		log.Info().Str("name", "Käthe\u00a0𝔛").Msg("Grüße, 世界")
		wellFormed(t, format, out.String())
		lines := strings.Split(out.String(), "\n")
		if len(lines) != 4 || !strings.Contains(lines[2], "Grüße, 世界") || !strings.Contains(lines[2], "Käthe") {
			t.Errorf("%s: %d lines:\n%s", format, len(lines), out.String())
		}
		if format == "json" {
			var entry struct{ Name, Message string }
			if err := json.Unmarshal([]byte(lines[0]), &entry); err != nil || entry.Name != strings.ToValidUTF8(hostileText, "\ufffd") || entry.Message != entry.Name {
				t.Errorf("%v %q", err, entry)
			}
		}
	}
}

// shared is a log buffer with a lock for writers; it is read after the last write.
type shared struct {
	mu sync.Mutex
	bytes.Buffer
}

func (s *shared) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Buffer.Write(b)
}

// TestClientsForgeNoLog: names of users, virtual hosts, exchanges and queues, client properties, mechanisms, headers
// and paths cannot forge log lines.
func TestClientsForgeNoLog(t *testing.T) {
	for _, format := range []string{"console", "json"} {
		var out shared
		cfg := demoConfig(t.TempDir())
		cfg.LogFormat, cfg.LogLevel = format, "debug"
		log, _, err := logger(&out, cfg)
		if err != nil {
			t.Fatal(err)
		}
		logStart(&config.Settings{Config: cfg}, log)
		b, err := startBroker(cfg, log)
		if err != nil {
			t.Fatal(err)
		}
		forge(t, b)
		if err := b.stop(); err != nil {
			t.Error(err)
		}
		wellFormed(t, format, out.String())
		if n := strings.Count(out.String(), "invalid credentials"); n < 2 {
			t.Errorf("%d refused logins in the log:\n%s", n, out.String())
		}
		if format == "json" {
			requireWho(t, out.String())
		}
	}
}

// requireWho checks that the lines about a closed channel, a connection, the journal and the start have all their fields.
func requireWho(t *testing.T, log string) {
	t.Helper()
	for message, fields := range map[string]string{
		"channel closed by the broker": "conn client user vhost channel method code text",
		"connection opened":            "conn client user vhost product",
		"journal opened":               "took_ms size_bytes",
		"Candlemark starts":            "version node data_dir connection_max channel_max frame_max_bytes max_message_size_bytes",
	} {
		before, _, found := strings.Cut(log, message)
		line := before[strings.LastIndex(before, "\n")+1:]
		for field := range strings.FieldsSeq(fields) {
			if !found || !strings.Contains(line, `"`+field+`":`) || strings.Contains(line, `"`+field+`":""`) {
				t.Errorf("%s has no %s: %s", message, field, line)
			}
		}
	}
}

// forge makes requests whose names get into the log.
func forge(t *testing.T, b *broker) {
	t.Helper()
	url := "amqp://" + b.AMQP[0].String() + "/"
	guest := &amqp.PlainAuth{Username: "guest", Password: "guest"}
	named := amqp.Table{"connection_name": hostileText, "product": hostileText}
	for _, c := range []amqp.Config{
		{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: hostileText, Password: "x"}}, Properties: named},
		{SASL: []amqp.Authentication{guest}, Vhost: strings.ReplaceAll(hostileText, "\xff", ""), Properties: named},
	} {
		if conn, err := amqp.DialConfig(url, c); err == nil {
			_ = conn.Close()
			t.Error("let in")
		}
	}
	for _, f := range []func(ch *amqp.Channel) error{
		func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclarePassive(hostileText, false, false, false, false, nil)
			return err
		},
		func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclarePassive("missing", false, false, false, false, nil)
			return err
		},
		func(ch *amqp.Channel) error {
			return ch.ExchangeDeclarePassive(hostileText, "direct", false, false, false, false, nil)
		},
		func(ch *amqp.Channel) error {
			return ch.ExchangeDeclare("e", hostileText, false, false, false, false, nil)
		},
		func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclare(hostileText, false, false, false, false, amqp.Table{"x-message-ttl": hostileText})
			return err
		},
	} {
		conn, err := amqp.DialConfig(url, amqp.Config{SASL: []amqp.Authentication{guest}, Vhost: "/", Properties: named})
		if err != nil {
			t.Fatal(err)
		}
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		if f(ch) == nil {
			t.Error("no error")
		}
		_ = conn.Close()
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+b.HTTP.String()+"/api/queues/%0a%1b%5b31m", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(hostileText, hostileText)
	if answer, err := http.DefaultClient.Do(r); err != nil || answer.StatusCode != 401 {
		t.Errorf("%v %v", answer, err)
	} else {
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
	}
}

// Lines have no secrets from any source; the same lines are shown over HTTP.
func TestLogHasNoSecrets_ACC11(t *testing.T) {
	for _, format := range []string{"console", "json"} {
		var out bytes.Buffer
		log, _, err := logger(&out, config.Config{LogLevel: "info", LogFormat: format})
		if err != nil {
			t.Fatal(err)
		}
		last := uint64(0)
		for _, line := range processLog.after(0) {
			last = line.ID
		}
		log.Error().Any("reason", errors.New("cannot use amqp://u:s3cret@far?a=s3cret")).Str("path", "/x?y=1&token=s3cret").Msg("panic at amqps://s3cret@far")
		text := out.String()
		for _, line := range processLog.after(last) {
			text += line.Text
		}
		if strings.Contains(text, "s3cret") || strings.Count(text, "amqps://***@far") != 2 || strings.Count(text, "y=1&token=***") != 2 {
			t.Error(text)
		}
	}
}

// The last line of a start says where to log in, and as whom.
func TestStartEndsWithAddresses(t *testing.T) {
	var out shared
	cfg := demoConfig(t.TempDir())
	cfg.LogFormat, cfg.LogLevel = "console", "info"
	log, _, err := logger(&out, cfg)
	if err != nil {
		t.Fatal(err)
	}
	b, err := startBroker(cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	b.logReady(cfg.First, log)
	text := strings.TrimSpace(out.String())
	if want := ` INF Server startup complete amqp=amqp://` + b.AMQP[0].String() + ` web="http://` + b.HTTP.String() + `/ (guest/guest)"`; !strings.HasSuffix(text, want) {
		t.Errorf("%s\nwant %s", text, want)
	}
	if err := b.stop(); err != nil {
		t.Error(err)
	}
}
