package vhost

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/storage/definitions"
)

// effects lists the effects of a turn, in the order in which the core decided them: an actor is spawned before it is
// published, and is published before others are informed.
type effects struct {
	// list has values of mail.Post and of the types below, and functions that change published or stored state.
	list []any
}

type (
	// spawning spawns a child. The core has computed its address; the shell replaces it with the child's own.
	spawning struct {
		props props
		name  string
		pid   *mail.Address
	}
	watching   struct{ who mail.Address }
	unwatching struct{ who mail.Address }
	stopping   struct{ who mail.Address }
	// storing changes the definitions; the answer is *stored.
	storing struct {
		change  definitions.Change
		then    func(error)
		command mail.Answerable
	}
	// fetching reads a queue's messages in the journal: as of the journal's opening or, if again is set, now; the
	// answer is *fetched.
	fetching struct {
		queue *queue
		again bool
	}
	// leaving closes the mailbox and ends the actor.
	leaving struct{}
)

func (o *effects) add(effect any) { o.list = append(o.list, effect) }

// take returns the effects and empties the list.
func (o *effects) take() []any {
	effects := o.list
	o.list = nil
	return effects
}

func (o *effects) send(to mail.Address, m any) { o.add(mail.Post{To: to, Mail: m}) }

// reply sends an answer, if one was requested.
func (o *effects) reply(r mail.Request, answer any) {
	if r.ReplyTo != nil {
		o.send(r.ReplyTo, answer)
	}
}

// done answers with TopologyReply.
func (o *effects) done(r mail.Request, err error) {
	o.reply(r, &mail.TopologyReply{Reply: r.Done(err)})
}

// answer answers commands without executing them.
func (o *effects) answer(cause mail.Cause, commands ...any) {
	for _, m := range commands {
		if a, ok := m.(mail.Answerable); ok {
			if to, reply := a.Answer(cause); to != nil {
				o.send(to, reply)
			}
		}
	}
}
