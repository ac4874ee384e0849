package auth

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"sync"
	"testing"

	"candlemark/policies/pattern"
)

// populated returns Users with the virtual hosts / and dev, and the user app with permissions in /.
func populated(t *testing.T) *Users {
	t.Helper()
	u := NewGuest()
	_, errVHost := u.PutVHost(VHost{Name: "dev", DefaultQueueType: "quorum"})
	_, errUser := u.PutAccount(Account{Name: "app", Tags: []string{"management"}, Hash: HashPassword("s3cret")})
	_, errGrant := u.PutGrant(Grant{"app", "/", "^app\\.", "^(app\\.|amq\\.default$)", ".*"})
	if err := errors.Join(errVHost, errUser, errGrant); err != nil {
		t.Fatal(err)
	}
	return u
}

func login(u *Users, name, password string) error {
	_, err := u.Authenticate("PLAIN", []byte("\x00"+name+"\x00"+password), Peer{})
	return err
}

// Passwords are verified against hashes of all algorithms; the first hash was made by RabbitMQ 4.0.5 for guest.
func TestPasswordHashes(t *testing.T) {
	salted := func(algorithm string) []byte {
		return append([]byte("salt"), hashes[algorithm]([]byte("saltguest"))...)
	}
	real, err := base64.StdEncoding.DecodeString("HaXGQ5HDcMCS8tvpgiyHdrVxSAHaKtd5I28ZOjaChFLBhJA1")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		algorithm string
		hash      []byte
	}{{"", real}, {SHA256, salted(SHA256)}, {SHA512, salted(SHA512)}, {MD5, salted(MD5)}} {
		u := NewUsers(Options{})
		if _, err := u.PutAccount(Account{Name: "x", Hash: test.hash, Algorithm: test.algorithm}); err != nil {
			t.Fatal(err)
		}
		if err := login(u, "x", "guest"); err != nil {
			t.Errorf("%s: %v", test.algorithm, err)
		}
		if err := login(u, "x", "Guest"); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", test.algorithm, err)
		}
	}
	a, b := HashPassword("x"), HashPassword("x")
	if len(a) != 36 || bytes.Equal(a, b) {
		t.Errorf("%x and %x", a, b)
	}
	u := NewUsers(Options{})
	if _, err := u.PutAccount(Account{Name: "x", Algorithm: "rot13"}); err == nil || err.Error() != "the password hashing algorithm 'rot13' is not known" {
		t.Error(err)
	}
}

func TestNoPasswordNoLogin(t *testing.T) {
	u := NewUsers(Options{})
	for i, hash := range [][]byte{nil, {1, 2}, {1, 2, 3, 4}, HashPassword("")} {
		name := fmt.Sprint("user", i)
		if _, err := u.PutAccount(Account{Name: name, Hash: hash}); err != nil {
			t.Fatal(err)
		}
		if err := login(u, name, ""); err == nil || !strings.HasPrefix(err.Error(), "user '"+name+"' attempted to log in with a blank password, which is prohibited") {
			t.Error(err)
		}
		if err := login(u, name, "x"); err == nil || err.Error() != "user '"+name+"' - invalid credentials" {
			t.Error(err)
		}
	}
}

func TestAccountsChange(t *testing.T) {
	u := populated(t)
	if created, err := u.PutAccount(Account{Name: "app", Hash: HashPassword("other")}); created || err != nil {
		t.Error(created, err)
	}
	if login(u, "app", "s3cret") == nil || login(u, "app", "other") != nil {
		t.Error("the old password counts")
	}
	if a, ok := u.Account("app"); !ok || len(a.Tags) != 0 || a.Tags == nil || a.Algorithm != SHA256 {
		t.Errorf("%+v", a)
	}
	if _, ok := u.Grant("app", "/"); !ok {
		t.Error("a new password costs the permissions")
	}
	if all := u.Accounts(); len(all) != 2 || all[0].Name != "app" || all[1].Name != "guest" {
		t.Errorf("%+v", all)
	}
	if err := u.DeleteAccount("app"); err != nil {
		t.Error(err)
	}
	if err := u.DeleteAccount("app"); !errors.Is(err, ErrNoUser) {
		t.Error(err)
	}
	if _, ok := u.Grant("app", "/"); ok || login(u, "app", "other") == nil || u.VHostAccess(User{Name: "app"}, "/") == nil {
		t.Error("app is still there")
	}
	if _, err := u.PutAccount(Account{}); err == nil {
		t.Error("a user without a name")
	}
}

