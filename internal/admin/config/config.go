package config

import (
	"fmt"
	"math"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config holds the settings of an operator.
type Config struct {
	// File is the file with settings; empty for the system's file if it exists, none for no file.
	File string
	// AMQP are the addresses to listen at for AMQP, host:port, port 0 for any
	// free one.
	AMQP []string
	// AMQPS are the addresses for AMQP over TLS; empty for none.
	AMQPS []string
	TLS   TLS
	// Mechanisms of SASL that clients of AMQP may log in with: PLAIN, AMQPLAIN, EXTERNAL, ANONYMOUS.
	Mechanisms []string
	// AnonymousUser is the user that logs in with ANONYMOUS while AnonymousPassword is its password; "none": no user.
	AnonymousUser, AnonymousPassword string
	// LoopbackUsers may only come from this machine.
	LoopbackUsers []string
	First         FirstUser
	// OpenFirst: the first user was set by variables, so it is not one of LoopbackUsers.
	OpenFirst bool
	// DefaultQueueType is the default for virtual hosts without their own; empty for classic.
	DefaultQueueType string
	// Node is the node's name; FullNode completes it.
	Node string
	// Cluster makes the broker a node of a cluster, if its Node is not empty.
	Cluster Cluster
	// ClusterName is set at the start; empty to keep the current name.
	ClusterName string
	// ProductName is the product name sent to clients over AMQP; some clients depend on it.
	ProductName string
	// EventsIn is the virtual host with the exchange amq.rabbitmq.event; empty for none.
	EventsIn string
	// HTTP is the address of the HTTP API; empty for none.
	HTTP string
	// HTTPS is the address of the HTTP API over TLS; empty for none.
	HTTPS string
	// HTTPHosts are names of the broker for browsers, besides the names of this machine: see site.Config.
	HTTPHosts []string
	// HTTPProxied: HTTP requests from this machine may come from strangers.
	HTTPProxied bool
	// HTTPSOwn is the certificate only for HTTPS; without files HTTPS uses the certificate of TLS: see WebCertificate.
	HTTPSOwn Certificate
	// Metrics is the address of a port that answers scrapes without a login; empty for none.
	Metrics string
	// MetricsPerObject: there /metrics has the metrics of all objects.
	MetricsPerObject bool
	// SamplesOverview and SamplesObjects are texts such as 3600/60: see SampleSpans.
	SamplesOverview, SamplesObjects []string
	// DataDir is the folder that the broker owns.
	DataDir string
	// InMemory: the broker has no data folder.
	InMemory bool
	// Testing is for brokers that tests start.
	Testing Testing
	// SegmentSize is the size of a file of the journal in bytes, from 4 MiB to 1 GiB.
	SegmentSize uint
	// ShovelFiles is the folder with the files that addresses of shovels may name; empty for none.
	ShovelFiles string
	// LoadDefinitions is a file with definitions to be imported at the start; empty for none.
	LoadDefinitions string
	// ServiceBusConfig is a file with entities of Azure Service Bus; empty for none. ServiceBusHTTP and ServiceBusHTTPS are the addresses of
	// their administration API, without and with TLS; empty for none. ServiceBusEmulator: any token from this machine is valid.
	ServiceBusConfig, ServiceBusHTTP, ServiceBusHTTPS string
	ServiceBusEmulator                                bool
	// ServiceBusMessage is the maximum size of a message or batch to an entity without a maximum of its own, in bytes.
	ServiceBusMessage uint
	// Handshake is how long a client may take to open its connection.
	Handshake time.Duration
	// SendTimeout is how long a client may read nothing that it is sent; 0 for no limit.
	SendTimeout time.Duration
	// MemoryTotal is the memory in bytes of which MemoryWatermark is a share; 0 for the memory of the machine or
	// container.
	MemoryTotal uint
	// MemoryWatermark is the memory in use above which publishers are blocked.
	MemoryWatermark Amount
	// DiskFreeLimit is the free disk space below which publishers are blocked.
	DiskFreeLimit Amount
	Limits        Limits
	// LogLevel is a name that Level knows.
	LogLevel string
	// LogFormat is console or json.
	LogFormat string
	// AuditLog is the file of the audit log, or "log" for lines of the log; "" leaves the choice to the program.
	AuditLog string
}

// FirstUser is the first user of a new data folder.
type FirstUser struct {
	// Name and Password are the user's.
	Name, Password string
	// VHost is the only virtual host, where that user has permissions.
	VHost string
	Tags  []string
	// Configure, Write and Read are the permissions: expressions, .* for everything.
	Configure, Write, Read string
}

// Default returns the default settings. getenv is os.Getenv.
func Default(getenv func(string) string) Config {
	return Config{
		AMQP:      []string{"127.0.0.1:5672", "[::1]:5672"},
		HTTP:      "127.0.0.1:15672",
		DataDir:   dataDir(getenv),
		Handshake: 10 * time.Second,

		SegmentSize:       64 << 20,
		Cluster:           Cluster{CopyRate: Amount{Bytes: 64 << 20}},
		ServiceBusMessage: StandardMessage,
		SendTimeout:       15 * time.Second,
		ProductName:       "Candlemark",

		TLS:           TLS{Certificate: Certificate{Versions: []string{"1.2", "1.3"}}, LoginFrom: "distinguished_name", SANType: "dns"},
		HTTPSOwn:      Certificate{Versions: []string{"1.2", "1.3"}},
		Mechanisms:    []string{"PLAIN", "AMQPLAIN", "EXTERNAL", "ANONYMOUS"},
		AnonymousUser: "guest", AnonymousPassword: "guest",
		LoopbackUsers: []string{"guest"},
		First: FirstUser{
			Name: "guest", Password: "guest", VHost: "/", Tags: []string{"administrator"},
			Configure: ".*", Write: ".*", Read: ".*",
		},
		Limits: defaultLimits(),

		SamplesOverview: []string{"600/5", "3600/60", "28800/600", "86400/1800"},
		SamplesObjects:  []string{"600/5", "3600/60"},

		MemoryWatermark: Share(0.4),
		DiskFreeLimit:   Amount{Bytes: 50_000_000},

		LogLevel:  "info",
		LogFormat: "console",
	}
}

// dataDir returns the user's folder for data, or a folder in the working directory when there is no home.
func dataDir(getenv func(string) string) string {
	if dir := getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "candlemark")
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "share", "candlemark")
	}
	return "candlemark-data"
}

