package commandline

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// usage is the command line of one verb.
func usage(name string, v verb) string {
	text := "candlemark " + name + " [-p <vhost>]"
	for _, option := range v.options {
		if f, ok := newOptions(func(string) string { return "" }).Lookup(option).Value.(interface{ IsBoolFlag() bool }); ok && f.IsBoolFlag() {
			if len(option) > 1 {
				text += " [--" + option + "]"
			}
			continue
		}
		text += " [--" + option + " <" + option + ">]"
	}
	for _, argument := range v.arguments {
		text += " <" + argument + ">"
	}
	for _, argument := range v.optional {
		text += " [<" + argument + ">]"
	}
	if v.more != "" {
		text += " <" + v.more + "> [...]"
	}
	if v.columns != nil {
		text += " [<column> ...]"
	}
	return text
}

// Usage writes the lines of usage of everything.
func (p *Program) Usage(out io.Writer) {
	fmt.Fprint(out, "Usage\n\n"+p.Own)
	for _, name := range slices.Sorted(maps.Keys(verbs)) {
		fmt.Fprintln(out, usage(name, verbs[name]))
	}
	fmt.Fprintf(out, "\nOptions of all verbs that ask a broker\n\n"+
		"--url <url>             its HTTP API; $CANDLEMARK_HTTP_URL, else %s\n"+
		"-p, --vhost <vhost>     the virtual host, / if none is named\n"+
		"--formatter json|table  the form of lists\n"+
		"-q, --quiet             no title\n"+
		"-s, --silent            no title and no table header\n"+
		"-t, --timeout <s>       how long to wait, 60\n", defaultURL)
}
