package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/definitionfile"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/parameters"

	amqp "github.com/rabbitmq/amqp091-go"
)

var (
	poor     = parameters.Setter{User: "poor"}  // a policymaker with permissions for names that begin with u-
	other    = parameters.Setter{User: "other"} // an administrator with all permissions
	operator = parameters.Setter{Operator: true}
)

// shovelUsers adds the users poor and other, and the queues u-a, u-b and secret.
func shovelUsers(b *testkit.Bubble) *testkit.Channel {
	b.Helper()
	b.Log.Allow("shovel terminated", "refused for user 'poor'", "refused for user 'none'", "refused for user 'guest'", "login refused", "handshake failed", "user 'poor' is deleted", "user_id property")
	for _, a := range []auth.Account{
		{Name: "poor", Hash: auth.HashPassword("pw"), Tags: []string{"policymaker"}},
		{Name: "other", Hash: auth.HashPassword("pw"), Tags: []string{"administrator"}},
	} {
		if _, err := b.Users.PutAccount(a); err != nil {
			b.Fatal(err)
		}
	}
	grant(b, "poor", "^(u-|candlemark\\.admin$|amq\\.default$)")
	grant(b, "other", ".*")
	ch := b.Connect().Open()
	for _, name := range []string{"u-a", "u-b", "secret"} {
		durable(b, ch, name, nil)
	}
	return ch
}

func grant(b *testkit.Bubble, user, names string) {
	b.Helper()
	if _, err := b.Users.PutGrant(auth.Grant{User: user, VHost: "/", Configure: names, Write: names, Read: names}); err != nil {
		b.Fatal(err)
	}
}

// A shovel reads and publishes with the permissions of who has set it, or of a user whose password its address has. Nobody
// gets another user's permissions, or guest's, by naming it.
func TestShovelRights_ACC1(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		shovelUsers(b)
		const (
			source      = "terminated failed to connect to source: amqp://: "
			destination = "terminated failed to connect to destination: amqp://: "
			refused     = `Exception (403) Reason: "username or password not allowed"`
			secret      = `terminated failed to set up the source: Exception (403) Reason: "ACCESS_REFUSED - configure access to queue 'secret' in vhost '/' refused for user '%s'"`
		)
		mine, theirs := map[string]any{}, map[string]any{"src-queue": "secret"}
		from := func(uri string) map[string]any { return map[string]any{"src-uri": uri} }
		for _, c := range []struct {
			by    parameters.Setter
			value map[string]any
			want  string
		}{
			{poor, mine, "running"},
			{poor, theirs, fmt.Sprintf(secret, "poor")},
			{poor, map[string]any{"src-queue": "secret", "src-predeclared": true}, fmt.Sprintf(secret, "poor")},
			{poor, from("amqp://poor@"), "running"},
			{poor, from("amqp://poor:pw@"), "running"},
			{poor, from("amqp://poor:wrong@"), source + refused},
			{poor, from("amqp://guest@"), source + "the URI needs a password for user 'guest', because user 'poor' created the shovel"},
			{poor, map[string]any{"dest-uri": "amqp://other@"}, destination + "the URI needs a password for user 'other', because user 'poor' created the shovel"},
			{poor, from("amqp://nobody@"), source + "the URI needs a password for user 'nobody', because user 'poor' created the shovel"},
			{poor, from("amqp://guest:guest@"), source + refused}, // it may not be on this machine
			{poor, from("amqp://:@"), source + refused},
			{poor, map[string]any{"src-queue": "secret", "src-uri": "amqp://other:pw@"}, "running"},
			{other, theirs, "running"},
			{other, from("amqp://guest:guest@"), "running"},
			{other, from("amqp://guest@"), "running"},
			{other, map[string]any{"src-queue": "secret", "src-uri": "amqp://poor@"}, fmt.Sprintf(secret, "poor")},
			{other, from("amqp://nobody@"), source + "there is no user 'nobody'"},
			{operator, theirs, "running"},
			{operator, map[string]any{"src-queue": "secret", "src-uri": "amqp://poor@"}, fmt.Sprintf(secret, "poor")},
			{parameters.Setter{}, mine, source + "the user who created this shovel, and thus its permissions, are unknown: create the shovel again, or add a user and a password to its URI"},
			{parameters.Setter{}, from("amqp://poor@"), source + "the user who created this shovel, and thus its permissions, are unknown: create the shovel again, or add a user and a password to its URI"},
			{parameters.Setter{}, map[string]any{"src-uri": "amqp://poor:pw@", "dest-uri": "amqp://poor:pw@"}, "running"},
			{parameters.Setter{}, from("amqp://guest:guest@"), source + refused},
		} {
			value := map[string]any{"src-queue": "u-a", "dest-queue": "u-b", "reconnect-delay": 0}
			for key, v := range c.value {
				value[key] = v
			}
			putShovelAs(b, c.by, "s", value)
			b.Advance(5 * time.Second)
			if got := state(b); got != c.want {
				t.Errorf("%+v %v:\n got %s\nwant %s", c.by, c.value, got, c.want)
			}
		}
	})
}