func TestCheck(t *testing.T) {
	u := populated(t)
	app := User{Name: "app"}
	const refused = "channel error 403: ACCESS_REFUSED - %s access to %s in vhost '/' refused for user 'app'"
	for _, test := range []struct {
		vhost string
		r     Resource
		perm  Permission
		want  string
	}{
		{"/", Resource{Queue, "app.q"}, Configure, ""},
		{"/", Resource{Queue, "other"}, Configure, fmt.Sprintf(refused, "configure", "queue 'other'")},
		{"/", Resource{Queue, "my app."}, Configure, fmt.Sprintf(refused, "configure", "queue 'my app.'")},
		{"/", Resource{Exchange, ""}, Write, ""},
		{"/", Resource{Exchange, ""}, Configure, fmt.Sprintf(refused, "configure", "exchange 'amq.default'")},
		{"/", Resource{Exchange, "amq.topic"}, Write, fmt.Sprintf(refused, "write", "exchange 'amq.topic'")},
		{"/", Resource{Exchange, "amq.topic"}, Read, ""},
		{"dev", Resource{Queue, "app.q"}, Read, "channel error 403: ACCESS_REFUSED - read access to queue 'app.q' in vhost 'dev' refused for user 'app'"},
	} {
		if err := u.Check(app, test.vhost, test.r, test.perm); test.want == "" && err != nil || test.want != "" && (err == nil || err.Error() != test.want) {
			t.Errorf("%v %v in %s:\n got %v\nwant %s", test.perm, test.r, test.vhost, err, test.want)
		}
	}
	if err := u.VHostAccess(app, "dev"); err == nil || err.Error() != "connection error 530: NOT_ALLOWED - access to vhost 'dev' refused for user 'app'" {
		t.Error(err)
	}
}

// The empty expression allows nothing; expressions may use Perl syntax such as look-ahead.
func TestExpressionsOfGrants(t *testing.T) {
	u := populated(t)
	app := User{Name: "app"}
	if _, err := u.PutGrant(Grant{"app", "/", "", `^(?!amq\.).*`, "^q$"}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		perm Permission
		want bool
	}{
		{"q", Configure, false}, {"q", Write, true}, {"amq.fanout", Write, false}, {"q", Read, true}, {"qq", Read, false},
	} {
		if got := u.Check(app, "/", Resource{Exchange, test.name}, test.perm) == nil; got != test.want {
			t.Errorf("%s %s: %v", test.perm, test.name, got)
		}
	}
	before := u.Revision()
	_, err := u.PutGrant(Grant{"app", "/", ".*", "(", ".*"})
	var bad *pattern.Error
	if !errors.As(err, &bad) || bad.Message != "missing )" || u.Revision() != before {
		t.Error(err)
	}
	if _, err := u.PutGrant(Grant{User: "nobody", VHost: "/"}); !errors.Is(err, ErrNoUser) {
		t.Error(err)
	}
	if _, err := u.PutGrant(Grant{User: "app", VHost: "nowhere"}); !errors.Is(err, ErrNoVHost) {
		t.Error(err)
	}
	if err := u.DeleteGrant("nobody", "/"); !errors.Is(err, ErrNoUser) {
		t.Error(err)
	}
	if err := errors.Join(u.DeleteGrant("app", "/"), u.DeleteGrant("app", "/")); err != nil || u.VHostAccess(app, "/") == nil {
		t.Error(err)
	}
}

