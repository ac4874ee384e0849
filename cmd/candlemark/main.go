package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	_ "time/tzdata" // for schedules on machines without zones

	"candlemark/cmd/candlemark/offline"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/commandline"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/flaghelp"
	"candlemark/internal/admin/trial"

	"github.com/rs/zerolog"
)

// own are the verbs that have no counterpart in rabbitmqctl; they get the arguments after them and return the exit
// code.
var own = map[string]func(args []string) int{
	"serve": func(args []string) int {
		if n, rest, ok := trial.Cut(args); ok {
			return trial.Run(n, rest, serve)
		}
		return serve(args)
	},
	"demo":    demo,
	"journal": func(args []string) int { return onFolder().Journal(args) },
	"restore": func(args []string) int { return onFolder().Restore(context.Background(), args) },
	"config":  settings,

	"force_reset": func(args []string) int { return onFolder().ForceReset(args) },

	commandline.Plugins: func(args []string) int { return plugins(os.Getenv, os.Stdout, os.Stderr, args) },
}

// onFolder returns the tool for the data folder of a broker that is not running.
func onFolder() *offline.Tool {
	return &offline.Tool{Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr, Founders: foundersOf}
}

// foundersOf returns the users that serve would create there.
func foundersOf(dir string) (*auth.Users, error) {
	settings, err := config.Load(flaghelp.New("candlemark"), []string{"--data-dir", dir}, os.Environ())
	if err != nil {
		return nil, err
	}
	return usersFor(settings.Config, zerolog.Nop())
}

// plugins has the verbs of rabbitmq-plugins.
func plugins(getenv func(string) string, stdout, stderr io.Writer, args []string) int {
	p := program(getenv, stdout, stderr)
	p.Plugins = true
	return tool(p, args)
}

// tools are names of RabbitMQ tools that the program may be called by; then it has only their verbs.
var tools = []string{"rabbitmqctl", "rabbitmq-diagnostics", "rabbitmq-queues", "rabbitmq-upgrade"}

func main() { os.Exit(called(os.Args, os.Getenv, os.Stdout, os.Stderr)) }

// called is run, depending on the name that the program was called by.
func called(argv []string, getenv func(string) string, stdout, stderr io.Writer) int {
	switch name := strings.TrimSuffix(filepath.Base(argv[0]), ".exe"); {
	case name == commandline.Plugins:
		return plugins(getenv, stdout, stderr, argv[1:])
	case slices.Contains(tools, name):
		return tool(program(getenv, stdout, stderr), argv[1:])
	}
	return run(argv[1:], getenv, stdout, stderr)
}

// tool runs the command line of one of RabbitMQ's tools.
func tool(p *commandline.Program, args []string) int {
	p.Own = nil
	if code, is := onFolder().Member(args); is {
		return code
	}
	if len(args) == 0 || args[0] == "help" {
		return p.Help(args[min(1, len(args)):])
	}
	return p.Run(args)
}

// stdin is where verbs read passwords.
var stdin io.Reader = os.Stdin

// program has the verbs of rabbitmqctl.
func program(getenv func(string) string, stdout, stderr io.Writer) *commandline.Program {
	return &commandline.Program{
		Own: [][2]string{
			{"serve", "Runs the broker"},
			{"demo", "Starts a broker and shows what it does with time"},
			{"config check|show", "Checks the settings, or shows them with their sources"},
			{"journal check|dump|repair|adopt|drop", "Inspects and repairs the messages of a stopped broker"},
			{"forget_cluster_node --offline <node>", "Removes another node from the cluster of a stopped node"},
			{"force_reset", "Removes all data of a stopped node of a cluster"},
			{"restore <backup>", "Restores a backup to a new data folder, or checks it"},
			{commandline.Plugins, "Runs the commands of RabbitMQ's rabbitmq-plugins"},
			{"completion bash|zsh|fish", "Prints a completion script for a shell"},
			{"version", "Shows the version"},
		},
		Getenv: getenv, Stdin: stdin, Stdout: stdout, Stderr: stderr,
	}
}

// run runs the whole command line and returns the exit code.
func run(args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	p := program(getenv, stdout, stderr)
	if len(args) == 0 {
		fmt.Fprintln(stderr, "No command given: candlemark serve runs the broker, candlemark help lists all commands")
		return commandline.ExitUsage
	}
	if verb := own[args[0]]; verb != nil {
		return verb(args[1:])
	}
	if code, is := onFolder().Member(args); is {
		return code
	}
	switch args[0] {
	case "help", "-h", "--help":
		if len(args) > 1 && own[args[1]] != nil {
			return own[args[1]]([]string{"--help"})
		}
		return p.Help(args[1:])
	case "completion":
		if len(args) == 2 && commandline.Completion(stdout, args[1], slices.Concat(slices.Sorted(maps.Keys(own)), []string{"completion", "help", "version"})...) {
			return 0
		}
		fmt.Fprintln(stderr, "Usage\n\ncandlemark completion bash|zsh|fish")
		return commandline.ExitUsage
	case "version", "--version":
		fmt.Fprintln(stdout, version)
		return 0
	}
	return p.Run(args)
}
