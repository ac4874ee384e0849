package policies

import (
	"slices"

	"candlemark/internal/text/suggest"
	"candlemark/protocol"
)

// maxMisspelt bounds the comparisons of Misspelt: this many arguments, of names of at most maxMisspeltName bytes.
const maxMisspelt, maxMisspeltName = 8, 64

// Misspelt returns the first argument of queue.declare that the broker does not know although its name is similar to one that it
// knows, and that name; "" if there is none. Unknown arguments are accepted, as in RabbitMQ (DEC-2), so that only a line of the log
// tells of a TTL that has no effect (DEC-20).
func Misspelt(args protocol.Table) (given, meant string) {
	for _, field := range args[:min(len(args), maxMisspelt)] {
		if len(field.Key) > maxMisspeltName || slices.Contains(argumentNames, field.Key) {
			continue
		}
		if meant := suggest.Closest(field.Key, argumentNames); meant != "" {
			return field.Key, meant
		}
	}
	return "", ""
}

// argumentNames are the arguments of queue.declare, also of queues that the broker declares itself.
var argumentNames = func() (names []string) {
	names = append(names, argDeathQueueOf)
	for _, a := range queueArguments {
		names = append(names, a.name)
	}
	return names
}()
