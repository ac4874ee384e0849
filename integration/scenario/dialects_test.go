package scenario

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// dialect is how clients publish, receive and settle. All else they do in AMQP 0-9-1.
type dialect int

const (
	amqp091 dialect = iota
	amqp10          // as RabbitMQ 4 speaks it
	azure           // that of Azure Service Bus: queues are entities
)

var dialectNames = map[dialect]string{amqp10: "AMQP 1.0", azure: "Service Bus"}

// histories tell of dead letters, which clients of Service Bus do not see.
var histories = regexp.MustCompile(`, (expired|rejected|maxlen|delivery_limit) in \w+( \d+ times)?|, came back \d+ times`)

// A file with counting says that clients of AMQP 1.0 see how often what is redelivered came back to its classic queues (DL-9).
var (
	counting    = regexp.MustCompile(`(?m)^# In AMQP 1\.0 what is redelivered (came back \d+ times)`)
	redelivered = regexp.MustCompile(`(?m)redelivered$`)
)

// TestDialects plays the files of testdata once more with clients of AMQP 1.0, who see the same at the same moments. A file in which they do not
// says so: "# Not AMQP 1.0: why", "# Not Service Bus: why".
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
				for i, got := range play(t, directives, in) {
					want := directives[i].Expected
					if in == azure {
						got, want = histories.ReplaceAllString(got, ""), histories.ReplaceAllString(want, "")
					} else if count := counting.FindSubmatch(text); count != nil {
						want = redelivered.ReplaceAllString(want, "redelivered, "+string(count[1]))
					}
					if got != want {
						t.Errorf("%s: clients of %s saw\n%swant\n%s", directives[i].Pos, name, got, want)
					}
				}
			})
		}
	}
}
