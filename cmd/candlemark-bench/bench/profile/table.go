package profile

// Shape is a kind of run.
type Shape int

// The shapes.
const (
	Stream     Shape = iota + 1 // producers, queues, consumers
	RPC                         // calls with answers
	Expiry                      // how late messages expire
	MassExpiry                  // many messages that expire at once
	Delays                      // how late delayed messages come
	Idle                        // what costs though nothing happens
)

// Profile is a shape with flags that precede the user's flags.
type Profile struct {
	Name, About string
	Shape       Shape
	Flags       string
}

// Profiles are all.
var Profiles = []Profile{
	{"stream", "configured by flags, with PerfTest's defaults", Stream, ""},
	{"bulk", "one producer with up to 1,000 unconfirmed publishes, one consumer", Stream, "-c 1000 -q 1000 -A 100"},
	{"sync", "one producer, one consumer, a confirm for each publish before the next", Stream, "-c 1 --batch 1 -q 1000 -A 1"},
	{"latency", "one producer at 10,000/s, one consumer", Stream, "-r 10000 -q 200 -A 100 --ack-idle"},
	{"chatty", "20 producers, consumers and queues, a confirm for each publish before the next", Stream, "-x 20 -y 20 --queues 20 -c 1 --batch 1 -q 1000 -A 1"},
	{"chatty-rate", "50 producers, consumers and queues at 20,000/s in all", Stream, "-x 50 -y 50 --queues 50 --total-rate 20000 -c 100 --batch 1 -q 1000 -A 1"},
	{"chatty-flat", "50 producers, consumers and queues without a rate limit, 10 publishes and 10 deliveries at a time", Stream, "-x 50 -y 50 --queues 50 -c 10 --batch 1 -q 10 -A 1"},
	{"fanout", "one producer, a fanout exchange, three queues", Stream, "-t fanout --queues 3 -y 3 -c 1000 -q 1000 -A 100"},
	{"rpc", "requests and replies by direct reply-to, or with --reply queue; -x clients, -y servers", RPC, "--batch 1 -q 100"},
	{"expiry", "how late messages with a TTL reach the dead-letter queue; --mode message, queue or policy", Expiry, "-C 10000 --ttl uniform:1s-10s --drain 10s"},
	{"mass-expiry", "many messages expire at once while another queue is in use", MassExpiry, "-C 1000000 --lead 30s --within 2s -s 40 --max-size 1024 --drain 30s"},
	{"delays", "how late delayed messages arrive; --via hold, message or exchange", Delays, "-C 5000 -r 1000 --ttl mix:100ms,500ms,1s,2s,5s --drain 10s"},
	{"idle", "the cost of idle objects; --kind connections, queues or messages", Idle, "--count 1000 --lease 60s"},
}

// Row is a line of the table that candlemark-bench table makes.
type Row struct{ Work, Command string }

// Table has the rows of docs/BENCHMARKS.md that this program measures.
var Table = []Row{
	{"transient 100 B, auto-ack", "bulk -a -c 0"},
	{"transient 100 B, confirms", "bulk"},
	{"transient 1 KiB, confirms", "bulk -s 1024"},
	{"persistent 100 B, confirms", "bulk --persistent"},
	{"persistent 1 KiB, confirms", "bulk --persistent -s 1024"},
	{"topic exchange, confirms", "bulk -t topic"},
	{"fanout to 3 queues, confirms", "fanout"},
	{"latency at 10,000/s", "latency"},
	{"1 producer, 1 consumer, 1 confirm outstanding", "sync"},
	{"20 producers, consumers, queues, 1 confirm each", "chatty"},
	{"the same, persistent", "chatty --persistent"},
	{"50 × 50 × 50 at 20,000/s in all", "chatty-rate"},
	{"50 × 50 × 50 flat out", "chatty-flat"},
	{"calls, direct reply-to", "rpc"},
	{"calls of 50 callers", "rpc -x 50"},
	{"calls, reply queues", "rpc --reply queue"},
	{"10,000 random TTLs, one queue", "expiry"},
	{"the same, persistent", "expiry --persistent"},
	{"the same, published at 5,000/s", "expiry -r 5000 --ttl uniform:1s-5s"},
	{"10,000 with one TTL", "expiry --mode queue --ttl 5s"},
	{"TTL by a policy that is set afterwards", "expiry --mode policy --ttl 5s -C 5000"},
	{"hold queues, 1,000 delays/s", "delays"},
	{"a TTL on each message", "delays --via message"},
	{"delayed exchange", "delays --via exchange"},
	{"a million expire within 2 s", "mass-expiry --lead 15s"},
	{"a queued message of 100 B", "idle --kind messages --count 1000000 -z 1"},
	{"an idle connection with a channel", "idle --count 1000 -b 10"},
	{"an idle queue with a lease", "idle --kind queues --count 100000"},
}

// Named returns a profile; nil if there is none.
func Named(name string) *Profile {
	for i := range Profiles {
		if Profiles[i].Name == name {
			return &Profiles[i]
		}
	}
	return nil
}
