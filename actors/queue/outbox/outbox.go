package outbox

import "candlemark/actors/mail"

// Post is a mail and its receiver.
type Post struct {
	To   mail.Address
	Mail any
}

// Outbox is the mail of a turn. The zero value is empty and ready to use.
type Outbox struct {
	// Posts are in the order of sending.
	Posts []Post
}

// Send adds a mail to be sent at the end of the turn, unless to is nil.
func (o *Outbox) Send(to mail.Address, m any) {
	if to != nil {
		o.Posts = append(o.Posts, Post{to, m})
	}
}

// Clear empties the Outbox. It keeps some capacity.
func (o *Outbox) Clear() {
	clear(o.Posts)
	if o.Posts = o.Posts[:0]; cap(o.Posts) > 64 {
		o.Posts = nil
	}
}
