package integration

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"candlemark/integration/testkit/sandbox"
)

// orders is how many the programs of the page about fail-over publish.
const orders = 200

// failoverProgram is a program of that page, which is in its folder.
type failoverProgram struct {
	client   foreign  // none for Go
	prepare  []string // compiles it
	run      []string
	packages bool // of Node
}

// TestClientsAndFailover: each program of the page handles all orders, although the leader is killed meanwhile.
func TestClientsAndFailover(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/clients-and-failover.md")
	if err != nil {
		t.Fatal(err)
	}
	jars := ".:/usr/share/java/amqp-client.jar:/usr/share/java/slf4j-api.jar:/usr/share/java/slf4j-nop.jar"
	programs := map[string]failoverProgram{
		"main.go":     {prepare: []string{"go", "build", "-o", "orders", "main.go"}, run: []string{"./orders"}},
		"orders.py":   {run: []string{python, "-Bu", "orders.py"}, client: foreign{name: "pika", where: "Debian's python3-pika", probe: []string{python, "-c", "import pika"}}},
		"orders.mjs":  {run: []string{"node", "--preserve-symlinks", "orders.mjs"}, packages: true, client: foreign{name: "amqplib", where: npm, probe: []string{"node", "-e", "require('amqplib')"}}},
		"Orders.java": {prepare: []string{"javac", "-cp", jars, "Orders.java"}, run: []string{"java", "-cp", jars, "Orders"}, client: foreign{name: "Java", where: "Debian's default-jdk-headless, librabbitmq-client-java", probe: []string{"javap", "-cp", jars, "com.rabbitmq.client.Channel"}}},
	}
	c := startNodes(t, nil)
	c.leader()
	for _, b := range codeBlocks(string(text)) {
		for begin, name := range saved["clients-and-failover.md"] {
			if !strings.HasPrefix(b.text, begin) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				p := programs[name]
				if p.client.name != "" {
					p.client.want(t)
				}
				dir, err := os.MkdirTemp("testdata", "docs-") // within the module
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = os.RemoveAll(dir) })
				if err := os.WriteFile(filepath.Join(dir, name), []byte(b.text), 0o600); err != nil {
					t.Fatal(err)
				}
				if p.packages {
					if err := os.Symlink(os.Getenv("NODE_PATH"), filepath.Join(dir, "node_modules")); err != nil {
						t.Fatal(err)
					}
				}
				if p.prepare != nil {
					cmd := exec.CommandContext(t.Context(), p.prepare[0], p.prepare[1:]...)
					cmd.Dir, cmd.Env = dir, sandbox.Outside()
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("%v\n%s", err, out)
					}
				}
				c.survived(t, dir, p.run)
			})
		}
	}
}

// survived runs a program, and kills the leader when the program has handled some orders.
func (c *nodes) survived(t *testing.T, dir string, run []string) {
	t.Helper()
	c.command("await_online_quorum_plus_one")
	cmd := exec.CommandContext(t.Context(), run[0], run[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "NODES="+strings.Join(c.amqp, ","))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var problems strings.Builder
	cmd.Stderr = &problems
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done, killed, last := map[string]bool{}, -1, ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		last = lines.Text()
		if strings.HasPrefix(last, "order ") {
			done[last] = true
		}
		if len(done) == orders/10 && killed < 0 {
			killed = c.leader()
			c.signal(killed, syscall.SIGKILL)
			c.wait(killed)
		}
	}
	if err := cmd.Wait(); err != nil || len(done) != orders || last != fmt.Sprint(orders, " orders done") {
		t.Errorf("%v, %d orders, at last %q\n%s", err, len(done), last, problems.String())
	}
	if killed >= 0 {
		c.start(killed)
	}
}
