package auth

import (
	"errors"
	"net"
	"testing"
	"time"

	"candlemark/internal/access/sas"
)

// A token signed with either key is accepted until it expires or the keys are replaced.
func TestAccessKeys(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	from := Peer{Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1}}
	u := NewUsers(Options{})
	if err := u.Found(Guest()); err != nil {
		t.Fatal(err)
	}
	if _, err := u.PutAccount(Account{Name: "key", Tags: []string{"management"}, Keys: sas.Keys{Primary: "one", Secondary: "two"}}); err != nil {
		t.Fatal(err)
	}
	in := func(key, name string) error {
		user, token, err := u.AuthenticateToken(sas.New("sb://host/q", name, key, now.Add(time.Minute)), now, from)
		if err == nil && (user.Name != name || !user.HasTag("management") || !token.Covers("q")) {
			t.Errorf("%+v, %+v", user, token)
		}
		return err
	}
	for key, good := range map[string]bool{"one": true, "two": true, "three": false, "": false} {
		if err := in(key, "key"); (err == nil) != good || err != nil && !errors.Is(err, ErrRefused) {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, name := range []string{"guest", "nobody"} {
		if err := in("", name); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for password, good := range map[string]bool{"one": true, "two": true, "three": false} { // clients without tokens send a key as the password
		if _, err := u.Authenticate("PLAIN", []byte("\x00key\x00"+password), from); (err == nil) != good {
			t.Errorf("PLAIN with %q: %v", password, err)
		}
	}
	// Other changes of the account keep the keys. New keys invalidate the old ones and the sessions opened with them.
	login := u.Login("key")
	if _, err := u.PutAccount(Account{Name: "key", Tags: []string{"management"}}); err != nil || in("one", "key") != nil || u.Login("key") != login {
		t.Error(err, in("one", "key"))
	}
	if _, err := u.PutAccount(Account{Name: "key", Tags: []string{"management"}, Keys: sas.Keys{Primary: "three", Secondary: "two"}}); err != nil || u.Login("key") == login {
		t.Error(err, "old sessions go on with other keys")
	}
	if err := u.SetAccessKeys("key", sas.Keys{Primary: "new", Secondary: "two"}); err != nil || in("one", "key") == nil || in("new", "key") != nil {
		t.Error(err, in("one", "key"), in("new", "key"))
	}
	for _, bad := range []sas.Keys{{Primary: "only one"}, {Primary: "x", Secondary: string(make([]byte, 257))}} {
		if u.SetAccessKeys("key", bad) == nil {
			t.Errorf("%+v are taken", bad)
		}
	}
	if err := u.SetAccessKeys("nobody", sas.NewKeys()); !errors.Is(err, ErrNoUser) {
		t.Error(err)
	}
}

// With AnyToken, any token is accepted, but only from loopback and only if the user exists.
func TestAnyToken(t *testing.T) {
	u := NewUsers(Options{})
	u.AnyToken("root")
	here, there := Peer{Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}, Peer{Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}}
	in := func(from Peer) error { _, _, err := u.AuthenticateToken("anything", time.Unix(1, 0), from); return err }
	if in(here) == nil {
		t.Error("somebody who is not there is let in")
	}
	if _, err := u.PutAccount(Account{Name: "root"}); err != nil || in(here) != nil || in(there) == nil {
		t.Error(err, in(here), in(there))
	}
}

func TestPermissionsOfKeys(t *testing.T) {
	for _, test := range []struct {
		rights []sas.Right
		want   [3]string
	}{
		{[]sas.Right{sas.Listen}, [3]string{"", "", ".*"}},
		{[]sas.Right{sas.Send}, [3]string{"", ".*", ""}},
		{[]sas.Right{sas.Manage}, [3]string{".*", ".*", ".*"}},
	} {
		c, w, r, err := sas.Permissions(test.rights)
		if err != nil || [3]string{c, w, r} != test.want {
			t.Errorf("%v: %q %q %q %v", test.rights, c, w, r, err)
		}
	}
	if _, _, _, err := sas.Permissions([]sas.Right{"read"}); err == nil {
		t.Error("an unknown right is taken")
	}
}
