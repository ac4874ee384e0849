package commandline

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"time"

	"candlemark/internal/admin/commandline/format"
	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/flaghelp"
	"candlemark/internal/admin/httpapi/client"
)

// Exit codes, as rabbitmqctl uses them (POL-18); package verb documents each.
const (
	ExitUsage       = verb.ExitUsage
	ExitData        = verb.ExitData
	ExitNoUser      = verb.ExitNoUser
	ExitUnavailable = verb.ExitUnavailable
	ExitSoftware    = verb.ExitSoftware
	ExitTempFail    = verb.ExitTempFail
)

// defaultURL is where verbs connect when nothing else is said.
const defaultURL = "http://guest:guest@127.0.0.1:15672"

// Program is a command line with the verbs of rabbitmqctl.
type Program struct {
	// Own are lines about other commands, which the help begins with: command and meaning; nil for RabbitMQ's tools.
	Own [][2]string
	// Plugins: the program is rabbitmq-plugins, with the commands of that tool only.
	Plugins        bool
	Getenv         func(string) string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Run carries out the verb that args name and returns the exit code (POL-18).
func (p *Program) Run(args []string) int {
	stdout, stderr := p.Stdout, p.Stderr
	o := verb.NewOptions(p.Getenv)
	rest, err := o.Take(args)
	var name string
	if len(rest) > 0 {
		name, rest = rest[0], rest[1:]
	}
	if name == "version" && p.Own == nil { // RabbitMQ's tools show their version, which equals the broker's
		name, o.Quiet = "server_version", true
	}
	v := named(p.rows(), name)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return p.Help(args)
	case err == nil && name == "":
		fmt.Fprintf(stderr, "No command given: %s lists all\n", p.helpCommand())
		return verb.ExitUsage
	case err == nil && v == nil:
		return p.unknown(name)
	}
	if err != nil { // the verb may stand after the wrong option
		v = p.first(args)
	}
	text, code := objection(o, v, rest, err), verb.ExitUsage
	if text == "" && v.Check != nil {
		text, code = v.Check(rest)
	}
	if text != "" {
		fmt.Fprintf(stderr, "Error (argument validation): %s\nArguments given:\n\t%s\n", text, strings.Join(args, " "))
		if v != nil {
			fmt.Fprintf(stderr, "\nUsage\n\n%s\n", v.Usage())
		}
		return code
	}
	broker, err := client.New(o.URL)
	if err != nil {
		fmt.Fprintf(stderr, "Error:\n%s\n", err)
		return verb.ExitUsage
	}
	defer broker.Close()
	c := verb.NewCall(v, o, broker.Address(), rest)
	c.In, c.Out, c.Err = p.Stdin, stdout, stderr
	if bare := v.Bare != nil && v.Bare(c); !bare && !o.Quiet && !o.Silent && !c.ForPrograms() {
		fmt.Fprintln(stdout, v.Title(c))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(o.Timeout)*time.Second)
	defer cancel()
	err = isNode(ctx, broker, o.Node)
	if err == nil {
		err = v.Run(ctx, broker, c)
	}
	return report(stderr, c, broker, err)
}

// isNode returns an error if the broker is not the node of that name, which may be without its host; "" is any.
func isNode(ctx context.Context, broker *client.Client, name string) error {
	if name == "" {
		return nil
	}
	overview, err := broker.Get(ctx, "overview")
	if err != nil {
		return err
	}
	is := verb.Cell(overview["node"])
	if short, _, _ := strings.Cut(is, "@"); name != is && name != short {
		return verb.Complaint("unable to perform an operation on node '" + name + "': the broker at " + broker.Address() + " is " + is)
	}
	return nil
}

// first returns the first verb among args, nil for none.
func (p *Program) first(args []string) *verb.Row {
	for _, a := range args {
		if v := named(p.rows(), a); v != nil {
			return v
		}
	}
	return nil
}

// objection returns the error text for a command line, "" if it is valid. v can be nil if err is not.
func objection(o *verb.Options, v *verb.Row, arguments []string, err error) string {
	if err != nil {
		return "Invalid options for this command:\n" + flaghelp.Reason(err, o.Known(v))
	}
	foreign := o.Foreign(v)
	switch {
	case len(foreign) > 0:
		return "Invalid options for this command:\n" + strings.Join(foreign, "\n")
	case format.Lists[o.Formatter] == nil:
		return "Bad argument. The formatter must be json, table, csv or pretty_table"
	case o.Timeout <= 0:
		return "Bad argument. The timeout must be a number of seconds, 1 or more"
	}
	return v.Objection(arguments)
}

// rows returns the verbs of the program.
func (p *Program) rows() []verb.Row {
	if p.Plugins {
		return pluginVerbs
	}
	return verbs
}

// hasVHost reports whether a virtual host exists, as far as the broker tells.
func hasVHost(broker *client.Client, name string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err := broker.Get(ctx, "vhosts", name)
	return err == nil
}

// report prints why a verb failed and returns the exit code (POL-18).
func report(stderr io.Writer, c *verb.Call, broker *client.Client, err error) int {
	var refused *client.Error
	var ended *verb.Exit
	var failed verb.FailedCheck
	var untrusted *tls.CertificateVerificationError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended):
		fmt.Fprintf(stderr, "Error:\n%s\n", ended)
		return ended.Code
	case errors.As(err, &failed):
		if failed != "" {
			fmt.Fprintln(stderr, failed)
		}
		return verb.ExitUnavailable
	case verb.IsMissing(err) && hasVHost(broker, c.VHost):
		fmt.Fprintf(stderr, "Error:\nNot found: %s\n", strings.Join(c.Arguments, " "))
		return verb.ExitData
	case verb.IsMissing(err):
		fmt.Fprintf(stderr, "Virtual host '%s' does not exist\n", c.VHost)
		return verb.ExitData
	case errors.As(err, &refused) && refused.Status == http.StatusUnauthorized:
		fmt.Fprintf(stderr, "Error:\nAccess refused by %s: %s\n", broker.Address(), refused)
	case errors.As(err, &refused) && strings.Contains(refused.Body, "HTTP request to an HTTPS server"):
		fmt.Fprintf(stderr, "Error: the HTTP API at %s uses TLS: its address begins with https://\n", broker.Address())
	case errors.As(err, &refused):
		fmt.Fprintf(stderr, "Error:\n%s\n", refused)
	case errors.Is(err, context.DeadlineExceeded):
		fmt.Fprintf(stderr, "Error: the broker at %s did not answer in time\n", broker.Address())
		return verb.ExitTempFail
	case errors.Is(err, syscall.ECONNREFUSED):
		fmt.Fprintf(stderr, "Error: no broker answers at %s. Is it running? --url names another address\n", broker.Address())
	case errors.As(err, &untrusted):
		fmt.Fprintf(stderr, "Error: the certificate of %s is not trusted: %s. SSL_CERT_FILE names a file with its CA certificate\n", broker.Address(), untrusted.Err)
	case strings.Contains(err.Error(), "malformed HTTP response"):
		fmt.Fprintf(stderr, "Error: %s is not the broker's HTTP API, whose port is 15672 by default. --url names another address\n", broker.Address())
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		fmt.Fprintf(stderr, "Error: the HTTP API at %s does not use TLS: its address begins with http://\n", broker.Address())
	default:
		fmt.Fprintf(stderr, "Error: unable to perform an operation on the broker at %s: %s\n", broker.Address(), err)
	}
	return verb.ExitUnavailable
}
