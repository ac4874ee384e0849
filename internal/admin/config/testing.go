package config

import (
	"flag"
	"fmt"
	"strings"
	"time"
)

// Testing has the settings of brokers that tests start. They have no keys in files.
type Testing struct {
	// Clock is when the test clock begins, in RFC 3339, or now; empty for the machine's clock (CLK-1).
	Clock string
	// ReadyJSON prints where the broker listens, PortFile writes it to a file.
	ReadyJSON bool
	PortFile  string
	// StopWithStdin stops the broker when standard input ends.
	StopWithStdin bool
}

// Start returns when the test clock begins, to the millisecond; false if there is none.
func (t *Testing) Start() (at time.Time, is bool) {
	if t.Clock == "now" {
		return time.Now().Truncate(time.Millisecond), true
	}
	at, err := time.Parse(time.RFC3339, t.Clock)
	return at.Truncate(time.Millisecond), err == nil
}

// testClock defines a flag whose value may be left out.
func testClock(of func(*Config) *string) define {
	return func(f *flag.FlagSet, c *Config, name, help string) { f.Var(clockValue{of(c)}, name, help) }
}

// clockValue is a flag.Value.
type clockValue struct{ of *string }

// String implements flag.Value.
func (v clockValue) String() string {
	if v.of == nil {
		return ""
	}
	return *v.of
}

// Set implements flag.Value.
func (v clockValue) Set(text string) error {
	switch text {
	case "true": // the flag without a value
		text = "now"
	case "false":
		text = ""
	}
	if at, err := time.Parse(time.RFC3339, text); text != "" && text != "now" && (err != nil || at.Year() < 1970 || at.Year() > 2261) {
		return fmt.Errorf("a time like 2027-01-01T00:00:00Z, or now")
	}
	*v.of = text
	return nil
}

// IsBoolFlag has package flag accept the flag without a value.
func (v clockValue) IsBoolFlag() bool { return true }

// checkMemory refuses a data folder for a broker that has none. Settings other than flags, as containers have them, do not count.
func (l *loader) checkMemory() {
	if !l.InMemory {
		return
	}
	if strings.HasPrefix(l.from["data-dir"], "--") {
		l.failed = append(l.failed, fmt.Errorf("--in-memory has no data folder"))
	}
	l.DataDir = ""
}