// No shovel sends admin commands, set by any user, and on any way by which a message reaches the exchange for them.
func TestShovelsSendNoCommands_ACC3(t *testing.T) {
	runFar(t, func(b *testkit.Bubble, f *far) {
		ch := shovelUsers(b)
		command, err := json.Marshal(map[string]any{"name": "evil", "pattern": ".*", "definition": map[string]any{"max-length": 1}, "apply-to": "queues"})
		if err != nil {
			t.Fatal(err)
		}
		far := f.channel()
		far.Declare("remote", nil)
		ch.Confirms()
		far.Confirms()
		if err := far.ExchangeDeclare("sham", "fanout", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		for _, by := range []parameters.Setter{poor, {User: "guest"}, other, operator, {}} {
			for _, to := range []map[string]any{
				{"dest-exchange": topology.AdminExchange, "dest-exchange-key": "operator_policy.set"},
				{"dest-exchange": topology.AdminExchange, "dest-exchange-key": "policy.set", "dest-uri": "amqp://other:pw@"},
				{"dest-exchange": topology.AdminExchange, "dest-exchange-key": "policy.set", "src-uri": "amqp://far?heartbeat=0", "src-queue": "remote"},
				{"dest-queue": topology.AdminExchange},
			} {
				value := map[string]any{"src-queue": "u-a", "reconnect-delay": 0}
				for key, v := range to {
					value[key] = v
				}
				putShovelAs(b, by, "s", value)
				ch.Publish("", "u-a", amqp.Publishing{Body: command})
				far.Publish("", "remote", amqp.Publishing{Body: command})
				b.Advance(5 * time.Second)
				if got := state(b); !strings.HasPrefix(got, "terminated") || by != (parameters.Setter{}) && !strings.Contains(got, "ACCESS_REFUSED") {
					t.Errorf("%+v %v: %s", by, to, got)
				}
			}
		}
		for _, operators := range []bool{true, false} {
			if list, err := b.Node.API().ListPolicies(context.Background(), "/", operators); err != nil || len(list) > 0 {
				t.Errorf("%v %v", list, err)
			}
		}
	})
}

// Messages keep the user-ids that this broker has checked. Others must not claim to be from another user.
func TestShovelUserIDs_ACC1(t *testing.T) {
	runFar(t, func(b *testkit.Bubble, f *far) {
		ch := shovelUsers(b)
		far := f.channel()
		far.Declare("remote", nil)
		ch.Confirms()
		far.Confirms()
		const refused = "terminated destination closed the channel or connection: 406 PRECONDITION_FAILED - user_id property set to 'guest' but authenticated user was 'poor'"
		for _, c := range []struct {
			value map[string]any
			want  string
		}{
			{map[string]any{}, "running"},
			{map[string]any{"dest-publish-properties": map[string]any{"user_id": "guest"}}, refused},
			{map[string]any{"src-uri": "amqp://far?heartbeat=0", "src-queue": "remote"}, refused},
		} {
			value := map[string]any{"src-queue": "u-a", "dest-queue": "u-b", "reconnect-delay": 0}
			for key, v := range c.value {
				value[key] = v
			}
			putShovelAs(b, poor, "s", value)
			ch.Publish("", "u-a", amqp.Publishing{UserId: "guest", Body: []byte("x")})
			far.Publish("", "remote", amqp.Publishing{UserId: "guest", Body: []byte("x")})
			b.Advance(5 * time.Second)
			if got := state(b); got != c.want {
				t.Errorf("%v:\n got %s\nwant %s", c.value, got, c.want)
			}
		}
		if got := bodies(b, ch, "u-b"); fmt.Sprint(got) != "[x]" {
			t.Errorf("%v", got)
		}
	})
}

// A shovel with any addresses ends when its setter could no longer set it, says why, and runs again when the setter may
// set it again.
func TestShovelSetterLosesRights_ACC4(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		ch := shovelUsers(b)
		account, _ := b.Users.Account("poor")
		put := func(tags ...string) func() error {
			return func() error {
				changed := account
				changed.Tags = tags
				_, err := b.Users.PutAccount(changed)
				return err
			}
		}
		back := func() error {
			err := put("policymaker")()
			grant(b, "poor", "^(u-|amq\\.default$)")
			return err
		}
		for name, addresses := range map[string]string{"own": "amqp://", "with a password": "amqp://other:pw@"} {
			putShovelAs(b, poor, "s", map[string]any{"src-uri": addresses, "dest-uri": addresses, "src-queue": "u-a", "dest-queue": "u-b", "reconnect-delay": 1})
			await(b, "running")
			for what, step := range map[string]struct {
				lose func() error
				want string
			}{
				"the user":   {func() error { _, err := b.Node.API().DeleteUser(context.Background(), "poor"); return err }, "terminated user 'poor', who created the shovel, no longer exists"},
				"the tag":    {put("management", "monitoring"), "terminated user 'poor', who created the shovel, may no longer create shovels"},
				"the access": {func() error { return b.Users.DeleteGrant("poor", "/") }, "terminated user 'poor', who created the shovel, has no access to virtual host '/'"},
			} {
				if err := step.lose(); err != nil {
					t.Fatal(err)
				}
				b.Advance(500 * ms)
				if got := state(b); got != step.want && !(what == "the user" && strings.HasPrefix(got, "terminated ")) { // its connection may end first
					t.Errorf("%s, without %s: %s", name, what, got)
				}
				b.Advance(5 * time.Second)
				if got := state(b); got != step.want {
					t.Errorf("%s, without %s: %s", name, what, got)
				}
				fill(ch, "u-a", 0, 1)
				b.Advance(time.Second)
				if got := bodies(b, ch, "u-a"); fmt.Sprint(got) != "[0]" {
					t.Errorf("%s, without %s: %v", name, what, got)
				}
				if err := back(); err != nil {
					t.Fatal(err)
				}
				await(b, "running")
			}
		}
		// The setter is stored with the parameter.
		putShovelAs(b, poor, "s", map[string]any{"src-queue": "u-a", "dest-queue": "u-b", "reconnect-delay": 1})
		await(b, "running")
		b.Restart(time.Second)
		await(b, "running")
		if _, err := b.Node.API().DeleteUser(context.Background(), "poor"); err != nil {
			t.Fatal(err)
		}
		b.Restart(time.Second)
		await(b, "terminated user 'poor', who created the shovel, no longer exists")
	})
}

