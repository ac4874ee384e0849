package shovel

import "errors"

// progress knows what a session has taken and what became of it. The destination's answers come in the order of publishing, as the client
// library sorts them.
type progress struct {
	waiting []uint64 // delivery tags of what is published and not answered, in that order
	answers uint64   // that have come; the next one is for this number and 1
	// refused are the tags of what the destination did not take; they go back to the source a little later.
	refused []uint64
	acked   uint64 // all tags up to this one may be acknowledged together; 0 for none
	// toTake and toMove are how many messages are still to be taken and to be moved; negative without an end.
	toTake, toMove int64
}

func newProgress(count int64) *progress { return &progress{toTake: count, toMove: count} }

// open tells whether there is more to be taken.
func (p *progress) open() bool { return p.toTake != 0 }

// done tells whether everything is moved.
func (p *progress) done() bool { return p.toMove == 0 }

// take notes that a message was taken.
func (p *progress) take() {
	if p.toTake > 0 {
		p.toTake--
	}
}

// moved notes that a message was moved, without an answer or with one.
func (p *progress) moved() {
	if p.toMove > 0 {
		p.toMove--
	}
}

// publish notes that a message that was taken is published, and waits for an answer.
func (p *progress) publish(tag uint64) { p.waiting = append(p.waiting, tag) }

var errStrange = errors.New("the destination answered for what was not published")

// answer notes what became of a publish. The tag is to be acknowledged at once, 0 for none: it may be among those of settle.
func (p *progress) answer(number uint64, taken bool) (tag uint64, err error) {
	if number != p.answers+1 || len(p.waiting) == 0 {
		return 0, errStrange
	}
	p.answers++
	tag, p.waiting = p.waiting[0], p.waiting[1:]
	switch {
	case !taken:
		p.refused = append(p.refused, tag)
		if p.toTake >= 0 {
			p.toTake++ // it, or another, has to be taken again
		}
		return 0, nil
	case len(p.refused) > 0: // they may have lower tags, and are not to be acknowledged along
		p.moved()
		return tag, nil
	}
	p.moved()
	p.acked = tag
	return 0, nil
}

// settle is the tag up to which everything is to be acknowledged, 0 for none.
func (p *progress) settle() uint64 {
	tag := p.acked
	p.acked = 0
	return tag
}

// giveBack are the tags of what is to go back to the source.
func (p *progress) giveBack() []uint64 {
	tags := p.refused
	p.refused = nil
	return tags
}
