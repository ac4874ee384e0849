package broker

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
)

// enter connects as a user to a virtual host.
func enter(b *testkit.Bubble, user, password, vhost string) (*amqp.Connection, error) {
	b.Helper()
	ours, theirs := net.Pipe()
	b.Node.Connect(ours)
	conn, err := amqp.Open(theirs, amqp.Config{SASL: []amqp.Authentication{&amqp.PlainAuth{Username: user, Password: password}}, Vhost: vhost})
	if err != nil {
		_ = theirs.Close()
	}
	return conn, err
}

// makeVHost creates a virtual host in which guest has all permissions.
func makeVHost(b *testkit.Bubble, v auth.VHost) {
	b.Helper()
	if _, err := b.Node.API().PutVHost(context.Background(), v); err != nil {
		b.Fatal("vhost:", err)
	}
	if _, err := b.Users.PutGrant(auth.Grant{User: "guest", VHost: v.Name, Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
		b.Fatal("permissions:", err)
	}
}

func openIn(b *testkit.Bubble, vhost string) (*amqp.Connection, *amqp.Channel) {
	b.Helper()
	conn, err := enter(b, "guest", "guest", vhost)
	if err != nil {
		b.Fatal("connect:", err)
	}
	ch, err := conn.Channel()
	if err != nil {
		b.Fatal("channel:", err)
	}
	return conn, ch
}

func removeVHost(b *testkit.Bubble, name string) {
	b.Helper()
	if found, err := b.Node.API().DeleteVHost(context.Background(), name); !found || err != nil {
		b.Fatal("delete vhost:", found, err)
	}
}

func isCode(err error, code int, text string) bool {
	var e *amqp.Error
	return errors.As(err, &e) && e.Code == code && e.Reason == text
}

func TestVHostsAreIsolated(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		makeVHost(b, auth.VHost{Name: "a/b"})
		_, other := openIn(b, "a/b")
		home := b.Connect().Open()
		home.Declare("q", nil)
		if _, err := other.QueueDeclare("q", true, false, false, false, amqp.Table{"x-message-ttl": 1000}); err != nil {
			t.Fatal("the same name in another vhost:", err)
		}
		home.Send("", "q", testkit.Text("home"))
		if err := other.PublishWithContext(context.Background(), "", "q", false, false, testkit.Text("other")); err != nil {
			t.Fatal(err)
		}
		b.Advance(2 * time.Second)
		if got := home.Drain("q"); !slices.Equal(got, []string{"home"}) {
			t.Errorf("home has %q", got)
		}
		if _, ok, err := other.Get("q", true); ok || err != nil {
			t.Error("the other did not expire", err)
		}
		b.SetPolicy("ttl", `{"pattern":".*","definition":{"message-ttl":1}}`)
		if _, err := other.QueueDeclare("p", false, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		_ = other.PublishWithContext(context.Background(), "", "p", false, false, testkit.Text("stays"))
		b.Advance(time.Second)
		if _, ok, err := other.Get("p", true); !ok || err != nil {
			t.Error("a policy of / is obeyed elsewhere", err)
		}
	})
}

// Deleting a virtual host deletes its contents, tells clients the reason, and makes the name available.
func TestVHostDelete(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("vhost 'dev' is deleted", "vhost dev not found")
		home := b.Connect()
		for round := range 3 {
			makeVHost(b, auth.VHost{Name: "dev"})
			conn, ch := openIn(b, "dev")
			closed := conn.NotifyClose(make(chan *amqp.Error, 1))
			for _, name := range []string{"a", "b"} {
				if _, err := ch.QueueDeclare(name, true, false, false, false, nil); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				if err := ch.QueueBind(name, "k", "amq.direct", false, nil); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := ch.QueueDeclare("mine", false, false, true, false, amqp.Table{"x-expires": 1000}); err != nil {
				t.Fatal(err)
			}
			_ = ch.PublishWithContext(context.Background(), "amq.direct", "k", false, false, testkit.Text("lost"))
			if _, err := ch.Consume("a", "", false, false, false, false, nil); err != nil {
				t.Fatal(err)
			}
			removeVHost(b, "dev")
			if e := testkit.Receive(b, closed); !isCode(e, amqp.ConnectionForced, "CONNECTION_FORCED - vhost 'dev' is deleted") {
				t.Errorf("closed with %v", e)
			}
			if _, err := enter(b, "guest", "guest", "dev"); !isCode(err, amqp.NotAllowed, "NOT_ALLOWED - vhost dev not found") {
				t.Errorf("opened: %v", err)
			}
			if _, ok := b.Users.Grant("guest", "dev"); ok {
				t.Error("a permission is left")
			}
		}
		if found, err := b.Node.API().DeleteVHost(context.Background(), "dev"); found || err != nil {
			t.Error(found, err)
		}
		makeVHost(b, auth.VHost{Name: "dev"})
		_, ch := openIn(b, "dev")
		if _, err := ch.QueueDeclarePassive("a", true, false, false, false, nil); !isCode(err, amqp.NotFound, "NOT_FOUND - no queue 'a' in vhost 'dev'") {
			t.Errorf("a queue outlived its vhost: %v", err)
		}
		if home.IsClosed() {
			t.Error("a connection to / was closed")
		}
	})
}

