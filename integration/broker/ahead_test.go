package broker

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit"
	"candlemark/internal/admin/management"

	amqp "github.com/rabbitmq/amqp091-go"
)

// prospect is the answer of /api/x/ahead.
type prospect struct {
	Horizons []int64 `json:"horizons_ms"`
	Counts   map[string][]int
	Next     *struct {
		At                           *time.Time
		Fate, VHost, Queue, Exchange string
	}
	Queues int
	Asked  int `json:"queues_asked"`
}

// is compares the counts, each written as "fate class:count …".
func (p *prospect) is(want ...string) string {
	var got []string
	for _, fate := range []string{"dropped", "dead_lettered", "scheduled", "queue_ends", "lock_returns"} {
		line := fate
		for class, n := range p.Counts[fate] {
			if n != 0 {
				line += fmt.Sprintf(" %d:%d", class, n)
			}
		}
		if line != fate {
			got = append(got, line)
		}
	}
	if len(p.Counts) != 6 || !reflect.DeepEqual(got, want) {
		return fmt.Sprintf("%q, want %q", got, want)
	}
	return ""
}

// Pending deadlines are counted by fate and time, each once, and the earliest is reported.
func TestAhead(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("were not acknowledged in time")
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		ch.Declare("plain", nil)
		ch.Declare("dead", amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "plain"})
		ch.Declare("leased", amqp.Table{"x-expires": int64(3_000_000)})
		ch.Declare("locked", amqp.Table{"x-consumer-timeout": int64(5000)})
		if err := ch.ExchangeDeclare("later", "x-delayed-message", false, false, false, false, amqp.Table{"x-delayed-type": "fanout"}); err != nil {
			t.Fatal(err)
		}
		put := func(exchange, key, ttl string, headers amqp.Table) {
			ch.Publish(exchange, key, amqp.Publishing{Expiration: ttl, Headers: headers})
		}
		for _, ttl := range []string{"1000", "1001", "10000", "59000", "3600000", "3600001", "2592000000", "2592000001", ""} {
			put("", "plain", ttl, nil)
		}
		put("", "dead", "30000", nil)
		put("later", "", "", amqp.Table{"x-delay": int64(700_000)})
		put("later", "", "", amqp.Table{"x-delay": int64(900)})
		put("", "locked", "", nil)
		if _, ok, err := ch.Get("locked", false); err != nil || !ok {
			t.Fatal(ok, err)
		}
		b.Advance(0)
		p := get[prospect](w, "/api/x/ahead")
		if wrong := p.is("dropped 0:1 1:2 2:1 4:1 5:1 8:1 9:1", "dead_lettered 2:1", "scheduled 0:1 4:1", "queue_ends 4:1", "lock_returns 1:1"); wrong != "" {
			t.Error(wrong)
		}
		if p.Queues != 5 || p.Asked != 5 || len(p.Horizons) != 9 || p.Next == nil || p.Next.Fate != "scheduled" || p.Next.Exchange != "later" || p.Next.Queue != "" ||
			p.Next.VHost != "/" || time.Until(*p.Next.At) != 900*time.Millisecond {
			t.Errorf("%+v %+v", p, p.Next)
		}
		if !reflect.DeepEqual(mail.AheadHorizons, management.AheadHorizons) || !reflect.DeepEqual(p.Horizons, management.AheadHorizons[:]) {
			t.Error(p.Horizons)
		}
		// A request repeated shortly afterwards gets the same answer.
		put("", "plain", "500", nil)
		if again := get[prospect](w, "/api/x/ahead/%2F"); again.is("dropped 0:1 1:2 2:1 4:1 5:1 8:1 9:1", "dead_lettered 2:1", "scheduled 0:1 4:1", "queue_ends 4:1", "lock_returns 1:1") != "" {
			t.Errorf("%+v", again)
		}
		b.Advance(20 * time.Second)
		p = get[prospect](w, "/api/x/ahead")
		if wrong := p.is("dropped 2:1 4:2 8:2", "dead_lettered 1:1", "scheduled 4:1", "queue_ends 4:1"); wrong != "" {
			t.Error(wrong)
		}
		if p.Next.Fate != "dead_lettered" || p.Next.Queue != "dead" || p.Next.Exchange != "" {
			t.Errorf("%+v", p.Next)
		}
		aheadOfOthers(w)
	})
}

