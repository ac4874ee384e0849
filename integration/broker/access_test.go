package broker

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/integration/testkit/users"
	"candlemark/internal/access/auth"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
)

// lacking returns users, one of whom has all permissions in / except the refused ones, and access to the HTTP API.
func lacking(name, password string, refused ...users.Refusal) *auth.Users {
	u := auth.NewGuest()
	expressions := [3]string{".*", ".*", ".*"}
	for _, r := range refused {
		of := r.Resource.Name
		if of == "" {
			of = "amq.default"
		}
		expressions[r.Permission] = "^(?!" + regexp.QuoteMeta(of) + "$)"
	}
	_, errUser := u.PutAccount(auth.Account{Name: name, Tags: []string{"management"}, Hash: auth.HashPassword(password)})
	_, errGrant := u.PutGrant(auth.Grant{
		User: name, VHost: "/", Configure: expressions[auth.Configure], Write: expressions[auth.Write], Read: expressions[auth.Read],
	})
	if err := errors.Join(errUser, errGrant); err != nil {
		panic(err)
	}
	return u
}

// need is one permission for one queue or exchange.
type need struct {
	resource auth.Resource
	perm     auth.Permission
}

func queue(name string, p auth.Permission) need {
	return need{auth.Resource{Kind: auth.Queue, Name: name}, p}
}

func exchange(name string, p auth.Permission) need {
	return need{auth.Resource{Kind: auth.Exchange, Name: name}, p}
}

// operations are all operations of a channel on queues and exchanges. q, x (topic), dlx and there exist.
var operations = []struct {
	name  string
	needs []need
	do    func(ch *amqp.Channel) error
}{
	{"queue.declare", []need{queue("new", auth.Configure)}, declaring("new", nil)},
	{"queue.declare again", []need{queue("q", auth.Configure)}, declaring("q", nil)},
	{
		"queue.declare with dead letters",
		[]need{queue("new", auth.Configure), queue("new", auth.Read), exchange("dlx", auth.Write)},
		declaring("new", amqp.Table{"x-dead-letter-exchange": "dlx"}),
	},
	{
		"queue.declare with dead letters to the default exchange",
		[]need{queue("new", auth.Configure), queue("new", auth.Read), exchange("", auth.Write)},
		declaring("new", amqp.Table{"x-dead-letter-exchange": ""}),
	},
	{
		"queue.declare that moves messages on",
		[]need{queue("new", auth.Configure), queue("new", auth.Read), exchange("dlx", auth.Write)},
		declaring("new", amqp.Table{"x-forward-to": "dlx"}),
	},
	{
		"queue.declare with a dead-letter queue",
		[]need{queue("new", auth.Configure), queue("new.dlq", auth.Configure)},
		declaring("new", amqp.Table{"x-dead-letter-queue": true}),
	},
	{"queue.delete", []need{queue("q", auth.Configure)}, func(ch *amqp.Channel) error {
		_, err := ch.QueueDelete("q", false, false, false)
		return err
	}},
	{"queue.purge", []need{queue("q", auth.Read)}, func(ch *amqp.Channel) error {
		_, err := ch.QueuePurge("q", false)
		return err
	}},
	{"queue.bind", []need{queue("q", auth.Write), exchange("x", auth.Read)}, func(ch *amqp.Channel) error {
		return ch.QueueBind("q", "k", "x", false, nil)
	}},
	{"queue.unbind", []need{queue("q", auth.Write), exchange("x", auth.Read)}, func(ch *amqp.Channel) error {
		return ch.QueueUnbind("q", "bound", "x", nil)
	}},
	{"exchange.declare", []need{exchange("new", auth.Configure)}, exchanging("new", nil)},
	{"exchange.declare again", []need{exchange("there", auth.Configure)}, exchanging("there", nil)},
	{
		"exchange.declare with an alternate",
		[]need{exchange("new", auth.Configure), exchange("new", auth.Read), exchange("there", auth.Write)},
		exchanging("new", amqp.Table{"alternate-exchange": "there"}),
	},
	{"exchange.delete", []need{exchange("there", auth.Configure)}, func(ch *amqp.Channel) error {
		return ch.ExchangeDelete("there", false, false)
	}},
	{"exchange.bind", []need{exchange("there", auth.Write), exchange("x", auth.Read)}, func(ch *amqp.Channel) error {
		return ch.ExchangeBind("there", "k", "x", false, nil)
	}},
	{"exchange.unbind", []need{exchange("there", auth.Write), exchange("x", auth.Read)}, func(ch *amqp.Channel) error {
		return ch.ExchangeUnbind("there", "k", "x", false, nil)
	}},
	{"basic.publish", []need{exchange("x", auth.Write)}, publishing("x", "k")},
	{"basic.publish to the default exchange", []need{exchange("", auth.Write)}, publishing("", "q")},
	{"basic.consume", []need{queue("q", auth.Read)}, func(ch *amqp.Channel) error {
		_, err := ch.Consume("q", "", false, false, false, false, nil)
		return err
	}},
	{"basic.get", []need{queue("q", auth.Read)}, func(ch *amqp.Channel) error {
		_, _, err := ch.Get("q", true)
		return err
	}},
}

