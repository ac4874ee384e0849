package amqp10

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/access/sas"

	"github.com/Azure/go-amqp"
)

// user adds a user with the password x and a primary access key, which is its name repeated.
func user(b *testkit.Bubble, name, configure, write, read string) {
	b.Helper()
	_, err := b.Users.PutAccount(auth.Account{Name: name, Hash: auth.HashPassword("x")})
	_, err2 := b.Users.PutGrant(auth.Grant{User: name, VHost: "/", Configure: configure, Write: write, Read: read})
	err3 := b.Users.SetAccessKeys(name, sas.Keys{Primary: name + name, Secondary: "other " + name})
	if err := errors.Join(err, err2, err3); err != nil {
		b.Fatal(err)
	}
}

func login(b *testkit.Bubble, name string) *client {
	b.Helper()
	return connect(b, func(o *amqp.ConnOptions) { o.SASLType = amqp.SASLTypePlain(name, "x") })
}

// cbs is a pair of links to $cbs.
type cbs struct {
	*client
	kind     string // of the tokens
	requests *amqp.Sender
	answers  *amqp.Receiver
}

func (c *client) cbs() *cbs {
	c.Helper()
	s := *c
	s.session = c.begin() // a session of its own, as clients do
	return &cbs{
		client: &s, kind: "servicebus.windows.net:sastoken", requests: s.sender("$cbs", nil), answers: s.receiver("$cbs", &amqp.ReceiverOptions{TargetAddress: "cbs"}),
	}
}

// token returns a token of a user for a resource, valid for the given time.
func token(name, resource string, lasts time.Duration) string {
	return sas.New("sb://host/"+resource, name, name+name, time.Now().Add(lasts))
}

// put puts a token and returns the code of the answer.
func (c *cbs) put(audience, token string) int32 {
	c.Helper()
	code, _ := c.answered(audience, token)
	return code
}

// answered is put, with the text of the answer.
func (c *cbs) answered(audience, token string) (code int32, text string) {
	c.Helper()
	to, ctx := "cbs", context.Background()
	err := c.requests.Send(ctx, &amqp.Message{
		Properties: &amqp.MessageProperties{MessageID: "id", ReplyTo: &to}, Value: token,
		ApplicationProperties: map[string]any{"operation": "put-token", "type": c.kind, "name": audience},
	}, nil)
	if err != nil {
		c.Fatal(err)
	}
	m := c.next(c.answers)
	if m == nil {
		c.Fatal("no answer of $cbs")
	}
	if err := c.answers.AcceptMessage(ctx, m); err != nil {
		c.Fatal(err)
	}
	code, _ = m.ApplicationProperties["status-code"].(int32)
	text, _ = m.ApplicationProperties["status-description"].(string)
	return code, text
}

