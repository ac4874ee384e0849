package integration

import (
	"errors"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A stopping broker closes connections with CONNECTION_FORCED.
func TestServeStopClosesConnections(t *testing.T) {
	t.Parallel()
	var closed chan *amqp.Error
	t.Run("broker", func(t *testing.T) { // the broker stops when this subtest ends
		b := start(t)
		conn, err := amqp.Dial("amqp://guest:guest@" + b.amqp + "/")
		if err != nil {
			t.Fatal(err)
		}
		closed = conn.NotifyClose(make(chan *amqp.Error, 1))
	})
	if e := <-closed; e == nil || e.Code != amqp.ConnectionForced {
		t.Errorf("connection closed with %v, want CONNECTION_FORCED", e)
	}
}

func TestServeListensRepeatedly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	b := startIn(t, dir, "--amqp", "localhost:0")
	if n := strings.Count(b.log.String(), "AMQP listener started"); n != 2 {
		t.Errorf("%d listeners", n)
	}
	b.dial()
	if got := b.request("GET", "/api/nodes?columns=db_dir", "", 200); got != `[{"db_dir":"`+dir+`"}]` {
		t.Error(got)
	}
}

func TestServeRefusesToStart(t *testing.T) {
	t.Parallel()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		env  string
		args []string
		code int
		say  string
	}{
		{"", []string{"serve", "--nonsense"}, 64, "nonsense"},
		{"CANDLEMARK_HTTP=nowhere", []string{"serve"}, 64, "http"},
		{"CANDLEMARK_AMQP=" + taken.Addr().String(), []string{"serve", "--http", "", "--data-dir", "data"}, 1, "address already in use"},
		{"", []string{"serve", "--amqp", "127.0.0.1:0", "--http", taken.Addr().String(), "--data-dir", "data"}, 1, "address already in use"},
		{"", []string{"demo", "--nonsense"}, 64, "nonsense"},
		{"", []string{"dance"}, 64, "dance"},
	} {
		cmd := exec.CommandContext(t.Context(), path, c.args...)
		cmd.Dir = t.TempDir()
		cmd.Env = append(cmd.Environ(), c.env)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != c.code || !strings.Contains(string(out), c.say) {
			t.Errorf("%s %q: %v\n%s", c.env, c.args, err, out)
		}
	}
}
