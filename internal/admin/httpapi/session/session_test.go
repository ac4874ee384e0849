package session

import (
	"fmt"
	"strings"
	"testing"
)

const start = 1_800_000_000_000

// A session ends after an idle time, and after its maximum lifetime even if it is used.
func TestSessionsEnd(t *testing.T) {
	var all Table
	token, s := all.Begin("ann", 7, start)
	if len(token) != 43 || s.Ends() != start+Idle {
		t.Errorf("%q %+v", token, s)
	}
	if _, found := all.Look(token, start+Idle-1); !found {
		t.Error("too early")
	}
	if s, found := all.Use(token, start+Idle-1); !found || s.User != "ann" || s.Login != 7 || s.Ends() != start+2*Idle-1 {
		t.Errorf("%v %+v", found, s)
	}
	if _, found := all.Look(token, start+2*Idle-1); found || len(all.all) != 0 {
		t.Error("idle, and there")
	}
	token, _ = all.Begin("ann", 7, start)
	for now := int64(start); now < start+Whole; now += Idle - 1 {
		if _, found := all.Use(token, now); !found {
			t.Errorf("gone after %d ms", now-start)
		}
	}
	if _, found := all.Use(token, start+Whole); found {
		t.Error("used for ever")
	}
	token, _ = all.Begin("ann", 7, start)
	if _, found := all.Use(token+"A", start); found {
		t.Error("another token")
	}
	all.End(token + "A")
	if all.End(token); len(all.all) != 0 {
		t.Error("ended, and there")
	}
}

// The numbers of sessions of one user and of all users are bounded; a new session ends the one that has been idle for longest.
func TestSessionsAreBounded(t *testing.T) {
	var all Table
	first, _ := all.Begin("ann", 1, start)
	second, _ := all.Begin("ann", 1, start+1)
	_, _ = all.Use(first, start+2)
	for i := range MaxOfUser - 1 {
		all.Begin("ann", 1, start+int64(i)+3)
	}
	if _, found := all.Look(first, start+100); !found || len(all.all) != MaxOfUser {
		t.Errorf("%v, %d", found, len(all.all))
	}
	if _, found := all.Look(second, start+100); found {
		t.Error("the oldest is there")
	}
	for i := range 2 * MaxSessions {
		all.Begin(fmt.Sprint("user", i), 1, start+100+int64(i))
	}
	if len(all.all) != MaxSessions {
		t.Errorf("%d sessions", len(all.all))
	}
	all.Begin("late", 1, start+2*Whole)
	if len(all.all) != 1 {
		t.Errorf("%d sessions that are over are kept", len(all.all)-1)
	}
	a, _ := all.Begin("x", 1, start)
	b, _ := all.Begin("x", 1, start)
	if a == b || strings.ContainsAny(a, "+/= ;,\"") {
		t.Errorf("%q %q", a, b)
	}
}
