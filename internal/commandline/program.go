package commandline

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"candlemark/internal/commandline/format"
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
	v := verbNamed(name)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return p.Help(args)
	case err == nil && v == nil:
		return p.unknown(name)
	}
	text, code := objection(o, v, rest, err), ExitUsage
	if text == "" && v.check != nil {
		text, code = v.check(rest)
	}
	if text != "" {
		fmt.Fprintf(stderr, "Error (argument validation): %s\nArguments given:\n\t%s\n", text, strings.Join(args, " "))
		if v != nil {
			fmt.Fprintf(stderr, "\nUsage\n\n%s\n", v.usage())
		}
		return code
	}
	broker, err := client.New(o.url)
	if err != nil {
		fmt.Fprintf(stderr, "Error:\n%s\n", err)
		return ExitUsage
	}
	defer broker.Close()
	c := newCall(v, o, broker.Address(), rest)
	c.in, c.out = p.Stdin, stdout
	if bare := v.bare != nil && v.bare(c); !bare && !o.quiet && !o.silent && !c.json {
		fmt.Fprintln(stdout, v.title(c))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(o.timeout)*time.Second)
	defer cancel()
	err = isNode(ctx, broker, o.node)
	if err == nil {
		err = v.run(ctx, broker, c)
	}
	return report(stderr, c, broker, err)
}

// isNode is an error if the broker is not the node of that name, which may be without its host; "" is any.
func isNode(ctx context.Context, broker *client.Client, name string) error {
	if name == "" {
		return nil
	}
	overview, err := broker.Get(ctx, "overview")
	if err != nil {
		return err
	}
	is := cell(overview["node"])
	if short, _, _ := strings.Cut(is, "@"); name != is && name != short {
		return complaint("unable to perform an operation on node '" + name + "': the broker at " + broker.Address() + " is " + is)
	}
	return nil
}

// objection says what is wrong with a command line, "" for nothing; v is nil if err is not.
func objection(o *options, v *verb, arguments []string, err error) string {
	if err != nil {
		return "Invalid options for this command:\n" + err.Error()
	}
	foreign := o.foreign(v)
	switch {
	case len(foreign) > 0:
		return "Invalid options for this command:\n" + strings.Join(foreign, "\n")
	case format.Lists[o.formatter] == nil:
		return "Bad argument. the formatter is json, table, csv or pretty_table"
	case o.timeout <= 0:
		return "Bad argument. the timeout is a number of seconds, 1 or more"
	}
	return v.objection(arguments)
}

// Usage writes the lines of usage of everything.
func (p *Program) Usage(out io.Writer) {
	fmt.Fprint(out, "Usage\n\n"+p.Own)
	for i := range verbs {
		fmt.Fprintln(out, verbs[i].usage())
	}
	fmt.Fprint(out, "\n"+everyVerb)
}

// everyVerb tells about the options of all verbs.
const everyVerb = "Options of all verbs that ask a broker\n\n" +
	"--url <url>             its HTTP API; $CANDLEMARK_HTTP_URL, else " + defaultURL + "\n" +
	"-p, --vhost <vhost>     the virtual host, / if none is named\n" +
	"--formatter <form>      of lists: table, pretty_table, csv, json\n" +
	"-n, --node <node>       fails if the broker is another one\n" +
	"-q, --quiet             no title\n" +
	"-s, --silent            no title and no table header\n" +
	"-t, --timeout <s>       how long to wait, 60\n"

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
func complaint(text string) *exit { return &exit{ExitUnavailable, text} }

// misuse is a complaint for which rabbitmqctl blames the command line.
func misuse(text string) *exit { return &exit{ExitUsage, text} }

// failedCheck is the finding of a check that failed, without a title.
type failedCheck string

// Error implements error.
func (v failedCheck) Error() string { return string(v) }
