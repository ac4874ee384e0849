package config

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"candlemark/internal/text/suggest"
)

// prefix of the environment variables.
const prefix = "CANDLEMARK_"

// notSettings are variables that have the prefix but are no settings: the address for verbs, and settings of tests. A
// name that ends in an underscore stands for all names that begin with it.
var notSettings = []string{"CANDLEMARK_HTTP_URL", "CANDLEMARK_TEST_", "CANDLEMARK_REQUIRE_CLIENTS", "CANDLEMARK_REWRITE", "CANDLEMARK_SMALL_DISK"}

// Settings holds everything that an operator has set.
type Settings struct {
	Config
	// Files were read, in this order.
	Files []string
	// Warnings are about settings in a file without effect here, each with file and line.
	Warnings []string
	// Values are all settings, in the order of the table.
	Values []Value
}

// Value is the effective value of one setting.
type Value struct {
	Name string // of the flag
	Text string // as it would be given to the flag
	// From is where it was set: "default", file:line, the name of a variable, or "--" and the name of the flag.
	From string
	// Secret values must not be shown.
	Secret bool
	// Reload: SIGHUP changes it on the running broker.
	Reload bool
}

// loader combines the settings from all sources.
type loader struct {
	Settings
	flags, hidden *flag.FlagSet
	from          map[string]string // by name of the setting
	failed        []error
}

// Load reads flags, environment and files. A flag takes precedence over a variable, that over a file, that over the
// default. environ is os.Environ(). The error names everything that is wrong; it is flag.ErrHelp when help was
// requested and printed to the flag set's output.
func Load(flags *flag.FlagSet, args, environ []string) (*Settings, error) {
	env := variables(environ)
	first := newLoader(flag.NewFlagSet(flags.Name(), flag.ContinueOnError), env)
	first.flags.SetOutput(io.Discard)
	l := newLoader(flags, env)
	first.fromEnvironment(env)
	if err := first.flags.Parse(args); err != nil {
		return nil, flags.Parse(args) // returns the error
	}
	l.fromFiles(first.File)
	l.fromEnvironment(env)
	l.unknown(env)
	if err := l.fromFlags(args); err != nil {
		return nil, err
	}
	if w := l.form(); w != "" {
		l.Warnings = append(l.Warnings, w)
	}
	for _, p := range l.problems() {
		if from := l.from[p.setting]; from != "" && !strings.HasPrefix(from, "--") {
			l.failed = append(l.failed, fmt.Errorf("%s: %w", from, p))
			continue
		}
		l.failed = append(l.failed, p)
	}
	l.checkMemory()
	l.openFirst()
	l.list()
	return &l.Settings, errors.Join(l.failed...)
}

// DataDir returns the folder of a broker that has no flags. getenv is os.Getenv. Invalid variables and files count as
// not set.
func DataDir(getenv func(string) string) string {
	env := map[string]string{}
	for _, name := range [...]string{"HOME", "XDG_DATA_HOME", prefix + "CONFIG", prefix + "DATA_DIR"} {
		env[name] = getenv(name)
	}
	l := newLoader(flag.NewFlagSet("", flag.ContinueOnError), env)
	l.fromFiles(env[prefix+"CONFIG"])
	l.fromEnvironment(env)
	return l.DataDir
}

func newLoader(flags *flag.FlagSet, env map[string]string) *loader {
	l := &loader{flags: flags, hidden: flag.NewFlagSet("", flag.ContinueOnError), from: map[string]string{}}
	l.Config = Default(func(name string) string { return env[name] })
	for i := range settings {
		s := &settings[i]
		s.define(l.set(s), &l.Config, s.name, s.help)
	}
	return l
}

// set returns the flag set of a setting.
func (l *loader) set(s *setting) *flag.FlagSet {
	if s.noFlag {
		return l.hidden
	}
	return l.flags
}

// value returns the flag value of a setting.
func (l *loader) value(s *setting) flag.Value { return l.set(s).Lookup(s.name).Value }

// refuse records an invalid value.
func (l *loader) refuse(from, key, value string, s *setting, err error) {
	shown := fmt.Sprintf(" = %q", value)
	if s.secret {
		shown = ""
	}
	l.failed = append(l.failed, fmt.Errorf("%s: %s%s: %w (%s)", from, key, shown, err, strings.ReplaceAll(s.help, "`", "")))
}

