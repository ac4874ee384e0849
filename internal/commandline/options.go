package commandline

import (
	"cmp"
	"flag"
	"io"
	"slices"
	"strings"
)

// options hold what stands on a command line besides arguments.
type options struct {
	*flag.FlagSet
	vhost, applyTo, url, formatter string
	priority, timeout, limit       int
	quiet, silent, noHeaders       bool
	ifEmpty, ifUnused, global      bool
	// Of the verbs about users and virtual hosts.
	preHashed                       bool
	description, tags, defaultQueue string
	user                            string
	// Of the verbs about single messages.
	state, messageID string
	truncate         int
	exchange, delay  bool
}

// everywhere are the options of every verb.
var everywhere = []string{"p", "vhost", "q", "quiet", "s", "silent", "t", "timeout", "formatter", "url", "n", "node", "l", "longnames"}

func newOptions(getenv func(string) string) *options {
	o := &options{FlagSet: flag.NewFlagSet("candlemark", flag.ContinueOnError)}
	o.SetOutput(io.Discard)
	o.Usage = func() {}
	for _, name := range []string{"p", "vhost"} {
		o.StringVar(&o.vhost, name, "/", "")
	}
	for _, name := range []string{"q", "quiet"} {
		o.BoolVar(&o.quiet, name, false, "")
	}
	for _, name := range []string{"s", "silent"} {
		o.BoolVar(&o.silent, name, false, "")
	}
	for _, name := range []string{"t", "timeout"} {
		o.IntVar(&o.timeout, name, 60, "")
	}
	o.StringVar(&o.formatter, "formatter", "table", "")
	o.StringVar(&o.url, "url", cmp.Or(getenv("CANDLEMARK_HTTP_URL"), defaultURL), "")
	o.IntVar(&o.priority, "priority", 0, "")
	o.StringVar(&o.applyTo, "apply-to", "all", "")
	o.BoolVar(&o.noHeaders, "no-table-headers", false, "")
	for _, name := range []string{"e", "if-empty"} {
		o.BoolVar(&o.ifEmpty, name, false, "")
	}
	for _, name := range []string{"u", "if-unused"} {
		o.BoolVar(&o.ifUnused, name, false, "")
	}
	o.BoolVar(&o.global, "global", false, "")
	o.IntVar(&o.limit, "limit", 0, "")
	o.BoolVar(&o.preHashed, "pre-hashed-password", false, "")
	o.StringVar(&o.description, "description", "", "")
	o.StringVar(&o.tags, "tags", "", "")
	o.StringVar(&o.user, "user", "guest", "")
	o.StringVar(&o.defaultQueue, "default-queue-type", "", "")
	o.StringVar(&o.state, "state", "", "")
	o.StringVar(&o.messageID, "message-id", "", "")
	o.IntVar(&o.truncate, "truncate", -1, "")
	o.BoolVar(&o.exchange, "exchange", false, "")
	o.BoolVar(&o.delay, "delay", false, "")
	// Of a cluster, which this is not.
	for _, name := range []string{"online", "offline", "local", "l", "longnames"} {
		o.Bool(name, false, "")
	}
	for _, name := range []string{"n", "node"} {
		o.String(name, "", "")
	}
	return o
}

// parse takes options from wherever they stand and returns the rest. What
// stands behind -- is no option.
func (o *options) parse(args []string) (rest []string, err error) {
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

// foreign returns the options given that are none of the verb's.
func (o *options) foreign(v *verb) (names []string) {
	o.Visit(func(f *flag.Flag) {
		if !slices.Contains(everywhere, f.Name) && !slices.Contains(strings.Fields(v.options), f.Name) {
			names = append(names, "--"+f.Name+" : "+f.Value.String())
		}
	})
	return names
}
