package convert

import (
	"bytes"
	"strings"
)

// Direct replies go to names in 0-9-1 and to addresses in 1.0: so a requester and a responder of different protocols understand each other.
// Any other reply-to stays as its client wrote it.
const (
	replyName    = "amq.rabbitmq.reply-to."
	replyAddress = "/queues/" + replyName
)

func replyTo10(name string) string {
	if strings.HasPrefix(name, replyName) {
		return "/queues/" + name
	}
	return name
}

func replyTo091(address []byte) []byte {
	if bytes.HasPrefix(address, []byte(replyAddress)) {
		return address[len("/queues/"):]
	}
	return address
}
