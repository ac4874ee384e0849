package mail

// Post is a mail and its receiver.
type Post struct {
	To   Address
	Mail any
}

// Posts is the mail of a turn in the order of sending: the core of an actor adds to it, the shell sends it at the end of
// the turn. The zero value is empty.
type Posts []Post

// Send adds a mail, unless to is nil.
func (p *Posts) Send(to Address, m any) {
	if to != nil {
		*p = append(*p, Post{to, m})
	}
}

// Clear removes all mail and keeps the capacity, unless the turn was a large one.
func (p *Posts) Clear() {
	clear(*p)
	if *p = (*p)[:0]; cap(*p) > 64 {
		*p = nil
	}
}
