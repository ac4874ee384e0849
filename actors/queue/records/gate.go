package records

import (
	"errors"

	"candlemark/actors/system/mail"
	"candlemark/internal/storage/store"
	"candlemark/internal/transport/budget"
)

// Gated makes the mail of this turn wait at a gate, made when it is first needed, on a node of a cluster. The mail of a queue that stores
// every message always waits, and that of others with records if its settings say so (set). It reports whether the journal has to report
// the end of this turn's records, or, with none, that another node has not gone on: current is store.Replicated's. appends: there are
// some; tells: there is mail.
func (w *Writer) Gated(g **Gate, b *budget.Budget, set, appends, tells bool, current func() bool) bool {
	on := w.rule == StoreAll || set && w.rule != StoreNothing
	switch {
	case on && *g == nil:
		*g = &Gate{budget: b}
		appends = appends || w.rule != StoreAll // there may be records from the time without a gate
	case *g == nil:
		return false
	case !on && !appends && (*g).Open():
		*g = nil
		return false
	}
	appends = appends || tells && (*g).Open() && !current() // CLU-17
	if appends {
		(*g).Appended()
	}
	return appends
}

// Gate holds the mail of a queue until the journal has all records that the queue had appended when it sent the mail, in one order
// (CLU-16). Before that, another leader of the cluster may go on without these records: the mail would tell of what never was. Batches
// of publishes are held with the mail about them, so that the credit of publishers limits what is held, too. The zero value is open.
type Gate struct {
	appended, ended uint64 // Appends whose end the journal reports
	held            []held
	size            int64          // bytes of it, about
	budget          *budget.Budget // has been charged with them
	lost            bool
}

// fullFrom is how many bytes a gate holds at most, and what one turn adds (CLU-40).
const fullFrom = 32 << 20

// held is a mail, or a batch to be released, that goes out after the end of that many Appends.
type held struct {
	after uint64
	size  int64
	post  mail.Post
	batch *mail.Enqueue
}

// weigh sets the size: about what is held in memory.
func (h *held) weigh() {
	h.size = int64(mail.ChargeOf(0))
	switch m := h.post.Mail.(type) {
	case *mail.Deliver:
		for i := range m.Items {
			h.size += int64(m.Items[i].Charge())
		}
	case *mail.GetReply:
		h.size += int64(m.Delivery.Message.Size())
	}
	if h.batch != nil {
		for i := range h.batch.Messages {
			h.size += int64(mail.ChargeOf(h.batch.Messages[i].Size()))
		}
	}
}

// Appended notes an Append whose end will be reported.
func (g *Gate) Appended() { g.appended++ }

// Open reports whether nothing is held and no end is outstanding. A nil gate is open.
func (g *Gate) Open() bool { return g == nil || g.ended == g.appended }

// Held returns the number of mails and batches that are held.
func (g *Gate) Held() int { return len(g.held) }

// Full reports whether so much is held that the queue must do nothing that it would tell of. A nil gate is not full.
func (g *Gate) Full() bool { return g != nil && g.size >= fullFrom }

// charge changes how much is held.
func (g *Gate) charge(bytes int64) {
	g.size += bytes
	g.budget.Add(bytes)
}

// Send sends the mail of a turn, or holds it, and clears the list. The first told ones are answers about records that the journal has just
// reported: they wait for nothing else, nor does mail to the queue itself.
func (g *Gate) Send(list *mail.Posts, told int, self mail.Address, send func(mail.Post)) {
	for i, p := range *list {
		if i < told || mail.Same(p.To, self) || !g.hold(held{post: p}) {
			send(p)
		}
	}
	list.Clear()
}

// Free releases batches of publishes with the mail about them, and clears the list.
func (g *Gate) Free(list []*mail.Enqueue) {
	for _, e := range list {
		if !g.hold(held{batch: e}) {
			e.Release()
		}
	}
	clear(list)
}

// hold reports whether something is held.
func (g *Gate) hold(h held) bool {
	if g.Open() && (g == nil || !g.lost) {
		return false
	}
	h.after = g.appended
	h.weigh()
	g.charge(h.size)
	g.held = append(g.held, h)
	return true
}

// Ended notes the end of the oldest Append, and sends what may go out. After the node has lost its office, nothing is sent any more.
func (g *Gate) Ended(err error, send func(mail.Post)) {
	g.ended++
	g.lost = g.lost || unknown(err)
	n, size := 0, int64(0)
	for ; n < len(g.held) && (g.lost || g.held[n].after <= g.ended); n++ {
		size += g.held[n].size
		switch h := &g.held[n]; {
		case h.batch != nil:
			h.batch.Release()
		case g.lost:
			drop(h.post)
		default:
			send(h.post)
		}
		g.held[n] = held{}
	}
	g.charge(-size)
	if g.held = g.held[n:]; len(g.held) == 0 {
		g.held = nil
	}
}

// Leave sends what is held when the journal has all records of the queue so far, although its actor has ended by then.
func (g *Gate) Leave(j store.Journal, q store.QueueID, post func(mail.Address, any)) {
	if g == nil || len(g.held) == 0 {
		return
	}
	list, size := g.held, g.size
	g.held, g.size = nil, 0
	j.Append(q, nil, func(err error) {
		g.budget.Add(-size)
		for i := range list {
			switch h := &list[i]; {
			case h.batch != nil:
				h.batch.Release()
			case unknown(err):
				drop(h.post)
			default:
				post(h.post.To, h.post.Mail)
			}
		}
	})
}

// unknown reports whether an error leaves open what the journal has: other errors are the same on all nodes.
func unknown(err error) bool {
	return errors.Is(err, store.ErrLost) || errors.Is(err, store.ErrClosed)
}

// drop gives up a mail that is never sent.
func drop(p mail.Post) {
	if d, ok := p.Mail.(*mail.Deliver); ok {
		d.Release()
	}
}
