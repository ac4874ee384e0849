package queue

import "candlemark/actors/mail"

// workLimit is how many messages a command touches in one turn, and how many are
// delivered in one. What is above it goes on in further turns (ADR 29).
const workLimit = 4096

// unparkLimit is how many parked mails are handled in one turn of the actor, as many
// as the dispatcher hands over at a time.
const unparkLimit = 32

// ownMail reports whether mail does not wait for work: it belongs to the queue itself, or frees it.
func ownMail(what any) bool {
	switch what.(type) {
	case again, timerFired, appendDone, loaded, *mail.DeadLetterReply:
		return true
	}
	return false
}
