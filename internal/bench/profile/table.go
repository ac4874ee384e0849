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

// Profile is a shape with flags that stand before those of the user.
type Profile struct {
	Name, About string
	Shape       Shape
	Flags       string
}

// Profiles are all.
var Profiles = []Profile{
	{"stream", "as the flags say, with PerfTest's defaults", Stream, ""},
	{"bulk", "one producer with 1,000 publishes that wait for confirms, one consumer", Stream, "-c 1000 -q 1000 -A 100"},
	{"sync", "one producer, one consumer, a confirm for each publish before the next", Stream, "-c 1 --batch 1 -q 1000 -A 1"},
	{"latency", "one producer at 10,000/s, one consumer", Stream, "-r 10000 -q 200 -A 100 --ack-idle"},
	{"chatty", "20 producers, consumers and queues, a confirm for each publish before the next", Stream, "-x 20 -y 20 --queues 20 -c 1 --batch 1 -q 1000 -A 1"},
	{"chatty-rate", "50 producers, consumers and queues at 20,000/s in all", Stream, "-x 50 -y 50 --queues 50 --total-rate 20000 -c 100 --batch 1 -q 1000 -A 1"},
	{"chatty-flat", "50 producers, consumers and queues as fast as it goes, 10 publishes and 10 deliveries at a time", Stream, "-x 50 -y 50 --queues 50 -c 10 --batch 1 -q 10 -A 1"},
	{"fanout", "one producer, an exchange, three queues that get everything", Stream, "-t fanout --queues 3 -y 3 -c 1000 -q 1000 -A 100"},
	{"rpc", "calls and answers by direct reply-to, or with --reply queue; -x callers, -y servers", RPC, "--batch 1 -q 100"},
}

// Named is a profile; nil if there is none.
func Named(name string) *Profile {
	for i := range Profiles {
		if Profiles[i].Name == name {
			return &Profiles[i]
		}
	}
	return nil
}
