package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/measure/clock"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/session"
	"candlemark/internal/measure/events"

	"github.com/rs/zerolog"
)

// sessionFixture is a broker with a clock and an event hub.
type sessionFixture struct {
	*fake
	hub *events.Hub
	h   http.Handler
}

func newSessionFixture(t *testing.T) *sessionFixture {
	t.Helper()
	s := &sessionFixture{fake: newFixture(t), hub: events.NewHub(events.Config{Now: func() int64 { return 1 }})}
	for name, tags := range map[string][]string{"ann": {"administrator"}, "eve": nil} {
		if _, err := s.users.PutAccount(auth.Account{Name: name, Hash: auth.HashPassword(name), Tags: tags}); err != nil {
			t.Fatal(err)
		}
	}
	s.h = NewHandler(s, s.users, zerolog.Nop())
	return s
}

func (s *sessionFixture) Events() *events.Hub { return s.hub }

func (s *sessionFixture) Clock() *clock.Clock { return clock.New() }

// ask makes a request as a browser with a cookie does; headers are names and values in turn.
func (s *sessionFixture) ask(method, path, body string, cookie *http.Cookie, headers ...string) *httptest.ResponseRecorder {
	return s.askIn(context.Background(), method, path, body, cookie, headers...)
}

// askIn is ask for a client that leaves when ctx ends.
func (s *sessionFixture) askIn(ctx context.Context, method, path, body string, cookie *http.Cookie, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, "http://localhost:15672"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:9"
	if cookie != nil {
		r.AddCookie(cookie)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, r)
	return w
}

const (
	ours     = "X-Candlemark-Session"
	mySelf   = "/api/x/session"
	annsForm = "username=ann&password=ann"
)

func (s *sessionFixture) logIn(t *testing.T, form string) *http.Cookie {
	t.Helper()
	w := s.ask("POST", mySelf, form, nil, ours, "1")
	cookies := w.Result().Cookies()
	if w.Code != http.StatusOK || len(cookies) != 1 {
		t.Fatalf("%d %s %v", w.Code, w.Body, cookies)
	}
	return cookies[0]
}

// known reports whether the cookie authenticates as ann.
func (s *sessionFixture) known(cookie *http.Cookie) bool {
	w := s.ask("GET", "/api/whoami", "", cookie)
	return w.Code == http.StatusOK && strings.Contains(w.Body.String(), `"ann"`)
}

