package policies

import "candlemark/protocol"

// Kind is the kind of an object for policies (POL-3, POL-4).
type Kind uint8

// The kinds of objects that a policy can apply to.
const (
	KindClassicQueue Kind = iota // x-queue-type classic, or none given
	KindQuorumQueue              // x-queue-type quorum
	KindStream                   // this broker has none; policies may name it
	KindExchange                 // any exchange, of any type
)

// kinds is a set of Kind, one bit each.
type kinds uint8

const (
	onClassic kinds = 1 << KindClassicQueue
	onQuorum  kinds = 1 << KindQuorumQueue
	onStream  kinds = 1 << KindStream
	onExch    kinds = 1 << KindExchange
	onQueues        = onClassic | onQuorum | onStream
)

func (s kinds) has(k Kind) bool { return s&(1<<k) != 0 }

// appliesTo maps the values of "apply-to" to what they cover (POL-3).
var appliesTo = map[string]kinds{
	"all":            onQueues | onExch,
	"queues":         onQueues,
	"exchanges":      onExch,
	"classic_queues": onClassic,
	"quorum_queues":  onQuorum,
	"streams":        onStream,
}

// KindOf returns the kind of the queue that was declared with args: the value of x-queue-type, by default classic
// (DEC-11).
func KindOf(args protocol.Table) Kind {
	name, _ := stringArgument(args, argQueueType)
	switch name {
	case "quorum":
		return KindQuorumQueue
	case "stream":
		return KindStream
	default:
		return KindClassicQueue
	}
}

// module returns the name under which RabbitMQ's texts mention a queue type (DEC-7).
func (k Kind) module() string {
	switch k {
	case KindQuorumQueue:
		return "rabbit_quorum_queue"
	case KindStream:
		return "rabbit_stream_queue"
	case KindClassicQueue, KindExchange:
	}
	return "rabbit_classic_queue"
}
