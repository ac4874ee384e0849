package integration

import (
	"flag"
	"os/exec"
	"path/filepath"
	"testing"

	"candlemark/integration/testkit/sandbox"
)

var compareAll = flag.Bool("compare", false, "start RabbitMQ: TestAnswersOfRabbitMQ plays all scripts of integration/compare, which takes two minutes, TestMoveFromRabbitMQ moves from it")

// TestAnswersOfRabbitMQ runs the scripts of integration/compare against RabbitMQ and Candlemark: every difference must have a
// documented reason.
func TestAnswersOfRabbitMQ(t *testing.T) {
	if !*compareAll {
		t.Skip("-compare is not given")
	}
	tool := filepath.Join(t.TempDir(), "compare")
	build := exec.Command("go", append(append([]string{"build", "-o", tool}, buildFlags...), "candlemark/integration/compare")...)
	build.Env = sandbox.Outside()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	theirs, ours := startRabbit(t), start(t)
	out, err := exec.CommandContext(t.Context(), tool, "--a", "amqp://"+theirs.amqp, "--b", "amqp://"+ours.amqp).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("not all differences have a reason: %v", err)
	}
}
