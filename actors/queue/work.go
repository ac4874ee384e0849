package queue

import "candlemark/actors/system/mail"

// workLimit is the limit of messages that a command handles, and of messages delivered, in one turn. The rest follows
// in further turns (ADR 29).
const workLimit = 4096

// unparkLimit is the limit of parked mails handled in one turn of the actor: as many as the dispatcher delivers at a
// time.
const unparkLimit = 32

// ownMail reports whether mail is handled while a command is in progress: mail of the queue itself, and mail that
// frees memory.
func ownMail(received any) bool {
	switch received.(type) {
	case again, timerFired, appendDone, loaded, *mail.DeadLetterReply:
		return true
	}
	return false
}