func declaring(name string, args amqp.Table) func(*amqp.Channel) error {
	return func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclare(name, false, false, false, false, args)
		return err
	}
}

func exchanging(name string, args amqp.Table) func(*amqp.Channel) error {
	return func(ch *amqp.Channel) error {
		return ch.ExchangeDeclare(name, "direct", false, false, false, false, args)
	}
}

// publishing publishes and waits for the confirm, or for the end of the channel.
func publishing(exchange, key string) func(*amqp.Channel) error {
	return func(ch *amqp.Channel) error {
		closed := ch.NotifyClose(make(chan *amqp.Error, 1))
		if err := ch.Confirm(false); err != nil {
			return err
		}
		confirmed := ch.NotifyPublish(make(chan amqp.Confirmation, 1))
		if err := ch.PublishWithContext(context.Background(), exchange, key, false, false, testkit.Text("x")); err != nil {
			return err
		}
		select {
		case c, ok := <-confirmed:
			if ok && c.Ack {
				return nil
			}
			return errOf(<-closed)
		case e := <-closed:
			return errOf(e)
		}
	}
}

func errOf(e *amqp.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// attempt carries out an operation as lim in a broker in which guest has declared everything.
func attempt(t *testing.T, users *auth.Users, do func(*amqp.Channel) error) (err error) {
	t.Helper()
	testkit.Run(t, func(c *supervision.Config) { c.Users = users }, func(b *testkit.Bubble) {
		b.Log.Allow("ACCESS_REFUSED")
		setup := b.Connect().Open()
		setup.Declare("q", nil)
		setup.Exchange("x", "topic")
		setup.Exchange("dlx", "fanout")
		setup.Exchange("there", "direct")
		setup.Bind("q", "bound", "x")
		conn, errOpen := enter(b, "lim", "l", "/")
		if errOpen != nil {
			b.Fatal("connect:", errOpen)
		}
		ch, errOpen := conn.Channel()
		if errOpen != nil {
			b.Fatal("channel:", errOpen)
		}
		err = do(ch)
	})
	return err
}

// only returns users, one of whom has no permissions except these.
func only(needs ...need) *auth.Users {
	u := lacking("lim", "l")
	names := [3][]string{}
	for _, n := range needs {
		of := n.resource.Name
		if of == "" {
			of = "amq.default"
		}
		names[n.perm] = append(names[n.perm], regexp.QuoteMeta(of))
	}
	expression := func(p auth.Permission) string {
		if len(names[p]) == 0 {
			return ""
		}
		return "^(" + strings.Join(names[p], "|") + ")$"
	}
	g := auth.Grant{User: "lim", VHost: "/", Configure: expression(auth.Configure), Write: expression(auth.Write), Read: expression(auth.Read)}
	if _, err := u.PutGrant(g); err != nil {
		panic(err)
	}
	return u
}

// Every operation is refused if any one of its permissions is missing, and allowed with exactly these (DL-3, DEC-14).
func TestPermissionMatrix(t *testing.T) {
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			if err := attempt(t, only(op.needs...), op.do); err != nil {
				t.Errorf("with all it needs: %v", err)
			}
			for _, n := range op.needs {
				text := auth.Refuse(auth.User{Name: "lim"}, "/", n.resource, n.perm).Error()
				_, text, _ = strings.Cut(text, ": ")
				err := attempt(t, lacking("lim", "l", users.Refusal{Resource: n.resource, Permission: n.perm}), op.do)
				if !isCode(err, amqp.AccessRefused, text) {
					t.Errorf("without it:\n got %v\nwant %s", err, text)
				}
			}
		})
	}
}