// The virtual host is deleted while clients declare, publish and consume at full speed: every client is answered, and none hangs.
func TestVHostDeleteUnderLoad(t *testing.T) {
	testkit.Run(t, shaken, func(b *testkit.Bubble) {
		b.Log.Allow("vhost 'busy' is deleted", "the virtual host is gone", "Exception (")
		for range 5 {
			makeVHost(b, auth.VHost{Name: "busy"})
			done, warm := make(chan error, 6), make(chan struct{}, 6)
			for i := range cap(done) {
				conn, ch := openIn(b, "busy")
				closed := conn.NotifyClose(make(chan *amqp.Error, 1))
				go func() {
					name := string(rune('a' + i%3))
					for round := 0; ch.PublishWithContext(context.Background(), "", name, false, false, testkit.Text("x")) == nil; round++ {
						if round == 10 {
							warm <- struct{}{}
						}
						if _, err := ch.QueueDeclare(name, false, false, false, false, nil); err != nil {
							break
						}
						if _, err := ch.QueueDelete(name, false, false, false); err != nil {
							break
						}
					}
					done <- <-closed
				}()
			}
			for range cap(warm) {
				testkit.Receive(b, warm)
			}
			removeVHost(b, "busy")
			for range cap(done) {
				// A client whose publish fails directly after its close-ok reports that failure instead.
				if err := testkit.Receive(b, done); !isCode(err, amqp.ConnectionForced, "CONNECTION_FORCED - vhost 'busy' is deleted") &&
					!isCode(err, amqp.FrameError, "io: read/write on closed pipe") {
					t.Errorf("closed with %v", err)
				}
			}
		}
	})
}

func TestVHostPoliciesEndWithIt(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		makeVHost(b, auth.VHost{Name: "dev"})
		b.SetPolicyIn("dev", "ttl", `{"pattern":".*","definition":{"message-ttl":1}}`)
		removeVHost(b, "dev")
		if list, err := b.Node.API().ListPolicies(context.Background(), "", false); len(list) != 0 || err != nil {
			t.Error(list, err)
		}
		makeVHost(b, auth.VHost{Name: "dev"})
		_, ch := openIn(b, "dev")
		if _, err := ch.QueueDeclare("q", false, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		_ = ch.PublishWithContext(context.Background(), "", "q", false, false, testkit.Text("stays"))
		b.Advance(time.Second)
		if _, ok, err := ch.Get("q", true); !ok || err != nil {
			t.Error("a policy outlived its vhost", err)
		}
	})
}

func TestVHostDefaultQueueType_DEC12(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		makeVHost(b, auth.VHost{Name: "dev", DefaultQueueType: "quorum"})
		_, ch := openIn(b, "dev")
		kind := func(name string) string {
			t.Helper()
			if _, err := ch.QueueDeclare(name, true, false, false, false, nil); err != nil {
				t.Fatal(err)
			}
			v, _ := b.Node.VHost("dev")
			return v.Directory().Queue([]byte(name)).Type
		}
		if got := kind("q"); got != "quorum" {
			t.Error(got)
		}
		if created, err := b.Node.API().PutVHost(context.Background(), auth.VHost{Name: "dev"}); created || err != nil {
			t.Error(created, err)
		}
		if got := kind("c"); got != "classic" {
			t.Error(got)
		}
	})
}

// A broker starts with all of its virtual hosts, or not at all.
func TestVHostsAtStart(t *testing.T) {
	for _, names := range [][]string{{}, {"/", "a", "b"}} {
		users := auth.NewUsers(auth.Options{})
		for _, name := range names {
			if _, err := users.PutVHost(auth.VHost{Name: name, DefaultQueueType: "quorum"}); err != nil {
				t.Fatal(err)
			}
		}
		testkit.Run(t, func(cfg *supervision.Config) { cfg.Users = users }, func(b *testkit.Bubble) {
			if got, err := b.Node.API().VHosts(context.Background()); !slices.Equal(got, names) && len(names) > 0 || err != nil {
				t.Errorf("%q %v", got, err)
			}
			if v, ok := b.Node.VHost("a"); ok && v.DefaultQueueType() != "quorum" {
				t.Errorf("%q", v.DefaultQueueType())
			}
		})
	}
}

// The connections of a deleted user are closed; its permissions end.
func TestUserDelete(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("user 'app' is deleted", "invalid credentials", "handshake failed")
		_, err := b.Users.PutAccount(auth.Account{Name: "app", Hash: auth.HashPassword("x")})
		if _, errGrant := b.Users.PutGrant(auth.Grant{User: "app", VHost: "/", Configure: ".*"}); err != nil || errGrant != nil {
			t.Fatal(err, errGrant)
		}
		home := b.Connect()
		conn, err := enter(b, "app", "x", "/")
		if err != nil {
			t.Fatal(err)
		}
		closed := conn.NotifyClose(make(chan *amqp.Error, 1))
		synctest.Wait() // otherwise the user may be deleted before the connection is registered as its own
		if found, err := b.Node.API().DeleteUser(context.Background(), "app"); !found || err != nil {
			t.Fatal(found, err)
		}
		if e := testkit.Receive(b, closed); !isCode(e, amqp.ConnectionForced, "CONNECTION_FORCED - user 'app' is deleted") {
			t.Errorf("closed with %v", e)
		}
		if _, err := enter(b, "app", "x", "/"); err == nil || home.IsClosed() {
			t.Error(err, home.IsClosed())
		}
		if found, err := b.Node.API().DeleteUser(context.Background(), "app"); found || err != nil {
			t.Error(found, err)
		}
	})
}
