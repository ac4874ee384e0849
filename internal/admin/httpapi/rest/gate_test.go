package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/config"
	"candlemark/internal/transport/budget"

	"github.com/rs/zerolog"
)

// A user collects one answer at a time, all users four; the others wait in turn, and a place that nobody waits for is free.
func TestGate_ACC12(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		var mu sync.Mutex
		var began []string
		begin := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			began = append(began, what)
		}
		ask := func(user string, wait time.Duration) {
			ctx, cancel := context.WithTimeout(context.Background(), wait)
			go func() {
				defer cancel()
				if err := g.enter(ctx, user); err != nil {
					begin(user + " gave up")
					return
				}
				begin(user)
				if user != "greedy" { // who therefore leaves first
					time.Sleep(time.Second / 10)
				}
				time.Sleep(time.Second)
				g.leave(user)
			}()
			synctest.Wait()
		}
		for range 5 {
			ask("greedy", time.Minute)
		}
		for i := range 4 {
			ask(fmt.Sprint("u", i), time.Minute)
		}
		ask("u4", time.Second/2)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := fmt.Sprint(began); got != "[greedy u0 u1 u2 u4 gave up greedy u3 greedy greedy greedy]" {
			t.Error(got)
		}
		if len(g.running) != 0 || g.counted != 0 || len(g.waiting) != 0 {
			t.Errorf("%v %d %v", g.running, g.counted, g.waiting)
		}
	})
}

// Turns that last keep other users waiting for turnTime, and their own users until they end.
func TestSlowTurns_ACC12(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		ctx, cancel := context.WithTimeout(t.Context(), collectTime)
		defer cancel()
		for i := range collections {
			if err := g.enter(ctx, fmt.Sprint("slow", i)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 2 * collections {
			began, user := time.Now(), fmt.Sprint("u", i)
			if err := g.enter(ctx, user); err != nil || time.Since(began) != turnTime && i == 0 || time.Since(began) != 0 && i > 0 {
				t.Error(i, err, time.Since(began))
			}
			g.leave(user)
		}
		if err := g.enter(ctx, "slow0"); err == nil {
			t.Error("a user has two turns")
		}
		for i := range collections {
			g.leave(fmt.Sprint("slow", i))
		}
		if len(g.running) != 0 || g.counted != 0 {
			t.Errorf("%v %d", g.running, g.counted)
		}
	})
}

// roomy is a stub with a budget for what clients do not read.
type roomy struct {
	stub
	unread *budget.Unread
}

func (r roomy) Unread() *budget.Unread { return r.unread }

// unreading is a client whose socket takes small answers, and that reads nothing of others.
type unreading struct {
	http.ResponseWriter
	gone chan struct{}
	cut  sync.Once
}

func (u *unreading) SetWriteDeadline(at time.Time) error {
	if at.Before(time.Now()) {
		u.cut.Do(func() { close(u.gone) })
	}
	return nil
}

func (u *unreading) Write(b []byte) (int, error) {
	if len(b) < 1000 {
		return u.ResponseWriter.Write(b)
	}
	select {
	case <-u.gone:
	case <-time.After(writing(4 << 20)):
	}
	return 0, errors.New("nobody reads")
}

