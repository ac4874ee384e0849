package profile

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"candlemark/cmd/candlemark-bench/bench/load"
	"candlemark/protocol"
)

// Settings are of a run.
type Settings struct {
	Profile *Profile
	Given   []string // the equivalent command line, without flags for the destination and form of the output

	URL, HTTP, Label          string
	Compare                   []string // URLs
	Rounds                    int
	PIDs                      []int
	JSON, Verify, Quiet       bool
	Interval                  time.Duration
	Protocol                  string
	Time, Warmup, Drain       time.Duration
	Producers, Consumers      int
	ProducerChannels          int
	ConsumerChannels          int
	Queues                    int
	Queue, Pattern            string
	PatternFrom, PatternTo    int
	Exchange, Type, Key       string
	Predeclared               bool
	QueueArgs, ConsumerArgs   protocol.Table
	Properties                protocol.Properties
	Persistent, Mandatory     bool
	Size, MaxSize, Batch      int
	Rate, TotalRate           float64
	ConsumerRate              float64
	Rates, Latencies          load.Plan
	ConsumerLatency           int // µs
	Confirm                   int
	AutoAck, AckIdle          bool
	Prefetch, AckEvery        int
	PublishCount, TakeCount   int64
	Backlog                   int64
	ConsumeAfter              bool
	TTL                       load.TTL
	Reply, Mode, Via, Kind    string
	Timeout, Lead, Within     time.Duration
	Bystander                 float64
	Count, Heartbeat, Workers int
	Lease, Standing           time.Duration
	Once                      bool
}

// Named returns the queues, if they have names of their own.
func (s *Settings) Named() (names []string) {
	switch {
	case s.Pattern != "":
		for i := s.PatternFrom; i <= s.PatternTo; i++ {
			names = append(names, strings.ReplaceAll(s.Pattern, "%d", strconv.Itoa(i)))
		}
	case s.Queue != "":
		names = []string{s.Queue}
	}
	return names
}

// ProducerRate returns the rate of one lane of one producer, in messages a second.
func (s *Settings) ProducerRate() load.Plan {
	if !s.Rates.IsZero() {
		return s.Rates
	}
	if s.TotalRate > 0 {
		return load.Always(s.TotalRate / float64(max(1, s.Producers*s.ProducerChannels)))
	}
	return load.Always(s.Rate)
}

// Latency returns how long a consumer works on a message, in µs.
func (s *Settings) Latency() load.Plan {
	if !s.Latencies.IsZero() {
		return s.Latencies
	}
	return load.Always(float64(s.ConsumerLatency))
}

// ErrUsage is wrapped by errors about the command line.
var ErrUsage = errors.New("candlemark-bench")

// Parse reads a command line: the name of a profile, if the first argument is not a flag, and flags. The error is
// flag.ErrHelp if help is asked for, or else wraps ErrUsage.
func Parse(args []string) (*Settings, error) {
	s := &Settings{Profile: Named("stream")}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		if s.Profile = Named(args[0]); s.Profile == nil {
			return nil, fmt.Errorf("%w: there is no profile %q", ErrUsage, args[0])
		}
		args = args[1:]
	}
	if slices.Equal(args, []string{"-h"}) { // which is PerfTest's for the address
		return nil, flag.ErrHelp
	}
	flags := s.flags()
	if err := flags.Parse(strings.Fields(s.Profile.Flags)); err != nil {
		panic(fmt.Sprintf("profile %s: %v", s.Profile.Name, err))
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("%w: %q is no flag", ErrUsage, flags.Arg(0))
	}
	if wrong := s.wrong(); wrong != "" {
		return nil, fmt.Errorf("%w: %s", ErrUsage, wrong)
	}
	s.Given = given(flags, args)
	return s, nil
}

// given returns the flags that a user gave, without flags about the place and the output: all that is needed to repeat
// the run.
func given(flags *flag.FlagSet, args []string) (list []string) {
	mine := map[string]bool{}
	for _, a := range args {
		name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		mine[name] = strings.HasPrefix(a, "-")
	}
	flags.Visit(func(f *flag.Flag) {
		if !mine[f.Name] || slices.Contains(elsewhere, f.Name) {
			return
		}
		list = append(list, "--"+f.Name+"="+f.Value.String())
	})
	return list
}

// wrong returns a text about impossible settings, "" for none.
func (s *Settings) wrong() string {
	s.Queues = max(s.Queues, 1)
	if named := s.Named(); named != nil {
		s.Queues = len(named)
	}
	switch {
	case s.Producers < 0 || s.Consumers < 0 || s.ProducerChannels < 1 || s.ConsumerChannels < 1:
		return "there are too few producers, consumers or channels"
	case s.Pattern != "" && (!strings.Contains(s.Pattern, "%d") || s.PatternFrom > s.PatternTo):
		return "-qp wants a pattern such as q-%d, and -qpf and -qpt its first and last number"
	case s.Size > 1<<27 || s.MaxSize > 1<<27:
		return "a body has at most 128 MiB"
	case s.Rates.String() != "" && s.Rates.IsZero():
		return "-vr has no rate above 0"
	case s.ConsumerLatency < 0:
		return "-L is at least 0"
	case s.Prefetch < 0 || s.Prefetch > 65535:
		return "-q is from 0 to 65535"
	case s.Profile.Shape == Stream && s.Producers == 0 && s.Consumers == 0:
		return "there is nothing to do"
	case s.Protocol == "1.0" && (s.Profile.Shape != Stream || s.Mandatory || len(s.ConsumerArgs) > 0):
		return "--protocol 1.0 is for profiles that stream messages, without mandatory and -ca"
	case len(s.Compare) == 1:
		return "--compare wants two addresses or more"
	case (s.Profile.Shape == Expiry || s.Profile.Shape == Delays || s.Profile.Shape == MassExpiry) && s.PublishCount < 1:
		return "-C is at least 1"
	case (s.Profile.Shape == Expiry || s.Profile.Shape == Delays) && s.TTL.IsZero():
		return "--ttl is missing"
	case s.Profile.Shape == Expiry && s.Mode != "message" && !s.TTL.Fixed():
		return "--mode " + s.Mode + " wants one TTL for all: --ttl 5s"
	case s.Rounds < 1:
		return "--rounds is at least 1"
	}
	s.Size = max(s.Size, load.MinSize)
	for _, choice := range []struct{ flag, value, among string }{
		{"protocol", s.Protocol, "0-9-1 1.0"},
		{"reply", s.Reply, "direct queue"},
		{"mode", s.Mode, "message queue policy"},
		{"via", s.Via, "hold message exchange"},
		{"kind", s.Kind, "connections queues messages"},
	} {
		if !slices.Contains(strings.Fields(choice.among), choice.value) {
			return "--" + choice.flag + " is one of " + choice.among
		}
	}
	return ""
}
