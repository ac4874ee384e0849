package commandline

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// verb is a row of the table of verbs (verbs.go).
type verb struct {
	name string
	// about says in a line what the verb does, in the third person and without a period.
	about string
	// arguments as usage shows them: those in brackets may be left out, of the last before [...] there may be any number.
	arguments string
	// options besides those of every verb (everywhere), with a space between two.
	options string
	// columns that may be named behind the arguments of a list, and those shown if none is; "" for no choice.
	columns, defaults string
	// check says what is wrong with the arguments, if their number is right, and
	// the exit code for it; nil for no more checks.
	check func(arguments []string) (wrong string, code int)
	// title says what the verb is about to do: mostly a text.
	title func(*call) string
	// bare tells whether the output is for programs, without a title; nil for no.
	bare func(*call) bool
	run  action
}

// argument finds the names in the arguments of a verb.
var argument = regexp.MustCompile(`(\[?)<([^>]+)>`)

// parameters are the names of the arguments, how many of them there must be, and whether there may be more.
func (v *verb) parameters() (names []string, least int, more bool) {
	for _, m := range argument.FindAllStringSubmatch(v.arguments, -1) {
		names = append(names, m[2])
		if m[1] == "" {
			least++
		}
	}
	if more = strings.HasSuffix(v.arguments, "[...]"); more {
		least--
	}
	return names, least, more
}

// usage is the command line of a verb.
func (v *verb) usage() string {
	text := "candlemark " + v.name + " [-p <vhost>]"
	known := newOptions(func(string) string { return "" })
	for _, option := range strings.Fields(v.options) {
		if f, ok := known.Lookup(option).Value.(interface{ IsBoolFlag() bool }); ok && f.IsBoolFlag() {
			if len(option) > 1 {
				text += " [--" + option + "]"
			}
			continue
		}
		text += " [--" + option + " <" + option + ">]"
	}
	if v.arguments != "" {
		text += " " + v.arguments
	}
	if v.columns != "" {
		text += " [<column> ...]"
	}
	return text
}

// objection says what is wrong with the number of arguments or the names of columns, "" for nothing.
func (v *verb) objection(arguments []string) string {
	names, least, more := v.parameters()
	switch {
	case len(arguments) < least:
		return "not enough arguments."
	case v.columns != "":
		return unknownColumns(strings.Fields(v.columns), arguments[len(names):])
	case !more && len(arguments) > len(names):
		return "too many arguments."
	}
	return ""
}

// unknownColumns says which of the names are no columns, "" if all are.
func unknownColumns(columns, names []string) string {
	var unknown []string
	for _, name := range names {
		if !slices.Contains(columns, name) {
			unknown = append(unknown, name)
		}
	}
	if unknown == nil {
		return ""
	}
	return "Info key(s) " + strings.Join(unknown, ",") + " are not supported"
}

// call is one verb with what was given to it.
type call struct {
	*options            // as given
	broker    string    // its address
	arguments []string  // columns that were named are not among them
	chosen    []string  // columns to be shown, of verbs that have some to choose from
	json      bool      // formatter
	headers   bool      // of tables
	in        io.Reader // of passwords
	out       io.Writer
	values    *strings.Replacer // of {names} in texts and paths
}

// newCall gives a verb what it needs, but for where it reads and writes.
func newCall(v *verb, o *options, broker string, arguments []string) *call {
	c := &call{options: o, broker: broker, arguments: arguments, json: o.formatter == "json", headers: !o.noHeaders && !o.silent}
	names, _, more := v.parameters()
	if v.columns != "" {
		c.arguments, c.chosen = arguments[:len(names)], arguments[len(names):]
		if len(c.chosen) == 0 {
			c.chosen = strings.Fields(v.defaults)
		}
	}
	var pairs []string
	for i, name := range names {
		value := ""
		if i < len(c.arguments) {
			value = c.arguments[i]
		}
		if more && i == len(names)-1 {
			value = strings.Join(c.arguments[i:], ", ")
		}
		pairs = append(pairs, "{"+name+"}", value)
		if name == "vhost" {
			o.vhost = value
		}
	}
	pairs = append(pairs, "{vhost}", o.vhost, "{broker}", broker, "{user}", o.user,
		"{timeout}", strconv.Itoa(o.timeout), "{priority}", strconv.Itoa(o.priority))
	c.values = strings.NewReplacer(pairs...)
	return c
}

// expand puts what was given in place of {names}: of arguments and of vhost, broker, user, timeout, priority.
func (c *call) expand(text string) string { return c.values.Replace(text) }

func (c *call) path(parts []string) []string {
	path := make([]string, len(parts))
	for i, part := range parts {
		path[i] = c.expand(part)
	}
	return path
}

// say writes a line of the result, which silence does not suppress.
func (c *call) say(format string, args ...any) { fmt.Fprintf(c.out, format+"\n", args...) }

// text is a title with {names} in it.
func text(template string) func(*call) string {
	return func(c *call) string { return c.expand(template) }
}

// oneOrTwo is a title for one argument, and one for more.
func oneOrTwo(one, more string) func(*call) string {
	return func(c *call) string {
		if len(c.arguments) > 1 {
			return c.expand(more)
		}
		return c.expand(one)
	}
}
