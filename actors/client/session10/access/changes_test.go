package access

import (
	"fmt"
	"testing"
)

// Changes concern the addresses that they cover; with too many changes to keep apart, all addresses are concerned.
func TestChanges(t *testing.T) {
	var c Changes
	if c.Any() || c.Concern("q") {
		t.Error("nothing has changed")
	}
	for range 3 * maxScopes {
		c.Add("sb://host/q", "t")
	}
	if !c.Any() || !c.Concern("q/$management") || !c.Concern("t/Subscriptions/s") || c.Concern("other") {
		t.Errorf("%+v", c)
	}
	for i := range 1000 {
		c.Add(fmt.Sprint("q", i))
	}
	if len(c.scopes) > maxScopes || !c.Concern("other") {
		t.Errorf("%d scopes are kept", len(c.scopes))
	}
	if c.Clear(); c.Any() {
		t.Error("they are not forgotten")
	}
}
