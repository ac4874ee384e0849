package access

import (
	"slices"

	"candlemark/internal/servicebus/grants"
)

// mostScopes is how many scopes are kept apart while they wait; beyond that all addresses are looked at.
const mostScopes = 32

// Changes are scopes where something has changed, so that links to addresses which they cover have to be checked anew. The zero value has none.
type Changes struct{ scopes []string }

// Add adds scopes.
func (c *Changes) Add(scopes ...string) {
	for _, s := range scopes {
		if !slices.Contains(c.scopes, s) {
			c.scopes = append(c.scopes, s)
		}
	}
	if len(c.scopes) > mostScopes {
		c.scopes = []string{""}
	}
}

// Any tells whether there are some.
func (c *Changes) Any() bool { return len(c.scopes) > 0 }

// Concern tells whether one of them covers an address.
func (c *Changes) Concern(address string) bool {
	return slices.ContainsFunc(c.scopes, func(s string) bool { return grants.Covers(s, address) })
}

// Clear forgets them.
func (c *Changes) Clear() { c.scopes = nil }
