package profile

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"candlemark/cmd/candlemark-bench/bench/load"
	"candlemark/protocol"
)

// elsewhere are the flags that say where a run takes place and how it is printed.
var elsewhere = []string{"url", "uri", "h", "compare", "rounds", "pid", "http", "json", "interval", "i", "label", "id", "d", "quiet", "verify"}

// flags are all, bound to the settings. A flag that PerfTest has has its names, the short one first.
func (s *Settings) flags() *flag.FlagSet {
	f := &names{FlagSet: flag.NewFlagSet("candlemark-bench", flag.ContinueOnError)}
	f.SetOutput(io.Discard)
	s.place(f)
	s.shape(f)
	s.publishing(f)
	s.consuming(f)
	s.special(f)
	return f.FlagSet
}

// names define a flag under several names, with commas between them.
type names struct{ *flag.FlagSet }

func each(list string, define func(name string)) {
	for name := range strings.SplitSeq(list, ",") {
		define(name)
	}
}

func (f *names) text(to *string, list, value, help string) {
	each(list, func(name string) { f.StringVar(to, name, value, help) })
}

func (f *names) number(to *int, list string, value int, help string) {
	each(list, func(name string) { f.IntVar(to, name, value, help) })
}

func (f *names) count(to *int64, list, help string) {
	each(list, func(name string) { f.Int64Var(to, name, 0, help) })
}

func (f *names) rate(to *float64, list string, value float64, help string) {
	each(list, func(name string) { f.Float64Var(to, name, value, help) })
}

func (f *names) is(to *bool, list, help string) {
	each(list, func(name string) { f.BoolVar(to, name, false, help) })
}

func (f *names) duration(to *time.Duration, list string, value time.Duration, help string) {
	*to = value
	each(list, func(name string) { f.Var(&read{text: value.String(), set: seconds(to)}, name, help) })
}

func (f *names) read(set func(string) error, list, help string) {
	each(list, func(name string) { f.Var(&read{set: set}, name, help) })
}

// plan may be given several times, as with PerfTest: each adds steps.
func (f *names) plan(to *load.Plan, list, help string) {
	each(list, func(name string) { f.Var((*plan)(to), name, help) })
}

// plan is a flag for a value that changes with time.
type plan load.Plan

// String implements flag.Value.
func (p *plan) String() string { return load.Plan(*p).String() }

// Set implements flag.Value.
func (p *plan) Set(text string) error {
	added, err := load.Plan(*p).Parse(text)
	if err == nil {
		*p = plan(added)
	}
	return err
}

// read is a flag that is read by a function.
type read struct {
	text string
	set  func(string) error
}

// String implements flag.Value.
func (r *read) String() string { return r.text }

// Set implements flag.Value.
func (r *read) Set(text string) error {
	r.text = text
	return r.set(text)
}

func (s *Settings) place(f *names) {
	f.text(&s.URL, "h,uri,url", "amqp://guest:guest@127.0.0.1:5672/", "the broker's `address`; amqps with ?cacertfile=, certfile=, keyfile=, verify=verify_none, as in RabbitMQ's client")
	f.text(&s.Protocol, "protocol", "0-9-1", "AMQP `version` of producers and consumers: 0-9-1 or 1.0, where a channel is a session with a link and the prefetch count its credit")
	f.read(list(&s.Compare), "compare", "two or more comma-separated `addresses`, measured in turn")
	f.number(&s.Rounds, "rounds", 5, "with --compare: the `number` of runs of each")
	f.read(numbers(&s.PIDs), "pid", "process `ids` of the broker; by default the process that listens on the port of the address, on this machine")
	f.text(&s.HTTP, "http", "", "`address` of the HTTP API, for policies; several with --compare")
	f.duration(&s.Time, "z,time", 10*time.Second, "`duration` of publishing")
	f.duration(&s.Warmup, "warmup", time.Second, "warm-up `time`, not measured")
	f.duration(&s.Drain, "drain", 60*time.Second, "gives up after this `time` without a message")
	f.duration(&s.Interval, "i,interval", time.Second, "`interval` of progress reports")
	f.is(&s.JSON, "json", "prints the result as one line of JSON")
	f.is(&s.Quiet, "quiet", "does not print progress")
	f.is(&s.Verify, "verify", "fails if a message was lost, duplicated, early or out of order")
	f.text(&s.Label, "d,id,label", "", "label `text` of the result")
}

