package verb

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Row is a row of the table of verbs of package commandline.
type Row struct {
	Name string
	// Tool is the program with the verb, candlemark if empty.
	Tool string
	// About says in a line what the verb does, in the third person and without a period.
	About string
	// Arguments as usage shows them: arguments in brackets may be omitted, of the last before [...] there may be any
	// number.
	Arguments string
	// Options besides everywhere, which every verb has; spaces separate them.
	Options string
	// Columns that may be named after the arguments of a list, and the default columns; "" for no choice.
	Columns, Defaults string
	// Check checks the arguments, if their number is right: wrong is the error text, code the exit code. nil: no
	// checks.
	Check func(arguments []string) (wrong string, code int)
	// Title returns the title that the verb prints first: mostly a fixed text.
	Title func(*Call) string
	// Bare reports whether the output is for programs, without a title; nil for no.
	Bare func(*Call) bool
	Run  Action
}

// argument finds the names in the arguments of a verb.
var argument = regexp.MustCompile(`(\[?)<([^>]+)>`)

// Parameters returns the names of the arguments, how many of them there must be, and whether there may be more.
func (v *Row) Parameters() (names []string, least int, more bool) {
	for _, m := range argument.FindAllStringSubmatch(v.Arguments, -1) {
		names = append(names, m[2])
		if m[1] == "" {
			least++
		}
	}
	switch {
	case strings.HasSuffix(v.Arguments, " ...]"): // the last one may be left out or repeated
		more = true
	case strings.HasSuffix(v.Arguments, "[...]"):
		more = true
		least--
	}
	return names, least, more
}

// Usage returns the command line of a verb.
func (v *Row) Usage() string {
	text := cmp.Or(v.Tool, "candlemark") + " " + v.Name
	known := NewOptions(func(string) string { return "" })
	for _, option := range strings.Fields(v.Options) {
		if option == "vhost" {
			text += " [-p <vhost>]"
			continue
		}
		if f, ok := known.Lookup(option).Value.(interface{ IsBoolFlag() bool }); ok && f.IsBoolFlag() {
			if len(option) > 1 {
				text += " [--" + option + "]"
			}
			continue
		}
		if len(option) > 1 {
			text += " [--" + option + " <" + option + ">]"
		}
	}
	if v.Arguments != "" {
		text += " " + v.Arguments
	}
	if v.Columns != "" {
		text += " [<column> ...]"
	}
	return text
}

// Objection checks the number of arguments and the names of columns; it returns the error text, "" for none.
func (v *Row) Objection(arguments []string) string {
	names, least, more := v.Parameters()
	switch {
	case len(arguments) < least:
		return "not enough arguments."
	case v.Columns != "":
		return UnknownColumns(strings.Fields(v.Columns), arguments[len(names):])
	case !more && len(arguments) > len(names):
		return "too many arguments."
	}
	return ""
}

// UnknownColumns lists the names outside columns, "" if there are none.
func UnknownColumns(columns, names []string) string {
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

// Call is one verb with what was given to it.
type Call struct {
	*Options                    // as given
	Broker    string            // its address
	Arguments []string          // columns that were named are not among them
	chosen    []string          // columns to be shown, of verbs that have some to choose from
	JSON      bool              // formatter
	Headers   bool              // of tables
	In        io.Reader         // of passwords
	Out, Err  io.Writer         // Err is for warnings
	values    *strings.Replacer // of {names} in texts and paths
}

// NewCall returns the call of a verb, without its input and output.
func NewCall(v *Row, o *Options, broker string, arguments []string) *Call {
	c := &Call{Options: o, Broker: broker, Arguments: arguments, JSON: o.Formatter == "json", Headers: !o.noHeaders && (!o.Silent || o.Formatter == "csv")}
	names, _, more := v.Parameters()
	if v.Columns != "" {
		c.Arguments, c.chosen = arguments[:len(names)], arguments[len(names):]
		if len(c.chosen) == 0 {
			c.chosen = strings.Fields(v.Defaults)
		}
	}
	var pairs []string
	for i, name := range names {
		value := ""
		if i < len(c.Arguments) {
			value = c.Arguments[i]
		}
		if more && i == len(names)-1 {
			value = strings.Join(c.Arguments[i:], ", ")
		}
		pairs = append(pairs, "{"+name+"}", value)
		if name == "vhost" {
			o.VHost = value
		}
	}
	pairs = append(pairs, "{vhost}", o.VHost, "{broker}", broker, "{user}", o.User,
		"{timeout}", strconv.Itoa(o.Timeout), "{priority}", strconv.Itoa(o.Priority))
	c.values = strings.NewReplacer(pairs...)
	return c
}

// ForPrograms reports whether the output has a form for programs, so that nothing but the list belongs to it.
func (c *Call) ForPrograms() bool { return c.JSON || c.Formatter == "csv" }

// Expand puts what was given in place of {names}: of arguments and of vhost, broker, user, timeout, priority.
func (c *Call) Expand(text string) string { return c.values.Replace(text) }

// Path returns a path of the API with what was given in place of {names}.
func (c *Call) Path(parts []string) []string {
	path := make([]string, len(parts))
	for i, part := range parts {
		path[i] = c.Expand(part)
	}
	return path
}

// Say writes a line of the result, which silence does not suppress.
func (c *Call) Say(format string, args ...any) { fmt.Fprintf(c.Out, format+"\n", args...) }

// Text returns a title with {names} in it.
func Text(template string) func(*Call) string {
	return func(c *Call) string { return c.Expand(template) }
}

// OneOrTwo returns a title for one argument, and one for more.
func OneOrTwo(one, more string) func(*Call) string {
	return func(c *Call) string {
		if len(c.Arguments) > 1 {
			return c.Expand(more)
		}
		return c.Expand(one)
	}
}

// Of returns the path of the queue that is the first argument, or of the exchange.
func (c *Call) Of(more ...string) []string {
	kind := "queues"
	if c.exchange {
		kind = "exchanges"
	}
	return append([]string{"x", kind, c.VHost, c.Arguments[0]}, more...)
}

// what returns the queue or exchange in words.
func (c *Call) what() string {
	if c.exchange {
		return fmt.Sprintf("exchange '%s' in vhost '%s'", c.Arguments[0], c.VHost)
	}
	return fmt.Sprintf("queue '%s' in vhost '%s'", c.Arguments[0], c.VHost)
}

// Titled returns a title about the queue or exchange.
func Titled(what string) func(*Call) string {
	return func(c *Call) string { return c.Expand(what) + " of " + c.what() + " ..." }
}

// Words returns the options and columns that may follow a verb.
func (v *Row) Words() (words []string) {
	for _, option := range append(strings.Fields(v.Options), "formatter", "help", "quiet", "silent", "timeout", "url") {
		if len(option) > 1 {
			words = append(words, "--"+option)
		}
	}
	return append(words, strings.Fields(v.Columns)...)
}
