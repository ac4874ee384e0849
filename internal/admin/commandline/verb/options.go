package verb

import (
	"errors"
	"flag"
	"io"
	"slices"
	"strings"

	"candlemark/internal/admin/httpapi/client"
)

// Options holds the options of a command line. NewOptions describes each.
type Options struct {
	*flag.FlagSet
	VHost, ApplyTo, URL, Formatter string
	Priority, Timeout, Limit       int
	Quiet, Silent, noHeaders       bool
	Node                           string
	IfEmpty, IfUnused, Global      bool
	// Of the verbs about users and virtual hosts.
	PreHashed                       bool
	Description, Tags, DefaultQueue string
	User                            string
	// Of the verbs about single messages.
	State, MessageID, Order string
	Truncate                int
	exchange, Delay         bool
	For                     string
	Rate                    float64
	// Of the import of definitions.
	DryRun, Strict bool
	// Of the check of certificates.
	Within int
	Unit   string
	// Of the check of the oldest message.
	Over, Named string
	Unacked     bool
	// Of the test clock.
	Grace string
	Speed float64
	// Of recurring schedules.
	Cron, Zone, Every, Queue, Body, Note string
	From, To, Overlap                    string
	Count                                int
	PauseSchedules                       bool
	// Of the wait for a process.
	PID int
}

// everywhere are the options of every verb.
var everywhere = []string{"p", "vhost", "q", "quiet", "s", "silent", "t", "timeout", "formatter", "url", "n", "node", "l", "longnames"}

// NewOptions returns the options of a command line, none of them given yet; getenv returns the broker's address.
func NewOptions(getenv func(string) string) *Options {
	o := &Options{FlagSet: flag.NewFlagSet("candlemark", flag.ContinueOnError)}
	o.SetOutput(io.Discard)
	o.Usage = func() {}
	for _, name := range []string{"p", "vhost"} {
		o.StringVar(&o.VHost, name, "/", "`name` of the virtual host, default /")
	}
	for _, name := range []string{"P", "pid"} {
		o.IntVar(&o.PID, name, 0, "`number` of the broker's process")
	}
	for _, name := range []string{"q", "quiet"} {
		o.BoolVar(&o.Quiet, name, false, "")
	}
	for _, name := range []string{"s", "silent"} {
		o.BoolVar(&o.Silent, name, false, "")
	}
	for _, name := range []string{"t", "timeout"} {
		o.IntVar(&o.Timeout, name, 60, "")
	}
	o.StringVar(&o.Formatter, "formatter", "table", "")
	o.StringVar(&o.URL, "url", client.AddressFrom(getenv), "")
	o.IntVar(&o.Priority, "priority", 0, "the policy with the highest priority `number` applies")
	o.StringVar(&o.ApplyTo, "apply-to", "all", "`kind` of objects: all, queues, classic_queues, quorum_queues, streams, exchanges")
	o.BoolVar(&o.noHeaders, "no-table-headers", false, "omit column names")
	for _, name := range []string{"e", "if-empty"} {
		o.BoolVar(&o.IfEmpty, name, false, "only if it has no messages")
	}
	for _, name := range []string{"u", "if-unused"} {
		o.BoolVar(&o.IfUnused, name, false, "only if it has no consumers")
	}
	o.BoolVar(&o.Global, "global", false, "of all virtual hosts")
	o.IntVar(&o.Limit, "limit", 0, "at most this `number`")
	o.BoolVar(&o.PreHashed, "pre-hashed-password", false, "the password is a hash from hash_password")
	o.StringVar(&o.Description, "description", "", "description `text` of the virtual host")
	o.StringVar(&o.Tags, "tags", "", "comma-separated `tags` of the virtual host")
	o.StringVar(&o.User, "user", "guest", "the limits of this `user`")
	o.StringVar(&o.DefaultQueue, "default-queue-type", "", "default queue `type` of the virtual host")
	o.messages()
	o.BoolVar(&o.DryRun, "dry-run", false, "only report what would be done")
	o.BoolVar(&o.Strict, "strict", false, "do nothing if an item would be refused")
	o.IntVar(&o.Within, "within", 4, "`number` of units")
	o.StringVar(&o.Unit, "unit", "weeks", "the `unit` of --within: days, weeks, months, years")
	o.StringVar(&o.Over, "over", "5m", "older than this `time`, such as 90s, 5m, 7d")
	o.StringVar(&o.Named, "name", "", "only queues whose names match this regular `expression`")
	o.BoolVar(&o.Unacked, "unacked", false, "unacked messages, too")
	o.Bool("only-down", false, "only links that are down")
	o.times()
	o.tools()
	for _, name := range []string{"n", "node"} {
		o.StringVar(&o.Node, name, "", "")
	}
	o.VisitAll(func(f *flag.Flag) {
		if !slices.Contains(everywhere, f.Name) {
			f.Value = &once{Value: f.Value}
		}
	})
	return o
}

// once is an option that can be given once: of two values one would be ignored.
type once struct {
	flag.Value
	given bool
}

// Set implements flag.Value.
func (o *once) Set(text string) error {
	if o.given {
		return errors.New("it is given more than once")
	}
	o.given = true
	return o.Value.Set(text)
}