func (s *Settings) shape(f *names) {
	f.number(&s.Producers, "x,producers", 1, "the `number` of producers, or of callers, each with a connection")
	f.number(&s.Consumers, "y,consumers", 1, "the `number` of consumers, or of servers, each with a connection")
	f.number(&s.ProducerChannels, "X,producer-channel-count", 1, "the `number` of channels of each producer, which publish independently")
	f.number(&s.ConsumerChannels, "Y,consumer-channel-count", 1, "the `number` of channels of each consumer")
	f.number(&s.Queues, "queues", 1, "the `number` of queues; the i-th producer and consumer use the i-th, and so on in turn")
	f.text(&s.Queue, "u,queue", "", "`name` of the queue; it is not deleted afterwards")
	f.text(&s.Pattern, "qp,queue-pattern", "", "`pattern` of names such as q-%d; these queues are not deleted afterwards")
	f.number(&s.PatternFrom, "qpf,queue-pattern-from", 1, "its first `number`")
	f.number(&s.PatternTo, "qpt,queue-pattern-to", 1, "its last `number`")
	f.text(&s.Exchange, "e,exchange", "", "`name` of the exchange to publish to; by default the default exchange, or with -t a new one")
	f.text(&s.Type, "t,type", "", "`type` of the exchange: direct, topic, fanout, headers, …")
	f.text(&s.Key, "k,routing-key", "", "routing `key` of all producers and bindings; by default the name of the queue")
	f.is(&s.Predeclared, "p,predeclared", "does not declare or bind anything")
	f.read(table(&s.QueueArgs), "qa,queue-args", "`arguments` of the queues: x-max-length=10,x-queue-mode=lazy")
}

func (s *Settings) publishing(f *names) {
	f.number(&s.Size, "s,size", 100, fmt.Sprintf("`bytes` of a body, at least %d", load.MinSize))
	f.number(&s.Batch, "batch", 0, "the `number` of messages in a write; 0 for 64 KiB, at most 64 messages")
	f.rate(&s.Rate, "r,rate", 0, "messages per second of each producer; 0 for no limit")
	f.plan(&s.Rates, "vr,variable-rate", "`rates` of each producer, in turn: 1000:60,0:10 is 1000 messages per second for 60 s, then none for 10 s; repeated flags continue the sequence")
	f.rate(&s.TotalRate, "total-rate", 0, "messages per second of all producers together")
	f.number(&s.Confirm, "c,confirm", 0, "the maximum `number` of unconfirmed publishes of a channel; 0 or -1 for no confirms")
	f.count(&s.PublishCount, "C,pmessages", "the `number` of messages of each producer; 0 for no limit")
	f.count(&s.Backlog, "max-backlog", "producers wait while more than this `number` of messages are not consumed; 0 for no limit")
	f.read(properties(&s.Properties), "mp,message-properties", "`properties` of messages: priority=5,contentType=text/plain; others are headers")
	f.read(func(text string) error {
		for part := range strings.SplitSeq(text, ",") {
			switch part {
			case "persistent":
				s.persist()
			case "mandatory":
				s.Mandatory = true
			default:
				return errors.New("a flag is persistent or mandatory")
			}
		}
		return nil
	}, "f,flag", "`flags`: persistent, mandatory")
	f.BoolFunc("persistent", "durable queues and persistent messages, as -f persistent", func(string) error {
		s.persist()
		return nil
	})
	f.read(func(text string) (err error) {
		s.TTL, err = load.ParseTTL(text)
		return err
	}, "ttl", "`TTL` or delay of messages: 5s, uniform:1s-10s, mix:100ms,1s,5s")
}

// persist makes messages and queues survive.
func (s *Settings) persist() {
	s.Persistent = true
	s.Properties.Flags |= protocol.FlagDeliveryMode
	s.Properties.DeliveryMode = 2
}

