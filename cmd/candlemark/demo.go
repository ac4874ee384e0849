package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"candlemark/internal/admin/config"
	"candlemark/internal/admin/flaghelp"

	"github.com/rs/zerolog"
)

// demoLimit ends a show whose broker hangs.
const demoLimit = 50 * time.Second

// demo starts a broker, observes through AMQP and HTTP alone what it does with
// time, and returns 0 if everything came as expected. With --against it then
// observes another broker in the same way and prints both; what that one does
// differently does not count.
func demo(args []string) int {
	flags := flaghelp.New("candlemark demo")
	against := flags.String("against", "", "AMQP `URL` of another broker to compare with")
	againstHTTP := flags.String("against-http", "", "`URL` of that broker's HTTP API, needed to test policies")
	const usage = "candlemark demo [--against amqp://... [--against-http http://...]]\n"
	switch err := flags.Parse(args); {
	case err != nil:
		return flaghelp.Exit(err, flags, usage+"\nStarts a broker and shows what it does with time, in half a minute.\n\n", os.Stdout, os.Stderr)
	case flags.NArg() > 0 || *against == "" && *againstHTTP != "":
		fmt.Fprint(os.Stderr, usage)
		return 64
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var show timetable
	if err := show.own(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "candlemark demo:", err)
		return 1
	}
	if *against != "" && ctx.Err() == nil {
		other := newStage(*against, *againstHTTP)
		show.add(ctx, other.product(), other)
	}
	show.print(os.Stdout)
	if !show.passed() {
		return 1
	}
	return 0
}

// own observes a broker of this process, which lives as long as that takes.
func (t *timetable) own(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "candlemark-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	log := zerolog.New(os.Stderr).Level(zerolog.WarnLevel)
	b, err := startBroker(demoConfig(dir), log)
	if err != nil {
		return err
	}
	t.add(ctx, "Candlemark", newStage("amqp://guest:guest@"+b.AMQP[0].String()+"/", "http://guest:guest@"+b.HTTP.String()))
	return b.stop()
}

// demoConfig returns the default at free ports, with the data in dir.
func demoConfig(dir string) config.Config {
	cfg := config.Default(os.Getenv)
	cfg.AMQP, cfg.HTTP, cfg.DataDir = []string{"127.0.0.1:0"}, "127.0.0.1:0", dir
	return cfg
}

// add observes one broker.
func (t *timetable) add(ctx context.Context, name string, s *stage) {
	fmt.Printf("Watching %s for about 20 s.\n", name)
	t.brokers = append(t.brokers, name)
	t.columns = append(t.columns, s.observe(ctx))
	t.machines = append(t.machines, s.metronome)
}

// act is one part of the demo. Its expectations are fixed before it runs, so that brokers can be compared line by line.
type act struct {
	lines []line
	play  func(context.Context, *stage) ([]finding, error)
}

// line names something to look at, and what should be seen.
type line struct{ what, expected string }

// finding holds what was seen.
type finding struct {
	observed string
	verdict  verdict
}

// verdict on a finding.
type verdict string

const (
	pass    verdict = "PASS"
	fail    verdict = "FAIL"
	busy    verdict = "machine too busy" // to tell whether the broker or the machine exceeded the limit
	skipped verdict = "-"                // could not be tried
)

// judged returns a finding that passes if it is good.
func judged(good bool, format string, args ...any) finding { return timed(pass, good, format, args...) }

// timed returns a finding with the verdict on its time if it is good otherwise, and a failure if it is not.
func timed(on verdict, good bool, format string, args ...any) finding {
	f := finding{fmt.Sprintf(format, args...), fail}
	if good {
		f.verdict = on
	}
	return f
}

// acts run at the same time, each on its own connections and queues.
var acts = []act{shuffledAct, leaseAct, holdAct, positionAct, zeroAct, requeueAct}

// column holds what one broker did, a finding for every line of every act.
type column []finding

// stage is a broker under observation.
type stage struct {
	amqp string // URL
	http string // URL with user and password, empty if it has none
	name string // begins the name of everything that the show makes
	*metronome
}

func newStage(amqp, http string) *stage {
	return &stage{
		amqp: amqp, http: http, name: fmt.Sprintf("demo.%08x.", rand.Uint32()),
		metronome: &metronome{stop: make(chan struct{})},
	}
}

// observe plays all acts.
func (s *stage) observe(ctx context.Context) column {
	ctx, cancel := context.WithTimeout(ctx, demoLimit)
	defer cancel()
	s.metronome.run()
	defer s.metronome.end()
	found := make([][]finding, len(acts))
	var playing sync.WaitGroup
	for i, a := range acts {
		playing.Go(func() {
			var err error
			found[i], err = a.play(ctx, s)
			for len(found[i]) < len(a.lines) {
				found[i] = append(found[i], judged(false, "error: %v", err))
			}
		})
	}
	playing.Wait()
	var all column
	for _, f := range found {
		all = append(all, f...)
	}
	return all
}
