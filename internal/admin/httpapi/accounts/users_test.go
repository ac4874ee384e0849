package accounts

import (
	"testing"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/text/jsonencode"
)

// A PUT of a user has two steps. If the user is deleted between them, the answer is 400, and neither user nor permissions are left.
func TestUserDeletedWhileItIsPut(t *testing.T) {
	users := auth.NewUsers(auth.Options{})
	_ = users.Found(auth.Guest())
	grants := []auth.Grant{{User: "gone", VHost: "/", Configure: ".*", Write: ".*", Read: ".*"}}
	for _, test := range []struct {
		limits auth.Limits
		grants []auth.Grant
		want   string
	}{
		{nil, nil, ""},
		{auth.Limits{"max-connections": 1}, nil, "vhost_or_user_not_found"},
		{nil, grants, "vhost_or_user_not_found"},
		{auth.Limits{"max-connections": 1}, grants, "vhost_or_user_not_found"},
	} {
		if created, err := users.PutAccount(auth.Account{Name: "gone"}); err != nil || !created {
			t.Fatal(created, err)
		}
		if err := users.DeleteAccount("gone"); err != nil {
			t.Fatal(err)
		}
		err := equip(users, "gone", test.limits, test.grants)
		if test.want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		status, body := rest.StatusOf(err)
		if want := `{"error":"bad_request","reason":"` + test.want + `"}`; status != 400 || string(jsonencode.Marshal(body)) != want {
			t.Errorf("%v %v: %d %+v", test.limits, test.grants, status, body)
		}
		if _, there := users.Account("gone"); there || len(users.Grants("gone", "")) != 0 {
			t.Error("the user is back")
		}
	}
}
