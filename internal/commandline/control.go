package commandline

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"candlemark/internal/httpapi/client"
)

// Exit codes, as rabbitmqctl uses them (POL-18).
const (
	ExitUsage       = 64 // the command line is wrong
	ExitData        = 65 // it names something that does not exist
	ExitNoUser      = 67 // it names a user that does not exist
	ExitUnavailable = 69 // the broker refuses, or is not there
	ExitSoftware    = 70 // what was asked for cannot be done
	ExitTempFail    = 75 // the broker did not answer in time
)

// defaultURL is where verbs connect when nothing else is said.
const defaultURL = "http://guest:guest@127.0.0.1:15672"

// verb is one of rabbitmqctl's.
type verb struct {
	arguments []string // their names
	optional  []string // that may follow
	more      string   // what any number of may follow, "" for nothing
	columns   []string // that may be named behind the arguments, nil for none
	options   []string // besides those of every verb
	// check says what is wrong with the arguments, if their number is right, and
	// the exit code for it; nil for no more checks.
	check  func(arguments []string) (wrong string, code int)
	banner func(c *call) string
	run    func(ctx context.Context, broker *client.Client, c *call) error
}

// call is one verb with what was given to it.
type call struct {
	*options         // as given
	broker    string // its address
	arguments []string
	vhost     string
	priority  int
	applyTo   string
	json      bool // formatter
	headers   bool // of tables
	in        io.Reader
	out       io.Writer
}

// options hold what stands on a command line besides arguments.
type options struct {
	*flag.FlagSet
	vhost, applyTo, url, formatter string
	priority, timeout, limit       int
	quiet, silent, noHeaders       bool
	ifEmpty, ifUnused, global      bool
	userOptions
	messageOptions
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
	o.objectOptions()
	o.userOptions.define(o.FlagSet)
	o.messageOptions.define(o.FlagSet)
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
func (o *options) foreign(v verb) (names []string) {
	o.Visit(func(f *flag.Flag) {
		if !slices.Contains(everywhere, f.Name) && !slices.Contains(v.options, f.Name) {
			names = append(names, "--"+f.Name+" : "+f.Value.String())
		}
	})
	return names
}

// Program is a command line with the verbs of rabbitmqctl.
type Program struct {
	// Own are lines of usage about what is no verb.
	Own            string
	Getenv         func(string) string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Run carries out the verb that args name and returns the exit code (POL-18).
func (p *Program) Run(args []string) int {
	stdout, stderr := p.Stdout, p.Stderr
	o := newOptions(p.Getenv)
	rest, err := o.parse(args)
	var name string
	if len(rest) > 0 {
		name, rest = rest[0], rest[1:]
	}
	v, known := verbs[name]
	switch {
	case errors.Is(err, flag.ErrHelp):
		p.Usage(stdout)
		return 0
	case err == nil && !known:
		fmt.Fprintf(stderr, "\nCommand '%s' not found. \n", name)
		p.Usage(stderr)
		return ExitUsage
	}
	text, code := objection(o, v, rest, err), ExitUsage
	if text == "" && v.check != nil {
		text, code = v.check(rest)
	}
	if text != "" {
		fmt.Fprintf(stderr, "Error (argument validation): %s\nArguments given:\n\t%s\n", text, strings.Join(args, " "))
		if known {
			fmt.Fprintf(stderr, "\nUsage\n\n%s\n", usage(name, v))
		}
		return code
	}
	broker, err := client.New(o.url)
	if err != nil {
		fmt.Fprintf(stderr, "Error:\n%s\n", err)
		return ExitUsage
	}
	defer broker.Close()
	c := &call{
		options: o, broker: broker.Address(), arguments: rest, vhost: o.vhost, priority: o.priority, applyTo: o.applyTo,
		json: o.formatter == "json", headers: !o.noHeaders && !o.silent, in: p.Stdin, out: stdout,
	}
	if !o.quiet && !o.silent && !c.json {
		fmt.Fprintln(stdout, v.banner(c))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(o.timeout)*time.Second)
	defer cancel()
	return report(stderr, c, broker, v.run(ctx, broker, c))
}

// objection says what is wrong with a command line, "" for nothing.
func objection(o *options, v verb, arguments []string, err error) string {
	foreign := o.foreign(v)
	switch {
	case err != nil:
		return "Invalid options for this command:\n" + err.Error()
	case len(foreign) > 0:
		return "Invalid options for this command:\n" + strings.Join(foreign, "\n")
	case o.formatter != "json" && o.formatter != "table":
		return "Bad argument. the formatter is json or table"
	case o.timeout <= 0:
		return "Bad argument. the timeout is a number of seconds, 1 or more"
	case len(arguments) < len(v.arguments):
		return "not enough arguments."
	case v.columns != nil:
		return unknownColumns(v.columns, arguments[len(v.arguments):])
	case v.more == "" && len(arguments) > len(v.arguments)+len(v.optional):
		return "too many arguments."
	}
	return ""
}

// report tells why a verb failed and returns the exit code (POL-18).
func report(stderr io.Writer, c *call, broker *client.Client, err error) int {
	var refused *client.Error
	var ended *exit
	var failed failedCheck
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended):
		fmt.Fprintf(stderr, "Error:\n%s\n", ended)
		return ended.code
	case errors.As(err, &failed):
		if failed != "" {
			fmt.Fprintln(stderr, failed)
		}
		return ExitUnavailable
	case errors.As(err, &refused) && refused.Status == http.StatusNotFound:
		fmt.Fprintf(stderr, "Virtual host '%s' does not exist\n", c.vhost)
		return ExitData
	case errors.As(err, &refused) && refused.Status == http.StatusUnauthorized:
		fmt.Fprintf(stderr, "Error:\nAccess refused by %s: %s\n", broker.Address(), refused)
	case errors.As(err, &refused):
		fmt.Fprintf(stderr, "Error:\n%s\n", refused)
	case errors.Is(err, context.DeadlineExceeded):
		fmt.Fprintf(stderr, "Error: the broker at %s did not answer in time\n", broker.Address())
		return ExitTempFail
	default:
		fmt.Fprintf(stderr, "Error: unable to perform an operation on the broker at %s: %s\n", broker.Address(), err)
	}
	return ExitUnavailable
}

// exit is a failure with what rabbitmqctl says about it, and its exit code.
type exit struct {
	code int
	text string
}

// Error implements error.
func (e *exit) Error() string { return e.text }

// complaint is about what the broker has, or has not.
func complaint(text string) error { return &exit{ExitUnavailable, text} }

// misuse is a complaint for which rabbitmqctl blames the command line.
func misuse(text string) error { return &exit{ExitUsage, text} }

// failedCheck is the finding of a check that failed, without a title.
type failedCheck string

// Error implements error.
func (v failedCheck) Error() string { return string(v) }
