package config

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Config holds the settings of an operator.
type Config struct {
	// AMQP are the addresses to listen at for AMQP, host:port, port 0 for any
	// free one.
	AMQP []string
	// AMQPS are those for AMQP over TLS; empty for none.
	AMQPS []string
	TLS   TLS
	// LoopbackUsers may only come from this machine.
	LoopbackUsers []string
	// ProductName is the product that clients are told over AMQP; some behave by it.
	ProductName string
	// HTTP is the address of the HTTP API; empty for none.
	HTTP string
	// DataDir is the folder that the broker owns.
	DataDir string
	// Handshake is how long a client may take to open its connection.
	Handshake time.Duration
	// SendTimeout is how long a client may read nothing of what it is sent; 0 for
	// ever.
	SendTimeout time.Duration
	// MemoryWatermark is from how much memory on publishers are blocked.
	MemoryWatermark Amount
	// DiskFreeLimit is below how much free disk they are.
	DiskFreeLimit Amount
	Limits        Limits
	// LogLevel is trace, debug, info, warn or error.
	LogLevel string
	// LogFormat is console or json.
	LogFormat string
}

// prefix of the environment variables.
const prefix = "CANDLEMARK_"

// Default returns the settings where nothing is set. getenv is os.Getenv.
func Default(getenv func(string) string) Config {
	return Config{
		AMQP:      []string{"127.0.0.1:5672", "[::1]:5672"},
		HTTP:      "127.0.0.1:15672",
		DataDir:   dataDir(getenv),
		Handshake: 10 * time.Second,

		SendTimeout: 15 * time.Second,
		ProductName: "Candlemark",

		TLS:           TLS{LoginFrom: "distinguished_name", SANType: "dns"},
		LoopbackUsers: []string{"guest"},
		Limits:        defaultLimits(),

		MemoryWatermark: Share(0.4),
		DiskFreeLimit:   Amount{Bytes: 50_000_000},

		LogLevel:  "info",
		LogFormat: "console",
	}
}

// Load reads flags and environment. getenv is os.Getenv. The error is
// flag.ErrHelp when help was asked for and printed to the flag set's output.
func Load(flags *flag.FlagSet, args []string, getenv func(string) string) (Config, error) {
	c := Default(getenv)
	amqp := list{values: &c.AMQP}
	flags.Var(&amqp, "amqp", "`address` to listen at for AMQP, host:port; may be repeated")
	amqps := list{values: &c.AMQPS}
	flags.Var(&amqps, "amqps", "`address` to listen at for AMQP over TLS, host:port; may be repeated")
	c.TLS.define(flags)
	loopback := list{values: &c.LoopbackUsers}
	flags.Var(&loopback, "loopback-users", "`user` who may only come from this machine; may be repeated, none for nobody")
	flags.StringVar(&c.ProductName, "product-name", c.ProductName, "`name` that clients are told in the server properties; 1 to 255 bytes")
	flags.StringVar(&c.HTTP, "http", c.HTTP, "`address` of the HTTP API; empty for none")
	flags.StringVar(&c.DataDir, "data-dir", c.DataDir, "`folder` of the broker's own")
	flags.DurationVar(&c.Handshake, "handshake-timeout", c.Handshake, "how long a client may take to open its connection")
	flags.DurationVar(&c.SendTimeout, "send-timeout", c.SendTimeout, "how long a client may read nothing of what it is sent before it is cut off; 0 for ever")
	flags.Var(amount{&c.MemoryWatermark, ParseWatermark}, "memory-high-watermark",
		"block publishers above so much memory: a `share` of the machine's or the container's, 0 to 1, or a size such as 2GB")
	flags.Var(amount{&c.DiskFreeLimit, ParseDiskLimit}, "disk-free-limit",
		"block publishers below so much free disk: a `size` such as 50MB, or mem_relative and a multiple of the memory")
	c.Limits.define(flags)
	flags.StringVar(&c.LogLevel, "log-level", c.LogLevel, "trace, debug, info, warn or error")
	flags.StringVar(&c.LogFormat, "log-format", c.LogFormat, "console or json")
	if err := fromEnvironment(flags, getenv); err != nil {
		return Config{}, err
	}
	amqp.replaced, amqps.replaced, loopback.replaced = false, false, false
	if err := flags.Parse(args); err != nil {
		return Config{}, err
	}
	if flags.NArg() > 0 {
		return Config{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if slices.Equal(c.LoopbackUsers, []string{"none"}) {
		c.LoopbackUsers = nil
	}
	return c, c.Validate()
}

// dataDir is the user's folder for data, or one here when there is no home.
func dataDir(getenv func(string) string) string {
	if dir := getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "candlemark")
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "share", "candlemark")
	}
	return "candlemark-data"
}

// fromEnvironment sets each flag whose variable is there.
func fromEnvironment(flags *flag.FlagSet, getenv func(string) string) error {
	var failed error
	flags.VisitAll(func(f *flag.Flag) {
		name := prefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if v := getenv(name); v != "" {
			if err := f.Value.Set(v); err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
			}
		}
	})
	return failed
}

// Validate checks everything and tells all that is wrong.
func (c Config) Validate() error {
	var failed error
	check := func(what, address string) {
		if _, _, err := net.SplitHostPort(address); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", what, err))
		}
	}
	for _, a := range c.AMQP {
		check("amqp", a)
	}
	for _, a := range c.AMQPS {
		check("amqps", a)
	}
	if c.HTTP != "" {
		check("http", c.HTTP)
	}
	failed = errors.Join(failed, c.TLS.validate(len(c.AMQPS) > 0))
	if len(c.AMQP)+len(c.AMQPS) == 0 {
		failed = errors.Join(failed, errors.New("amqp: no address"))
	}
	if c.DataDir == "" {
		failed = errors.Join(failed, errors.New("data-dir: no folder"))
	}
	if n := len(c.ProductName); n == 0 || n > 255 {
		failed = errors.Join(failed, fmt.Errorf("product-name: %d bytes are not between 1 and 255", n))
	}
	if c.Handshake <= 0 {
		failed = errors.Join(failed, fmt.Errorf("handshake-timeout: %v is not positive", c.Handshake))
	}
	if c.SendTimeout < 0 {
		failed = errors.Join(failed, fmt.Errorf("send-timeout: %v is negative", c.SendTimeout))
	}
	failed = errors.Join(failed, c.Limits.validate())
	switch c.LogFormat {
	case "console", "json":
	default:
		failed = errors.Join(failed, fmt.Errorf("log-format: %q is neither console nor json", c.LogFormat))
	}
	return failed
}

// list is a flag that may be repeated, or hold several values between commas.
// The first value given replaces the defaults.
type list struct {
	values   *[]string
	replaced bool
}

// String implements flag.Value.
func (l *list) String() string {
	if l.values == nil {
		return ""
	}
	return strings.Join(*l.values, ",")
}

// Set implements flag.Value.
func (l *list) Set(text string) error {
	if !l.replaced {
		*l.values = nil
		l.replaced = true
	}
	for _, v := range strings.Split(text, ",") {
		*l.values = append(*l.values, strings.TrimSpace(v))
	}
	return nil
}
