package outgoing

import "candlemark/actors/mail"

// Mail is the mail of a turn, in order.
type Mail struct {
	Me             mail.Address // the actor
	Out            mail.Posts
	watch, unwatch []mail.Address
}

// Self implements qos.Sender.
func (m *Mail) Self() mail.Address { return m.Me }

// Watch implements peers.Watcher.
func (m *Mail) Watch(who mail.Address) { m.watch = append(m.watch, who) }

// Unwatch implements peers.Watcher.
func (m *Mail) Unwatch(who mail.Address) { m.unwatch = append(m.unwatch, who) }

// Send implements qos.Sender. Mail without a recipient is dropped.
func (m *Mail) Send(to mail.Address, what any) { m.Out.Send(to, what) }

// CarryOut passes each mail to send, and empties m.
func (m *Mail) CarryOut(send func(to mail.Address, what any)) {
	for i, p := range m.Out {
		send(p.To, p.Mail)
		m.Out[i] = mail.Post{}
	}
	m.Out = m.Out[:0]
}

// WatchOver passes the actors whose watches start to watch, and those whose watches end to unwatch.
func (m *Mail) WatchOver(watch, unwatch func(who mail.Address)) {
	for _, w := range m.watch {
		watch(w)
	}
	for _, w := range m.unwatch {
		unwatch(w)
	}
	m.watch, m.unwatch = m.watch[:0], nil
}
