package outgoing

import "candlemark/actors/system/mail"

// Mail is the mail of a turn, in order.
type Mail struct {
	Me      mail.Address // the actor
	Out     mail.Posts
	watches []watch // in order
}

// watch is the start or the end of a watch.
type watch struct {
	who  mail.Address
	ends bool
}

// Self implements qos.Sender.
func (m *Mail) Self() mail.Address { return m.Me }

// Watch implements peers.Watcher.
func (m *Mail) Watch(who mail.Address) { m.watches = append(m.watches, watch{who, false}) }

// Unwatch implements peers.Watcher.
func (m *Mail) Unwatch(who mail.Address) { m.watches = append(m.watches, watch{who, true}) }

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

// maxWatches is the maximum number of watches for which memory is kept.
const maxWatches = 64

// WatchOver passes the actors whose watches start to watch, and the actors whose watches end to unwatch.
func (m *Mail) WatchOver(watch, unwatch func(who mail.Address)) {
	for _, w := range m.watches {
		if w.ends {
			unwatch(w.who)
		} else {
			watch(w.who)
		}
	}
	if cap(m.watches) > maxWatches {
		m.watches = nil
	}
	clear(m.watches)
	m.watches = m.watches[:0]
}
