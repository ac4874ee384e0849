package broker

import (
	"context"
	"crypto/tls"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/storage/parameters"
	"candlemark/supervision"
)

// secured is a broker that shovels can also reach by amqps://: at 127.0.0.1, for which it has a certificate, at "other", for
// which it has none, and at "strict", where clients must present one. The host "silent" does not answer.
type secured struct {
	*testkit.Bubble
	*testkit.Channel
	serve, strict *tls.Config
	mu            sync.Mutex
	asked         []string // server names sent by clients, one for each connection
	ca, own       string   // parts of addresses: the trusted authority, and the client's own certificate
	folder        string
	authority     *testkit.Authority
}

func (s *secured) dial(_ context.Context, to *parameters.URI) (net.Conn, error) {
	if !slices.Contains([]string{"127.0.0.1", "other", "strict", "silent"}, to.Host) || to.Port != 5671 {
		return nil, errors.New("nobody is there")
	}
	theirs, ours := net.Pipe()
	switch to.Host {
	case "silent":
		go func() {
			for b := make([]byte, 4096); ; {
				if _, err := ours.Read(b); err != nil {
					return
				}
			}
		}()
	case "strict":
		s.Node.Connect(tls.Server(ours, s.strict))
	default:
		s.Node.Connect(tls.Server(ours, s.serve))
	}
	return theirs, nil
}

func runSecured(t *testing.T, test func(s *secured)) {
	t.Helper()
	s := &secured{folder: t.TempDir()}
	testkit.Run(t, func(c *supervision.Config) { c.Dial, c.ShovelFiles = s.dial, s.folder }, func(b *testkit.Bubble) {
		b.Log.Allow("shovel terminated", "login refused", "closed the connection", "handshake")
		s.Bubble, s.authority = b, testkit.NewAuthority(b.T)
		s.serve = &tls.Config{Certificates: []tls.Certificate{s.authority.Issue(pkix.Name{CommonName: "broker"})}}
		s.serve.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.asked = append(s.asked, hello.ServerName)
			return nil, nil
		}
		s.strict = s.serve.Clone()
		s.strict.ClientAuth, s.strict.ClientCAs = tls.RequireAndVerifyClientCert, s.authority.Roots()
		cert, key, ca := s.authority.Write(s.folder, s.authority.Issue(pkix.Name{CommonName: "app"}))
		s.ca, s.own = "cacertfile="+ca, "certfile="+cert+"&keyfile="+key
		_, err := b.Users.PutAccount(auth.Account{Name: "CN=app"})
		if _, errGrant := b.Users.PutGrant(auth.Grant{User: "CN=app", VHost: "/", Configure: ".*", Write: ".*", Read: ".*"}); err != nil || errGrant != nil {
			b.Fatal(err, errGrant)
		}
		s.Channel = b.Connect().Open()
		for _, name := range []string{"a", "b"} {
			durable(b, s.Channel, name, nil)
		}
		test(s)
	})
}

// moves has a shovel move ten messages between these addresses. It fails the test unless that succeeds, if want is "", or is
// refused for the reason want, without losing a message.
func (s *secured) moves(from, to, want string) {
	s.Helper()
	fill(s.Channel, "a", 0, 10)
	putShovel(s.Bubble, "s", map[string]any{"src-uri": from, "dest-uri": to, "src-queue": "a", "dest-queue": "b", "reconnect-delay": 3600})
	s.Advance(10 * time.Second)
	got := state(s.Bubble)
	if _, err := s.Node.API().DeleteParameter(s.Context(), parameters.Parameter{Component: parameters.Shovel, VHost: "/", Name: "s"}); err != nil {
		s.Fatal(err)
	}
	s.Advance(10 * time.Second)
	left, there := bodies(s.Bubble, s.Channel, "a"), bodies(s.Bubble, s.Channel, "b")
	if want == "" && (got != "running" || fmt.Sprint(there) != fmt.Sprint(numbers(0, 10)) || len(left) > 0) {
		s.Errorf("%s: %s, %v are there, %v are left", from, got, there, left)
	}
	if want != "" && (!strings.HasPrefix(got, "terminated") || !strings.Contains(got, want) || len(there) > 0 || fmt.Sprint(left) != fmt.Sprint(numbers(0, 10))) {
		s.Errorf("%s: %s, want %s; %v are there, %v are left", from, got, want, there, left)
	}
}

