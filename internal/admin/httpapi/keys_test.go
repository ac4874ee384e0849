package httpapi

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/access/sas"

	"github.com/rs/zerolog"
)

type shownKeys struct {
	Rights    []sas.Right
	Primary   string `json:"primary_key"`
	Secondary string `json:"secondary_key"`
}

func readKeys(t *testing.T, w *httptest.ResponseRecorder) (k shownKeys) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &k); err != nil || w.Code != 200 {
		t.Fatal(w.Code, w.Body, err)
	}
	return k
}

// Access keys can be created, rotated and deleted; only administrators can read them.
func TestAccessKeys(t *testing.T) {
	f := newFake("/")
	f.users = someUsers()
	h := NewHandler(&forgetful{f}, f.users, zerolog.Nop())
	const path = "/api/x/access-keys/%2F/app"
	keys := func(w *httptest.ResponseRecorder) shownKeys { return readKeys(t, w) }
	for _, body := range []string{`{}`, `{"rights":[]}`, `{"rights":["read"]}`, `{"rights":"send"}`, `{"rights":["send"],"primary_key":"` + strings.Repeat("x", 257) + `"}`} {
		if w := do(t, h, guest, "PUT", path, body); w.Code != 400 {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	if w := do(t, h, guest, "PUT", path, `{"rights":["send"],"secondary_key":"mine"}`); w.Code != 201 {
		t.Fatal(w.Code, w.Body)
	}
	first := keys(do(t, h, guest, "GET", path, ""))
	if len(first.Rights) != 1 || first.Rights[0] != sas.Send || first.Primary == "" || first.Secondary != "mine" {
		t.Errorf("%+v", first)
	}
	if w := do(t, h, guest, "PUT", path, `{"rights":["listen","send"]}`); w.Code != 204 {
		t.Error(w.Code, w.Body)
	}
	if again := keys(do(t, h, guest, "GET", path, "")); again.Primary != first.Primary || len(again.Rights) != 2 {
		t.Errorf("%+v", again)
	}
	rotated := keys(do(t, h, guest, "POST", path+"/rotate", `{"key":"primary"}`))
	if rotated.Primary == first.Primary || rotated.Secondary != "mine" {
		t.Errorf("%+v", rotated)
	}
	now := time.Unix(1_700_000_000, 0)
	if _, _, err := f.users.AuthenticateToken(sas.New("sb://h/q", "app", "mine", now.Add(time.Hour)), now, auth.Peer{}); err != nil {
		t.Error(err)
	}
	for _, as := range []string{"viewer:v", "maker:m"} {
		for _, to := range []string{path, "/api/x/access-keys", "/api/users/app"} {
			if w := do(t, h, as, "GET", to, ""); w.Code != 401 || strings.Contains(w.Body.String(), "mine") {
				t.Errorf("%s: %s: %d %s", as, to, w.Code, w.Body)
			}
		}
	}
	if w := do(t, h, guest, "GET", "/api/users/app", ""); w.Code != 200 || strings.Contains(w.Body.String(), "mine") {
		t.Error(w.Code, w.Body)
	}
	if w := do(t, h, guest, "DELETE", path, ""); w.Code != 204 {
		t.Error(w.Code, w.Body)
	}
	for _, step := range [][2]string{{"GET", path}, {"DELETE", path}, {"POST", path + "/rotate"}} {
		if w := do(t, h, guest, step[0], step[1], `{"key":"primary"}`); w.Code != 404 {
			t.Errorf("%v: %d %s", step, w.Code, w.Body)
		}
	}
}

// forgetful is a fake that implements DeleteUser.
type forgetful struct{ *fake }

func (f *forgetful) DeleteUser(_ context.Context, name string) (bool, error) {
	return true, f.users.DeleteAccount(name)
}
