package commandline

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"candlemark/internal/commandline/verb"
	"candlemark/internal/suggest"
)

// Help prints the help of the first verb among args, or of all if there is none, and returns the exit code.
func (p *Program) Help(args []string) int {
	i := slices.IndexFunc(args, func(a string) bool { return verbNamed(a) != nil })
	words := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
	switch {
	case i >= 0:
		p.explain(verbNamed(args[i]))
	case len(words) > 0:
		return p.unknown(words[0])
	default:
		p.Usage(p.Stdout)
	}
	return 0
}

// unknown reports an unknown verb, and suggests a similar one.
func (p *Program) unknown(name string) int {
	fmt.Fprintf(p.Stderr, "\nCommand '%s' not found. \n", name)
	names := make([]string, len(verbs))
	for i := range verbs {
		names[i] = verbs[i].Name
	}
	if meant := suggest.Closest(name, names); meant != "" {
		fmt.Fprintf(p.Stderr, "Did you mean '%s'? \n", meant)
		return verb.ExitUsage
	}
	p.Usage(p.Stderr)
	return verb.ExitUsage
}

// explain writes all about a verb.
func (p *Program) explain(v *verb.Row) {
	fmt.Fprintf(p.Stdout, "Usage\n\n%s\n\n%s.\n", v.Usage(), v.About)
	if v.Options != "" {
		fmt.Fprint(p.Stdout, "\nOptions\n\n")
		known := verb.NewOptions(func(string) string { return "" })
		for _, name := range strings.Fields(v.Options) {
			kind, about := flag.UnquoteUsage(known.Lookup(name))
			dashes := "--"
			if len(name) == 1 {
				dashes = "-"
			}
			fmt.Fprintf(p.Stdout, "%-24s%s\n", strings.TrimSpace(dashes+name+" "+bracketed(kind)), about)
		}
	}
	if v.Columns != "" {
		fmt.Fprintf(p.Stdout, "\nColumns (default: %s)\n\n", strings.Join(strings.Fields(v.Defaults), ", "))
		for group := range slices.Chunk(strings.Fields(v.Columns), 6) {
			fmt.Fprintln(p.Stdout, strings.Join(group, " "))
		}
	}
	fmt.Fprint(p.Stdout, "\n"+everyVerb)
}

func bracketed(kind string) string {
	if kind == "" {
		return ""
	}
	return "<" + kind + ">"
}
