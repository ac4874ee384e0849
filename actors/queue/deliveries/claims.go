package deliveries

import (
	"cmp"
	"slices"

	"candlemark/actors/queue/backlog"
	"candlemark/actors/queue/consumers"
	"candlemark/actors/queue/content"
	"candlemark/actors/queue/messages"
	"candlemark/actors/queue/records"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/storage/store"
)

// This part takes messages of one queue for an actor that moves them elsewhere.
//
// Owns: an answer in progress. The actor holds the claimed messages as a channel would (consumers). They are not marked
// as redelivered: they are either removed or returned unchanged to their places.
//
// Deadlines: none. A restart loses nothing: claimed messages that were not acknowledged are ready again.

// claimLook is the number of messages that one answer examines.
const claimLook = 4096

// Claim is an answer in progress.
type Claim struct {
	Reply *mail.ClaimReply
	// Want lists contents to be read from the journal before the answer is sent; then Found is called.
	Want    []store.Ref
	missing []int // indexes of Want in the answer
}

// TakeClaim takes the messages that m asks for. open returns the channel that will hold the deliveries, and is called only
// if there are any.
func TakeClaim(m *mail.Claim, set *messages.Messages, of *consumers.Consumers, open func() *consumers.Holder, now clock.Instant) *Claim {
	c := &Claim{Reply: &mail.ClaimReply{Reply: m.Done(nil), Newest: m.Newest, Next: m.After}}
	if c.Reply.Newest == 0 {
		c.Reply.Newest = set.Seq
	}
	handles := c.choose(m, set, now)
	var holder *consumers.Holder
	if len(handles) > 0 && !m.Look {
		holder = open()
		holder.Claims = true
	}
	for i, h := range handles {
		c.show(&set.Backlog, h, i)
		if holder != nil {
			set.Expiry.Remove(h)
			set.Backlog.Take(h)
			c.Reply.Messages[i].Stored = records.StoredAs(set.Backlog.Entry(h))
			c.Reply.Messages[i].Number = of.Hold(holder, consumers.ChannelDelivery{Message: h, Since: consumers.MomentOf(now.Floor())})
		}
	}
	c.sort()
	return c
}

// choose finds the messages and records its progress.
func (c *Claim) choose(m *mail.Claim, set *messages.Messages, now clock.Instant) (handles []backlog.Handle) {
	b := &set.Backlog
	looked, bytes, limit := 0, int64(0), min(max(m.Limit, 1), mail.MaxClaimed)
	b.Behind(backlog.Spot(m.After.Seq), func(h backlog.Handle) bool {
		if looked == claimLook || len(handles) == limit || bytes >= mail.ClaimBytes {
			c.Reply.More = true
			return false
		}
		looked++
		c.Reply.Next = mail.Cursor{Seq: uint64(b.Spot(h))}
		e := b.Entry(h)
		_, wanted := m.Seqs[e.Seq]
		if e.Seq <= c.Reply.Newest && (wanted || m.Seqs == nil) && set.Expiry.Retime(h) > now.Floor() {
			handles = append(handles, h)
			bytes += b.Size(h)
		}
		return true
	})
	return handles
}

// show adds a message to the answer, with its content unless the content must be read first.
func (c *Claim) show(b *backlog.Backlog, h backlog.Handle, at int) {
	shown := mail.ClaimedMessage{}
	if b.IsPaged(h) {
		_, ttl := b.Times(h)
		shown.Message.TTL, shown.Message.Priority = ttl, b.Priority(h)
		c.Want = append(c.Want, store.Ref{Seq: b.Seq(h), At: store.Position(b.Place(h))})
		c.missing = append(c.missing, at)
	} else {
		var r backlog.Record
		b.Get(h, &r)
		shown.Message = content.Message(&r)
	}
	c.Reply.Messages = append(c.Reply.Messages, shown)
}

// sort orders the contents to be read by their place in the journal.
func (c *Claim) sort() {
	places := make([]int, len(c.Want))
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return cmp.Compare(c.Want[a].At, c.Want[b].At) })
	want, missing := c.Want, c.missing
	c.Want, c.missing = nil, nil
	for _, i := range places {
		c.Want, c.missing = append(c.Want, want[i]), append(c.missing, missing[i])
	}
}

// Found adds the contents that were read, in the order of Want.
func (c *Claim) Found(contents []store.Content) {
	for i := range contents {
		m := &c.Reply.Messages[c.missing[i]]
		r, ok := content.Read(&contents[i].Record)
		if contents[i].Err != nil || !ok {
			m.Unreadable = true
			continue
		}
		r.TTL, r.Priority = m.Message.TTL, m.Message.Priority
		r.Released = contents[i].Record.Due != 0
		m.Message = content.Message(&r)
	}
}
