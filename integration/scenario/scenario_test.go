package scenario

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/supervision"

	"github.com/cockroachdb/datadriven"
)

func TestMain(m *testing.M) {
	if os.Getenv("CANDLEMARK_REWRITE") != "" {
		if err := flag.Set("rewrite", "true"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// rule is the id of a rule in docs/spec.
var rule = regexp.MustCompile(`(?m)^#.*\b[A-Z]{2,5}-\d+`)

// TestScenarios plays every file of testdata.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !rule.Match(text) {
			t.Errorf("%s: no comment cites a rule of docs/spec", path)
		}
		// The library's own goroutines and timers must stay outside the bubble.
		seen := play(t, read(t, string(text)), stage{dialect: amqp091})
		datadriven.RunTest(t, path, func(*testing.T, *datadriven.TestData) string {
			next := seen[0]
			seen = seen[1:]
			return next
		})
	})
}

// read returns the directives of a file.
func read(t *testing.T, text string) (directives []datadriven.TestData) {
	datadriven.RunTestFromString(t, text, func(_ *testing.T, d *datadriven.TestData) string {
		directives = append(directives, *d)
		return d.Expected
	})
	return directives
}

// play runs directives in a bubble, on a stage of that kind, and returns the events seen during each.
func play(t *testing.T, directives []datadriven.TestData, kind stage) (seen []string) {
	var change func(*supervision.Config)
	if kind.recovery != nil {
		change = kind.stores.open
	}
	testkit.RunStored(t, change, func(b *testkit.Bubble) {
		s := &kind
		if kind.recovery != nil {
			b.Cleanup(kind.stores.close)
		}
		s.Bubble, s.clients, s.begin = b, map[string]*client{}, b.Elapsed()
		defer func() {
			for _, c := range s.clients {
				c.hangUp()
			}
		}()
		for _, d := range directives {
			s.do(command{pos: d.Pos, who: d.Cmd, args: d.CmdArgs})
			for i, line := range strings.Split(d.Input, "\n") {
				pos := fmt.Sprintf("%s, line %d of its input", d.Pos, i+1)
				who, args, err := datadriven.ParseLine(line)
				switch {
				case err != nil:
					t.Fatalf("%s: %v", pos, err)
				case who != "":
					s.do(command{pos: pos, who: who, args: args})
				}
			}
			seen = append(seen, s.sights())
		}
	})
	return seen
}

// stage is a broker with the clients named so far.
type stage struct {
	*testkit.Bubble
	clients map[string]*client
	dialect dialect
	begin   time.Duration
	seen    chan sight
	*recovery
}

// sight is an event seen by a client.
type sight struct {
	at         time.Duration
	who        string
	order      int    // among events of one client in the same millisecond
	queue      string // source of a delivery; deliveries of different queues have no order
	what       string
	item, tail string // items of equal events are listed in one line
}

// do runs one command and waits for all its consequences.
func (s *stage) do(c command) {
	if s.seen == nil {
		s.seen = make(chan sight, 1<<16)
	}
	c.stage = s
	line := c.args
	c.words = c.positional()
	if s.recovery != nil {
		s.restartBefore(&c, line)
		defer s.unable(&c)
	}
	if ours := operations[c.who]; ours != nil {
		ours(&c)
	} else {
		c.client = s.named(c.who)
		verb := verbs[c.word("a verb")]
		if verb == nil {
			s.Fatalf("%s: no such verb; they are in verbs_test.go", c.pos)
		}
		verb(&c)
	}
	if len(c.words)+len(c.args) > 0 {
		s.Fatalf("%s: left over: %v %v", c.pos, c.words, c.args)
	}
	s.Advance(0)
}

// sights returns the events seen since the last call.
func (s *stage) sights() string {
	var all []sight
	for len(s.seen) > 0 {
		all = append(all, <-s.seen)
	}
	slices.SortStableFunc(all, func(a, b sight) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		if a.who != b.who {
			return strings.Compare(a.who, b.who)
		}
		if a.order != b.order {
			return a.order - b.order
		}
		return strings.Compare(a.queue, b.queue)
	})
	var text strings.Builder
	for i := 0; i < len(all); {
		first, items := all[i], []string{}
		for ; i < len(all); i++ {
			same := first
			if same.item = all[i].item; same != all[i] {
				break
			}
			items = append(items, all[i].item)
		}
		line := fmt.Sprintf("%s %s: %s %s%s", first.at, first.who, first.what, strings.Join(items, ", "), first.tail)
		fmt.Fprintln(&text, strings.TrimSpace(line))
	}
	return text.String()
}
