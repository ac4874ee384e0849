package scenario

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit/trio"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/memory"
	"candlemark/supervision"

	"github.com/cockroachdb/datadriven"
)

// TestFailoverIsARestart_CLU1 plays the files on a cluster, with another leader before every step, and on a broker alone, which is
// restarted before every step, and wants the same events at the same times. The leader hands over, or loses its office while the broker
// runs; the broker stops, or crashes. Queues, exchanges and messages are durable; consumers come back, as clients with a recovery of
// their topology make them do.
func TestFailoverIsARestart_CLU1(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for kind, sudden := range map[string]bool{"handover": false, "loss": true} {
		for _, file := range files {
			if strings.Contains(file, "ten_years") {
				continue // raft's timers would fire 30 million times
			}
			t.Run(kind+"/"+strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				directives := read(t, string(text))
				alone := play(t, directives, stage{recovery: &recovery{stores: &one{}, sudden: sudden}})
				three := play(t, directives, stage{recovery: &recovery{stores: &cluster{TB: t}, sudden: sudden}})
				for i := range alone {
					if alone[i] != three[i] {
						t.Errorf("%s: a broker alone gave\n%sa cluster gave\n%s", directives[i].Pos, alone[i], three[i])
					}
				}
			})
		}
	}
}

// stores are the stores of the broker of a stage, over its restarts.
type stores interface {
	// open opens them for the first broker, or for the next one.
	open(*supervision.Config)
	// crash is called while a broker runs: its stores keep nothing that comes later.
	crash()
	close()
}

// one is the stores of a broker alone.
type one struct {
	journal *memory.Journal
	meta    *definitions.Memory
	crashed bool
}

func (s *one) open(cfg *supervision.Config) {
	switch {
	case s.journal == nil:
		s.journal, s.meta = memory.New(memory.Options{}), definitions.NewMemory()
	case !s.crashed:
		s.reopen()
	}
	s.crashed = false
	cfg.Journal, cfg.Meta = s.journal, s.meta
}

func (s *one) reopen() { s.journal, s.meta = s.journal.Reopen(memory.Options{}), s.meta.Reopen() }

func (s *one) crash() {
	s.reopen()
	s.crashed = true
}

func (s *one) close() { _, _ = s.journal.Close(), s.meta.Close() }

// never is a time-out of elections that a scene of years does not reach: whoever leads hands over.
const never = 1e6 * time.Hour

// cluster is the stores of a cluster of three nodes.
type cluster struct {
	testing.TB
	nodes   *trio.Trio
	led     bool // a broker has had them
	crashed bool
}

func (s *cluster) open(cfg *supervision.Config) {
	switch {
	case s.nodes == nil:
		s.nodes = trio.New(s.TB, never, nil)
	case !s.crashed:
		if err := s.nodes.Journal.Close(); err != nil {
			s.Error(err)
		}
		s.nodes.Resign()
	}
	if s.led {
		s.nodes.Lead(s.nodes.Leader)
	}
	s.led, s.crashed = true, false
	cfg.Journal, cfg.Meta = s.nodes.Journal, s.nodes.Definitions
}

func (s *cluster) crash() {
	s.nodes.Resign()
	s.crashed = true
}

func (s *cluster) close() { s.nodes.Close() }

// recovery makes a stage restart its broker before every step.
type recovery struct {
	stores
	sudden    bool       // by a crash
	consumers []*command // that were consumed, to be repeated
	going     bool
}

// pause is longer than what a journal gathers records for which nobody waits.
const pause = 10 * time.Millisecond

// unable says why a client cannot do a step since the broker was restarted.
type unable string

// restartBefore restarts the broker before a command, and brings back what clients bring back.
func (r *recovery) restartBefore(c *command, line []datadriven.CmdArg) {
	last := func(flag string) {
		if !slices.Contains(c.words, flag) && !slices.Contains(c.words, "exclusive") {
			c.words = append(c.words, flag)
		}
	}
	if len(c.words) > 0 && operations[c.who] == nil {
		switch c.words[0] {
		case "declare", "exchange":
			last("durable")
		case "publish":
			last("persistent")
		}
	}
	if r.going || c.who == "restart" || c.who == "crash" {
		return
	}
	c.Advance(pause)
	for _, name := range slices.Sorted(maps.Keys(c.clients)) { // what clients see while the broker ends depends on who is first
		gone := c.clients[name]
		gone.deaf.Store(true)
		if !r.sudden {
			gone.conn.Cut()
			c.Advance(0)
		}
	}
	if r.sudden {
		c.stage.crash(0)
	} else {
		c.Advance(pause)
		c.stage.restart(0)
	}
	r.going = true
	defer func() { r.going = false }()
	for _, again := range r.consumers {
		c.stage.do(command{pos: again.pos, who: again.who, args: again.args})
	}
	r.note(c, line)
}

// note remembers a command that begins or ends consumers.
func (r *recovery) note(c *command, line []datadriven.CmdArg) {
	if operations[c.who] != nil || len(c.words) == 0 {
		return
	}
	verb := c.words[0]
	r.consumers = slices.DeleteFunc(r.consumers, func(of *command) bool {
		if of.who != c.who {
			return false
		}
		return verb == "close" || verb == "leave" || verb == "vanish" || (verb == "cancel" || verb == "consume") && slices.Contains(c.words, of.words[1])
	})
	if verb == "consume" {
		r.consumers = append(r.consumers, &command{pos: c.pos, who: c.who, args: line, words: slices.Clone(c.words)})
	}
}

// unable records that a client could not do a step.
func (s *stage) unable(c *command) {
	switch why := recover().(type) {
	case nil:
	case unable:
		c.words, c.args = nil, nil
		s.Advance(0)
		c.client.see(answer, string(why), "", "")
	default:
		panic(why)
	}
}
