package queue

import (
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/ruleaction"
	"candlemark/internal/storage/store"
)

// indifferent is embedded in gates for which it does not matter what becomes of a message.
type indifferent struct{}

func (indifferent) Took(_ *incoming, v verdict) verdict { return v }

// copies applies the action of a rule to the queue's copy of a message (SBR-6).
type copies struct{ indifferent }

func (copies) Judge(a *incoming) verdict {
	a.original = *a.m
	a.made = ruleaction.Apply(a.batch.Action, a.m)
	return pass
}

// failedCopies handles messages of which an action could not make a copy that is valid for the queue: they are dead-lettered,
// or dropped, as their publisher cannot help it (SBR-6, SBR-7).
type failedCopies struct{ indifferent }

func (failedCopies) Judge(a *incoming) verdict {
	switch {
	case a.made:
		return pass
	case a.dry:
		return taken
	}
	dead, written := a.messages.Unwanted(a.m, store.Failed, a.now)
	if !dead && !a.batch.Action.Failed {
		return unfit
	}
	return kept(written)
}

// unfitness returns why a message of a batch is not valid for the queue.
func unfitness(e *mail.Enqueue) error {
	if e.Action != nil {
		return mail.ErrCopy
	}
	return mail.ErrSessionNeeded
}

// health refuses messages that would have to be stored when the journal has failed.
type health struct{ indifferent }

func (health) Judge(a *incoming) verdict {
	if a.messages.Journal.Stores(a.m) {
		return refused
	}
	return pass
}

// lengths refuses messages over the limits of a queue that refuses publishes (DL-10).
type lengths struct{ indifferent }

func (lengths) Judge(a *incoming) verdict {
	if a.dry || !a.messages.Refuses(1, int64(len(a.m.Body))) {
		return pass
	}
	dead, _ := a.messages.Unwanted(a.m, store.Overflowed, a.now)
	if dead && mail.Same(a.batch.From, a.vhost.DeadLetter) { // refused, it would come here again (DL-29)
		return discarded
	}
	return refused
}
