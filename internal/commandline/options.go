package commandline

import (
	"flag"
	"io"
	"slices"
	"strings"

	"candlemark/internal/httpapi/client"
)

// options hold what stands on a command line besides arguments.
type options struct {
	*flag.FlagSet
	vhost, applyTo, url, formatter string
	priority, timeout, limit       int
	quiet, silent, noHeaders       bool
	node                           string
	ifEmpty, ifUnused, global      bool
	// Of the verbs about users and virtual hosts.
	preHashed                       bool
	description, tags, defaultQueue string
	user                            string
	// Of the verbs about single messages.
	state, messageID string
	truncate         int
	exchange, delay  bool
	// Of the import of definitions.
	dryRun, strict bool
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
	o.StringVar(&o.url, "url", client.AddressFrom(getenv), "")
	o.IntVar(&o.priority, "priority", 0, "the policy with the highest `number` applies")
	o.StringVar(&o.applyTo, "apply-to", "all", "what the policy is for: a `kind` of all, queues, classic_queues, quorum_queues, streams, exchanges")
	o.BoolVar(&o.noHeaders, "no-table-headers", false, "no names of columns")
	for _, name := range []string{"e", "if-empty"} {
		o.BoolVar(&o.ifEmpty, name, false, "only if it holds no messages")
	}
	for _, name := range []string{"u", "if-unused"} {
		o.BoolVar(&o.ifUnused, name, false, "only if it has no consumers")
	}
	o.BoolVar(&o.global, "global", false, "of all virtual hosts")
	o.IntVar(&o.limit, "limit", 0, "at most this `number`")
	o.BoolVar(&o.preHashed, "pre-hashed-password", false, "the password is a hash, as hash_password makes it")
	o.StringVar(&o.description, "description", "", "a `text` about the virtual host")
	o.StringVar(&o.tags, "tags", "", "`tags` of the virtual host with commas between them")
	o.StringVar(&o.user, "user", "guest", "the limits of this `user`")
	o.StringVar(&o.defaultQueue, "default-queue-type", "", "the `type` of queues that are declared without one")
	o.StringVar(&o.state, "state", "", "messages in these `states`: ready, unacked, scheduled, with commas between them")
	o.StringVar(&o.messageID, "message-id", "", "messages with this `id` of their publisher's")
	o.IntVar(&o.truncate, "truncate", -1, "at most so many `bytes` of each body")
	o.BoolVar(&o.exchange, "exchange", false, "the name is that of an exchange")
	o.BoolVar(&o.delay, "delay", false, "the time is a delay from now")
	o.BoolVar(&o.dryRun, "dry-run", false, "only tell what would become of each item")
	o.BoolVar(&o.strict, "strict", false, "do nothing if an item would be refused")
	// Of a cluster, which this is not.
	for _, name := range []string{"online", "offline", "local", "l", "longnames"} {
		o.Bool(name, false, "has no effect: there is one node")
	}
	for _, name := range []string{"n", "node"} {
		o.StringVar(&o.node, name, "", "")
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

// given tells whether an option stands on the command line.
func (o *options) given(name string) (is bool) {
	o.Visit(func(f *flag.Flag) { is = is || f.Name == name })
	return is
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
