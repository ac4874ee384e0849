package scenario

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// dialect is how clients publish, receive and settle. For everything else they use AMQP 0-9-1.
type dialect int

const (
	amqp091 dialect = iota
	amqp10          // as in RabbitMQ 4
	azure           // as in Azure Service Bus: queues are entities
)

var dialectNames = map[dialect]string{amqp10: "AMQP 1.0", azure: "Service Bus"}

// histories are texts about dead letters, which clients of Service Bus do not see.
var histories = regexp.MustCompile(`, (expired|rejected|maxlen|delivery_limit) in \w+( \d+ times)?|, came back \d+ times`)

// A comment that matches counting says that clients of AMQP 1.0, unlike clients of 0-9-1, see how often redelivered
// messages of the file's classic queues came back (DL-9).
var (
	counting    = regexp.MustCompile(`(?m)^# In AMQP 1\.0 redelivered messages (came back \d+ times)`)
	redelivered = regexp.MustCompile(`(?m)redelivered$`)
)

// TestDialects plays the files of testdata with clients of AMQP 1.0, which must see the same events at the same times
// (storedLater). A file that differs contains "# Not AMQP 1.0: why" or "# Not Service Bus: why".
func TestDialects(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for in, name := range dialectNames {
		for _, file := range files {
			t.Run(name+"/"+strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if regexp.MustCompile(`(?m)^# Not ` + name + `: \w`).Match(text) {
					return
				}
				directives := read(t, string(text))
				for i, got := range play(t, directives, stage{dialect: in}) {
					want := directives[i].Expected
					if in == azure {
						got, want = histories.ReplaceAllString(got, ""), histories.ReplaceAllString(want, "")
					} else if count := counting.FindSubmatch(text); count != nil {
						want = redelivered.ReplaceAllString(want, "redelivered, "+string(count[1]))
					}
					if got != want && !(in == azure && storedLater(got, want)) {
						t.Errorf("%s: clients of %s saw\n%swant\n%s", directives[i].Pos, name, got, want)
					}
				}
			})
		}
	}
}

// storedLater reports whether the events are the same, and at most a few ms later: clients of Service Bus wait until the
// journal has their settlements (DUR-3).
func storedLater(got, want string) bool {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	return slices.EqualFunc(g, w, func(g, w string) bool {
		at, event, _ := strings.Cut(g, " ")
		wanted, same, _ := strings.Cut(w, " ")
		later, err := time.ParseDuration(at)
		expected, wrong := time.ParseDuration(wanted)
		return g == w || err == nil && wrong == nil && event == same && later >= expected && later <= expected+5*time.Millisecond
	})
}
