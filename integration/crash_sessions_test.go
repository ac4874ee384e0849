package integration

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// crashQueue has sessions; see withSessions.
const crashQueue = "orders"

// sessionBooks record the answers that one sender and one receiver of a session got while their broker was killed repeatedly.
// Bodies are numbers from 1 on.
type sessionBooks struct {
	*entityBooks
	session string
	sent    int          // number of the latest message
	unsure  map[int]bool // sent without a known outcome
	// tried and stored are session states: the latest one sent, and the latest one confirmed. done is the latest message whose
	// completion was requested.
	tried, stored, done int
}

// TestCrashSessions_SESSION5_SESSION7 kills the broker under load: sessions are delivered in order, none of their messages is
// lost, and their states are the ones stored last.
func TestCrashSessions_SESSION5_SESSION7(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(loggedSeed(t), 3))
	var all []*sessionBooks
	for _, session := range []string{"a", "b", "c"} {
		all = append(all, &sessionBooks{entityBooks: &entityBooks{T: t}, session: session, unsure: map[int]bool{}})
	}
	flags := []string{"--servicebus-config", withSessions(t), "--servicebus-emulator"}
	dir := filepath.Join(t.TempDir(), "data")
	for range *crashRounds {
		b := startIn(t, dir, flags...)
		var working sync.WaitGroup
		var cancels []context.CancelFunc
		for _, k := range all {
			for _, work := range []func(*azure){k.sendOn, k.receiveOn} {
				a, cancel := k.connect(b)
				cancels = append(cancels, cancel)
				working.Go(func() { work(a) })
			}
		}
		<-time.After(time.Duration(300+r.IntN(700)) * time.Millisecond) // chosen by the test
		b.kill()
		for _, cancel := range cancels {
			cancel()
		}
		working.Wait()
	}
	b := startIn(t, dir, flags...)
	for _, k := range all {
		a, cancel := k.connect(b)
		k.sends(a)
		k.receiveAll(a)
		cancel()
		t.Logf("session %s: %d sent, %d unsure, state %d", k.session, k.sent, len(k.unsure), k.stored)
	}
	b.stop()
}

// sendOn sends until the broker is gone, at most as many messages as are received in about that time.
func (k *sessionBooks) sendOn(a *azure) {
	for n := 0; n < 7 && k.sends(a); n++ {
	}
}

// sends sends the next messages.
func (k *sessionBooks) sends(a *azure) bool {
	s, err := a.client.NewSender(crashQueue, nil)
	if err != nil {
		return false
	}
	defer func() { _ = s.Close(a.ctx) }()
	for range 50 {
		k.mu.Lock()
		k.sent++
		n := k.sent
		k.unsure[n] = true
		k.mu.Unlock()
		if s.SendMessage(a.ctx, &azservicebus.Message{Body: []byte(strconv.Itoa(n)), SessionID: &k.session}, nil) != nil {
			return false
		}
		k.mu.Lock()
		delete(k.unsure, n)
		k.mu.Unlock()
	}
	return true
}

// receiveOn receives messages, stores the number of each as the session state and completes it, until the broker is gone.
func (k *sessionBooks) receiveOn(a *azure) {
	r, err := a.client.AcceptSessionForQueue(a.ctx, crashQueue, k.session, nil)
	if err != nil {
		return
	}
	if !k.resumes(a, r) {
		return
	}
	last := -1
	for k.one(a, r, &last) {
	}
}

// resumes checks the state of a session that was locked again.
func (k *sessionBooks) resumes(a *azure, r *azservicebus.SessionReceiver) bool {
	text, err := r.GetSessionState(a.ctx, nil)
	if err != nil {
		return false
	}
	state, _ := strconv.Atoi(string(text)) // no state counts as 0
	if state != k.stored && state != k.tried {
		k.Errorf("the state of %s is %q, stored was %d, and %d tried", k.session, text, k.stored, k.tried)
	}
	k.stored, k.tried = state, state
	return true
}

// one receives one message and checks that it follows last, with none missing between; if last is negative, that it follows the
// completed ones.
func (k *sessionBooks) one(a *azure, r *azservicebus.SessionReceiver, last *int) bool {
	got, err := r.ReceiveMessages(a.ctx, 1, nil)
	if err != nil || len(got) == 0 {
		return false
	}
	n, _ := strconv.Atoi(string(got[0].Body))
	from := *last
	if from < 0 {
		from = min(n-1, k.done) // completions undone by a crash: these messages are delivered again
	}
	if n <= from {
		k.Errorf("%d of %s came behind %d", n, k.session, from)
	}
	k.mu.Lock()
	for missed := from + 1; missed < n; missed++ {
		if !k.unsure[missed] {
			k.Errorf("%d of %s came, %d is missing", n, k.session, missed)
		}
	}
	k.mu.Unlock()
	*last, k.tried = n, n
	if r.SetSessionState(a.ctx, got[0].Body, nil) != nil {
		return false
	}
	k.stored, k.done = n, max(n, k.done)
	return r.CompleteMessage(a.ctx, got[0], nil) == nil
}

// receiveAll receives the remaining messages, up to the last.
func (k *sessionBooks) receiveAll(a *azure) {
	r, err := a.client.AcceptSessionForQueue(a.ctx, crashQueue, k.session, nil)
	a.ok(err)
	if !k.resumes(a, r) {
		k.Fatalf("no state of %s", k.session)
	}
	for last := -1; last < k.sent; {
		if !k.one(a, r, &last) {
			k.Fatalf("%s ends at %d of %d", k.session, last, k.sent)
		}
		if last%100 == 0 {
			a.ok(r.RenewSessionLock(a.ctx, nil))
		}
	}
}
