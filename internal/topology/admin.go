package topology

import "bytes"

// AdminExchange is the system exchange of every virtual host to which users publish
// admin commands (PRO-19).
const AdminExchange = "candlemark.admin"

// openCommands are the first words of those commands that users without the tag
// policymaker or administrator may publish, too: what they are allowed depends on the
// queue or exchange that the command is about.
var openCommands = [][]byte{[]byte("queue."), []byte("lock."), []byte("scheduled.")}

// IsOpenCommand reports whether a routing key is that of such a command.
func IsOpenCommand(key []byte) bool {
	for _, word := range openCommands {
		if bytes.HasPrefix(key, word) {
			return true
		}
	}
	return false
}
