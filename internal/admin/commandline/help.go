package commandline

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/text/suggest"
)

// Help prints the help of the first verb among args, or the list of all if there is none, and returns the exit code.
func (p *Program) Help(args []string) int {
	if v := p.first(args); v != nil {
		p.explain(v)
		return 0
	}
	words := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
	if len(words) > 0 {
		return p.unknown(words[0])
	}
	p.list()
	return 0
}

// list writes a line for each command, in groups.
func (p *Program) list() {
	out := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	defer func() { _ = out.Flush() }()
	if p.Plugins {
		fmt.Fprint(out, "Usage\n\n"+Plugins+" <command> [<options>]\n\nCommands\n\n")
		lines(out, pluginVerbs)
		return
	}
	fmt.Fprint(out, "Usage\n\ncandlemark <command> [<options>]\n")
	if len(p.Own) > 0 {
		fmt.Fprint(out, "\nBroker\n\n")
		for _, line := range p.Own {
			fmt.Fprintf(out, "  %s\t%s\n", line[0], line[1])
		}
	}
	for _, g := range groups {
		fmt.Fprintf(out, "\n%s\n\n", g.title)
		rows := slices.Clone(g.verbs)
		slices.SortFunc(rows, func(a, b verb.Row) int { return strings.Compare(a.Name, b.Name) })
		lines(out, rows)
	}
	fmt.Fprint(out, "\ncandlemark help <command> shows arguments and options.\n")
}

func lines(out io.Writer, rows []verb.Row) {
	for i := range rows {
		fmt.Fprintf(out, "  %s\t%s\n", rows[i].Name, rows[i].About)
	}
}

// helpCommand is the command line for the list of commands.
func (p *Program) helpCommand() string {
	if p.Plugins {
		return Plugins + " --help"
	}
	return "candlemark help"
}

// unknown reports an unknown verb, with a similar one, or what to use instead.
func (p *Program) unknown(name string) int {
	fmt.Fprintf(p.Stderr, "\nCommand '%s' not found. \n", name)
	names := make([]string, len(p.rows()))
	for i, v := range p.rows() {
		names[i] = v.Name
	}
	for _, line := range p.Own {
		verb, _, _ := strings.Cut(line[0], " ")
		names = append(names, verb)
	}
	if why, known := instead[name]; known {
		fmt.Fprintf(p.Stderr, "In Candlemark: %s\n", why)
	} else if meant := suggest.Closest(name, names); meant != "" {
		fmt.Fprintf(p.Stderr, "Did you mean '%s'? \n", meant)
	} else {
		fmt.Fprintf(p.Stderr, "%s lists all commands\n", p.helpCommand())
	}
	return verb.ExitUsage
}

// everyVerb is the help of the options of all verbs.
const everyVerb = "Options of all commands for a running broker\n\n" +
	"--url <url>             the broker's HTTP API; default $CANDLEMARK_HTTP_URL or " + defaultURL + "\n" +
	"--formatter <form>      format of lists: table, pretty_table, csv, json\n" +
	"-n, --node <node>       fail if the broker has another node name\n" +
	"-q, --quiet             no title\n" +
	"-s, --silent            no title and no table header\n" +
	"-t, --timeout <s>       timeout in seconds, default 60\n"

// explain writes all about a verb.
func (p *Program) explain(v *verb.Row) {
	fmt.Fprintf(p.Stdout, "Usage\n\n%s\n\n%s.\n", v.Usage(), v.About)
	if v.Options != "" {
		fmt.Fprint(p.Stdout, "\nOptions\n\n")
		known := verb.NewOptions(func(string) string { return "" })
		for _, name := range strings.Fields(v.Options) {
			kind, about := flag.UnquoteUsage(known.Lookup(name))
			dashes := "--"
			switch {
			case name == "vhost":
				dashes = "-p, --"
			case len(name) == 1:
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
