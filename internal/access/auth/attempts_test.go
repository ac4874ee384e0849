package auth

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// TestLoginsBySource: logins are counted by address, user and protocol; the number of such sources is bounded.
func TestLoginsBySource(t *testing.T) {
	u := NewUsers(Options{})
	if err := u.Found(Guest()); err != nil {
		t.Fatal(err)
	}
	try := func(name, password, address string, http bool) {
		at, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = u.Authenticate("PLAIN", []byte("\x00"+name+"\x00"+password), Peer{Addr: at, HTTP: http})
	}
	try("guest", "guest", "127.0.0.1:1", false)
	try("guest", "wrong", "127.0.0.1:2", false)
	try("guest", "guest", "[::ffff:127.0.0.1]:3", true)
	try("guest", "", "[2001:db8::1]:4", true)
	_, _ = u.Authenticate("NONE", nil, Peer{AMQP10: true})
	text := func() (s string) {
		for _, l := range u.LoginsBySource() {
			s += fmt.Sprintf("%v %s %v %v\n", l.Address, l.User, l.Protocol, l.Logins)
		}
		return s
	}
	if got, want := text(), "invalid IP  amqp10 {0 1}\n127.0.0.1 guest amqp091 {1 1}\n127.0.0.1 guest http {1 0}\n2001:db8::1 guest http {0 1}\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if all := u.Logins(); all != (LoginCounts{Logins{1, 1}, Logins{0, 1}, Logins{1, 1}}) {
		t.Error(all)
	}
	u.ForgetLogins()
	if all := u.Logins(); all != (LoginCounts{}) || text() != "" {
		t.Error(all, text())
	}
	for i := range maxSources + 10 {
		u.attempts.count("guest", Peer{}, true)
		u.attempts.count(fmt.Sprint(strings.Repeat("x", 300), i), Peer{}, false)
		u.attempts.count(fmt.Sprint(i), Peer{}, false)
	}
	list := u.LoginsBySource()
	if len(list) != maxSources {
		t.Errorf("%d are remembered", len(list))
	}
	names := text()
	if !strings.Contains(names, " guest ") || strings.Contains(names, " 0 ") || strings.Contains(names, strings.Repeat("x", 256)) {
		t.Error("the wrong ones are")
	}
}
