package sessions

import "container/list"

// Page is a list of sessions that is built over several turns. Sessions have at most one: the newest.
type Page struct {
	IDs []string // ids so far

	set         *Sessions
	at          *list.Element // the next session
	since       int64
	skip, limit int
}

// List starts a list of at most limit session ids in the order of creation, omitting the first skip. It lists sessions
// with messages or a state or, unless since is 0, sessions whose state was set at since (wall ms) or later.
func (s *Sessions) List(since int64, skip, limit int) *Page {
	s.page = &Page{set: s, at: s.all.Front(), since: since, skip: skip, limit: limit}
	return s.page
}

// Step examines up to the given number of sessions, and reports whether the list is done. Between two steps sessions
// may be added and removed.
func (p *Page) Step(steps int) (done bool) {
	for ; p.at != nil && len(p.IDs) < p.limit && steps > 0; steps-- {
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

// without moves the list past a session that is about to be removed.
func (p *Page) without(x *Session) {
	if p != nil && p.at == x.at {
		p.at = x.at.Next()
	}
}
