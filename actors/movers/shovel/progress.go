package shovel

import "errors"

// progress tracks the messages of a session. The destination's answers arrive in the order of publishing, because the
// client library sorts them.
type progress struct {
	waiting []uint64 // delivery tags of unanswered publishes, in order
	answers uint64   // number of answers; the next is for answers+1
	// refused are the tags of messages refused by the destination; they are returned to the source a little later.
	refused []uint64
	acked   uint64 // all tags up to this one may be acknowledged together; 0 for none
	// toTake and toMove are the numbers of messages still to be taken and to be moved; negative for no limit.
	toTake, toMove int64
}

func newProgress(count int64) *progress { return &progress{toTake: count, toMove: count} }

// open reports whether more messages are to be taken.
func (p *progress) open() bool { return p.toTake != 0 }

// done reports whether all messages are moved.
func (p *progress) done() bool { return p.toMove == 0 }

// take counts a message that was taken.
func (p *progress) take() {
	if p.toTake > 0 {
		p.toTake--
	}
}

// moved counts a message that was moved, confirmed or not.
func (p *progress) moved() {
	if p.toMove > 0 {
		p.toMove--
	}
}

// publish records the publish of a message, which waits for an answer.
func (p *progress) publish(tag uint64) { p.waiting = append(p.waiting, tag) }

var errStrange = errors.New("the destination confirmed a message that was not published")

// answer handles the answer to a publish. It returns the tag to be acknowledged at once, 0 for none: settle may return
// it later.
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
			p.toTake++ // this message or another has to be taken again
		}
		return 0, nil
	case len(p.refused) > 0: // refused messages may have lower tags, and must not be acknowledged with it
		p.moved()
		return tag, nil
	}
	p.moved()
	p.acked = tag
	return 0, nil
}

// settle returns the tag up to which all messages may be acknowledged, 0 for none.
func (p *progress) settle() uint64 {
	tag := p.acked
	p.acked = 0
	return tag
}

// takeUnsettled returns the tags to be returned to the source.
func (p *progress) takeUnsettled() []uint64 {
	tags := p.refused
	p.refused = nil
	return tags
}
