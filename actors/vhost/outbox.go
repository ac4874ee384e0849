package vhost

import (
	"candlemark/actors/mail"
	"candlemark/internal/definitions"
)

// outbox lists what the shell does behind a turn, in the order in which the core
// decided it: an actor starts before it is published, and is published before
// somebody is told of it.
type outbox struct {
	// effects are of the types below, or func() for a change of what is published
	// or kept elsewhere.
	effects []any
}

type (
	// post is a mail to be sent.
	post struct {
		to   mail.Address
		what any
	}
	// spawning starts a child. The core has worked out its address; the shell puts
	// the one there that the child itself has.
	spawning struct {
		props props
		name  string
		pid   *mail.Address
	}
	watching   struct{ who mail.Address }
	unwatching struct{ who mail.Address }
	stopping   struct{ who mail.Address }
	// storing changes the definitions; its answer is *stored.
	storing struct {
		change  definitions.Change
		then    func(error)
		command mail.Answerable
	}
	// fetching reads what the journal has of a queue, when it was opened or, again,
	// now; its answer is *fetched.
	fetching struct {
		queue *queue
		again bool
	}
	// leaving closes the mailbox and ends the actor.
	leaving struct{}
)

func (o *outbox) add(effect any) { o.effects = append(o.effects, effect) }

// take empties the outbox.
func (o *outbox) take() []any {
	effects := o.effects
	o.effects = nil
	return effects
}

func (o *outbox) send(to mail.Address, what any) { o.add(post{to, what}) }

// reply sends an answer to whoever asked; nobody may have.
func (o *outbox) reply(r mail.Request, answer any) {
	if r.ReplyTo != nil {
		o.send(r.ReplyTo, answer)
	}
}

// done answers with TopologyReply.
func (o *outbox) done(r mail.Request, err error) {
	o.reply(r, &mail.TopologyReply{Reply: r.Done(err)})
}

// answer answers commands that are not carried out.
func (o *outbox) answer(fate mail.Fate, commands ...any) {
	for _, m := range commands {
		if a, ok := m.(mail.Answerable); ok {
			if to, reply := a.Answer(fate); to != nil {
				o.send(to, reply)
			}
		}
	}
}