// problem describes an invalid setting.
type problem struct{ setting, text string }

// Error implements error.
func (p *problem) Error() string { return p.setting + ": " + p.text }

// problems collects errors.
type problems []*problem

func (p *problems) add(setting, format string, args ...any) {
	*p = append(*p, &problem{setting, fmt.Sprintf(format, args...)})
}

// among records a value that is not one of the known ones.
func (p *problems) among(setting, value string, known ...string) {
	if !slices.Contains(known, value) {
		p.add(setting, "%q is not one of %s%s", value, strings.Join(known, ", "), didYouMean(value, known))
	}
}

// between records a number out of range.
func (p *problems) between(setting string, value, lower, upper uint) {
	if value < lower || value > upper {
		p.add(setting, "%d is not between %d and %d", value, lower, upper)
	}
}

// minWatermark is the smallest memory watermark in bytes; with fewer a share was meant.
const minWatermark = 1 << 20

// StandardMessage is the maximum size of a message in the Standard tier of Azure Service Bus, in bytes.
const StandardMessage = 256 << 10

// checkSizes records errors in the sizes of files and messages, and in the settings of a cluster.
func (c Config) checkSizes(wrong *problems) {
	wrong.between("segment-size", c.SegmentSize, minSegment, maxSegment)
	wrong.between("servicebus-max-message-size", c.ServiceBusMessage, 1024, 100<<20)
	c.Cluster.check(wrong)
	if _, test := c.Testing.Start(); c.Cluster.Node != "" && (test || c.InMemory) {
		wrong.add("cluster-node", "a node of a cluster has a data folder and no test clock")
	}
}

