package main

import (
	"fmt"
	"io"
	"os"
)

// own are the verbs that have no counterpart in rabbitmqctl; they get what
// stands behind them and return the exit code.
var own = map[string]func(args []string) int{
	"serve": serve,
	"demo":  demo,
}

// verbs are those of rabbitmqctl.
var verbs = map[string]verb{
	"set_policy":             setPolicyVerb(false),
	"clear_policy":           clearPolicyVerb(false),
	"list_policies":          listPoliciesVerb(false),
	"set_operator_policy":    setPolicyVerb(true),
	"clear_operator_policy":  clearPolicyVerb(true),
	"list_operator_policies": listPoliciesVerb(true),
}

func main() { os.Exit(run(os.Args[1:], os.Getenv, os.Stdout, os.Stderr)) }

// run is the whole command line; it returns the exit code.
func run(args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		printUsage(stderr)
		return exitUsage
	}
	if verb := own[args[0]]; verb != nil {
		return verb(args[1:])
	}
	switch args[0] {
	case "help", "-h", "--help":
		printUsage(stdout)
		return 0
	case "version", "--version":
		fmt.Fprintln(stdout, version)
		return 0
	}
	return control(args, getenv, stdout, stderr)
}
