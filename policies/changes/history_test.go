package changes

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"candlemark/policies"
)

// story is a set of policies with its history.
type story struct {
	*testing.T
	set *policies.Policies
	log Log
}

// become replaces the set; of are the policies that may have changed.
func (s *story) become(next *policies.Policies, of ...*policies.Policy) {
	s.Helper()
	edits := Between(s.set, next, of)
	if len(edits) == 0 {
		s.Fatal("nothing has changed")
	}
	s.log, _ = s.log.With(New("/", 7, edits))
	s.set = next
}

func (s *story) put(name string, length int, operator bool) {
	s.Helper()
	p := parsed(s.T, name, fmt.Sprintf(`{"pattern":".","definition":{"max-length":%d}}`, length), operator)
	s.become(s.set.With(p), p)
}

// undo undoes a change, expects an error, "" for none, and then these policies.
func (s *story) undo(id uint64, fault, want string) {
	s.Helper()
	next, of, err := s.log.Undo(s.set, id, true)
	switch {
	case err != nil && err.Error() != fault || err == nil && fault != "":
		s.Errorf("undo %d: %v", id, err)
	case err == nil:
		s.become(next, of...)
	}
	var got []string
	for _, p := range append(s.set.Policies(false), s.set.Policies(true)...) {
		got = append(got, fmt.Sprintf("%s %s", p.Name, p.Definition))
	}
	if strings.Join(got, ", ") != want {
		s.Errorf("undo %d: got %s, want %s", id, got, want)
	}
}

// TestUndo_POL21 undoes changes that set, replaced and cleared policies, and undone changes; undoing is refused if a
// policy was changed later.
func TestUndo_POL21(t *testing.T) {
	s := &story{T: t, set: policies.NewSet("/")}
	s.put("a", 1, false)                                             // 1
	s.put("a", 2, false)                                             // 2
	s.put("cap", 9, true)                                            // 3
	s.become(s.set.Without(false, "a"), &policies.Policy{Name: "a"}) // 4
	const both = `a {"max-length":2}, cap {"max-length":9}`
	s.undo(1, "policy 'a' has changed since change 1: see change 4", `cap {"max-length":9}`)
	s.undo(4, "", both) // 5
	s.undo(4, "policy 'a' has changed since change 4: see change 5", both)
	s.undo(2, "", `a {"max-length":1}, cap {"max-length":9}`) // 6: the policy is as change 2 left it
	s.undo(6, "", both)                                       // 7
	s.undo(99, ErrUnknown.Error(), both)
	if _, _, err := s.log.Undo(s.set, 3, false); !errors.Is(err, ErrOperator) {
		t.Error(err)
	}
	s.put("cap", 8, true) // 8
	s.undo(3, "operator policy 'cap' has changed since change 3: see change 8", `a {"max-length":2}, cap {"max-length":8}`)
	s.undo(8, "", both)
	s.undo(3, "", `a {"max-length":2}`)
	if n := len(Between(s.set, s.set, []*policies.Policy{{Name: "a"}, {Name: "none"}})); n > 0 {
		t.Errorf("%d edits of nothing", n)
	}
}

// TestUndoOfMany_POL21 asserts that a change of several policies is undone completely or not at all.
func TestUndoOfMany_POL21(t *testing.T) {
	s := &story{T: t, set: policies.NewSet("/")}
	s.put("a", 1, false)
	set, of := s.set, []*policies.Policy(nil)
	for _, name := range []string{"a", "b", "c"} {
		p := parsed(t, name, `{"pattern":".","definition":{"max-length":5}}`, false)
		set, of = set.With(p), append(of, p)
	}
	s.become(set, of...) // 2
	s.put("b", 6, false) // 3
	s.undo(2, "policy 'b' has changed since change 2: see change 3", `a {"max-length":5}, b {"max-length":6}, c {"max-length":5}`)
	s.undo(3, "", `a {"max-length":5}, b {"max-length":5}, c {"max-length":5}`)
	s.undo(2, "", `a {"max-length":1}`)
}

// TestHistoryIsBounded: the number and the size of kept changes are bounded; the numbers of changes continue.
func TestHistoryIsBounded(t *testing.T) {
	s := &story{T: t, set: policies.NewSet("/")}
	for n := range MaxKept + 5 {
		s.put("a", n, false)
	}
	if len(s.log) != MaxKept || s.log[0].ID != 6 || s.log[MaxKept-1].ID != MaxKept+5 {
		t.Errorf("%d from %d", len(s.log), s.log[0].ID)
	}
	many, of := s.set, []*policies.Policy(nil)
	for n := range 1000 {
		p := parsed(t, fmt.Sprint("p", n), `{"pattern":"`+strings.Repeat("x", MaxBytes/1000)+`","definition":{"max-length":1}}`, false)
		many, of = many.With(p), append(of, p)
	}
	s.become(many, of...)
	last := s.log[len(s.log)-1]
	if last.Count != 1000 || last.Edits != nil {
		t.Errorf("%+v", last)
	}
	if _, _, err := s.log.Undo(s.set, last.ID, true); !errors.As(err, new(*Conflict)) || err.Error() != "change 56 of 1000 policies was too large to be recorded, so it cannot be undone" {
		t.Error(err)
	}
	s.set = s.set.Without(false, "a")
	if _, _, err := s.log.Undo(s.set, 55, true); err == nil || err.Error() != "policy 'a' has changed since change 55" {
		t.Error(err)
	}
}

// TestStoredChange asserts that a change is read as it was written.
func TestStoredChange(t *testing.T) {
	o := parsed(t, "o", `{"pattern":"<.>","definition":{"max-length":1}}`, true)
	a := parsed(t, "a", `{"pattern":"x","definition":{"expires":1},"priority":3}`, false)
	c := New("/", 5, []Edit{{Before: o}, {Before: a, After: a}})
	c.Undoes, c.By = 3, By{"u", "amqp"}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Restore("/", 7, text)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := json.Marshal(back)
	if string(again) != string(text) || back.Count != 2 || !back.Edits[0].Before.Equal(o) || back.Edits[0].After != nil ||
		!back.Edits[1].After.Equal(a) || back.By != c.By {
		t.Errorf("%s\n%s", text, again)
	}
	if log := Restored([]*Change{{ID: 12}, back, {ID: 9}}); log[0].ID != 7 || log[2].ID != 12 {
		t.Error("not in order")
	}
	for _, wrong := range []string{`[]`, `{"edits":[{"name":"x"}]}`, `{"edits":[{"name":"x","before":{}}]}`} {
		if _, err := Restore("/", 1, []byte(wrong)); err == nil {
			t.Errorf("%s was read", wrong)
		}
	}
}
