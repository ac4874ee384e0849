package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// bench plays scripts on two brokers.
type bench struct {
	a, b    string // host:port
	quiet   time.Duration
	patient time.Duration
	tries   int
	workers int
	epoch   int64 // makes tokens new for every run
	plays   atomic.Int64
}

// verdict is how one script went.
type verdict struct {
	script     script
	difference *difference // nil: equal
	first      *difference // of the first play, if another followed
	plays      int
	general    []*rule // rules that were needed
	explained  *explanation
	a, b       *transcript
}

// reasons returns the explanations of a difference; empty if it is unexplained.
func (v *verdict) reasons() string {
	var all []string
	for _, r := range v.general {
		all = append(all, r.reason)
	}
	switch {
	case v.explained != nil:
		all = append(all, v.explained.reason)
	case differ(v.a, v.b) != nil:
		return ""
	}
	return strings.Join(all, "; ")
}

// run plays all scripts, several at a time, and returns the verdicts in their order.
func (n *bench) run(all []script) []verdict {
	verdicts := make([]verdict, len(all))
	next := make(chan int)
	var working sync.WaitGroup
	for range n.workers {
		working.Go(func() {
			for i := range next {
				verdicts[i] = n.judge(all[i])
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	working.Wait()
	return verdicts
}

// judge plays a script on both sides at once, again with more patience while they differ.
func (n *bench) judge(sc script) verdict {
	v := verdict{script: sc}
	quiet := n.quiet
	for range n.tries {
		v.plays++
		token := n.token()
		var both sync.WaitGroup
		both.Go(func() { v.a = play(sc, n.a, token, quiet, n.patient) })
		both.Go(func() { v.b = play(sc, n.b, token, quiet, n.patient) })
		both.Wait()
		if v.difference = differ(v.a, v.b); v.difference == nil {
			return v
		}
		if v.first == nil {
			v.first = v.difference
		}
		quiet *= 2
	}
	v.general = generally(v.a, v.b)
	if rest := differ(v.a, v.b); rest != nil {
		v.difference = rest
		v.explained = explain(sc.id, rest)
	}
	return v
}

// token stands for ~ in one play. All have the same length, so that reply texts are cut at the same place.
func (n *bench) token() string {
	id := strconv.FormatInt(n.epoch*100_000+n.plays.Add(1), 36)
	if len(id) < 9 {
		id = strings.Repeat("0", 9-len(id)) + id
	}
	return "z" + id[len(id)-9:]
}

// report prints the differences and reports whether any is unexplained.
func report(out io.Writer, verdicts []verdict, verbose bool) bool {
	var equal, explained, open int
	for _, v := range verdicts {
		switch {
		case v.difference == nil:
			equal++
			if v.plays > 1 {
				fmt.Fprintf(out, "unsteady   %s: equal at play %d\n%s\n", v.script.id, v.plays, strings.Join(v.first.shown, "\n"))
			}
			if verbose {
				fmt.Fprintf(out, "equal      %s\n%s", v.script.id, v.a)
			}
			continue
		case v.reasons() != "":
			explained++
			fmt.Fprintf(out, "explained  %s: %s\n", v.script.id, v.reasons())
			if !verbose {
				continue
			}
		default:
			open++
			fmt.Fprintf(out, "DIFFERENT  %s\n", v.script.id)
		}
		fmt.Fprintln(out, strings.Join(v.difference.shown, "\n"))
	}
	fmt.Fprintf(out, "%d scripts: %d equal, %d explained, %d different\n", len(verdicts), equal, explained, open)
	return open > 0
}

// stale names the scripts that have an explanation and need none.
func stale(verdicts []verdict) []string {
	equal := map[string]bool{}
	for _, v := range verdicts {
		equal[v.script.id] = differ(v.a, v.b) == nil
	}
	var names []string
	for _, e := range explanations {
		if equal[e.id] {
			names = append(names, e.id)
		}
	}
	return names
}
