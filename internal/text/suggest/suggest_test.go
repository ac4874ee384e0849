package suggest

import "testing"

func TestTo(t *testing.T) {
	known := []string{"list_queues", "list_users", "set_policy", "status", "ping"}
	for word, want := range map[string]string{
		"lst_queues": "list_queues", "list_queue": "list_queues", "lsit_users": "list_users", "setpolicy": "set_policy",
		"set-policy": "set_policy", "statsu": "status", "pign": "ping", "ping": "ping", "": "", "frobnicate": "", "x": "",
		"list": "", "stat": "status", "set": "set_policy", "st": "",
	} {
		if got := Closest(word, known); got != want {
			t.Errorf("%q: %q, not %q", word, got, want)
		}
	}
	if n := distance("kitten", "sitting"); n != 3 {
		t.Error(n)
	}
}
