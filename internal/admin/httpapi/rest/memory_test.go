package rest

import (
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/clock"
	"candlemark/internal/transport/budget"

	"github.com/rs/zerolog"
)

// stub is a broker with only a name and timeouts.
type stub struct{ management.Broker }

func (stub) Unread() *budget.Unread { return nil }

func (stub) NodeName() string { return "candlemark@here" }

func (stub) Clock() *clock.Clock { return clock.New() }

func (stub) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(parent, d)
}

// TestRoomForBodies: the memory held by requests is bounded, in all and for each user, and is released.
func TestRoomForBodies(t *testing.T) {
	a := New(stub{}, nil, config.Samples{}, zerolog.Nop())
	begin := func(user string, body io.Reader, length int64) (*Request, *httptest.ResponseRecorder) {
		plain, w := httptest.NewRequest("POST", "/", body), httptest.NewRecorder()
		plain.ContentLength = length
		return &Request{Request: plain, API: a, W: w, User: auth.User{Name: user}}, w
	}
	var held []*Request
	most := func(user string, length int64) int {
		for n := 0; ; n++ {
			r, w := begin(user, strings.NewReader(strings.Repeat("x", maxBody)), length)
			_, err := r.text(maxBody, decodedJSON)
			held = append(held, r)
			if err != nil {
				r.respond(nil, err)
				if w.Code != 503 || w.Header().Get("Retry-After") == "" {
					t.Errorf("%d %s", w.Code, w.Body)
				}
				return n
			}
		}
	}
	if n := most("greedy", maxBody); n != memoryOfOne/2/maxBody-1 {
		t.Errorf("one user has %d bodies", n)
	}
	if n := most("other", -1); n != (memoryForBodies-memoryOfOne)/2/maxBody {
		t.Errorf("another has %d", n)
	}
	if a.memory.used > memoryForBodies {
		t.Errorf("%d bytes are held", a.memory.used)
	}
	for _, r := range held {
		a.memory.give(r.holder, r.held)
	}
	if a.memory.used != 0 || len(a.memory.by) != 0 {
		t.Errorf("%d bytes are left, %v", a.memory.used, a.memory.by)
	}
	// A request that has sent only one byte holds little memory, even with a large Content-Length.
	slow, body := io.Pipe()
	r, _ := begin("slow", slow, maxPublish)
	read := make(chan bool)
	go func() {
		_, err := r.text(maxPublish, decodedText)
		read <- err == nil
	}()
	_, _ = body.Write([]byte("x"))
	a.memory.mu.Lock()
	used := a.memory.used
	a.memory.mu.Unlock()
	if used > 2*firstRead {
		t.Errorf("%d bytes are held for one", used)
	}
	_ = body.CloseWithError(io.ErrUnexpectedEOF)
	if <-read {
		t.Error("half a body was taken")
	}
}

// TestDecoded: the memory of a body covers what it is decoded to, also while lists grow, whatever the values are; commas in texts
// count nothing.
func TestDecoded(t *testing.T) {
	for _, value := range []string{"[]", "{}", "0", "1000", `""`, `"ab"`, "1.5", "[[]]", `{"a":0}`, "[0]", "true", `{"":{"":[]}}`} {
		n := (1 << 17) / (len(value) + 1)
		for name, text := range map[string]string{
			"list":   `{"a":{"x":[` + strings.Repeat(value+",", n-1) + value + `]}}`,
			"object": `{"a":{` + strings.Repeat(`"k":`+value+`,`, n-1) + `"k":` + value + `}}`,
		} {
			b := &Body{}
			before := live()
			if err := json.Unmarshal([]byte(text), &b.Fields); err != nil {
				t.Fatal(err)
			}
			table := b.Table("a")
			taken := live() - before
			if got := decodedJSON([]byte(text)); b.Err != nil || got < taken*3/2 {
				t.Errorf("%s of %s: %d bytes of text take %d, %d are counted; %v", name, value, len(text), taken, got, b.Err)
			}
			runtime.KeepAlive(table)
			runtime.KeepAlive(b)
		}
	}
	if got := decodedText([]byte(`{"payload":"[1,2,3,{\":,,,"}`)); got > 3*28+4*valueMemory {
		t.Error(got)
	}
}

// live returns the bytes of all objects.
func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestRoomIsGivenBack asserts that the handler releases the memory of a request after any answer.
func TestRoomIsGivenBack(t *testing.T) {
	users := auth.NewUsers(auth.Options{})
	_ = users.Found(auth.Guest())
	a := New(stub{}, users, config.Samples{}, zerolog.Nop())
	asked := int64(0)
	h := a.Serve(Put("/", Anybody, func(r *Request) (any, error) {
		b := r.JSON("needed")
		asked += r.held
		return b.Fields, b.Err
	}))
	for _, body := range []string{`{"needed":1}`, "{", "{}", strings.Repeat("x", maxBody+1), ""} {
		r, w := httptest.NewRequest("PUT", "/", strings.NewReader(body)), httptest.NewRecorder()
		r.SetBasicAuth("guest", "guest")
		h.ServeHTTP(w, r)
		if a.memory.used != 0 {
			t.Errorf("%d bytes are left after %d %s", a.memory.used, w.Code, w.Body)
		}
	}
	if asked == 0 {
		t.Error("nobody has held anything")
	}
}

// A login by form holds memory before its user is known, and releases all of it.
func TestMemoryOfLogins(t *testing.T) {
	users := auth.NewUsers(auth.Options{})
	if err := users.Found(auth.Guest()); err != nil {
		t.Fatal(err)
	}
	a := New(stub{}, users, config.Samples{}, zerolog.Nop())
	h := a.Serve(OpenPost("/", func(r *Request) (any, error) { return "ok", r.LogInWithForm() }))
	for _, password := range []string{"guest", "wrong"} {
		r, w := httptest.NewRequest("POST", "/", strings.NewReader("username=guest&password="+password)), httptest.NewRecorder()
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		h.ServeHTTP(w, r)
		if (w.Code == 200) != (password == "guest") || a.memory.used != 0 || len(a.memory.by) != 0 {
			t.Errorf("%s: %d, %d bytes are left, %v", password, w.Code, a.memory.used, a.memory.by)
		}
	}
}