func TestTopics(t *testing.T) {
	u := populated(t)
	app := User{Name: "app"}
	created, err := u.PutTopicGrant(TopicGrant{"app", "/", "amq.topic", `^{username}\.{vhost}`, ""})
	if !created || err != nil {
		t.Fatal(created, err)
	}
	const refused = "channel error 403: ACCESS_REFUSED - %s access to topic '%s' in exchange 'amq.topic' in vhost '/' refused for user 'app'"
	for _, test := range []struct {
		exchange, key string
		perm          Permission
		want          string
	}{
		{"amq.topic", "app./", Write, ""},
		{"amq.topic", "guest./", Write, fmt.Sprintf(refused, "write", "guest./")},
		{"amq.topic", "app./", Read, fmt.Sprintf(refused, "read", "app./")},
		{"amq.topic", "", Read, ""},
		{"orders", "guest", Write, ""},
	} {
		err := u.CheckTopic(app, "/", test.exchange, test.key, test.perm)
		if test.want == "" && err != nil || test.want != "" && (err == nil || err.Error() != test.want) {
			t.Errorf("%s %q: %v, want %s", test.perm, test.key, err, test.want)
		}
	}
	if !u.HasTopics(app, "/", "amq.topic") || u.HasTopics(app, "dev", "amq.topic") || u.HasTopics(User{Name: "guest"}, "/", "amq.topic") {
		t.Error("HasTopics")
	}
	for _, g := range []TopicGrant{{"app", "/", "b", ".", "."}, {"app", "/", "", ".", "."}, {"app", "dev", "a", ".", "."}, {"guest", "/", "a", ".", "."}} {
		if _, err := u.PutTopicGrant(g); err != nil {
			t.Error(err)
		}
	}
	if _, err := u.PutTopicGrant(TopicGrant{"app", "/", "x", "(", "."}); err == nil {
		t.Error("an invalid expression")
	}
	exchanges := func(user, vhost string) (all []string) {
		for _, g := range u.TopicGrants(user, vhost) {
			all = append(all, g.VHost+g.User+g.Exchange)
		}
		return all
	}
	if got := exchanges("", ""); !reflect.DeepEqual(got, []string{"/app", "/appamq.topic", "/appb", "/guesta", "devappa"}) {
		t.Errorf("%q", got)
	}
	if err := u.DeleteTopicGrants("app", "/", "", false); err != nil || len(exchanges("app", "/")) != 2 {
		t.Error(err, exchanges("app", "/"))
	}
	if err := u.DeleteTopicGrants("app", "/", "", true); err != nil || len(exchanges("app", "")) != 1 || u.HasTopics(app, "/", "amq.topic") {
		t.Error(err, exchanges("app", ""))
	}
	if err := u.DeleteTopicGrants("app", "nowhere", "", true); !errors.Is(err, ErrNoVHost) {
		t.Error(err)
	}
}

func TestVHosts(t *testing.T) {
	u := populated(t)
	if _, err := u.PutGrant(Grant{"app", "dev", ".*", ".*", ".*"}); err != nil {
		t.Fatal(err)
	}
	if created, err := u.PutVHost(VHost{Name: "dev", Description: "d", Tags: []string{"a"}}); created || err != nil {
		t.Error(created, err)
	}
	if v, ok := u.VHost("dev"); !ok || v.Description != "d" || v.DefaultQueueType != "" {
		t.Errorf("%+v", v)
	}
	if all := u.VHosts(); len(all) != 2 || all[0].Name != "/" || all[0].Description != "Default virtual host" || all[1].Name != "dev" {
		t.Errorf("%+v", all)
	}
	if err := u.DeleteVHost("dev"); err != nil {
		t.Error(err)
	}
	if err := u.DeleteVHost("dev"); !errors.Is(err, ErrNoVHost) {
		t.Error(err)
	}
	if created, err := u.PutVHost(VHost{Name: "dev"}); !created || err != nil {
		t.Error(created, err)
	}
	if u.VHostAccess(User{Name: "app"}, "dev") == nil || u.VHostAccess(User{Name: "app"}, "/") != nil {
		t.Error("permissions outlive their vhost, or end with another one")
	}
	for _, v := range []VHost{{}, {Name: strings.Repeat("x", 256)}, {Name: "x", DefaultQueueType: "stream"}} {
		if _, err := u.PutVHost(v); err == nil {
			t.Errorf("%+v", v)
		}
	}
}

func TestObserver(t *testing.T) {
	u := populated(t)
	if _, err := u.PutTopicGrant(TopicGrant{"app", "/", "x", ".", "."}); err != nil {
		t.Fatal(err)
	}
	revision := u.Revision()
	var seen []Change
	var refuse error
	u.Observe(func(c Change) error {
		if u.Revision() >= c.Revision {
			t.Error("the change took effect before")
		}
		seen = append(seen, c)
		return refuse
	})
	if err := errors.Join(u.DeleteGrant("guest", "dev"), u.DeleteAccount("app")); err != nil {
		t.Fatal(err)
	}
	want := Change{Revision: revision + 1, Deleted: []any{
		Account{Name: "app"}, Grant{"app", "/", "^app\\.", "^(app\\.|amq\\.default$)", ".*"}, TopicGrant{"app", "/", "x", ".", "."},
	}}
	if len(seen) != 1 || !reflect.DeepEqual(seen[0], want) {
		t.Errorf("\n got %+v\nwant %+v", seen, want)
	}
	refuse = errors.New("disk full")
	if _, err := u.PutVHost(VHost{Name: "new"}); !errors.Is(err, refuse) {
		t.Error(err)
	}
	if _, ok := u.VHost("new"); ok || u.Generation() != revision+1 {
		t.Error("a refused change has taken effect")
	}
}

