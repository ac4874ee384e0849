package integration

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Damaged definitions are never used in part: the start fails at once and names the damaged file, and the messages are left
// unchanged. If the flipped bit is in an unused place, everything is restored.
func TestDamagedDefinitions(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	b := startIn(t, dir)
	c := b.dial()
	for n := range 200 {
		_, err := c.QueueDeclare(fmt.Sprint("q", n), true, false, false, false, nil)
		c.must(err)
		c.must(c.QueueBind(fmt.Sprint("q", n), "k", "amq.direct", false, nil))
	}
	b.stop()
	file := filepath.Join(dir, "definitions.db")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	damages := map[string]func([]byte) []byte{
		"empty":         func([]byte) []byte { return nil },
		"zeros":         func(b []byte) []byte { clear(b); return b },
		"cut in half":   func(b []byte) []byte { return b[:len(b)/2] },
		"cut in a page": func(b []byte) []byte { return b[:5000] },
		"text":          func([]byte) []byte { return bytes.Repeat([]byte("hello world "), 5000) },
		"both metas":    func(b []byte) []byte { clear(b[:8192]); return b },
	}
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 40 {
		at, bit := r.IntN(len(whole)), byte(1)<<r.IntN(8)
		damages[fmt.Sprint("bit ", n, " at ", at)] = func(b []byte) []byte { b[at] ^= bit; return b }
	}
	refused := 0
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			must := !strings.HasPrefix(name, "bit") && name != "cut in half"
			if err := os.WriteFile(file, damage(bytes.Clone(whole)), 0o600); err != nil {
				t.Fatal(err)
			}
			log, ready := tryServe(t, dir)
			switch {
			case ready && (must || !strings.Contains(log, "of=200 queues=200")):
				t.Errorf("the broker runs:\n%s", log)
			case !ready && (!strings.Contains(log, "definitions.db: ") || !strings.Contains(log, "definition is damaged") || strings.Contains(log, "panic")):
				t.Errorf("said:\n%s", log)
			case !ready:
				refused++
			}
		})
	}
	t.Logf("%d of %d refused", refused, len(damages))
}

// tryServe starts a broker that may refuse to start, and kills it if it has started.
func tryServe(t *testing.T, dir string) (log string, ready bool) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "serve", "--amqp", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data-dir", dir)
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(stderr); !ready && lines.Scan(); {
		log += lines.Text() + "\n"
		ready = strings.Contains(lines.Text(), "Server startup complete")
	}
	if ready {
		_ = cmd.Process.Kill()
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it ended well")
	}
	return log, ready
}
