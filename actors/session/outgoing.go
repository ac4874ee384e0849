package session

import "candlemark/actors/mail"

// outgoing collects what the shell does at the end of the turn, in this order.
type outgoing struct {
	self           mail.Address
	out            []post
	watch, unwatch []mail.Address
}

type post struct {
	to   mail.Address
	what any
}

// Self implements qos.Sender.
func (o *outgoing) Self() mail.Address { return o.self }

// Watch implements peers.Watcher.
func (o *outgoing) Watch(actor mail.Address) { o.watch = append(o.watch, actor) }

// Unwatch implements peers.Watcher.
func (o *outgoing) Unwatch(actor mail.Address) { o.unwatch = append(o.unwatch, actor) }

// Send implements qos.Sender.
func (o *outgoing) Send(to mail.Address, what any) {
	if to != nil {
		o.out = append(o.out, post{to, what})
	}
}