// Checks and changes run at the same time, for the race detector.
func TestConcurrent(t *testing.T) {
	u := populated(t)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			name := fmt.Sprint("u", i)
			for range 50 {
				_, _ = u.PutAccount(Account{Name: name})
				_, _ = u.PutGrant(Grant{name, "/", ".*", ".*", ".*"})
				if err := u.Check(User{Name: name}, "/", Resource{Queue, "q"}, Read); err != nil {
					t.Error(err)
				}
				u.Grants("", "")
				_ = u.DeleteAccount(name)
			}
		})
	}
	wg.Wait()
	if len(u.Accounts()) != 2 || u.Revision() < 600 {
		t.Error(u.Accounts(), u.Revision())
	}
}

func BenchmarkCheck(b *testing.B) {
	u := NewGuest()
	guest, r := User{Name: "guest"}, Resource{Exchange, "orders"}
	b.ReportAllocs()
	for b.Loop() {
		if u.Check(guest, "/", r, Write) != nil {
			b.Fatal("refused")
		}
	}
}

// Found creates the given first user, virtual host and permissions; new virtual hosts without a default queue type get the configured one.
func TestFound(t *testing.T) {
	u := NewUsers(Options{DefaultQueueType: "quorum"})
	ops := Founder{Name: "ops", Password: "s3cret", VHost: "shop", Tags: []string{"monitoring"}, Configure: "^a", Write: ".*"}
	for _, wrong := range []Founder{{VHost: ""}, {VHost: "v", Read: "("}} {
		if u.Found(wrong) == nil || len(u.Accounts()) > 0 {
			t.Errorf("founded by %+v", wrong)
		}
	}
	if err := u.Found(ops); err != nil {
		t.Fatal(err)
	}
	s := u.Stored()
	if len(s.Accounts) != 1 || len(s.VHosts) != 1 || s.VHosts[0].DefaultQueueType != "quorum" ||
		!reflect.DeepEqual(s.Grants, []Grant{{"ops", "shop", "^a", ".*", ""}}) || !reflect.DeepEqual(s.Accounts[0].Tags, ops.Tags) {
		t.Errorf("%+v", s)
	}
	if err := login(u, "ops", "s3cret"); err != nil || !u.HasPassword("ops", "s3cret") || u.HasPassword("ops", "guest") || u.HasPassword("guest", "guest") {
		t.Error(err)
	}
	for _, kind := range []string{"", "classic"} {
		if _, err := u.PutVHost(VHost{Name: "v" + kind, DefaultQueueType: kind}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := u.PutVHost(VHost{Name: "vclassic"}); err != nil { // replaces an existing virtual host
		t.Fatal(err)
	}
	made, _ := u.VHost("v")
	old, _ := u.VHost("vclassic")
	if made.DefaultQueueType != "quorum" || old.DefaultQueueType != "" {
		t.Errorf("%+v %+v", made, old)
	}
}

// The users restricted to loopback may change during logins.
func TestSetLoopback(t *testing.T) {
	u := NewGuest()
	far := func() error {
		_, err := u.Authenticate("PLAIN", []byte("\x00guest\x00guest"), Peer{Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}})
		return err
	}
	before := far()
	u.SetLoopback(nil)
	if after := far(); before == nil || after != nil {
		t.Error(before, after)
	}
}

func TestMechanismsOnOffer(t *testing.T) {
	u := NewUsers(Options{Mechanisms: []string{"PLAIN"}})
	if got := u.Mechanisms(Peer{}); !reflect.DeepEqual(got, []string{"PLAIN"}) {
		t.Error(got)
	}
	var refused *LoginError
	if _, err := u.Authenticate("EXTERNAL", nil, Peer{TLS: true}); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "disabled by the setting") {
		t.Error(err)
	}
}