// Permissions for a dead-letter exchange are checked only when a queue is created with it in its arguments, not when the queue is
// redeclared, and not for a dead-letter exchange set by a policy (DL-3).
func TestDL3_WhatIsNotChecked(t *testing.T) {
	testkit.Run(t, func(c *supervision.Config) {
		c.Users = only(queue("old", auth.Configure), queue("new", auth.Configure))
	}, func(b *testkit.Bubble) {
		b.SetPolicy("p", `{"pattern":"^new$","definition":{"dead-letter-exchange":"dlx","message-ttl":10}}`)
		setup := b.Connect().Open()
		args := amqp.Table{"x-dead-letter-exchange": "dlx"}
		setup.Declare("old", args)
		setup.Exchange("dlx", "fanout")
		setup.Declare("dead", nil)
		setup.Bind("dead", "", "dlx")
		conn, err := enter(b, "lim", "l", "/")
		if err != nil {
			t.Fatal(err)
		}
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		for name, args := range map[string]amqp.Table{"old": args, "new": nil} {
			if err := declaring(name, args)(ch); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		setup.Send("", "new", testkit.Text("m"))
		b.Advance(time.Second)
		expectDrained(b, setup, "dead", "m")
	})
}

// A passive declare needs any one permission; the declare of a queue named by the server needs a permission for such names.
func TestPermissionsOfSpecialDeclares(t *testing.T) {
	passive := func(ch *amqp.Channel) error {
		if _, err := ch.QueueDeclarePassive("q", false, false, false, false, nil); err != nil {
			return err
		}
		return ch.ExchangeDeclarePassive("x", "topic", false, false, false, false, nil)
	}
	for _, p := range []auth.Permission{auth.Configure, auth.Write, auth.Read} {
		if err := attempt(t, only(queue("q", p), exchange("x", p)), passive); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	const refused = "ACCESS_REFUSED - configure access to %s in vhost '/' refused for user 'lim'"
	if err := attempt(t, only(), passive); !isCode(err, amqp.AccessRefused, fmt.Sprintf(refused, "queue 'q'")) {
		t.Error(err)
	}
	if err := attempt(t, only(queue("q", auth.Read)), passive); !isCode(err, amqp.AccessRefused, fmt.Sprintf(refused, "exchange 'x'")) {
		t.Error(err)
	}
	named := lacking("lim", "l")
	if _, err := named.PutGrant(auth.Grant{User: "lim", VHost: "/", Configure: `^amq\.gen-`}); err != nil {
		t.Fatal(err)
	}
	if err := attempt(t, named, declaring("", nil)); err != nil {
		t.Error(err)
	}
	var e *amqp.Error
	if err := attempt(t, only(), declaring("", nil)); !errors.As(err, &e) || !strings.HasPrefix(e.Reason, "ACCESS_REFUSED - configure access to queue 'amq.gen-") {
		t.Error(err)
	}
}

func TestTopicPermissionMatrix(t *testing.T) {
	users := func() *auth.Users {
		u := lacking("lim", "l")
		if _, err := u.PutTopicGrant(auth.TopicGrant{User: "lim", VHost: "/", Exchange: "x", Write: "^{username}\\.", Read: "^public"}); err != nil {
			t.Fatal(err)
		}
		return u
	}
	binding := func(key string) func(*amqp.Channel) error {
		return func(ch *amqp.Channel) error { return ch.QueueBind("q", key, "x", false, nil) }
	}
	const refused = "ACCESS_REFUSED - %s access to topic '%s' in exchange 'x' in vhost '/' refused for user 'lim'"
	for _, test := range []struct {
		name string
		do   func(*amqp.Channel) error
		want string
	}{
		{"own key", publishing("x", "lim.a"), ""},
		{"other key", publishing("x", "guest.a"), fmt.Sprintf(refused, "write", "guest.a")},
		{"other exchange", publishing("there", "guest.a"), ""},
		{"bind", binding("public.#"), ""},
		{"bind other", binding("#"), fmt.Sprintf(refused, "read", "#")},
		{"unbind other", func(ch *amqp.Channel) error { return ch.QueueUnbind("q", "bound", "x", nil) }, fmt.Sprintf(refused, "read", "bound")},
		{"exchange.bind other", func(ch *amqp.Channel) error { return ch.ExchangeBind("there", "#", "x", false, nil) }, fmt.Sprintf(refused, "read", "#")},
	} {
		err := attempt(t, users(), test.do)
		if test.want == "" && err != nil || test.want != "" && !isCode(err, amqp.AccessRefused, test.want) {
			t.Errorf("%s:\n got %v\nwant %s", test.name, err, test.want)
		}
	}
}

// A granted or revoked permission takes effect with the next command, also on a channel that has published before.
func TestPermissionsChangeUnderWay(t *testing.T) {
	users := lacking("lim", "l")
	testkit.Run(t, func(c *supervision.Config) { c.Users = users }, func(b *testkit.Bubble) {
		b.Log.Allow("ACCESS_REFUSED")
		conn, err := enter(b, "lim", "l", "/")
		if err != nil {
			t.Fatal(err)
		}
		set := func(write string) {
			t.Helper()
			if _, err := users.PutGrant(auth.Grant{User: "lim", VHost: "/", Configure: ".*", Write: write, Read: ".*"}); err != nil {
				t.Fatal(err)
			}
		}
		for _, exchange := range []string{"amq.topic", "amq.direct"} {
			ch, err := conn.Channel()
			if err != nil {
				t.Fatal(err)
			}
			closed := ch.NotifyClose(make(chan *amqp.Error, 1))
			if err := publishing(exchange, "k")(ch); err != nil {
				t.Error(err)
			}
			want := "ACCESS_REFUSED - write access to exchange '" + exchange + "' in vhost '/' refused for user 'lim'"
			if exchange == "amq.topic" {
				_, err = users.PutTopicGrant(auth.TopicGrant{User: "lim", VHost: "/", Exchange: exchange, Write: "^other"})
				want = "ACCESS_REFUSED - write access to topic 'k' in exchange 'amq.topic' in vhost '/' refused for user 'lim'"
			} else {
				set("^$")
			}
			if err != nil {
				t.Fatal(err)
			}
			_ = ch.PublishWithContext(context.Background(), exchange, "k", false, false, testkit.Text("x"))
			if e := testkit.Receive(b, closed); !isCode(e, amqp.AccessRefused, want) {
				t.Errorf("\n got %v\nwant %s", e, want)
			}
			set(".*")
		}
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		if err := publishing("amq.direct", "k")(ch); err != nil {
			t.Error("given back:", err)
		}
	})
}

// user-id must be the user's own name, unless the user may impersonate others.
func TestUserID(t *testing.T) {
	as := func(name string) func(*amqp.Channel) error {
		return func(ch *amqp.Channel) error {
			closed := ch.NotifyClose(make(chan *amqp.Error, 1))
			_ = ch.PublishWithContext(context.Background(), "", "q", false, false, amqp.Publishing{UserId: name})
			_, err := ch.QueueDeclarePassive("q", false, false, false, false, nil)
			if err != nil {
				return errOf(<-closed)
			}
			return nil
		}
	}
	users := lacking("lim", "l")
	if err := attempt(t, users, as("lim")); err != nil {
		t.Error(err)
	}
	want := "PRECONDITION_FAILED - user_id property set to 'guest' but authenticated user was 'lim'"
	if err := attempt(t, users, func(ch *amqp.Channel) error { return as("guest")(ch) }); !isCode(err, amqp.PreconditionFailed, want) {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
	if _, err := users.PutAccount(auth.Account{Name: "lim", Tags: []string{"impersonator"}, Hash: auth.HashPassword("l")}); err != nil {
		t.Fatal(err)
	}
	if err := attempt(t, users, as("guest")); err != nil {
		t.Error(err)
	}
}

// Topic permissions restrict only the user's own operations, as in RabbitMQ: they are not checked when a message is routed on, by
// a binding between exchanges or as a dead letter. Such a binding needs write permission on the topic exchange.
func TestTopicPermissionsEndAtTheFirstExchange(t *testing.T) {
	limited := func(refused ...users.Refusal) *auth.Users {
		u := lacking("lim", "l", refused...)
		if _, err := u.PutTopicGrant(auth.TopicGrant{User: "lim", VHost: "/", Exchange: "x", Write: "^own$", Read: "^own$"}); err != nil {
			t.Fatal(err)
		}
		return u
	}
	lead := func(ch *amqp.Channel) error {
		return errors.Join(
			ch.ExchangeDeclare("mine", "fanout", true, false, false, false, nil),
			ch.ExchangeBind("x", "other", "mine", false, nil),
		)
	}
	expire := func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclare("expiring", true, false, false, false, amqp.Table{"x-dead-letter-exchange": "x", "x-dead-letter-routing-key": "other"})
		return err
	}
	write := users.Refusal{User: "lim", Resource: exchange("x", auth.Write).resource, Permission: auth.Write}
	const refused = "ACCESS_REFUSED - write access to exchange 'x' in vhost '/' refused for user 'lim'"
	for name, do := range map[string]func(*amqp.Channel) error{
		"binding":     func(ch *amqp.Channel) error { return errors.Join(lead(ch), publishing("mine", "other")(ch)) },
		"dead letter": func(ch *amqp.Channel) error { return errors.Join(expire(ch), publishing("", "expiring")(ch)) },
	} {
		if err := attempt(t, limited(), do); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := attempt(t, limited(write), do); err == nil || !strings.Contains(err.Error(), refused) {
			t.Errorf("%s without the permission to write: %v", name, err)
		}
	}
	if err := attempt(t, limited(), publishing("x", "other")); err == nil {
		t.Error("the key itself is not refused")
	}
}
