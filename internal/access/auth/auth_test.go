package auth

import (
	"errors"
	"net"
	"testing"

	"candlemark/protocol"
)

func fields(list ...protocol.Field) []byte {
	b, err := protocol.AppendTable(nil, protocol.Table(list))
	if err != nil {
		panic(err)
	}
	return b[4:]
}

func TestCredentials(t *testing.T) {
	login, password := protocol.Field{Key: "LOGIN", Value: "lim"}, protocol.Field{Key: "PASSWORD", Value: "s"}
	for _, c := range []struct {
		mechanism string
		response  []byte
		ok        bool
	}{
		{"PLAIN", []byte("\x00lim\x00s"), true},
		{"PLAIN", []byte("admin\x00lim\x00s"), false},
		{"PLAIN", []byte("\x00lim\x00s\x00"), false},
		{"PLAIN", []byte("\x00lim"), false},
		{"PLAIN", nil, false},
		{"AMQPLAIN", fields(login, password), true},
		{"AMQPLAIN", fields(password, login), true},
		{"AMQPLAIN", fields(login), false},
		{"AMQPLAIN", fields(login, protocol.Field{Key: "PASSWORD", Value: true}), false},
		{"AMQPLAIN", []byte("garbage"), false},
	} {
		name, pass, err := Credentials(c.mechanism, c.response)
		if c.ok {
			if name != "lim" || pass != "s" || err != nil {
				t.Errorf("%s %q: %q %q %v", c.mechanism, c.response, name, pass, err)
			}
			continue
		}
		var e *protocol.ConnectionError
		if !errors.As(err, &e) || e.Code != protocol.SyntaxError {
			t.Errorf("%s %q: %v", c.mechanism, c.response, err)
		}
	}
	if _, _, err := Credentials("EXTERNAL", nil); !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
}

func TestGuest(t *testing.T) {
	g := NewGuest()
	here := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}
	for _, c := range []struct {
		response string
		peer     net.Addr
		refusal  string
	}{
		{"\x00guest\x00guest", here, ""},
		{"\x00guest\x00guest", &net.TCPAddr{IP: net.IPv6loopback}, ""},
		{"\x00guest\x00guest", &net.UnixAddr{Name: "socket"}, ""},
		{"\x00guest\x00guest", &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}, "user 'guest' can only connect via localhost"},
		{"\x00guest\x00other", here, "user 'guest' - invalid credentials"},
		{"\x00root\x00guest", here, "user 'root' - invalid credentials"},
	} {
		u, err := g.Authenticate("PLAIN", []byte(c.response), Peer{Addr: c.peer})
		if c.refusal == "" && (err != nil || u.Name != "guest" || !u.HasTag("administrator")) ||
			c.refusal != "" && (!errors.Is(err, ErrRefused) || err.Error() != c.refusal) {
			t.Errorf("%q from %v: %+v %v", c.response, c.peer, u, err)
		}
	}
	guest := User{Name: "guest"}
	if g.VHostAccess(guest, "/") != nil || g.Check(guest, "/", Resource{}, Write) != nil || g.VHostAccess(guest, "other") == nil {
		t.Error("guest may do everything in / and nothing elsewhere")
	}
}
