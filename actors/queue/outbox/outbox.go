package outbox

import "candlemark/actors/mail"

// Post is a mail and who gets it.
type Post struct {
	To   mail.Address
	What any
}

// Outbox is the mail of a turn. The zero value is empty and ready to use.
type Outbox struct {
	// Posts are in the order in which they are sent.
	Posts []Post
}

// Send sends a mail at the end of the turn; to nobody if to is nil.
func (o *Outbox) Send(to mail.Address, what any) {
	if to != nil {
		o.Posts = append(o.Posts, Post{to, what})
	}
}

// Clear forgets what was sent. Room for few stays.
func (o *Outbox) Clear() {
	clear(o.Posts)
	if o.Posts = o.Posts[:0]; cap(o.Posts) > 64 {
		o.Posts = nil
	}
}
