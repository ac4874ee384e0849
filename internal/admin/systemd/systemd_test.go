package systemd

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// manager listens on a socket as systemd does.
func manager(t *testing.T) (path string, next func() string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return path, func() string {
		b := make([]byte, 100)
		n, err := conn.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
}

func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

// TestNotifier: notifications are sent unchanged, watchdog messages only while the broker works, and nothing is sent
// that the environment does not ask for.
func TestNotifier(t *testing.T) {
	path, next := manager(t)
	n := New(environment(map[string]string{"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "2000", "WATCHDOG_PID": strconv.Itoa(os.Getpid())}))
	for _, what := range []string{Ready, Reloading, Ready, Stopping} {
		if err := n.Notify(what); err != nil {
			t.Fatal(err)
		}
		if got := next(); got != what {
			t.Errorf("%q, not %q", got, what)
		}
	}
	asked, broken := 0, errors.New("broken")
	failed := make(chan struct{})
	end := n.Watch(func(context.Context) error {
		if asked++; asked > 3 {
			if asked == 10 {
				close(failed)
			}
			return broken
		}
		return nil
	})
	for range 3 {
		if got := next(); got != alive {
			t.Errorf("%q", got)
		}
	}
	<-failed
	end()
	if err := n.Notify(Stopping); err != nil || next() != Stopping {
		t.Error("a sign of life of a broker that does not work", err)
	}

	for _, env := range []map[string]string{
		{}, {"WATCHDOG_USEC": "1000"}, {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"}, {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "x"},
	} {
		New(environment(env)).Watch(func(context.Context) error {
			t.Errorf("%v: asked", env)
			return nil
		})()
	}
	if err := New(environment(nil)).Notify(Ready); err != nil {
		t.Error(err)
	}
	if err := New(environment(map[string]string{"NOTIFY_SOCKET": path + "x"})).Notify(Ready); err == nil {
		t.Error("nobody listens")
	}
}