// operations of clients of Azure Service Bus, in order. Each returns a condition or a code: anything but 401 means that it was
// allowed.
var operations = []struct {
	name string
	do   func(c *client) any
}{
	{"send", func(c *client) any {
		s, err := c.begin().NewSender(context.Background(), "q", nil)
		if err != nil {
			return condition(err)
		}
		return condition(s.Send(context.Background(), amqp.NewMessage([]byte("m")), nil))
	}},
	{"receive", func(c *client) any {
		_, err := c.begin().NewReceiver(context.Background(), "q", second(-1))
		return condition(err)
	}},
	{"dead letters", func(c *client) any {
		_, err := c.begin().NewReceiver(context.Background(), "q/$DeadLetterQueue", second(-1))
		return condition(err)
	}},
	{"peek", request("peek-message", map[string]any{"from-sequence-number": int64(0), "message-count": int32(1)})},
	{"settle", request("update-disposition", map[string]any{"disposition-status": "completed", "lock-tokens": []amqp.UUID{{1}}})},
	{"renew", request("renew-lock", map[string]any{"lock-tokens": []amqp.UUID{{1}}})},
	{"by number", request("receive-by-sequence-number", map[string]any{"sequence-numbers": []int64{7}, "receiver-settle-mode": uint32(1)})},
	{"schedule", func(c *client) any {
		own := *c
		own.session = c.begin()
		n := own.node("q")
		code, _ := n.schedule(n.scheduled("1", time.Now().Add(time.Hour)))
		return code
	}},
	{"cancel", request("cancel-scheduled-message", map[string]any{"sequence-numbers": []int64{7}})},
	{"rules", request("enumerate-rules", map[string]any{"top": int32(1), "skip": int32(0)})},
	{"add rule", request("add-rule", map[string]any{"rule-name": "r", "rule-description": map[string]any{"sql-filter": map[string]any{"expression": "1=1"}}})},
	{"delete", request("batch-delete-messages", map[string]any{"message-count": int32(1)})},
	{"state", request("get-session-state", map[string]any{"session-id": "s"})},
	{"set state", request("set-session-state", map[string]any{"session-id": "s", "session-state": []byte("x")})},
	{"renew session", request("renew-session-lock", map[string]any{"session-id": "s"})},
	{"list sessions", request("get-message-sessions", map[string]any{"last-updated-time": everySession, "skip": int32(0), "top": int32(1)})},
	{"remove rule", request("remove-rule", map[string]any{"rule-name": "r"})},
	{"accept session", func(c *client) any {
		_, err := c.begin().NewReceiver(context.Background(), "q", ofSession("s"))
		return condition(err)
	}},
	{"peek dead letters", func(c *client) any {
		own := *c
		own.session = c.begin()
		code, _ := own.node("q/$DeadLetterQueue").ask("peek-message", map[string]any{"message-count": int32(1)})
		return code
	}},
}

func request(operation string, body map[string]any) func(c *client) any {
	return func(c *client) any {
		s := *c
		s.session = c.begin()
		code, _ := s.node("q").ask(operation, body)
		return code
	}
}

// allowed returns the operations that a client may carry out on the queue q.
func (c *client) allowed() string {
	c.Helper()
	var all []string
	for _, o := range operations {
		if got := o.do(c); got != amqp.ErrCondUnauthorizedAccess && got != int32(401) {
			all = append(all, o.name)
		}
	}
	return strings.Join(all, ", ")
}

const (
	sends    = "send, schedule, cancel"
	listens  = "receive, dead letters, peek, settle, renew, by number, delete, state, set state, renew session, list sessions, accept session, peek dead letters"
	both     = "send, receive, dead letters, peek, settle, renew, by number, schedule, cancel, delete, state, set state, renew session, list sessions, accept session, peek dead letters" // but not manage
	ofNode   = "peek, settle, renew, by number, schedule, cancel, rules, add rule, delete, state, set state, renew session, list sessions, remove rule"
	manages  = "send, receive, dead letters, " + ofNode + ", accept session, peek dead letters"
	address  = "amqp://host/q"
	unlisted = "^$"
)

