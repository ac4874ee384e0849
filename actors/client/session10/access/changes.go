package access

import (
	"slices"

	"candlemark/internal/access/grants"
)

// maxScopes is the maximum number of pending scopes; beyond that all addresses are checked.
const maxScopes = 32

// Changes are scopes with changed access: links to addresses in these scopes have to be checked again. The zero value
// is empty.
type Changes struct{ scopes []string }

// Add adds scopes with changed access.
func (c *Changes) Add(scopes ...string) {
	for _, s := range scopes {
		if !slices.Contains(c.scopes, s) {
			c.scopes = append(c.scopes, s)
		}
	}
	if len(c.scopes) > maxScopes {
		c.scopes = []string{""}
	}
}

// Any reports whether there are any changes.
func (c *Changes) Any() bool { return len(c.scopes) > 0 }

// Concern reports whether an address is in one of the scopes.
func (c *Changes) Concern(address string) bool {
	return slices.ContainsFunc(c.scopes, func(s string) bool { return grants.Covers(s, address) })
}

// Clear removes all scopes.
func (c *Changes) Clear() { c.scopes = nil }
