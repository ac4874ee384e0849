package mailbox

import (
	"cmp"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
)

// Load is the work of actors at one moment.
type Load struct {
	Actors  int // actors whose turns run or wait
	Mails   int // mails in their mailboxes, without system mail
	Longest int // mails in the fullest mailbox
}

// busy returns the mailboxes whose turns run or wait. The more turns wait, the longer it takes; turns continue during the call.
func (d *Dispatcher) busy() map[*Mailbox]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	busy := make(map[*Mailbox]bool, len(d.running)+d.turns.count)
	for _, m := range d.running {
		busy[m] = true
	}
	for t := range d.turns.all() {
		if m, ok := t.(*Mailbox); ok {
			busy[m] = true
		}
	}
	return busy
}

// Load returns the current load.
func (d *Dispatcher) Load() Load {
	busy := d.busy()
	l := Load{Actors: len(busy)}
	for m := range busy {
		n := m.UserMessageCount()
		l.Mails += n
		l.Longest = max(l.Longest, n)
	}
	return l
}

// Busy is an actor whose turn runs or waits, with the number of mails in its mailbox, without system mail.
type Busy struct {
	Actor string
	Mails int
}

// Busiest returns the actors whose turns run or wait, those with the most mail first.
func (d *Dispatcher) Busiest() (list []Busy) {
	for m := range d.busy() {
		if of, ok := m.invoker.(interface{ Self() *actor.PID }); ok {
			list = append(list, Busy{of.Self().GetId(), m.UserMessageCount()})
		}
	}
	slices.SortFunc(list, func(a, b Busy) int { return cmp.Or(cmp.Compare(b.Mails, a.Mails), cmp.Compare(a.Actor, b.Actor)) })
	return list
}