// A permission that a running shovel loses ends it, as it ends a client's channel.
func TestShovelLosesPermission_ACC4(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := shovelUsers(b)
		putShovelAs(b, poor, "s", map[string]any{"src-queue": "u-a", "dest-queue": "u-b", "reconnect-delay": 0})
		await(b, "running")
		grant(b, "poor", "^u-")
		fill(ch, "u-a", 0, 1)
		await(b, "terminated destination closed the channel or connection: 403 ACCESS_REFUSED - write access to exchange 'amq.default' in vhost '/' refused for user 'poor'")
		if got := bodies(b, ch, "u-a"); fmt.Sprint(got) != "[0]" {
			t.Errorf("%v", got)
		}
	})
}

// The setter of a shovel is the user of the request or of the import, or the operator for a file of the settings.
func TestShovelsAreSetBy_ACC1(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		shovelUsers(b)
		w := bubbleWeb(b)
		const path, value = "/api/parameters/shovel/%2F/s", `{"src-uri":"amqp://","src-queue":"u-a","dest-uri":"amqp://","dest-queue":"u-b"}`
		const all = `{"parameters":[{"component":"shovel","vhost":"/","name":"s","value":` + value + `},{"component":"federation-upstream","vhost":"/","name":"s","value":{"uri":"amqp://far"}}]}`
		setters := func(what string, want ...parameters.Setter) {
			t.Helper()
			var got []parameters.Setter
			for _, p := range b.Node.API().Parameters("/") {
				got = append(got, p.Setter)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		for user, want := range map[string]parameters.Setter{"poor": poor, "other": other} {
			if got := w.ask(user+":pw", "PUT", path, `{"value":`+value+`}`); got.Code/100 != 2 {
				t.Fatalf("%d %s", got.Code, got.Body)
			}
			if got := w.ask("guest:guest", "DELETE", "/api/shovels/vhost/%2F/s/restart", ""); got.Code != 204 {
				t.Fatalf("%d %s", got.Code, got.Body)
			}
			setters("PUT", want)
			if got := w.ask("guest:guest", "GET", "/api/shovels?columns=user_who_performed_action", ""); got.Body.String() != `[{"user_who_performed_action":"`+user+`"}]` {
				t.Error(got.Body)
			}
		}
		if got := w.ask("other:pw", "POST", "/api/definitions", all); got.Code != 204 {
			t.Fatalf("%d %s", got.Code, got.Body)
		}
		setters("import", other, other)
		plan, err := definitionfile.Judge(context.Background(), b.Node.API(), b.Users, []byte(all), "")
		if err == nil {
			err = definitionfile.Carry(context.Background(), b.Node.API(), b.Users, auth.User{}, plan)
		}
		if err != nil {
			t.Fatal(err)
		}
		setters("settings", operator, operator)
		for uri, want := range map[string]int{"amqp://poor@": 204, "amqp://poor:x@": 204, "amqp://guest:x@": 204, "amqp://guest@": 400, "amqp://other@": 400} {
			body := strings.Replace(value, "amqp://", uri, 1)
			if got := w.ask("poor:pw", "PUT", path, `{"value":`+body+`}`); got.Code != want {
				t.Errorf("%s: %d %s", uri, got.Code, got.Body)
			}
		}
		if got := w.ask("other:pw", "PUT", path, `{"value":`+strings.Replace(value, "amqp://", "amqp://guest@", 1)+`}`); got.Code != 204 {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	})
}
