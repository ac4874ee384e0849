package broker

import (
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Changing scheduled messages needs more than the permission to list them: permission to publish there, or a user tag; over AMQP
// and HTTP alike.
func TestRearrangingTakesMoreThanReading(t *testing.T) {
	queueAndExchange(t, func(b *testkit.Bubble, w *web, path string, publish func(amqp.Publishing)) {
		at, name := `"queue":"q"`, "q"
		if strings.Contains(path, "exchanges") {
			at, name = `"exchange":"later"`, "later"
		}
		for _, as := range []struct {
			name, write string
			tags        []string
			may         bool
		}{
			{"looker", "^(candlemark.admin|answers-looker)$", []string{"management"}, false},
			{"binder", "^(candlemark.admin|amq.default|answers-binder|mine)$", []string{"management"}, false},
			{"sender", "^(candlemark.admin|amq.default|answers-sender|q|later)$", []string{"management"}, true},
			{"maker", "^(candlemark.admin|amq.default|answers-maker)$", []string{"policymaker"}, true},
		} {
			_, err := b.Users.PutAccount(auth.Account{Name: as.name, Hash: auth.HashPassword(as.name), Tags: as.tags})
			if err == nil {
				_, err = b.Users.PutGrant(auth.Grant{User: as.name, VHost: "/", Configure: ".*", Write: as.write, Read: ".*"})
			}
			if err != nil {
				t.Fatal(err)
			}
			publish(later("a", time.Minute))
			publish(later("b", time.Minute))
			login := as.name + ":" + as.name
			if got := w.ask(login, "GET", path, ""); got.Code != 200 {
				t.Errorf("%s looks at %s: %d %s", as.name, name, got.Code, got.Body)
			}
			status := map[bool]int{true: 200, false: 401}[as.may]
			if got := w.ask(login, "DELETE", path+"?message_id=a&dry_run=true", ""); got.Code != 200 {
				t.Errorf("%s counts messages in %s: %d %s", as.name, name, got.Code, got.Body)
			}
			if got := w.ask(login, "DELETE", path+"?correlation_id=none", ""); got.Code != status {
				t.Errorf("%s cancels by a filter in %s: %d %s", as.name, name, got.Code, got.Body)
			}
			if got := w.ask(login, "PUT", path+"?message_id=a", `{"delay":60000}`); got.Code != status {
				t.Errorf("%s reschedules in %s: %d %s", as.name, name, got.Code, got.Body)
			}
			if got := w.ask(login, "DELETE", path+"?message_id=a", ""); got.Code != status {
				t.Errorf("%s cancels in %s: %d %s", as.name, name, got.Code, got.Body)
			}
			if as.name == "looker" {
				continue // not permitted to have answers sent to a queue
			}
			ask := asker(b, b.ConnectAs(as.name, as.name).Open(), "answers-"+as.name)
			for _, command := range [][2]string{{"scheduled.reschedule", `,"delay":60000`}, {"scheduled.cancel", ""}} {
				key, to := command[0], command[1]
				got := ask(key, `{`+at+`,"message_id":"b"`+to+`}`)
				if as.may != strings.HasPrefix(got, `{"ok":true`) || !as.may && !strings.Contains(got, "ACCESS_REFUSED - write access to") {
					t.Errorf("%s, %s in %s: %s", as.name, key, name, got)
				}
			}
		}
	})
}
