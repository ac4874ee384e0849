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

var counts = regexp.MustCompile(`, came back \d+ times`)

// counted removes delivery counts from the lines that have none in want: clients of AMQP 1.0 see those of classic queues, too (DL-9).
func counted(got, want string) string {
	lines, wanted := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i, line := range lines {
		if i < len(wanted) && !counts.MatchString(wanted[i]) {
			lines[i] = counts.ReplaceAllString(line, "")
		}
	}
	return strings.Join(lines, "\n")
}

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
					} else {
						got = counted(got, want)
					}
					if got != want {
						t.Errorf("%s: clients of %s saw\n%swant\n%s", directives[i].Pos, name, got, want)
					}
				}
			})
		}
	}
}
