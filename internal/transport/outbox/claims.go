package outbox

import "slices"

// maxClaims is the number of answers of unknown size that may be on their way to one outbox. It bounds the bytes in
// flight to that number of the largest messages, for any number of requests by the channels of a connection.
const maxClaims = 4

// claims are the holders of places, and the waiting claimants in order.
type claims struct {
	held    []any
	waiting []claim
}

type claim struct {
	who   any
	ready func()
}

// Claim takes a place for who, until Forgo. If all are taken, it returns false and later calls ready once, when who
// gets a place; ready must only post mail. A claimant with a place keeps it.
func (o *Outbox) Claim(who any, ready func()) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := &o.claims
	switch {
	case slices.Contains(c.held, who):
		return true
	case len(c.held) < maxClaims:
		c.held = append(c.held, who)
		return true
	case !slices.ContainsFunc(c.waiting, func(x claim) bool { return x.who == who }):
		c.waiting = append(c.waiting, claim{who, ready})
	}
	return false
}

// Forgo passes the place of who to the longest-waiting claimant; if who is waiting itself, it stops waiting.
func (o *Outbox) Forgo(who any) {
	o.mu.Lock()
	c := &o.claims
	ready := func() {}
	if i := slices.Index(c.held, who); i < 0 {
		c.waiting = slices.DeleteFunc(c.waiting, func(x claim) bool { return x.who == who })
	} else if c.held = slices.Delete(c.held, i, i+1); len(c.waiting) > 0 {
		c.held, ready = append(c.held, c.waiting[0].who), c.waiting[0].ready
		c.waiting = slices.Delete(c.waiting, 0, 1)
	}
	o.mu.Unlock()
	ready()
}