// A session cookie replaces name and password; scripts cannot read it, and requests from other sites do not carry it.
func TestSession(t *testing.T) {
	s := newSessionFixture(t)
	cookie := s.logIn(t, annsForm)
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Secure || cookie.Name != "candlemark_session_15672" {
		t.Errorf("%+v", cookie)
	}
	if !s.known(cookie) || s.known(nil) || s.known(&http.Cookie{Name: cookie.Name, Value: "x"}) {
		t.Error("who is known?")
	}
	if w := s.ask("GET", mySelf, "", cookie); !strings.HasPrefix(w.Body.String(), `{"name":"ann","tags":["administrator"],"expires_at":"20`) {
		t.Error(w.Body)
	}
	// Without a session, the answer has null values and no error status.
	for _, c := range []*http.Cookie{nil, {Name: cookie.Name, Value: "x"}} {
		if w := s.ask("GET", mySelf, "", c); w.Code != 200 || w.Body.String() != `{"name":null,"tags":[],"expires_at":null}` || w.Header().Get("WWW-Authenticate") != "" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	// HTTP basic authentication takes precedence over a cookie.
	r := func(password string) *httptest.ResponseRecorder {
		q := httptest.NewRequest("GET", "/api/whoami", nil)
		q.AddCookie(cookie)
		q.SetBasicAuth("guest", password)
		q.RemoteAddr = "127.0.0.1:9"
		w := httptest.NewRecorder()
		s.h.ServeHTTP(w, q)
		return w
	}
	if w := r("guest"); !strings.Contains(w.Body.String(), `"guest"`) {
		t.Error(w.Body)
	}
	if w := r("wrong"); w.Code != 401 || w.Header().Get("WWW-Authenticate") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.ask("GET", mySelf, "", cookie, "Authorization", "Bearer x"); w.Code != 401 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	again := s.logIn(t, annsForm)
	if w := s.ask("POST", mySelf, annsForm, again, ours, "1"); w.Code != 200 || s.known(again) {
		t.Error("the session before is still there")
	}
	w := s.ask("DELETE", mySelf, "", cookie, ours, "1")
	if gone := w.Result().Cookies(); w.Code != 204 || len(gone) != 1 || gone[0].MaxAge >= 0 || s.known(cookie) {
		t.Errorf("%d %v", w.Code, gone)
	}
	if w := s.ask("DELETE", mySelf, "", nil, ours, "1"); w.Code != 204 {
		t.Errorf("%d", w.Code)
	}
}

// The cookie of a login over TLS is marked as secure.
func TestSessionOverTLS(t *testing.T) {
	s := newSessionFixture(t)
	server := httptest.NewTLSServer(s.h)
	defer server.Close()
	r, _ := http.NewRequest("POST", server.URL+mySelf, strings.NewReader(annsForm))
	r.Header.Set(ours, "1")
	w, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	if cookies := w.Cookies(); len(cookies) != 1 || !cookies[0].Secure {
		t.Errorf("%v", cookies)
	}
}

// Requests that another site can make a browser send change nothing, even with the cookie.
func TestSessionIsNotForged(t *testing.T) {
	s := newSessionFixture(t)
	cookie := s.logIn(t, annsForm)
	const put, body = "/api/vhosts/forged", `{}`
	for _, test := range []struct {
		method, path, body string
		cookie             *http.Cookie
		headers            []string
		status             int
		says               string
	}{
		{"PUT", put, body, cookie, nil, 403, "needs the header X-Candlemark-Session"},
		{"DELETE", "/api/vhosts/%2F", "", cookie, nil, 403, "needs the header"},
		{"POST", mySelf, annsForm, nil, nil, 403, "needs the header"},
		{"DELETE", mySelf, "", cookie, nil, 403, "needs the header"},
		{"PUT", put, body, cookie, []string{ours, "1", "Sec-Fetch-Site", "cross-site"}, 403, "cross-origin"},
		{"PUT", put, body, cookie, []string{ours, "1", "Sec-Fetch-Site", "same-site"}, 403, "cross-origin"},
		{"OPTIONS", put, "", cookie, []string{"Origin", "null", "Access-Control-Request-Headers", ours}, 200, ""},
		{"PUT", put, body, nil, []string{ours, "1"}, 401, "Not_Authorized"},
		{"PUT", put, body, &http.Cookie{Name: cookie.Name, Value: "x"}, nil, 401, "Not_Authorized"},
	} {
		w := s.ask(test.method, test.path, test.body, test.cookie, test.headers...)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.says) || w.Header().Get("Access-Control-Allow-Headers") != "" {
			t.Errorf("%s %s %v: %d %s", test.method, test.path, test.headers, w.Code, w.Body)
		}
		// Requests of the UI get no WWW-Authenticate, so that the browser opens no password dialog.
		pages := len(test.headers) > 0 && test.headers[0] == ours
		if asks := w.Header().Get("WWW-Authenticate") != ""; asks != (w.Code == 401 && !pages) {
			t.Errorf("%s %s %v: asks for a password %v", test.method, test.path, test.headers, asks)
		}
	}
	if !s.known(cookie) {
		t.Error("the session is gone")
	}
	if _, made := s.users.VHost("forged"); made {
		t.Error("forged")
	}
}

// A session ends by time, or if the user's password is changed, the user is deleted, or has no more tag that permits the API.
func TestSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSessionFixture(t)
		account := func(password, tag string) {
			a := auth.Account{Name: "ann", Hash: auth.HashPassword(password), Tags: []string{tag}}
			if password == "" {
				known, _ := s.users.Account("ann")
				a.Hash = known.Hash
			}
			if _, err := s.users.PutAccount(a); err != nil {
				t.Fatal(err)
			}
		}
		for what, end := range map[string]func(){
			"idle": func() { time.Sleep(session.Idle * time.Millisecond) },
			"used": func() {},
			"password": func() {
				account("other", "administrator")
				account("ann", "administrator") // the old password again, but sessions begun before the change stay ended
			},
			"deleted": func() {
				known, _ := s.users.Account("ann")
				if err := s.users.DeleteAccount("ann"); err != nil {
					t.Fatal(err)
				}
				if _, err := s.users.PutAccount(known); err != nil {
					t.Fatal(err)
				}
			},
			"tags": func() { account("", "impersonator") },
		} {
			account("ann", "administrator")
			cookie := s.logIn(t, annsForm)
			if end(); s.known(cookie) != (what == "used") {
				t.Errorf("%s: is known %v", what, what != "used")
			}
			account("", "administrator") // an ended session does not become valid again
			if s.known(cookie) != (what == "used") {
				t.Errorf("%s: is known again", what)
			}
		}
		cookie := s.logIn(t, annsForm)
		account("", "monitoring")
		if w := s.ask("PUT", "/api/vhosts/x", "{}", cookie, ours, "1"); w.Code != 401 || !s.known(cookie) {
			t.Errorf("tags that were taken count: %d %s", w.Code, w.Body)
		}
		for began := time.Now(); time.Since(began) < session.Whole*time.Millisecond; time.Sleep(time.Hour) {
			if !s.known(cookie) {
				t.Errorf("gone after %v", time.Since(began))
			}
		}
		if s.known(cookie) {
			t.Error("used for ever")
		}
	})
}

