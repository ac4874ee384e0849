package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"candlemark/integration/testkit/sandbox"
)

// patience is the longest time that anything may take on a busy machine.
var patience = 2 * time.Minute

// began is when the tests began.
var began = time.Now()

// late reports whether half of a limit, which ends at deadline, is over.
func late(began, now, deadline time.Time) bool { return now.Sub(began) > deadline.Sub(began)/2 }

// inTime skips a test that starts a broker when half of -timeout is over: then a package that is slow on a slow or busy machine ends with
// the results that it has, and not with a panic. Where all clients are required, all tests are.
func inTime(t *testing.T) {
	t.Helper()
	if deadline, limited := t.Deadline(); limited && os.Getenv("CANDLEMARK_REQUIRE_CLIENTS") != "1" && late(began, time.Now(), deadline) {
		t.Skip("half of -timeout is over: this machine is slow or busy, -timeout 30m runs all tests")
	}
}

func TestLate(t *testing.T) {
	at := func(d time.Duration) time.Time { return began.Add(d) }
	for now, want := range map[time.Duration]bool{0: false, 4 * time.Minute: false, 6 * time.Minute: true} {
		if late(began, at(now), at(10*time.Minute)) != want {
			t.Error(now)
		}
	}
}

var buildFlags []string

// racing says that the tests and the broker are built with the race detector, which multiplies memory.
var racing bool

// watermarkAt returns flags for a high watermark of memory, none with the race detector.
func watermarkAt(bytes int64) []string {
	if racing {
		return nil
	}
	return []string{"--memory-high-watermark", strconv.FormatInt(bytes, 10)}
}

// binary builds candlemark at the first call.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(binaryDir, "candlemark")
	args := append([]string{"build", "-ldflags=-s -w", "-o", path}, buildFlags...) // linking debug information takes as long as the rest of the build
	cmd := exec.Command("go", append(args, "candlemark/cmd/candlemark")...)
	cmd.Env = sandbox.Outside()
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return path, err
})

var binaryDir string

func TestMain(m *testing.M) { os.Exit(sandbox.Of(tests{m}).Run()) }

// tests creates a folder for the program and runs the tests.
type tests struct{ *testing.M }

// testsAtOnce is the number of parallel tests: they mostly wait for brokers and clients, which are other processes.
const testsAtOnce = "6"

// besideOthers runs a test in parallel with others, unless the flag of that name is given for a measurement: then it runs alone.
func besideOthers(t *testing.T, name string) {
	t.Helper()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if !given {
		t.Parallel()
	}
}