// isAddress reports whether a listener can have an address: with a port from 0 to 65535, or the name of one.
func isAddress(address string) bool {
	_, port, err := net.SplitHostPort(address)
	n, named := strconv.Atoi(port)
	return err == nil && (named != nil || n >= 0 && n <= 65535)
}

func (c Config) problems() (wrong problems) {
	listens := func(setting string, addresses ...string) {
		for _, a := range addresses {
			if !isAddress(a) {
				wrong.add(setting, "%q is not of the form address:port, such as 127.0.0.1:5672, or :5672 for all addresses", a)
			}
		}
	}
	listens("amqp", c.AMQP...)
	listens("amqps", c.AMQPS...)
	for setting, address := range map[string]string{"http": c.HTTP, "https": c.HTTPS, "metrics": c.Metrics, "servicebus-http": c.ServiceBusHTTP, "servicebus-https": c.ServiceBusHTTPS} {
		if address != "" {
			listens(setting, address)
		}
	}
	c.TLS.check(len(c.AMQPS) > 0, &wrong)
	c.checkWeb(&wrong)
	if len(c.Mechanisms) == 0 {
		wrong.add("auth-mechanisms", "at least one mechanism is required")
	}
	for _, m := range c.Mechanisms {
		wrong.among("auth-mechanisms", m, "PLAIN", "AMQPLAIN", "EXTERNAL", "ANONYMOUS")
	}
	if len(c.AMQP)+len(c.AMQPS) == 0 {
		wrong.add("amqp", "at least one address is required")
	}
	if c.DataDir == "" && !c.InMemory {
		wrong.add("data-dir", "a folder is required")
	}
	if c.Node != "" && !nodeNames.MatchString(c.Node) {
		wrong.add("node-name", "%q is not a node name such as rabbit@host", c.Node)
	}
	c.checkSizes(&wrong)
	if n := len(c.ProductName); n == 0 || n > 255 {
		wrong.add("product-name", "%d bytes are not between 1 and 255", n)
	}
	if c.Handshake <= 0 {
		wrong.add("handshake-timeout", "%v is not positive", c.Handshake)
	}
	if c.SendTimeout < 0 {
		wrong.add("send-timeout", "%v is negative", c.SendTimeout)
	}
	if m := c.MemoryTotal; m > 0 && m < minWatermark || m > math.MaxInt64 {
		wrong.add("memory-total", "%d bytes are below the minimum of 1048576", m)
	}
	if m := c.MemoryWatermark; !m.Relative && m.Bytes < minWatermark {
		wrong.add("memory-high-watermark", "%d bytes are too few: set a share of the memory from 0 to 1, or a size such as 2GB", m.Bytes)
	}
	c.First.check(&wrong)
	wrong.among("default-queue-type", c.DefaultQueueType, "", "classic", "quorum")
	c.Limits.check(&wrong)
	c.checkSamples(&wrong)
	if _, err := Level(c.LogLevel); err != nil {
		wrong.add("log-level", "%v", err)
	}
	if c.LogFormat != "console" && c.LogFormat != "json" {
		wrong.add("log-format", "%q is neither console nor json", c.LogFormat)
	}
	return wrong
}

func (f FirstUser) check(wrong *problems) {
	for setting, value := range map[string]string{"default-user": f.Name, "default-vhost": f.VHost} {
		if n := len(value); n == 0 || n > 255 {
			wrong.add(setting, "%d bytes are not between 1 and 255", n)
		}
	}
	if f.Password == "" {
		wrong.add("default-pass", "a password is required")
	}
}

// list is a flag that may be repeated, or hold several values between commas. The first value given replaces the
// defaults, "none" removes all values so far; an empty one adds nothing.
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
	if !l.replaced || text == "none" {
		*l.values = nil
		l.replaced = true
	}
	if text == "none" || text == "" {
		return nil
	}
	for _, v := range strings.Split(text, ",") {
		*l.values = append(*l.values, strings.TrimSpace(v))
	}
	return nil
}
