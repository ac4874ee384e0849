package management

// FlowNodes is how many nodes a Flow has at most.
const FlowNodes = 1000

// Flow is how queues of a virtual host send messages on: queue → exchange → queue.
type Flow struct {
	Nodes []FlowNode
	Edges []FlowEdge
	// Sources are the queues that send messages on and that the filter lets through, shown or not.
	Sources int
	// Truncated reports whether not everything is here.
	Truncated bool
}

// FlowNode is a queue or an exchange.
type FlowNode struct {
	Exchange bool
	Name     string
	Type     string // "" for a missing exchange
}

// FlowEdge leads from one node to another one, both places in Nodes.
type FlowEdge struct {
	From, To int
	Kind     FlowKind
	// Key is the routing key that messages are given on the way, if HasKey; otherwise they keep their own.
	Key    string
	HasKey bool
	// Unroutable reports whether the exchange leads a message with that key nowhere.
	Unroutable bool
	// Bindings is how many bindings with different keys the edge stands for, Keys are the keys of the first of them.
	Bindings int
	Keys     []string
	// Counts are the messages that the queue has sent this way since it began or the broker was started, by reason.
	Counts map[string]uint64
}

// FlowKind is how one leads to the other.
type FlowKind string

// The kinds of edges: first from a queue, then from an exchange.
const (
	FlowDeadLetter FlowKind = "dead_letter"
	FlowForward    FlowKind = "forward"
	FlowBinding    FlowKind = "binding"
	FlowAlternate  FlowKind = "alternate"
)