// IsBoolFlag reports whether the option needs no value.
func (o *once) IsBoolFlag() bool {
	b, ok := o.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// Get implements flag.Getter.
func (o *once) Get() any { return o.Value.(flag.Getter).Get() }

// times defines the options of the test clock and of recurring schedules.
func (o *Options) times() {
	o.StringVar(&o.Grace, "grace", "", "how long, as a `time`, each step of the clock waits for consumers to settle what it delivered, default 200ms")
	o.Float64Var(&o.Speed, "speed", 1, "how fast the clock runs: `times` the machine's clock")
	o.StringVar(&o.Cron, "cron", "", "cron `expression` of five fields, or six with the seconds first")
	o.StringVar(&o.Zone, "zone", "UTC", "time `zone` of the expression, such as Europe/Berlin")
	o.StringVar(&o.Every, "every", "", "`interval`, such as 90s, 1h, 7d")
	o.StringVar(&o.Queue, "queue", "", "`name` of the queue to publish to")
	o.StringVar(&o.Body, "body", "", "`text` of the messages")
	o.StringVar(&o.Note, "note", "", "`text` that says why")
	o.IntVar(&o.Count, "count", 10, "this `number` of times")
	o.StringVar(&o.From, "from", "", "the first `date`, such as 2027-01-31T00:00:00Z")
	o.StringVar(&o.To, "to", "", "the last `date`, default now")
	o.StringVar(&o.Overlap, "overlap", "allow", "what becomes of a run while the message before is in the queue: `rule` allow, skip, replace")
	o.BoolVar(&o.PauseSchedules, "pause-schedules", false, "schedules that do not exist yet are paused")
}

// messages defines the options of the verbs about single messages and pauses.
func (o *Options) messages() {
	o.StringVar(&o.State, "state", "", "messages in these comma-separated `states`: ready, unacked, scheduled, deferred")
	o.StringVar(&o.Order, "order", "", "sort `order`: queue, number or deadline")
	o.StringVar(&o.MessageID, "message-id", "", "messages with this message-id `id`")
	o.String("correlation-id", "", "messages with this correlation-id `id`")
	o.String("headers", "", "messages with these headers, a `JSON` object")
	o.String("due-after", "", "messages due at or after this `time`")
	o.String("due-before", "", "messages due before this `time`")
	o.Bool("retries", false, "messages that wait for a delayed retry, instead of scheduled ones")
	o.IntVar(&o.Truncate, "truncate", -1, "show at most this number of `bytes` of each body")
	o.BoolVar(&o.exchange, "exchange", false, "the name refers to an exchange")
	o.BoolVar(&o.Delay, "delay", false, "the time is a delay from now")
	o.StringVar(&o.For, "for", "", "for this `time`, such as 90s or 2h30m")
	o.Float64Var(&o.Rate, "rate", 0, "at most this `number` of messages per second")
}

// tools defines options of RabbitMQ's tools for plugins and clusters, most of which have no effect here.
func (o *Options) tools() {
	for _, name := range []string{"v", "verbose"} {
		o.Bool(name, false, "no effect")
	}
	for _, name := range []string{"m", "minimal"} {
		o.Bool(name, false, "only names")
	}
	for _, name := range []string{"E", "enabled"} {
		o.Bool(name, false, "only explicitly enabled ones")
	}
	o.Bool("implicitly-enabled", false, "only enabled ones, which are all")
	// Of a cluster, which this is not, and of features that have no equivalent.
	for _, name := range []string{"online", "offline", "local", "all", "l", "longnames", "opt-in", "used"} {
		o.Bool(name, false, "no effect: one node leads all queues")
	}
	for _, name := range []string{"vhost-pattern", "queue-pattern", "queue-timeout"} {
		o.String(name, "", "no effect: one node leads all queues")
	}
}

// Take parses options from any position and returns the rest. Words after -- are not options.
func (o *Options) Take(args []string) (rest []string, err error) {
	for {
		if err := o.Parse(args); err != nil {
			return nil, err
		}
		left := o.Args()
		if parsed := len(args) - len(left); parsed > 0 && args[parsed-1] == "--" {
			return append(rest, left...), nil
		}
		if len(left) == 0 {
			return rest, nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}

// Given reports whether an option was given.
func (o *Options) Given(name string) (is bool) {
	o.Visit(func(f *flag.Flag) { is = is || f.Name == name })
	return is
}

// Known returns the names of the options of a verb, or of all verbs for nil.
func (o *Options) Known(v *Row) (names []string) {
	o.VisitAll(func(f *flag.Flag) {
		if v == nil || slices.Contains(everywhere, f.Name) || slices.Contains(strings.Fields(v.Options), f.Name) {
			names = append(names, f.Name)
		}
	})
	return names
}

// Foreign returns the given options that the verb does not have.
func (o *Options) Foreign(v *Row) (names []string) {
	o.Visit(func(f *flag.Flag) {
		if !slices.Contains(everywhere, f.Name) && !slices.Contains(strings.Fields(v.Options), f.Name) {
			names = append(names, "--"+f.Name+" : "+f.Value.String())
		}
	})
	return names
}
