package rabbitmqadmin

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"time"

	"candlemark/internal/admin/httpapi/client"
)

// Program is rabbitmqadmin.
type Program struct {
	Version        string
	Getenv         func(string) string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// usage is a complaint about the command line, failure one about anything else.
type (
	usage   string
	failure string
)

// Error implements error.
func (u usage) Error() string {
	return "\nERROR: " + string(u) + "\n\nrabbitmqadmin --help for help\n"
}

// Error implements error.
func (f failure) Error() string { return "*** " + string(f) + "\n" }

// session is one command with what it needs.
type session struct {
	*Program
	settings
	broker *client.Client
}

// Run carries out what args say and returns the exit code: 0, or 1 with the reason on the error output.
func (p *Program) Run(args []string) int {
	err := p.run(args)
	if err != nil {
		fmt.Fprintln(p.Stderr, err)
		return 1
	}
	return 0
}

func (p *Program) run(args []string) error {
	s, words, err := parse(args)
	if err != nil {
		return err
	}
	switch {
	case s.is("help"):
		return p.help(nil)
	case s.is("version"):
		fmt.Fprintln(p.Stdout, "rabbitmqadmin", p.Version)
		return nil
	case s.is("bash_completion"):
		p.completion()
		return nil
	case len(words) == 0:
		return usage("Action not specified")
	case words[0] == "help":
		return p.help(words[1:])
	}
	action := actions[words[0]]
	switch {
	case action == nil && len(words) > 1 && actions[words[1]] != nil: // as with the rabbitmqadmin of RabbitMQ 4.1
		return usage("Action " + words[0] + " not understood; did you mean '" + words[1] + " " + words[0] + "'?")
	case action == nil:
		return usage("Action " + words[0] + " not understood")
	}
	warning, err := s.complete(p.Getenv)
	if err != nil {
		return err
	}
	if warning != "" {
		fmt.Fprintln(p.Stderr, warning)
	}
	seconds, err := strconv.Atoi(s["request_timeout"])
	if err != nil || seconds <= 0 {
		return usage("the request timeout must be a number of seconds, 1 or more")
	}
	if forms[s["format"]] == nil && s["format"] != rawJSON && s["format"] != prettyJSON {
		return usage("Format " + s["format"] + " not recognised")
	}
	broker, err := s.connect()
	if err != nil {
		return err
	}
	defer broker.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(seconds)*time.Second)
	defer cancel()
	return action(&session{p, s, broker}, ctx, words[1:])
}

// connect makes a client; nothing is sent yet.
func (s settings) connect() (*client.Client, error) {
	address := url.URL{Scheme: "http", Host: net.JoinHostPort(s["hostname"], s["port"]), User: url.UserPassword(s["username"], s["password"])}
	if s.is("ssl") {
		address.Scheme = "https"
	}
	broker, err := client.New(address.String())
	if err != nil {
		return nil, usage(err.Error())
	}
	secure, err := s.secure()
	if err != nil {
		return nil, failure(err.Error())
	}
	broker.Reach(s["path_prefix"], secure)
	return broker, nil
}