// Run runs the tests and returns the exit code.
func (t tests) Run() int {
	_ = flag.Set("test.parallel", testsAtOnce) // -parallel, parsed later, overrides it
	debug.SetGCPercent(400)                    // memory is plentiful, time is not
	var err error
	if binaryDir, err = os.MkdirTemp("", "candlemark-integration-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(binaryDir)
	defer endBrowsers()
	return t.M.Run()
}

// broker is a broker in a process of its own.
type broker struct {
	*testing.T
	amqp, http string // addresses
	log        *journal
	cmd        *exec.Cmd
	exited     chan error
	read       chan struct{} // closed at the end of the log
	gone       bool          // has been killed or stopped
	others     []*broker     // the other nodes of its cluster, which are killed and stopped with it
}

// start runs a broker until the test ends.
func start(t *testing.T, flags ...string) *broker {
	t.Helper()
	return startIn(t, filepath.Join(t.TempDir(), "data"), flags...)
}

// startIn runs a broker over a data folder until the test ends, or it is killed
// or stopped before.
func startIn(t *testing.T, dir string, flags ...string) *broker {
	t.Helper()
	return startWith(t, "", dir, flags...)
}

// startWith runs a broker with the beginning of a shell command line, which can set variables or limits.
func startWith(t *testing.T, line, dir string, flags ...string) *broker {
	t.Helper()
	inTime(t)
	if throughFollower(t) {
		return startFollower(t, line, dir, flags)
	}
	return startAlone(t, line, dir, flags...)
}

// startAlone is startWith for a broker that is no node of a cluster.
func startAlone(t *testing.T, line, dir string, flags ...string) *broker {
	t.Helper()
	b := launch(t, line, dir, flags...)
	t.Cleanup(b.stop)
	b.await(b.log.ready)
	return b
}

// launch starts the process of a broker.
func launch(t *testing.T, line, dir string, flags ...string) *broker {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	b := &broker{T: t, log: &journal{ready: make(chan struct{}), follows: make(chan struct{})}, exited: make(chan error, 1), read: make(chan struct{})}
	b.cmd = exec.Command("sh", append([]string{
		"-c", line + ` exec "$0" "$@"`, path,
		"serve", "--amqp", "127.0.0.1:0", "--http", "127.0.0.1:0", "--log-format", "json",
	}, flags...)...)
	if dir != "" { // not in memory
		b.cmd.Args = append(b.cmd.Args, "--data-dir", dir)
	}
	b.cmd.Env = append(b.cmd.Environ(), "GORACE=atexit_sleep_ms=10")
	stderr, err := b.cmd.StderrPipe()
	if err == nil {
		err = b.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(b.read)
		b.log.follow(stderr)
	}()
	go func() {
		<-b.read // Wait would close the pipe while it is being read
		b.exited <- b.cmd.Wait()
	}()
	return b
}

// await waits until the broker is ready, or another member of its cluster.
func (b *broker) await(ready <-chan struct{}) {
	b.Helper()
	select {
	case <-ready:
	case <-b.read:
		b.Fatalf("the broker did not start:\n%s", b.log)
	case <-time.After(patience):
		b.Fatalf("the broker is not ready:\n%s", b.log)
	}
	b.amqp, b.http = b.log.address("AMQP listener started"), b.log.address("HTTP listener started")
}

// kill ends the broker as a power cut does, except that the page cache survives.
func (b *broker) kill() {
	b.signal(syscall.SIGKILL)
	for _, one := range b.nodes() {
		one.gone = true
		<-one.exited
		one.checkLog()
	}
}

// stop ends the broker as an operator does.
func (b *broker) stop() {
	if b.gone {
		return
	}
	b.signal(syscall.SIGTERM)
	for _, one := range b.nodes() {
		one.ended()
	}
}

// nodes returns all nodes of its cluster.
func (b *broker) nodes() []*broker { return append(slices.Clone(b.others), b) }

// signal sends a signal to all nodes of its cluster.
func (b *broker) signal(s syscall.Signal) {
	b.Helper()
	for _, one := range b.nodes() {
		if err := one.cmd.Process.Signal(s); err != nil && s != syscall.SIGKILL {
			b.Errorf("%v: %v", s, err)
		}
	}
}

// ended waits until the broker has ended as requested, and checks its exit status and its log.
func (b *broker) ended() {
	b.gone = true
	select {
	case err := <-b.exited:
		if err != nil && !(b.log.replaced() && err.Error() == "signal: terminated") { // a program that starts again does not take signals yet
			b.Errorf("the broker ended with %v", err)
		}
	case <-time.After(patience):
		b.Error("the broker does not stop")
		_ = b.cmd.Process.Kill()
		<-b.exited
	}
	b.checkLog()
}

func (b *broker) checkLog() {
	text := b.log.String()
	for _, bad := range []string{"actor panicked", "DATA RACE", "panic:", "fatal error:"} {
		if strings.Contains(text, bad) {
			b.Errorf("%q in the log", bad)
		}
	}
	if b.Failed() {
		b.Logf("log of the broker:\n%s", text)
	}
}

// replaced reports whether the broker is a node of a cluster that has started its program again.
func (j *journal) replaced() bool {
	return strings.Contains(j.String(), "this node no longer leads the cluster")
}

// journal collects the broker's log.
type journal struct {
	mu    sync.Mutex
	text  bytes.Buffer
	at    map[string]string // addresses by message
	ready chan struct{}
	// follows is closed when the broker of this node of a cluster is another one's.
	follows chan struct{}
	// others are the logs of the other nodes, which String returns, too.
	others []*journal
}

func (j *journal) follow(stderr io.Reader) {
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var entry struct{ Message, Address string }
		_ = json.Unmarshal(lines.Bytes(), &entry) // a panic is not JSON
		j.mu.Lock()
		if j.text.Len() < 1<<20 {
			j.text.Write(append(lines.Bytes(), '\n'))
		}
		if entry.Address != "" {
			if j.at == nil {
				j.at = map[string]string{}
			}
			j.at[entry.Message] = entry.Address
		}
		j.mu.Unlock()
		switch {
		case entry.Message == "Server startup complete":
			once(j.ready)
		case entry.Message == "another node leads the cluster":
			once(j.follows)
		}
	}
}

// once closes a channel, unless it is closed.
func once(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

func (j *journal) address(message string) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.at[message]
}

// String returns the log so far.
func (j *journal) String() string {
	j.mu.Lock()
	text := j.text.String()
	j.mu.Unlock()
	for _, other := range j.others {
		text += other.String()
	}
	return text
}

// eventually polls until f returns true.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	pause, end := 2*time.Millisecond, time.Now().Add(patience)
	for !f() {
		if time.Now().After(end) {
			t.Fatal("waited in vain:", what)
		}
		<-time.After(pause)
		pause = min(pause*5/4, 50*time.Millisecond) // slow conditions are polled less often
	}
}
