package integration

import (
	"net"
	"os"
	"os/exec"
	"testing"
)

// python is the one that Debian installs clients for.
const python = "/usr/bin/python3"

// The scripts do with pika what the tests beside this do with amqp091-go.
func TestPika(t *testing.T) {
	t.Parallel()
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import pika").CombinedOutput(); err != nil {
		missing := t.Skipf
		if os.Getenv("CANDLEMARK_REQUIRE_CLIENTS") == "1" {
			missing = t.Fatalf
		}
		missing("no pika for %s; Debian has it in the package python3-pika: %v %s", python, err, out)
	}
	b := start(t)
	_, port, err := net.SplitHostPort(b.amqp)
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"basics", "deadlines", "topology"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), python, "-B", "testdata/"+script+".py", port)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