// Both sides of a shovel can be encrypted, with the settings of RabbitMQ's addresses: the trusted authority, the expected server
// name, and the shovel's own certificate.
func TestShovelOverTLS(t *testing.T) {
	runSecured(t, func(s *secured) {
		for _, row := range []struct{ host, settings, want, asked string }{
			{"127.0.0.1", s.ca, "", ""}, // IP addresses are not sent as server names
			{"127.0.0.1", s.ca + "&verify=verify_peer&heartbeat=0&connection_timeout=5000&depth=2", "", ""},
			{"127.0.0.1", "", "certificate signed by unknown authority", ""},
			{"127.0.0.1", "verify=verify_none", "", ""},
			{"127.0.0.1", "cacertfile=" + s.folder + "/none", "cacertfile: " + s.folder + "/none: no such file or directory", ""},
			{"127.0.0.1", "cacertfile=" + s.folder + "/key", "cacertfile: no certificate in ", ""},
			{"127.0.0.1", "cacertfile=ca", "", ""}, // relative to the folder
			{"127.0.0.1", "cacertfile=/dev/zero", "cacertfile: the file is not in the folder of the setting shovel-files", ""},
			{"127.0.0.1", "verify=verify_none&certfile=" + s.folder + "/../cert&keyfile=key", "certfile: the file is not in the folder of the setting shovel-files", ""},
			{"other", s.ca, "certificate is not valid for any names, but wanted to match other", "other"},
			{"other", "verify=verify_none", "", "other"},
			{"other", s.ca + "&server_name_indication=127.0.0.1", "", ""},
			{"other", s.ca + "&server_name_indication=else", "certificate is not valid for any names, but wanted to match else", "else"},
			{"other", "verify=verify_none&server_name_indication=else", "", "else"},
			{"other", s.ca + "&server_name_indication=disable", "", ""},
			{"other", "server_name_indication=disable", "certificate signed by unknown authority", ""},
			{"strict", s.ca + "&server_name_indication=disable", "failed to connect to source: amqps://strict: ", ""},
			{"strict", s.ca + "&server_name_indication=disable&" + s.own, "", ""},
			{"strict", s.ca + "&server_name_indication=disable&auth_mechanism=external&" + s.own, "", ""},
			{"strict", s.ca + "&server_name_indication=disable&certfile=" + s.folder + "/none&keyfile=" + s.folder + "/none", "certfile: " + s.folder + "/none: no such file or directory", ""},
		} {
			address := "amqps://" + row.host + "?" + row.settings
			s.moves(address, address, row.want)
			s.mu.Lock()
			if slices.ContainsFunc(s.asked, func(name string) bool { return name != row.asked }) {
				s.Errorf("%s asks for %q", address, s.asked)
			}
			s.asked = nil
			s.mu.Unlock()
		}
		// Authentication by certificate, as destination and as source.
		external := "amqps://strict?auth_mechanism=external&server_name_indication=disable&" + s.ca + "&" + s.own
		if err := s.Users.DeleteAccount("CN=app"); err != nil {
			s.Fatal(err)
		}
		s.moves("amqp://", external, "failed to connect to destination: amqps://strict")
		s.moves(external, "amqp://", "failed to connect to source: amqps://strict")
		s.moves("amqps://127.0.0.1?"+s.ca, "amqp://", "")
	})
}

// Certificates are read again for each session; if a side does not complete the handshake, the shovel gives up after
// connection_timeout and tries the next address.
func TestShovelOverTLSLater(t *testing.T) {
	runSecured(t, func(s *secured) {
		fill(s.Channel, "a", 0, 10)
		good := "amqps://strict?server_name_indication=disable&" + s.ca + "&" + s.own
		foreign := testkit.NewAuthority(s.T)
		foreign.Write(s.folder, foreign.Issue(pkix.Name{CommonName: "foreign"}))
		putShovel(s.Bubble, "s", map[string]any{
			"src-uri": []string{"amqps://silent?connection_timeout=1500", good}, "dest-uri": good, "src-queue": "a", "dest-queue": "b", "reconnect-delay": 60,
		})
		s.Advance(1499 * ms)
		if got := state(s.Bubble); got != "starting" {
			s.Errorf("%s before the time is over", got)
		}
		s.Advance(30 * time.Second) // during which the broker gives up writing its TLS alert to a client that is writing, too, into an unbuffered pipe
		if got := state(s.Bubble); !strings.Contains(got, "amqps://silent: no answer within 1.5s") || !strings.Contains(got, "unknown authority") {
			s.Error(got)
		}
		s.authority.Write(s.folder, s.authority.Issue(pkix.Name{CommonName: "app"})) // replaces the foreign certificate
		s.Advance(2 * time.Minute)
		if got := bodies(s.Bubble, s.Channel, "b"); state(s.Bubble) != "running" || fmt.Sprint(got) != fmt.Sprint(numbers(0, 10)) {
			s.Errorf("%s: %v", state(s.Bubble), got)
		}
	})
}
