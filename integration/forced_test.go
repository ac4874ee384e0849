package integration

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// readText returns the content of a file; "" without one.
func readText(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

// folder returns the data folder of a node.
func (c *nodes) folder(i int) string { return filepath.Join(c.dir, fmt.Sprintf("n%d", i+1)) }

// onFolder runs a command on the folder of a stopped node.
func (c *nodes) onFolder(i int, args ...string) (out string, err error) {
	c.Helper()
	path, err := binary()
	if err != nil {
		c.Fatal(err)
	}
	b, err := exec.Command(path, append(args, "--data-dir", c.folder(i))...).CombinedOutput()
	return string(b), err
}

// TestClusterForced_CLU31: two of three nodes are lost for ever; the third one forgets them and has everything. An emptied node joins it; the other one, with its old
// folder, does not.
func TestClusterForced_CLU31(t *testing.T) {
	s := &clusterStorm{nodes: startNodes(t, nil)}
	s.keep(20)
	for i := range 3 {
		s.voter(i)
	}
	if out, err := s.onFolder(0, "forget_cluster_node", "--offline", "rabbit@n2"); err == nil || !strings.Contains(out, "in use") && !strings.Contains(out, "stop it first") {
		t.Errorf("a node that runs: %v, %s", err, out)
	}
	for i := range 3 {
		s.signal(i, syscall.SIGKILL)
		s.wait(i)
		s.running[i] = nil
	}
	for _, args := range [][]string{{"forget_cluster_node", "--offline", "rabbit@n2"}, {"forget_cluster_node", "rabbit@n3", "--offline"}} {
		if out, err := s.onFolder(0, args...); err != nil || !strings.Contains(out, "is removed from the data of n1") || !strings.Contains(out, "Warning: ") {
			t.Fatalf("%v: %v, %s", args, err, out)
		}
	}
	if out, err := s.onFolder(1, "force_reset"); err != nil {
		t.Fatalf("%v, %s", err, out)
	}
	for i := range 3 {
		s.start(i)
	}
	s.voter(0)
	s.voter(1)
	if n := len(s.state()); n != 2 {
		t.Errorf("%d members: %v", n, s.state())
	}
	conn, ch := s.channel()
	defer conn.Close()
	if q, err := ch.QueueDeclarePassive(kept, true, false, false, false, amqp.Table{"x-queue-type": "quorum"}); err != nil || q.Messages != 20 {
		t.Errorf("%v, %v", q, err)
	}
}

// TestClusterReset_CLU25: a node can be reset at its own port: the command gets its answer before the node ends.
func TestClusterReset_CLU25(t *testing.T) {
	c := startNodes(t, nil)
	for i := range 3 {
		c.voter(i)
	}
	i := c.away()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	node := fmt.Sprintf("rabbit@n%d", i+1)
	c.command("drain", node)
	out, err := exec.Command(path, "reset", node, "--url", "http://guest:guest@"+c.http[i]).CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	eventually(t, "it begins anew", func() bool { return strings.Contains(readText(c.logs[i]), "this node was reset") })
	c.voter(i)
}

// TestClusterBackup_CLU34: a backup that runs while another node begins to lead is whole, or the command fails and restore refuses the folder; the next one succeeds.
func TestClusterBackup_CLU34(t *testing.T) {
	s := &clusterStorm{nodes: startNodes(t, nil)}
	s.keep(300)
	i, folder := s.leader(), filepath.Join(s.dir, "backup")
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	backup := exec.Command(path, "backup", folder, "--url", "http://guest:guest@"+s.http[i])
	backup.Stdout, backup.Stderr = &out, &out
	if err := backup.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the backup has begun", func() bool {
		list, _ := os.ReadDir(folder)
		return len(list) > 0
	})
	s.command("transfer_leadership", fmt.Sprintf("rabbit@n%d", (i+1)%3+1))
	failed := backup.Wait()
	code, checked := tool(t, s.dir, "restore", folder, "--check")
	t.Logf("%v: %s%s", failed, out.String(), checked)
	if (failed == nil) != (code == 0) {
		t.Errorf("the command: %v, %s; the folder: %d, %s", failed, out.String(), code, checked)
	}
	if failed != nil && !strings.Contains(out.String(), "no backup was made") {
		t.Errorf("got %s", out.String())
	}
	again := filepath.Join(s.dir, "again")
	if out := s.command("backup", again); !strings.Contains(out, "finished") {
		t.Errorf("got %s", out)
	}
	if code, checked := tool(t, s.dir, "restore", again, "--check"); code != 0 {
		t.Errorf("%d, %s", code, checked)
	}
}
