package walk

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/internal/testkit"
	"candlemark/internal/testkit/sandbox"

	amqp "github.com/rabbitmq/amqp091-go"
)

func TestMain(m *testing.M) { os.Exit(sandbox.Of(m).Run()) }

// far tells the program with coverage how far to play a walk.
const far = "CANDLEMARK_TEST_WALK"

// actors are the packages whose files are counted.
const actors = "candlemark/actors/connection,candlemark/actors/channel,candlemark/actors/channel/assembler,candlemark/actors/channel/output,candlemark/actors/channel/routing,candlemark/actors/exchange,candlemark/actors/vhost," +
	"candlemark/actors/queue/messages,candlemark/actors/queue,candlemark/actors/deadletter"

// walks are played by the program with coverage; whole includes the last step, which is the one measured.
var walks = []struct {
	name  string
	files int
	play  func(b *testkit.Bubble, whole bool)
}{
	{"publish", 8, publish},
	{"expiry", 7, expiry},
}

// publish delivers one message to a waiting consumer.
func publish(b *testkit.Bubble, whole bool) {
	publisher, consumer := b.Connect().Open(), b.Connect().Open()
	publisher.Declare("orders", nil)
	publisher.Bind("orders", "eu", "amq.direct")
	deliveries := consumer.Tail("orders")
	b.Advance(time.Second)
	if whole {
		publisher.Send("amq.direct", "eu", testkit.Text("m"))
		testkit.Receive(b, deliveries)
	}
	b.Advance(time.Second)
}

// expiry lets a message without a consumer expire.
func expiry(b *testkit.Bubble, whole bool) {
	publisher := b.Connect().Open()
	publisher.Declare("dead", nil)
	publisher.Declare("orders", amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"})
	publisher.Send("", "orders", testkit.Expiring("m", "100"))
	b.Advance(99 * time.Millisecond)
	if whole {
		b.Advance(time.Millisecond)
		if n := b.Describe("dead").Ready; n != 1 {
			b.Fatalf("%d dead letters", n)
		}
	}
}

// TestFilesOnTheWay compares the lists of files in docs/ARCHITECTURE.md with the files that run.
func TestFilesOnTheWay(t *testing.T) {
	if until := os.Getenv(far); until != "" {
		for _, w := range walks {
			t.Run(w.name, func(t *testing.T) {
				testkit.Run(t, nil, func(b *testkit.Bubble) { w.play(b, until == "whole") })
			})
		}
		return
	}
	program := filepath.Join(t.TempDir(), "walk")
	build := exec.Command("go", "test", "-c", "-o", program, "-covermode=set", "-coverpkg="+actors, ".")
	build.Env = sandbox.Outside()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, w := range walks {
		t.Run(w.name, func(t *testing.T) {
			compare(t, listed(t, w.name), w.files, only(ran(t, program, w.name, "whole"), ran(t, program, w.name, "before")))
		})
	}
}

// step is one numbered item of a list.
var step = regexp.MustCompile("(?m)^[0-9]+\\. `([^`]+\\.go)`")

// listed returns the files of the list between two comments of the page.
func listed(t *testing.T, name string) (files []string) {
	page, err := os.ReadFile("../../docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "<!-- files of "+name+" -->")
	list, _, _ = strings.Cut(list, "<!-- end of files -->")
	for _, m := range step.FindAllStringSubmatch(list, -1) {
		files = append(files, m[1])
	}
	return files
}

// block is a sequence of statements without a branch.
type block struct {
	at         string // FILE:FROM,TO, the file from the root
	statements int
}

// ran returns the blocks that ran at least once.
func ran(t *testing.T, program, name, until string) map[block]bool {
	profile := filepath.Join(t.TempDir(), until)
	run := exec.Command(program, "-test.run", "^TestFilesOnTheWay$/^"+name+"$", "-test.coverprofile", profile)
	run.Env = append(os.Environ(), far+"="+until)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file, err := os.Open(profile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	blocks := map[block]bool{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var b block
		var count int
		line := strings.TrimPrefix(lines.Text(), "candlemark/")
		if n, _ := fmt.Sscan(line, &b.at, &b.statements, &count); n == 3 && count > 0 {
			blocks[b] = true
		}
	}
	if err := lines.Err(); err != nil || len(blocks) == 0 {
		t.Fatalf("%d blocks, %v", len(blocks), err)
	}
	return blocks
}

// only counts by file the statements that run only in the whole walk.
func only(whole, before map[block]bool) map[string]int {
	statements := map[string]int{}
	for b := range whole {
		if file, _, _ := strings.Cut(b.at, ":"); !before[b] {
			statements[file] += b.statements
		}
	}
	return statements
}

func compare(t *testing.T, list []string, count int, statements map[string]int) {
	if len(list) != count {
		t.Errorf("docs/ARCHITECTURE.md names %d files, not %d: %q", len(list), count, list)
	}
	all := 0
	for _, n := range statements {
		all += n
	}
	var shares []string
	for file, n := range statements {
		shares = append(shares, fmt.Sprintf("%4d of %d statements: %s", n, all, file))
		if n*20 >= all && !slices.Contains(list, file) {
			t.Errorf("%s runs %d of %d statements, and docs/ARCHITECTURE.md does not name it", file, n, all)
		}
	}
	for _, file := range list {
		if statements[file] == 0 {
			t.Errorf("docs/ARCHITECTURE.md names %s, where nothing runs for it", file)
		}
	}
	slices.Sort(shares)
	slices.Reverse(shares)
	t.Logf("what runs for it:\n%s", strings.Join(shares, "\n"))
}