// A streaming answer ends when the session of its request ends.
func TestStreamsEndWithSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSessionFixture(t)
		cookie, ended := s.logIn(t, annsForm), false
		go func() {
			_ = s.ask("GET", "/api/x/events", "", cookie)
			ended = true
		}()
		time.Sleep(time.Hour)
		if synctest.Wait(); ended {
			t.Error("ended while the session is there")
		}
		_ = s.ask("DELETE", mySelf, "", cookie, ours, "1")
		time.Sleep(time.Minute)
		if synctest.Wait(); !ended {
			t.Error("goes on without a session")
		}
	})
}

// A streaming answer ends at once when its user is deleted, or gets another password or other tags, however the user logged in,
// and has no event of that change.
func TestStreamsEndWithUsers_ACC9(t *testing.T) {
	for _, by := range []string{"cookie", "password"} {
		for what, change := range map[string]func(u *auth.Users, a auth.Account) error{
			"deleted": func(u *auth.Users, _ auth.Account) error { return u.DeleteAccount("ann") },
			"made anew": func(u *auth.Users, a auth.Account) error {
				err := u.DeleteAccount("ann")
				_, errPut := u.PutAccount(a)
				return errors.Join(err, errPut)
			},
			"tag": func(u *auth.Users, a auth.Account) error {
				a.Tags = []string{"management"}
				_, err := u.PutAccount(a)
				return err
			},
			"password": func(u *auth.Users, a auth.Account) error {
				a.Hash = auth.HashPassword("other")
				_, err := u.PutAccount(a)
				return err
			},
			"another user": func(u *auth.Users, a auth.Account) error {
				a.Name = "someone"
				_, err := u.PutAccount(a)
				return err
			},
		} {
			synctest.Test(t, func(t *testing.T) {
				s := newSessionFixture(t)
				s.users.PublishTo(s.hub)
				cookie, headers := s.logIn(t, annsForm), []string{}
				if by == "password" {
					cookie, headers = nil, []string{"Authorization", "Basic YW5uOmFubg=="}
				}
				ended, w := false, (*httptest.ResponseRecorder)(nil)
				leave, stop := context.WithCancel(context.Background())
				defer stop()
				go func() {
					w = s.askIn(leave, "GET", "/api/x/events", "", cookie, headers...)
					ended = true
				}()
				synctest.Wait()
				account, _ := s.users.Account("ann")
				if err := change(s.users, account); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if want := what != "another user"; ended != want {
					t.Errorf("%s, %s: ended %t", by, what, ended)
				}
				stop()
				synctest.Wait()
				if got := strings.Contains(w.Body.String(), "event: user."); got != (what == "another user") {
					t.Errorf("%s, %s: %s", by, what, w.Body)
				}
			})
		}
	}
}

// Logging in with the form is a login like any other: counted, logged, and slow for clients that guess.
func TestSessionLogins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSessionFixture(t)
		listener := s.hub.Listen(100, nil, nil)
		defer listener.Close()
		_ = s.logIn(t, annsForm)
		for _, form := range []string{"username=ann&password=x", "username=none&password=x", "username=ann&password=", "x=y", strings.Repeat("x", 5000), "username=eve&password=eve"} {
			w := s.ask("POST", mySelf, form, nil, ours, "1")
			if w.Code != 401 && w.Code != 400 || w.Header().Get("Set-Cookie") != "" || w.Header().Get("WWW-Authenticate") != "" {
				t.Errorf("%.30s: %d %s", form, w.Code, w.Body)
			}
			if form == "username=eve&password=eve" && !strings.Contains(w.Body.String(), "Not management user") {
				t.Error(w.Body)
			}
		}
		var names []string
		for len(listener.C) > 0 {
			e := (<-listener.C).Event
			names = append(names, strings.TrimPrefix(e.Name, "user.authentication.")+" "+e.By.User)
		}
		if got := strings.Join(names, ", "); got != "success ann, failure ann, failure none, failure ann, failure , failure eve" {
			t.Error(got)
		}
		if http := s.users.Logins().HTTP; http != (auth.Logins{Succeeded: 2, Failed: 3}) {
			t.Errorf("%+v", http)
		}
		cookie := s.logIn(t, annsForm)
		began, refused := time.Now(), 0
		for range 100 {
			if s.ask("POST", mySelf, "username=none&password=x", nil, ours, "1").Code == http.StatusTooManyRequests {
				refused++
			}
		}
		if refused == 0 && time.Since(began) < time.Minute {
			t.Error("guessing is fast")
		}
		if began := time.Now(); !s.known(cookie) || time.Since(began) > 0 {
			t.Error("a session waits for who guesses")
		}
	})
}