// TestUnreadAnswers_ACC12: a hundred requests for 4 MB each whose clients do not read make the broker hold the share of their
// user, and do not keep others from reading; whoever reads nothing is cut off when others of the user wait.
func TestUnreadAnswers_ACC12(t *testing.T) {
	const limit, size = 16 << 20, 4 << 20
	synctest.Test(t, func(t *testing.T) {
		b := roomy{unread: budget.NewUnread()}
		b.unread.SetLimit(limit)
		a := New(b, nil, config.Samples{}, zerolog.Nop())
		var made, refused atomic.Int64
		ask := func(user string, w http.ResponseWriter) {
			r := &Request{Request: httptest.NewRequest("GET", "/", nil), API: a, W: w, User: auth.User{Name: user}}
			err := r.begin(&a.lists)
			if err == nil {
				made.Add(1)
			}
			r.respond(Pieces(func(yield func([]byte) bool) { yield(make([]byte, size)) }), err)
			r.collected()
			r.out.Close()
		}
		for range 100 {
			go func() {
				w := httptest.NewRecorder()
				ask("deaf", &unreading{ResponseWriter: w, gone: make(chan struct{})})
				if w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "1" {
					refused.Add(1)
				}
			}()
		}
		synctest.Wait()
		if used := b.unread.Used(); used > limit/2+size || made.Load() > limit/2/size+1 || made.Load() == 0 {
			t.Errorf("%d answers with %d bytes", made.Load(), used)
		}
		w := httptest.NewRecorder()
		ask("other", w)
		if w.Body.Len() != size {
			t.Errorf("another user gets %d bytes", w.Body.Len())
		}
		at, all := time.Duration(0), made.Load()
		for range 9 {
			time.Sleep(time.Second)
			at += time.Second
			b.unread.Look(at)
			synctest.Wait()
		}
		if made.Load() <= all {
			t.Error("nobody was cut off")
		}
		for range 300 {
			time.Sleep(time.Second)
			at += time.Second
			b.unread.Look(at)
		}
		synctest.Wait()
		if used := b.unread.Used(); used != 0 || refused.Load() < 90 || made.Load()+refused.Load() != 101 {
			t.Errorf("%d bytes, %d made, %d refused", used, made.Load(), refused.Load())
		}
	})
}

// TestCharge_ACC12: what is collected counts before it is; who comes later is refused while there is no room.
func TestCharge_ACC12(t *testing.T) {
	b := roomy{unread: budget.NewUnread()}
	b.unread.SetLimit(16 << 20)
	a := New(b, nil, config.Samples{}, zerolog.Nop())
	charge := func(user string, bytes int64) (*Request, error) {
		r := &Request{Request: httptest.NewRequest("GET", "/", nil), API: a, W: httptest.NewRecorder(), User: auth.User{Name: user}}
		return r, r.Charge(bytes)
	}
	first, err := charge("eve", 20<<20)
	if err != nil {
		t.Fatal("the only one", err)
	}
	for _, user := range []string{"eve", "bob"} {
		r, err := charge(user, 1<<20)
		if r != nil {
			defer r.out.Close()
		}
		if user == "bob" { // who holds nothing
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || r.W.Header().Get("Retry-After") != "1" {
			t.Errorf("%s: %v", user, err)
		} else if status, _ := StatusOf(err); status != http.StatusServiceUnavailable {
			t.Error(status)
		}
	}
	first.out.Close()
	if r, err := charge("eve", 1<<20); err != nil {
		t.Error("after it", err)
	} else {
		r.out.Close()
	}
}

// Pieces are one list, which is never null.
func TestPieces_ACC12(t *testing.T) {
	for _, count := range []int{0, 1, atOnce - 1, atOnce, atOnce + 1, 3 * atOnce} {
		var list []int
		for i := range count {
			list = append(list, i)
		}
		var text []byte
		pieces := 0
		for piece := range PiecesOf(list) {
			text = append(text, piece...)
			pieces++
		}
		var got []int
		if err := json.Unmarshal(text, &got); err != nil || got == nil || len(got) != count || pieces > count/atOnce+1 {
			t.Errorf("%d: %s %v", count, text, err)
		}
	}
}

// A list in parts is one list, with any parts empty.
func TestJoined_ACC12(t *testing.T) {
	for want, parts := range map[string][]string{
		"[1,2,3]": {"[1,2]", "[3]"}, "[3]": {"[]", "[3]"}, "[1]": {"[1]", "[]"}, "[]": {"[]", "[]"}, "[2,3]": {"[]", "[2]", "[]", "[3]", "[]"}, "[4]": {"[4]"},
	} {
		got, some := "", false
		for i, part := range parts {
			got += string(joined([]byte(part), i == 0, i == len(parts)-1, &some))
		}
		if got != want {
			t.Errorf("%q: %s", parts, got)
		}
	}
}
