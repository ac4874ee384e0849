package changes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"candlemark/policies"
)

// Limits of a history.
const (
	// MaxKept is the maximum number of changes in the history of a virtual host.
	MaxKept = 50
	// MaxBytes is the maximum total size of the policies of one change, in their item form, that is kept.
	MaxBytes = 128 << 10
)

// Edit replaces, adds or removes one policy; nil for none there.
type Edit struct{ Before, After *policies.Policy }

// Policy returns the policy after the edit or, if it was removed, before it.
func (e Edit) Policy() *policies.Policy {
	if e.After != nil {
		return e.After
	}
	return e.Before
}

// Between returns the edits of policies, identified by name and kind; unchanged ones are left out.
func Between(before, after *policies.Policies, of []*policies.Policy) (edits []Edit) {
	for _, p := range of {
		e := Edit{before.Lookup(p.Operator, p.Name), after.Lookup(p.Operator, p.Name)}
		if !e.Before.Equal(e.After) {
			edits = append(edits, e)
		}
	}
	return edits
}

// By is the user that made the change, with the interface, as internal/measure/events names them; "" for none.
type By struct {
	User      string `json:"user"`
	Interface string `json:"interface"`
}

// Change is one change of the policies of a virtual host in its history. It is immutable.
type Change struct {
	VHost string
	ID    uint64 // from 1, never reused while the virtual host exists
	At    int64  // wall ms
	By
	Undoes uint64 // the change that it undid, 0 for none
	Count  int    // of the policies that have changed
	Edits  []Edit // empty if too large to be kept
}

// New returns a change that makes these edits, at least one. Log.With sets the number, the caller sets By.
func New(vhost string, at int64, edits []Edit) *Change {
	c := &Change{VHost: vhost, At: at, Count: len(edits)}
	size := 0
	for _, e := range edits {
		for _, p := range []*policies.Policy{e.Before, e.After} {
			if form, err := json.Marshal(p); err == nil {
				size += len(form)
			}
		}
	}
	if size <= MaxBytes {
		c.Edits = edits
	}
	return c
}

// Log is the history of a virtual host, oldest change first, at most MaxKept. It is immutable: With returns another
// one.
type Log []*Change

// Restored returns the log of stored changes, which come in any order.
func Restored(stored []*Change) Log {
	log := slices.Clone(stored)
	slices.SortFunc(log, func(a, b *Change) int { return cmp.Compare(a.ID, b.ID) })
	return log
}

// With returns the log with another change, which gets its number, and the changes that were dropped for it.
func (l Log) With(c *Change) (next Log, dropped []*Change) {
	c.ID = 1
	if len(l) > 0 {
		c.ID = l[len(l)-1].ID + 1
	}
	n := max(len(l)+1-MaxKept, 0)
	return append(slices.Clone(l[n:]), c), l[:n]
}

// Errors of Undo besides a *Conflict.
var (
	ErrUnknown  = errors.New("no such change in the history")
	ErrOperator = errors.New("only administrators may undo changes of operator policies")
)

// Conflict is the reason why a change cannot be undone now.
type Conflict struct{ text string }

// Error implements error.
func (c *Conflict) Error() string { return c.text }

// Undo returns the set with the policies as they were before a change, and those policies; operators permits changes of
// operator policies. Errors: ErrUnknown, ErrOperator, or a *Conflict if the edits were not kept or one of its policies
// has changed since.
func (l Log) Undo(set *policies.Policies, id uint64, operators bool) (*policies.Policies, []*policies.Policy, error) {
	i := slices.IndexFunc(l, func(c *Change) bool { return c.ID == id })
	if i < 0 {
		return nil, nil, ErrUnknown
	}
	c := l[i]
	if len(c.Edits) == 0 {
		return nil, nil, &Conflict{fmt.Sprintf("change %d of %d policies was too large to be recorded, so it cannot be undone", id, c.Count)}
	}
	var of []*policies.Policy
	for _, e := range c.Edits {
		p := e.Policy()
		if p.Operator && !operators {
			return nil, nil, ErrOperator
		}
		if !set.Lookup(p.Operator, p.Name).Equal(e.After) {
			return nil, nil, l.conflict(i, p)
		}
		of = append(of, p)
	}
	for _, e := range c.Edits {
		if e.Before != nil {
			set = set.With(e.Before)
		} else {
			set = set.Without(e.After.Operator, e.After.Name)
		}
	}
	return set, of, nil
}

// conflict names the last change since the one at i that is known to be about a policy.
func (l Log) conflict(i int, p *policies.Policy) error {
	kind := "policy"
	if p.Operator {
		kind = "operator policy"
	}
	text := fmt.Sprintf("%s '%s' has changed since change %d", kind, p.Name, l[i].ID)
	for _, later := range slices.Backward(l[i+1:]) {
		if slices.ContainsFunc(later.Edits, func(e Edit) bool { return e.Policy().Operator == p.Operator && e.Policy().Name == p.Name }) {
			return &Conflict{fmt.Sprintf("%s: see change %d", text, later.ID)}
		}
	}
	return &Conflict{text}
}

// record is the stored form of a change, without the virtual host and the number, which are its key.
type record struct {
	At int64 `json:"at"`
	By
	Undoes uint64       `json:"undoes,omitempty"`
	Count  int          `json:"count"`
	Edits  []editRecord `json:"edits,omitempty"`
}

type editRecord struct {
	Name     string          `json:"name"`
	Operator bool            `json:"operator,omitempty"`
	Before   json.RawMessage `json:"before"` // null for none
	After    json.RawMessage `json:"after"`
}

// MarshalJSON implements json.Marshaler: the form that is stored.
func (c *Change) MarshalJSON() ([]byte, error) {
	r := record{At: c.At, By: c.By, Undoes: c.Undoes, Count: c.Count}
	for _, e := range c.Edits {
		before, err := json.Marshal(e.Before)
		if err != nil {
			return nil, err
		}
		after, err := json.Marshal(e.After)
		if err != nil {
			return nil, err
		}
		r.Edits = append(r.Edits, editRecord{e.Policy().Name, e.Policy().Operator, before, after})
	}
	return json.Marshal(r)
}

// Restore reads a change that was stored under its virtual host and number.
func Restore(vhost string, id uint64, stored []byte) (*Change, error) {
	var r record
	if err := json.Unmarshal(stored, &r); err != nil {
		return nil, err
	}
	c := &Change{VHost: vhost, ID: id, At: r.At, By: r.By, Undoes: r.Undoes, Count: r.Count}
	for _, form := range r.Edits {
		var e Edit
		for _, side := range []struct {
			form json.RawMessage
			into **policies.Policy
		}{{form.Before, &e.Before}, {form.After, &e.After}} {
			if len(side.form) == 0 || bytes.Equal(side.form, []byte("null")) {
				continue
			}
			p, err := policies.Restore(vhost, form.Name, form.Operator, side.form)
			if err != nil {
				return nil, err
			}
			*side.into = p
		}
		if e.Policy() == nil {
			return nil, errors.New("a stored change names no policy")
		}
		c.Edits = append(c.Edits, e)
	}
	return c, nil
}
