package topology

import "bytes"

// AdminExchange is the system exchange of every virtual host to which users publish
// admin commands (PRO-19).
const AdminExchange = "candlemark.admin"

// openCommands are the prefixes of commands that users without the tag policymaker or administrator may also publish:
// their permissions on the queue or exchange of the command are checked.
var openCommands = [][]byte{[]byte("queue."), []byte("lock."), []byte("scheduled."), []byte("schedule."), []byte("clock.get")}

// IsOpenCommand reports whether a routing key belongs to such a command.
func IsOpenCommand(key []byte) bool {
	for _, word := range openCommands {
		if bytes.HasPrefix(key, word) {
			return true
		}
	}
	return false
}
