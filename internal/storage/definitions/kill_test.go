package definitions

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"candlemark/internal/access/auth"
)

const killDir = "CANDLEMARK_TEST_KILL_DIR"

// writer runs in the process that is killed: it prints the revision of each durable change. Each change replaces the
// only queue and its two bindings.
func writer(dir string) {
	f, err := Open(dir)
	if err != nil {
		panic(err)
	}
	last := f.Revision()
	for {
		last++
		f.Apply(stepTo(last), func(revision uint64, err error) {
			if err != nil {
				panic(err)
			}
			fmt.Println(revision)
		})
		if last%20 == 0 {
			if _, err := Wait(f, stepTo(last+1)); err != nil {
				panic(err)
			}
			last++
			fmt.Println(last)
		}
	}
}

// stepTo returns the change with a revision, which is also the name and the incarnation of its queue.
func stepTo(revision uint64) Change {
	if revision == 1 {
		return put(auth.VHost{Name: "/"})
	}
	return Change{
		Delete: []any{Queue{VHost: "/", Name: fmt.Sprint(revision - 1)}},
		Put: []any{
			Queue{VHost: "/", Name: fmt.Sprint(revision), Incarnation: revision},
			Binding{VHost: "/", Source: "amq.direct", Destination: fmt.Sprint(revision), RoutingKey: "a"},
			Binding{VHost: "/", Source: "amq.topic", Destination: fmt.Sprint(revision), RoutingKey: strings.Repeat("b", int(revision%200))},
		},
	}
}

// If the process is killed at any moment, no change reported as durable is lost, and no change is stored partly.
func TestKill(t *testing.T) {
	if dir := os.Getenv(killDir); dir != "" {
		writer(dir)
	}
	dir, rounds := t.TempDir(), 12
	if testing.Short() {
		rounds = 3
	}
	for round := range rounds {
		said := killedAfter(t, dir, 5+37*round)
		m := fileKeeper(t, dir)
		d := m.all(t)
		if d.Revision < said {
			t.Errorf("round %d: revision %d, %d was durable", round, d.Revision, said)
		}
		if len(d.Queues) != 1 || d.Queues[0].Incarnation != d.Revision || d.Incarnation != d.Revision || len(d.Bindings) != 2 {
			t.Errorf("round %d: revision %d has %+v", round, d.Revision, d)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// killedAfter kills a writer that has reported n changes, and returns the last revision that it reported.
func killedAfter(t *testing.T, dir string, n int) (said uint64) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestKill$")
	c.Env = append(os.Environ(), killDir+"="+dir)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for i := 0; lines.Scan(); i++ {
		if i == n {
			if err := c.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
		if v, err := strconv.ParseUint(lines.Text(), 10, 64); err == nil {
			said = max(said, v)
		}
	}
	if err := c.Wait(); err == nil {
		t.Error("it ended by itself")
	}
	return said
}
