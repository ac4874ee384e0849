package channel

import "candlemark/actors/mail"

// outgoing gathers what the shell does at the end of the turn, in this order.
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

// Send implements qos.Sender.
func (o *outgoing) Send(to mail.Address, what any) {
	if to != nil {
		o.out = append(o.out, post{to, what})
	}
}