// begin makes the next value replace the list.
func (l *loader) begin(s *setting) flag.Value {
	v := l.value(s)
	if several, ok := v.(*list); ok {
		several.replaced = false
	}
	return v
}

func (l *loader) fromFiles(name string) {
	var lines []line
	if name != "none" {
		var err error
		if lines, l.Files, err = readFiles(name, systemFile); err != nil {
			l.failed = append(l.failed, err)
		}
	}
	known := make([]bool, len(lines))
	for i := range settings {
		s := &settings[i]
		v := l.begin(s)
		for _, k := range s.keys {
			for j, at := range lines {
				if !k.matches(at.key) {
					continue
				}
				known[j], l.from[s.name] = true, at.place
				if err := k.apply(v, at); err != nil {
					l.refuse(at.place, at.key, at.value, s, err)
				}
			}
		}
	}
	families := make([]*foreign, len(lines))
	for j, at := range lines {
		if known[j] {
			continue
		}
		var err error
		if families[j], err = at.family(); err != nil {
			l.failed = append(l.failed, err)
		}
	}
	l.warn(lines, families)
}

// apply sets a value from a line.
func (k key) apply(v flag.Value, at line) (err error) {
	value := at.value
	if k.read != nil {
		last := segments(at.key)
		if value, err = k.read(value, last[len(last)-1], v.String()); err != nil {
			return err
		}
	}
	return v.Set(value)
}

func (l *loader) fromEnvironment(env map[string]string) {
	for i := range settings {
		s := &settings[i]
		for _, name := range s.variables() {
			if env[name] == "" {
				continue
			}
			l.from[s.name] = name
			if err := l.begin(s).Set(env[name]); err != nil {
				l.refuse(name, s.name, env[name], s, err)
			}
			break
		}
	}
}

// unknown refuses variables that name no setting.
func (l *loader) unknown(env map[string]string) {
	var names, bare []string
	for i := range settings {
		names = append(names, settings[i].variables()...)
		bare = append(bare, strings.TrimPrefix(settings[i].variables()[0], prefix))
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		other := func(known string) bool {
			return name == known || strings.HasSuffix(known, "_") && strings.HasPrefix(name, known)
		}
		if strings.HasPrefix(name, prefix) && !slices.Contains(names, name) && !slices.ContainsFunc(notSettings, other) {
			err := fmt.Errorf("%s: unknown setting", name)
			if meant := suggest.Closest(name[len(prefix):], bare); meant != "" {
				err = fmt.Errorf("%w; did you mean %q?", err, prefix+meant)
			}
			l.failed = append(l.failed, err)
		}
	}
}

func (l *loader) fromFlags(args []string) error {
	for i := range settings {
		l.begin(&settings[i])
	}
	if err := l.flags.Parse(args); err != nil {
		return err
	}
	if l.flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", l.flags.Arg(0))
	}
	l.flags.Visit(func(f *flag.Flag) { l.from[f.Name] = "--" + f.Name })
	return nil
}

// openFirst lets the first user log in from anywhere if its name or password was set by a variable: containers are set
// up that way, and clients are outside of them. An explicit setting of loopback users takes precedence.
func (l *loader) openFirst() {
	named := func(setting string) bool {
		from := l.from[setting]
		return from != "" && !strings.Contains(from, ":")
	}
	if named("default-user") && l.from["default-pass"] == "" {
		l.Warnings = append(l.Warnings, fmt.Sprintf("default-pass is not set: the password of '%s' is '%s' in a new data folder", l.First.Name, l.First.Password))
	}
	if l.from["loopback-users"] != "" || !named("default-user") && !named("default-pass") {
		return
	}
	l.LoopbackUsers = slices.DeleteFunc(l.LoopbackUsers, func(user string) bool { return user == l.First.Name })
	l.OpenFirst = true
}

// list lists the values.
func (l *loader) list() {
	for i := range settings {
		s := &settings[i]
		v := Value{Name: s.name, Text: l.value(s).String(), From: l.from[s.name], Secret: s.secret, Reload: s.reload}
		if v.From == "" {
			v.From = "default"
		}
		l.Values = append(l.Values, v)
	}
}

// variables returns the variables of an environment by name.
func variables(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	return env
}