func (s *Settings) consuming(f *names) {
	f.is(&s.AutoAck, "a,autoack", "consumes without acknowledgements")
	f.number(&s.Prefetch, "q,qos", 0, "the maximum `number` of unacknowledged messages of a consumer; 0 for no limit")
	f.number(&s.AckEvery, "A,multi-ack-every", 1, "acknowledges this `number` of messages at once")
	f.is(&s.AckIdle, "ack-idle", "also acknowledges whenever all arrived messages have been read")
	f.rate(&s.ConsumerRate, "R,consumer-rate", 0, "messages per second of each consumer; 0 for no limit")
	f.number(&s.ConsumerLatency, "L,consumer-latency", 0, "`microseconds` that a consumer spends on a message before it acknowledges it")
	f.plan(&s.Latencies, "vl,variable-latency", "`latencies` of each consumer, in turn: 1000:60,5000:10 is 1000 µs for 60 s, then 5000 µs for 10 s")
	f.count(&s.TakeCount, "D,cmessages", "the `number` of messages after which each consumer stops; 0 for no limit")
	f.is(&s.ConsumeAfter, "consume-after", "consumers start after the producers have finished")
	f.read(table(&s.ConsumerArgs), "ca,consumer-args", "`arguments` of the consumers: x-priority=10")
}

// special are of single shapes.
func (s *Settings) special(f *names) {
	f.text(&s.Reply, "reply", "direct", "rpc: `mode` of replies: direct or queue")
	f.duration(&s.Timeout, "timeout", 30*time.Second, "rpc: `timeout` of a reply")
	f.text(&s.Mode, "mode", "message", "expiry: `origin` of the TTL: message, queue, or policy, which is set after the messages are published")
	f.duration(&s.Lead, "lead", 30*time.Second, "mass-expiry: `time` from the first publish to the first expiry")
	f.duration(&s.Within, "within", 2*time.Second, "mass-expiry: `time` from the first to the last expiry")
	f.rate(&s.Bystander, "bystander", 1000, "mass-expiry: messages per second through another queue")
	f.number(&s.MaxSize, "max-size", 0, "mass-expiry: maximum body size in `bytes`; sizes are random from --size to this")
	f.text(&s.Via, "via", "hold", "delays: `method`: hold (a queue for each delay, with x-message-ttl and x-expires), message (one queue, with a TTL on each message) or exchange (an x-delayed-message exchange)")
	f.is(&s.Once, "declare-once", "delays: declare hold queues only at the start, not again before each publish")
	f.text(&s.Kind, "kind", "connections", "idle: `kind` of objects: connections, queues (with a lease) or messages")
	f.number(&s.Count, "count", 1000, "idle: the `number` of objects")
	f.duration(&s.Lease, "lease", 60*time.Second, "idle: x-expires of queues")
	f.duration(&s.Standing, "settle", 6*time.Second, "idle: maximum `time` to wait for memory usage to settle")
	f.number(&s.Heartbeat, "b,heartbeat", 0, "`seconds` between heartbeats, 0 for none")
}

// Usage writes the help.
func Usage(out io.Writer) {
	fmt.Fprint(out, "candlemark-bench [<profile>] [<flags>]\ncandlemark-bench table [<flags>]\n\nProfiles\n\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range Profiles {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", p.Name, p.About, p.Flags)
	}
	_ = w.Flush() // like all that is printed
	fmt.Fprint(out, "\nFlags\n\n")
	byHelp := map[string][]*flag.Flag{}
	var order []string
	(&Settings{}).flags().VisitAll(func(f *flag.Flag) {
		if byHelp[f.Usage] == nil {
			order = append(order, f.Usage)
		}
		byHelp[f.Usage] = append(byHelp[f.Usage], f)
	})
	slices.SortFunc(order, func(a, b string) int { return strings.Compare(longest(byHelp[a]), longest(byHelp[b])) })
	for _, help := range order {
		var list []string
		for _, f := range byHelp[help] {
			list = append(list, strings.Repeat("-", min(2, len(f.Name)))+f.Name)
		}
		slices.SortFunc(list, func(a, b string) int { return len(a) - len(b) })
		kind, text := flag.UnquoteUsage(byHelp[help][0])
		fmt.Fprintf(w, "  %s\t%s", strings.TrimSpace(strings.Join(list, ", ")+" "+kind), text)
		if d := byHelp[help][0].DefValue; d != "" && d != "0" && d != "false" && d != "0s" {
			fmt.Fprintf(w, " (%s)", d)
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // as above
}

// longest returns the longest of the names of a flag.
func longest(list []*flag.Flag) (name string) {
	for _, f := range list {
		if len(f.Name) > len(name) {
			name = f.Name
		}
	}
	return name
}
