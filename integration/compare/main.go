package main

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"
)

func main() { os.Exit(run(os.Args[1:])) }

// run returns the exit code: 0 when all differences have a reason, 1 when one has not, 64 for wrong flags.
func run(args []string) int {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	a := flags.String("a", "amqp://127.0.0.1:5672", "`address` of the broker to follow")
	b := flags.String("b", "amqp://127.0.0.1:5673", "`address` of the broker to judge")
	only := flags.String("run", "", "play only the scripts whose id matches this `expression`")
	verbose := flags.Bool("v", false, "show whole transcripts, or whole scripts with -list")
	list := flags.Bool("list", false, "list the scripts and play none")
	doc := flags.String("doc", "", "write the explained differences to this `file` and play none")
	quiet := flags.Duration("quiet", 120*time.Millisecond, "silence that counts as the end of an answer")
	workers := flags.Int("workers", 8, "scripts played at a time")
	random := flags.Int("random", 0, "play so `many` random scripts instead")
	seed := flags.Uint64("seed", 1, "of the random scripts")
	tries := flags.Int("tries", 3, "plays of a script before a difference counts")
	if err := flags.Parse(args); err != nil {
		return 64
	}
	all := scripts()
	if *random > 0 {
		all = randomScripts(*random, *seed)
	}
	chosen, err := choose(all, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		return 64
	}
	switch {
	case *list:
		for _, sc := range chosen {
			fmt.Println(sc.id)
			if *verbose {
				printTexts(sc.steps)
			}
		}
		return 0
	case *doc != "":
		if err := os.WriteFile(*doc, []byte(compatibility()), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "compare:", err)
			return 1
		}
		return 0
	}
	n := &bench{
		a: hostPort(*a), b: hostPort(*b), quiet: *quiet, patient: 5 * time.Second,
		tries: *tries, workers: *workers, epoch: time.Now().Unix(),
	}
	verdicts := n.run(chosen)
	open := report(os.Stdout, verdicts, *verbose)
	for _, id := range stale(verdicts) {
		fmt.Printf("no difference any more: %s\n", id)
	}
	if open {
		return 1
	}
	return 0
}

// printTexts prints the client's side of a script, in the order of all its channels.
func printTexts(steps []step) {
	for _, st := range steps {
		if printTexts(st.sub); st.says != "" {
			fmt.Printf("    %d/%d %s\n", st.conn, st.ch, st.says)
		}
	}
}

// choose returns the scripts whose id matches.
func choose(all []script, expression string) ([]script, error) {
	match, err := regexp.Compile(expression)
	if err != nil {
		return nil, err
	}
	var chosen []script
	for _, sc := range all {
		if match.MatchString(sc.id) {
			chosen = append(chosen, sc)
		}
	}
	return chosen, nil
}

// hostPort takes the address out of an AMQP URI; a bare host:port will do, too.
func hostPort(address string) string {
	if !strings.Contains(address, "://") {
		return address
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return address
	}
	if u.Port() == "" {
		return u.Hostname() + ":5672"
	}
	return u.Host
}