// aheadOfOthers makes requests as users who may see less.
func aheadOfOthers(w *web) {
	// A user without access sees nothing.
	if got := w.ask("", "PUT", "/api/users/viewer", `{"password":"v","tags":"management"}`); got.Code != 201 {
		w.Error(got.Body)
	}
	if got := w.ask("viewer:v", "GET", "/api/x/ahead", ""); !strings.Contains(got.Body.String(), `"next":null,"queues":0,"queues_asked":0}`) {
		w.Error(got.Body)
	}
	if got := w.ask("viewer:v", "GET", "/api/x/lateness", ""); got.Code != 401 {
		w.Error(got.Code)
	}
	late := get[struct{ Expired, Released []int }](w, "/api/x/lateness")
	if sum(late.Expired) != 4 || sum(late.Released) != 1 || len(late.Expired) != 15 {
		w.Errorf("%+v", late)
	}
}

func sum(list []int) (n int) {
	for _, v := range list {
		n += v
	}
	return n
}

// At most MaxDue queues are queried; queues with expiring messages take precedence.
func TestAheadIsBounded(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		for i := range management.MaxDue + 5 {
			if _, err := ch.QueueDeclare(fmt.Sprint(i), false, false, false, true, amqp.Table{"x-expires": int64(3_000_000)}); err != nil {
				t.Fatal(err)
			}
		}
		ch.Declare("zz", nil)
		ch.Publish("", "zz", amqp.Publishing{Expiration: "30000"})
		b.Advance(0)
		p := get[prospect](w, "/api/x/ahead")
		if wrong := p.is("dropped 2:1", fmt.Sprintf("queue_ends 4:%d", management.MaxDue-1)); wrong != "" || p.Queues != management.MaxDue+6 || p.Asked != management.MaxDue {
			t.Errorf("%s: %d of %d", wrong, p.Asked, p.Queues)
		}
	})
}

// Lists of queues contain the queues for which all conditions hold.
func TestQueueFilters(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		ch.Declare("a", nil)
		if _, err := ch.QueueDeclare("b", true, false, false, false, amqp.Table{"x-queue-type": "quorum", "x-expires": int64(60_000)}); err != nil {
			t.Fatal(err)
		}
		ch.Declare("c", amqp.Table{"x-delayed-messages": true})
		w.want(201, "", "PUT", "/api/policies/%2F/p", `{"pattern":"^b$","definition":{"max-length":5}}`)
		w.want(201, "", "PUT", "/api/operator-policies/%2F/o", `{"pattern":"^c$","definition":{"max-length":5}}`)
		ch.Publish("", "a", amqp.Publishing{Expiration: "30000"})
		ch.Publish("", "c", amqp.Publishing{Headers: amqp.Table{"x-delay": int64(5000)}})
		ch.Publish("", "a", amqp.Publishing{})
		if _, _, err := ch.Get("a", false); err != nil {
			t.Fatal(err)
		}
		ch.Publish("", "b", amqp.Publishing{Expiration: "90000"}) // the last one, because its confirm takes 1 ms
		b.AdvanceTo(3 * time.Second)
		names := func(query string) string {
			var list []string
			for _, q := range get[struct{ Items []struct{ Name string } }](w, "/api/queues?page=1&"+query).Items {
				list = append(list, q.Name)
			}
			return strings.Join(list, " ")
		}
		for query, want := range map[string]string{
			"":                         "a b c",
			"type=quorum":              "b",
			"type=classic":             "a c",
			"policy=p":                 "b",
			"policy=o":                 "c",
			"policy=":                  "a c",
			"expires_within=90000":     "b",
			"expires_within=86000":     "",
			"scheduled_within=2000":    "c",
			"scheduled_within=1999":    "",
			"lease_ends_within=57000":  "b",
			"lease_ends_within=56999":  "",
			"unacked_longer_than=0":    "a",
			"unacked_longer_than=3000": "a",
			"unacked_longer_than=5000": "",
			"type=quorum&expires_within=100000&policy=p":                     "b",
			"type=classic&expires_within=100000":                             "",
			"type=classic&sort=name&sort_reverse=true":                       "c a",
			"type=classic&sort=messages_ready&page_size=1&sort_reverse=true": "a",
			"type=classic&name=C&columns=name":                               "c",
			"type=classic&page_size=1&disable_stats=true":                    "a",
		} {
			if got := names(query); got != want {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
		for _, wrong := range []string{"expires_within=x", "lease_ends_within=-1", "scheduled_within=1e3", "unacked_longer_than=99999999999999999999"} {
			name, _, _ := strings.Cut(wrong, "=")
			w.want(400, reason("bad_request", name+" must be a number of milliseconds"), "GET", "/api/queues?"+wrong, "")
		}
		q := get[struct {
			Oldest *time.Time `json:"oldest_unacked_at"`
		}](w, "/api/queues/%2F/a")
		if q.Oldest == nil || -after(q.Oldest) < 3*time.Second || -after(q.Oldest) > 4*time.Second {
			t.Errorf("%v", q.Oldest)
		}
	})
}
