package sessions

import "container/list"

// Page is a list of sessions that is being made, over several turns. At most one is, of a Set: the newest.
type Page struct {
	IDs []string // so far

	set         *Set
	at          *list.Element // that comes next
	since       int64
	skip, limit int
}

// List begins a list of the ids of sessions in the order in which they came, skip of them left out, limit at most: those with messages or a state, or with
// since, those only whose state was set then or later, in wall ms.
func (s *Set) List(since int64, skip, limit int) *Page {
	s.page = &Page{set: s, at: s.all.Front(), since: since, skip: skip, limit: limit}
	return s.page
}

// Step looks at so many sessions, and reports whether the list is done. Between two steps sessions may come and be forgotten.
func (p *Page) Step(most int) (done bool) {
	for ; p.at != nil && len(p.IDs) < p.limit && most > 0; most-- {
		x := p.at.Value.(*Session)
		p.at = p.at.Next()
		if p.since == 0 && x.count == 0 && !x.state.kept() || p.since > 0 && (!x.state.kept() || x.state.updated < p.since) {
			continue
		}
		if p.skip--; p.skip < 0 {
			p.IDs = append(p.IDs, x.ID)
		}
	}
	if done = p.at == nil || len(p.IDs) >= p.limit; done && p.set.page == p {
		p.set.page = nil
	}
	return done
}

// without has the list go on behind a session that is forgotten.
func (p *Page) without(x *Session) {
	if p != nil && p.at == x.at {
		p.at = x.at.Next()
	}
}
