package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"candlemark/internal/admin/config"
	"candlemark/supervision/testclock"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/rs/zerolog"
)

// withTestClock starts a broker with a test clock for the test, and connects with it.
func withTestClock(t *testing.T, at string) (*broker, *amqp.Connection) {
	t.Helper()
	cfg := demoConfig("")
	cfg.InMemory, cfg.Testing.Clock = true, at
	b, err := startBroker(cfg, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
	conn, err := amqp.Dial("amqp://guest:guest@" + b.AMQP[0].String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return b, conn
}

// TestClockVerb_CLK5: the command shows and changes a test clock; its exit codes are those of other commands.
func TestClockVerb_CLK5(t *testing.T) {
	b, conn := withTestClock(t, "2027-01-01T00:00:00Z")
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ch.QueueDeclare("q", true, false, false, false, amqp.Table{"x-expires": 3_600_000}); err != nil {
		t.Fatal(err)
	}
	url := "http://guest:guest@" + b.HTTP.String()
	each(t, url, [][2]string{
		{"clock", "Asking http://127.0.0.1:* for its clock ...\n2027-01-01T00:00:00.000Z (test clock, frozen)\nnext: 2027-01-01T01:00:00.000Z queue_ends in queue 'q' of vhost '/'\n"},
		{"clock|advance|30m", "Moving the clock of http://127.0.0.1:* by 30m ...\n2027-01-01T00:30:00.000Z, moved 30m0s\n"},
		{"-q|clock|next|--grace|0", "2027-01-01T01:00:00.000Z, moved 30m0s, leases ended 1\n"},
		{"-q|clock|set|2027-02-01T00:00Z", "2027-02-01T00:00:00.000Z, moved 743h0m0s\n"},
		{"-s|clock|show", "2027-02-01T00:00:00.000Z (test clock, frozen)\nnothing is due\n"},
	})
	for _, step := range [][2]string{
		{"clock run --speed 60", `(?s)^Letting the clock of \S+ run ...\n2027-02-01T\S+Z, moved \S+s\n$`},
		{"-q clock", `^2027-02-01T\S+Z \(test clock, running at 60\)\nnothing is due\n$`},
		{"-q clock freeze --formatter json", `^{"time":"2027-02-01T\S+"done":true.*}\n$`},
		{"-q clock show --formatter json", `^{.*"test_clock":true.*}\n$`},
		{"-q clock advance 0 --formatter json", `"moved_ms":0,`},
	} {
		args, want := step[0], regexp.MustCompile(step[1])
		if stdout, stderr, code := candlemark(url, strings.Fields(args)...); code != 0 || stderr != "" || !want.MatchString(stdout) {
			t.Errorf("%s: exit %d, %q, %q", args, code, stdout, stderr)
		}
	}
	for args, want := range map[string]int{
		"clock jump": 64, "clock advance": 64, "clock freeze now": 64, "clock set 2020-01-01T00:00:00Z": 69, "clock advance soon": 69, "clock run --speed 0": 69,
	} {
		if stdout, stderr, code := candlemark(url, strings.Fields(args)...); code != want || stderr == "" {
			t.Errorf("%s: exit %d, want %d: %q, %q", args, code, want, stdout, stderr)
		}
	}
}

// TestClockVerbEndsEarly_CLK8: a move that does not reach its target has an exit code of its own.
func TestClockVerbEndsEarly_CLK8(t *testing.T) {
	b, conn := withTestClock(t, "now")
	ch, err := conn.Channel()
	if err == nil {
		err = ch.ExchangeDeclare("delay", "x-delayed-message", true, false, false, false, amqp.Table{"x-delayed-type": "fanout"})
	}
	if err == nil {
		_, err = ch.QueueDeclare("held", true, false, false, false, nil)
	}
	if err == nil {
		err = ch.QueueBind("held", "", "delay", false, nil)
	}
	for i := 0; i < 5 && err == nil; i++ {
		err = ch.Publish("delay", "", false, false, amqp.Publishing{Headers: amqp.Table{"x-delay": 1000 * (i + 1)}})
	}
	if err == nil {
		_, err = ch.Consume("held", "", false, false, false, false, nil) // nothing is settled
	}
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := candlemark("http://guest:guest@"+b.HTTP.String(), "-q", "-t", "1", "clock", "advance", "5s", "--grace", "10s")
	if code != 75 || !strings.Contains(stderr, "(timeout): repeat the command to continue") || !strings.Contains(stdout, "moved 1s, delivered 1") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}

// TestClockVerbOfMachine_CLK12: without a test clock, the command shows the machine's clock and changes nothing.
func TestClockVerbOfMachine_CLK12(t *testing.T) {
	url, _, _ := serveNode(t)
	if stdout, stderr, code := candlemark(url, "-q", "clock"); code != 0 || !strings.Contains(stdout, "(the machine's clock)\nnothing is due\n") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
	if stdout, stderr, code := candlemark(url, "-q", "clock", "advance", "1s"); code != 69 || stderr != "Error:\nthis broker has no test clock: start it with --test-clock\n" {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}

// TestClockFolders_CLK9_CLK10: a data folder is made with or without a test clock, for ever, and its time does not go back.
func TestClockFolders_CLK9_CLK10(t *testing.T) {
	start := func(dir, at string) (shown string, err error) {
		t.Helper()
		cfg := demoConfig(dir)
		cfg.Testing.Clock = at
		b, err := startBroker(cfg, zerolog.Nop())
		if err != nil {
			return "", err
		}
		defer func() {
			if err := b.stop(); err != nil {
				t.Error(err)
			}
		}()
		if at != "" {
			if _, stderr, code := candlemark("http://guest:guest@"+b.HTTP.String(), "clock", "advance", "1h"); code != 0 {
				t.Error(stderr)
			}
		}
		return b.clock.shown(), nil
	}
	real, test := filepath.Join(t.TempDir(), "real"), filepath.Join(t.TempDir(), "test")
	for _, step := range []struct{ dir, at, shown, why string }{
		{real, "", "", ""},
		{real, "now", "", "the data folder " + real + " was not made with a test clock: use an empty one, or --in-memory"},
		{real, "", "", ""},
		{test, "2027-01-01T00:00:00Z", "2027-01-01T01:00:00.000Z", ""},
		{test, "", "", "the data folder " + test + " was made with a test clock: its dates are not real; start with --test-clock"},
		{test, "2020-01-01T00:00:00Z", "2027-01-01T02:00:00.000Z", ""},
		{test, "2028-01-01T00:00:00Z", "2028-01-01T01:00:00.000Z", ""},
	} {
		shown, err := start(step.dir, step.at)
		if step.why == "" && err != nil || step.why != "" && (err == nil || err.Error() != step.why) || step.at != "" && shown != step.shown {
			t.Errorf("%+v: %s, %v", step, shown, err)
		}
	}
	if err := os.WriteFile(filepath.Join(test, testclock.FileName), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := start(test, "now"); err == nil || !strings.Contains(err.Error(), "the file TEST-CLOCK") {
		t.Error(err)
	}
}

// TestClockInBackup_CLK10: a backup of a broker with a test clock restores to one.
func TestClockInBackup_CLK10(t *testing.T) {
	dir, copied, restored := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "copy"), filepath.Join(t.TempDir(), "restored")
	cfg := demoConfig(dir)
	cfg.Testing.Clock = "2027-01-01T00:00:00Z"
	b, err := startBroker(cfg, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	url := "http://guest:guest@" + b.HTTP.String()
	for _, args := range [][]string{{"clock", "advance", "1d"}, {"backup", copied}} {
		if stdout, stderr, code := candlemark(url, args...); code != 0 {
			t.Errorf("%q: %q, %q", args, stdout, stderr)
		}
	}
	if err := b.stop(); err != nil {
		t.Error(err)
	}
	if stdout, stderr, code := candlemark("", "restore", "--data-dir", restored, copied); code != 0 {
		t.Fatalf("%q, %q", stdout, stderr)
	}
	if s, found, err := testclock.Load(restored); err != nil || !found || s.Time.Format(time.RFC3339) != "2027-01-02T00:00:00Z" {
		t.Error(s, found, err)
	}
}

// TestReady: the line names the addresses; the file is there until the stop.
func TestReady(t *testing.T) {
	cfg := demoConfig("")
	cfg.InMemory, cfg.Testing = true, config.Testing{PortFile: filepath.Join(t.TempDir(), "ports")}
	b, err := startBroker(cfg, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := b.ready(config.Testing{ReadyJSON: true}, &out); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(cfg.Testing.PortFile)
	if err != nil {
		t.Error(err)
	}
	for _, line := range []string{string(text), out.String()} {
		var r readiness
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Event != "ready" || r.PID != os.Getpid() || len(r.AMQP) != 1 || r.HTTP == nil || r.TestClock {
			t.Errorf("%s: %v", line, err)
			continue
		}
		for _, at := range []string{r.AMQP[0], *r.HTTP} {
			conn, err := net.Dial("tcp", at)
			if err != nil {
				t.Error(err)
				continue
			}
			_ = conn.Close()
		}
	}
	if err := b.stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(cfg.Testing.PortFile); !os.IsNotExist(err) {
		t.Error("the file is left:", err)
	}
	cfg.Testing.PortFile = filepath.Join(t.TempDir(), "missing", "ports")
	if _, err := startBroker(cfg, zerolog.Nop()); err == nil || !strings.HasPrefix(err.Error(), "port-file: open ") {
		t.Error(err)
	}
}
