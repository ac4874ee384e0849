package auth

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// from returns a peer at an address.
func from(address string) Peer {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		panic(err)
	}
	return Peer{Addr: a}
}

// attempt tries a password and returns how long the login took.
func attempt(u *Users, name, password string, peer Peer) (time.Duration, error) {
	start := time.Now()
	_, err := u.Authenticate("PLAIN", []byte("\x00"+name+"\x00"+password), peer)
	return time.Since(start), err
}

// throttled returns Users with alice and bob, whose passwords are their names.
func throttled(onRefusals func(string, int)) *Users {
	u := NewUsers(Options{Throttled: onRefusals})
	_ = u.Found(Guest())
	for _, name := range []string{"alice", "bob"} {
		if _, err := u.PutAccount(Account{Name: name, Hash: HashPassword(name)}); err != nil {
			panic(err)
		}
	}
	return u
}

// looked returns how many of the logins had their passwords checked.
func looked(errs ...error) (n int) {
	for _, err := range errs {
		if !errors.Is(err, ErrThrottled) {
			n++
		}
	}
	return n
}

// TestGuessingIsSlow: a client that guesses one password on many connections, and disconnects instead of waiting, has
// no more passwords checked than the rate limit allows.
func TestGuessingIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := throttled(nil)
		var mu sync.Mutex
		n, total := 0, 0
		const minutes = 10
		for range minutes * 60 {
			var all sync.WaitGroup
			for i := range 50 {
				peer, gone := from(fmt.Sprintf("192.0.2.1:%d", 1000+i)), make(chan struct{})
				peer.Gone = gone
				all.Go(func() {
					_, err := attempt(u, "alice", fmt.Sprint(i), peer)
					mu.Lock()
					defer mu.Unlock()
					total++
					n += looked(err)
				})
				if i%2 == 0 {
					close(gone)
				}
			}
			time.Sleep(time.Second)
		}
		time.Sleep(maxWait)
		mu.Lock()
		defer mu.Unlock()
		if most := pairFree + minutes*60 + int(maxWait/pairCost) + 1; n > most || n < pairFree || total != minutes*60*50 {
			t.Errorf("%d of %d passwords were looked at, at most %d may be", n, total, most)
		}
	})
}

// TestGuessingNamesIsSlow asserts that guessing user names is limited, too, even from all addresses of an IPv6 network.
func TestGuessingNamesIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := throttled(nil)
		n := 0
		start := time.Now()
		for i := range 5000 {
			_, err := attempt(u, fmt.Sprint("user", i), "x", from(fmt.Sprintf("[2001:db8:0:1::%x]:1", i+1)))
			n += looked(err)
		}
		if most := sourceFree + int(time.Since(start)/sourceCost) + 1; n > most || n < sourceFree {
			t.Errorf("%d passwords were looked at in %s, at most %d may be", n, time.Since(start), most)
		}
	})
}

// TestNobodyIsLockedOut: during guessing, the right password is accepted at once from other addresses, and from the
// same address for users who logged in from there before; afterwards, for all users within a bounded time.
func TestNobodyIsLockedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := throttled(nil)
		here := from("192.0.2.1:1")
		if took, err := attempt(u, "bob", "bob", here); took != 0 || err != nil {
			t.Fatal(took, err)
		}
		var all sync.WaitGroup
		for i := range 500 { // 300 distinct names and 200 times alice
			name := "alice"
			if i%5 < 3 {
				name = fmt.Sprint(i)
			}
			all.Go(func() { _, _ = attempt(u, name, "x", here) })
		}
		synctest.Wait()
		if took, err := attempt(u, "bob", "bob", here); took != 0 || err != nil {
			t.Errorf("bob, who has been here, waited %s: %v", took, err)
		}
		if took, err := attempt(u, "alice", "alice", from("192.0.2.2:1")); took != 0 || err != nil {
			t.Errorf("alice from elsewhere waited %s: %v", took, err)
		}
		if _, err := attempt(u, "alice", "alice", here); !errors.Is(err, ErrThrottled) || !errors.Is(err, ErrRefused) {
			t.Errorf("alice beside the guessing: %v", err)
		}
		all.Wait()
		if took, err := attempt(u, "alice", "alice", here); took > maxWait || err != nil {
			t.Errorf("alice after the guessing waited %s: %v", took, err)
		}
		time.Sleep(time.Minute)
		if took, err := attempt(u, "alice", "alice", here); took != 0 || err != nil {
			t.Errorf("alice a minute later waited %s: %v", took, err)
		}
	})
}

// TestRightPasswordsNeverWait asserts that logins with the right password are never delayed, even if many come from few
// addresses.
func TestRightPasswordsNeverWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := throttled(nil)
		var all sync.WaitGroup
		for i := range 2000 {
			all.Go(func() {
				if took, err := attempt(u, "alice", "alice", from(fmt.Sprintf("192.0.2.%d:1", i%3+1))); took != 0 || err != nil {
					t.Errorf("waited %s: %v", took, err)
				}
			})
		}
		all.Wait()
		if len(u.throttle.debts) != 0 {
			t.Errorf("%d debts", len(u.throttle.debts))
		}
	})
}

// TestThrottleIsBounded: the tables have a maximum size, for any number of sources and names.
func TestThrottleIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := throttled(func(string, int) {})
		for i := range maxDebts + 2000 {
			peer := from(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255))
			_, _ = attempt(u, fmt.Sprint(i), "x", peer)
			_, _ = attempt(u, "alice", "alice", peer)
		}
		x := u.throttle
		if len(x.debts) > maxDebts || len(x.known) > maxKnown || len(x.refused) > maxKnown {
			t.Errorf("%d debts, %d known, %d refused", len(x.debts), len(x.known), len(x.refused))
		}
	})
}

// TestRefusalsAreReportedOnce asserts that refusals are reported in intervals, with their number.
func TestRefusalsAreReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reports := map[string][]int{}
		u := throttled(func(source string, refused int) { reports[source] = append(reports[source], refused) })
		refused, start := 0, time.Now()
		for range 50 {
			var all sync.WaitGroup
			for range 100 {
				all.Go(func() { _, _ = attempt(u, "alice", "x", from("192.0.2.1:1")) })
			}
			all.Wait()
		}
		time.Sleep(time.Minute) // the last refusals are reported, and the timer ends
		u.throttle.mu.Lock()
		defer u.throttle.mu.Unlock()
		lines := reports["192.0.2.1/32"]
		for _, n := range lines {
			refused += n
		}
		if len(reports) != 1 || refused < 3000 || len(lines) < 2 || lines[0] != 1 || u.throttle.timer != nil || len(u.throttle.refused) != 0 {
			t.Errorf("reports %v", reports)
		}
		if most := int(time.Since(start)/reportInterval) + 2; len(lines) > most {
			t.Errorf("%d lines", len(lines))
		}
	})
}