// The rights of the key that signed a token apply at the token's entity only; without a token, the rights of the login apply.
func TestToken_Rights(t *testing.T) {
	run(t, func(b *testkit.Bubble, _ *client) {
		entity(b)
		if err := b.Connect().Open().ExchangeDeclare("other", "fanout", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		user(b, "nobody", unlisted, unlisted, unlisted)
		user(b, "everybody", ".*", ".*", ".*")
		user(b, "sender", "", ".*", "")
		user(b, "listener", "", "", ".*")
		user(b, "manager", ".*", ".*", ".*")
		user(b, "none", "", "", "")
		user(b, "narrow", "", "^q$", `^q(\.dlq)?$`)
		user(b, "elsewhere", "", "^other$", "^other$")
		for _, c := range []struct {
			login, key, resource, audience string
			code                           int32
			want                           string
		}{
			{"nobody", "", "", "", 0, ""},
			{"nobody", "sender", "q", address, 202, sends},
			{"nobody", "listener", "q", address, 202, listens},
			{"nobody", "manager", "q", address, 202, manages},
			{"nobody", "manager", "", address, 202, manages},
			{"nobody", "manager", "", "amqp://host/", 202, manages},
			{"nobody", "none", "q", address, 202, ""},
			{"nobody", "narrow", "q", address, 202, both},
			{"nobody", "elsewhere", "q", address, 202, ""},
			{"nobody", "manager", "other", "amqp://host/other", 202, ""},
			{"nobody", "manager", "other", address, 401, ""},
			{"nobody", "manager", "q", "amqp://host/", 401, ""},
			{"nobody", "manager", "q", "amqp://host/none", 401, ""},
			{"nobody", "manager", "", "amqp://host/none", 404, ""},
			{"nobody", "manager", "q", "amqp://host/q/$management", 202, ofNode},
			{"everybody", "", "", "", 0, manages},
			{"everybody", "sender", "q", address, 202, sends},
			{"everybody", "listener", "q", address, 202, listens},
			{"everybody", "none", "q", address, 202, ""},
			{"everybody", "none", "other", "amqp://host/other", 202, manages},
		} {
			x := login(b, c.login)
			if c.key != "" {
				if code := x.cbs().put(c.audience, token(c.key, c.resource, time.Hour)); code != c.code {
					t.Errorf("%+v: %d", c, code)
				}
			}
			if got := x.allowed(); got != c.want {
				t.Errorf("%s with a key of %s for %q: %q, want %q", c.login, c.key, c.audience, got, c.want)
			}
			_ = x.conn.Close()
		}
	})
}

// The token of the longest scope applies, put in any order; a token replaces the previous one for the same address,
// also for attached links.
func TestToken_Scopes(t *testing.T) {
	run(t, func(b *testkit.Bubble, _ *client) {
		entity(b)
		b.Log.Allow("link detached")
		user(b, "nobody", "", "", "")
		user(b, "sender", "", ".*", "")
		user(b, "listener", "", "", ".*")
		x := login(b, "nobody")
		tokens := x.cbs()
		if a, b := tokens.put(address, token("listener", "q", time.Hour)), tokens.put("amqp://host/", token("sender", "", time.Hour)); a != 202 || b != 202 {
			t.Fatal(a, b)
		}
		if got := x.allowed(); got != listens {
			t.Error(got)
		}
		tokens.kind = "jwt" // a token of Microsoft Entra ID, which the broker does not support
		if code := tokens.put(address, "eyJhbGciOiJub25lIn0.e30."); code != 401 {
			t.Error(code)
		}
		tokens.kind = "servicebus.windows.net:sastoken"
		r := x.receiver("q", second(1))
		n := x.node("q")
		tokens.put(address, token("sender", "q", time.Hour))
		if _, err := r.Receive(context.Background(), nil); condition(err) != amqp.ErrCondUnauthorizedAccess {
			t.Error(err)
		}
		if code, _ := n.ask("peek-message", map[string]any{"message-count": int32(1)}); code != 401 {
			t.Error(code)
		}
		s := x.sender("q", nil)
		x.put(s, "m")
		tokens.put(address, token("listener", "q", time.Hour))
		if err := s.Send(context.Background(), amqp.NewMessage(nil), nil); condition(err) != amqp.ErrCondUnauthorizedAccess {
			t.Error(err)
		}
		x.want(x.receiver("q", second(1)), "m")
	})
}

// An expired token detaches the links that depend on it, at the time of expiry; links whose token was renewed in time stay
// attached. Unsettled messages are requeued.
func TestToken_Expires(t *testing.T) {
	run(t, func(b *testkit.Bubble, _ *client) {
		entity(b)
		b.Log.Allow("link detached", "not settled in time")
		user(b, "nobody", "", "", "")
		user(b, "manager", ".*", ".*", ".*")
		x := login(b, "nobody")
		tokens := x.cbs()
		ends := time.Now().Add(10 * time.Minute).Truncate(time.Second)
		good := sas.New(address, "manager", "managermanager", ends)
		if code := tokens.put(address, good); code != 202 {
			t.Fatal(code)
		}
		s, r, n := x.sender("q", nil), x.receiver("q", second(-1)), x.node("q")
		if err := r.IssueCredit(2); err != nil {
			t.Fatal(err)
		}
		x.put(s, "1", "2")
		first, _ := x.next(r), x.next(r)
		detached := make(chan time.Time, 1)
		go func() {
			if _, err := r.Receive(context.Background(), nil); condition(err) != amqp.ErrCondUnauthorizedAccess {
				t.Error(err)
			}
			detached <- time.Now()
		}()
		b.Advance(time.Until(ends) - time.Minute)
		if err := r.AcceptMessage(context.Background(), first); err == nil || !lockLost(err) { // locks last a minute
			t.Error(err)
		}
		if code := tokens.put(address, token("manager", "q", 5*time.Minute)); code != 202 { // expires 4 minutes after the first token
			t.Fatal(code)
		}
		renewed := time.Now().Add(5 * time.Minute).Truncate(time.Second)
		b.Advance(2 * time.Minute)
		x.put(s, "3")
		if code, _ := n.ask("peek-message", map[string]any{"message-count": int32(1)}); code != 200 {
			t.Error(code)
		}
		b.Advance(time.Until(renewed) - time.Millisecond)
		testkit.Silent(b, detached, 0)
		b.Advance(2 * time.Millisecond)
		if at := testkit.Receive(b, detached); at.Before(renewed) {
			t.Errorf("detached %v early", renewed.Sub(at))
		}
		if err := s.Send(context.Background(), amqp.NewMessage(nil), nil); condition(err) != amqp.ErrCondUnauthorizedAccess {
			t.Error(err)
		}
		if err := n.requests.Send(context.Background(), amqp.NewMessage(nil), nil); condition(err) != amqp.ErrCondUnauthorizedAccess {
			t.Error(err)
		}
		ended(tokens, x, good)
	})
}

// ended checks that a client with an expired token is refused everything, and that a new token gives access to three messages.
func ended(tokens *cbs, x *client, old string) {
	x.Helper()
	if got := x.allowed(); got != "" {
		x.Error("afterwards", got)
	}
	if code := tokens.put(address, old); code != 401 {
		x.Error("an old token:", code)
	}
	if code := tokens.put(address, token("manager", "q", time.Hour)); code != 202 {
		x.Error(code)
	}
	again := x.receiver("q", second(5))
	for range 3 {
		if x.next(again) == nil {
			x.Fatal("messages are missing")
		}
	}
}

// With the development emulator's setting, any token from this machine is accepted and never expires.
func TestToken_Emulator(t *testing.T) {
	run(t, func(b *testkit.Bubble, _ *client) {
		entity(b)
		user(b, "nobody", "", "", "")
		user(b, "root", ".*", ".*", ".*")
		b.Users.AnyToken("root")
		x := login(b, "nobody")
		tokens := x.cbs()
		for _, tokens.kind = range []string{"servicebus.windows.net:sastoken", "jwt"} {
			if code := tokens.put(address, "anything"); code != 202 {
				t.Fatal(code)
			}
		}
		r := x.receiver("q", second(1))
		b.Advance(100 * time.Hour)
		x.put(x.sender("q", nil), "m")
		x.want(r, "m")
	})
}

// A message to an entity is routed to no other entity, even by its carbon-copy headers: the key may not send there.
func TestToken_CarbonCopies(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		entity(b)
		b.Connect().Open().Declare("victim", nil)
		user(b, "narrow", "", "^q$", "")
		if code := c.cbs().put(address, token("narrow", "q", time.Hour)); code != 202 {
			t.Fatal(code)
		}
		m := amqp.NewMessage([]byte("m"))
		m.Annotations = amqp.Annotations{"x-cc": []any{"victim"}, "CC": []any{"victim"}}
		if got := stateOf(c.send(c.sender("q", nil), m)); got != "accepted" {
			t.Error(got)
		}
		if m := c.next(c.receiver("/queues/victim", nil)); m != nil {
			t.Error("it has a copy", m)
		}
	})
}
