package broker

import (
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"

	amqp "github.com/rabbitmq/amqp091-go"
)

// aheadOf is the forecast of expirations of one or several queues.
type aheadOf struct {
	Name      string         `json:"name"`
	Count     int            `json:"messages_expiring"`
	Next      *time.Time     `json:"next_expiry"`
	Histogram map[string]int `json:"expiry_histogram"`
}

// ahead also contains lists of messages or queues.
type ahead struct {
	aheadOf
	Messages []sight `json:"messages"`
	After    *string `json:"next"`
	Queues   struct {
		Items []aheadOf `json:"items"`
		Total int       `json:"total_count"`
	} `json:"queues"`
}

func (a *aheadOf) is(count int, next time.Duration, due ...int) bool {
	same := a.Count == count && after(a.Next) == next
	for i, name := range []string{"within_1s", "within_1m", "within_1h", "within_1d", "later"} {
		same = same && a.Histogram[name] == due[i]
	}
	return same
}

type leasedQueue struct {
	Name    string     `json:"name"`
	Period  int64      `json:"expires_after_ms"`
	Ends    *time.Time `json:"lease_expires_at"`
	Renewed *time.Time `json:"lease_renewed_at"`
	By      *string    `json:"lease_renewed_by"`
}

// Upcoming expirations of a queue, a virtual host and the broker are counted by time horizon relative to the present, and listed
// by deadline.
func TestExpirations(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		for _, name := range []string{"idle", "later", "soon"} {
			ch.Declare(name, nil)
		}
		put := func(queue, body, ttl string) {
			ch.Publish("", queue, amqp.Publishing{Body: []byte(body), Expiration: ttl})
		}
		put("soon", "4000 s", "4000000")
		put("soon", "30 s", "30000")
		put("soon", "never", "")
		put("soon", "1 s", "1000")
		put("soon", "2 s", "2000")
		put("later", "2 d", "172800000")
		put("later", "3000 s", "3000000")
		put("idle", "never", "")

		check := func(path string, count int, next time.Duration, due ...int) ahead {
			t.Helper()
			got := get[ahead](w, path)
			if !got.is(count, next, due...) {
				t.Errorf("%s: %+v", path, got)
			}
			return got
		}
		if q := get[aheadOf](w, "/api/queues/%2F/soon"); !q.is(4, time.Second, 1, 2, 0, 1, 0) {
			t.Errorf("%+v", q)
		}
		if q := get[aheadOf](w, "/api/queues/%2F/idle"); !q.is(0, -1, 0, 0, 0, 0, 0) {
			t.Errorf("%+v", q)
		}
		for _, path := range []string{"/api/x/expirations", "/api/x/expirations/%2F"} {
			all := check(path, 6, time.Second, 1, 2, 1, 1, 1)
			if q := all.Queues; q.Total != 2 || q.Items[0].Name != "soon" || !q.Items[1].is(2, 3000*time.Second, 0, 0, 1, 0, 1) {
				t.Errorf("%s: %+v", path, q)
			}
		}
		if page := get[ahead](w, "/api/x/expirations?page=2&page_size=1").Queues; page.Total != 2 || page.Items[0].Name != "later" {
			t.Errorf("%+v", page)
		}
		one := check("/api/x/expirations/%2F/soon?limit=3", 4, time.Second, 1, 2, 0, 1, 0)
		if m := one.Messages; len(m) != 3 || after(m[0].Expires) != time.Second || after(m[2].Expires) != 30*time.Second || m[0].Bytes != 3 {
			t.Errorf("%+v", m)
		}
		rest := get[ahead](w, "/api/x/expirations/%2F/soon?after="+*one.After)
		if m := rest.Messages; len(m) != 1 || after(m[0].Expires) != 4000*time.Second || rest.After != nil {
			t.Errorf("%+v", m)
		}
		listByDeadline(w)

		b.Advance(410 * time.Second)
		check("/api/x/expirations", 3, 2590*time.Second, 0, 0, 2, 0, 1)
		if due, err := b.Node.API().Due(b.Context()); err != nil || due.Count != 3 {
			t.Errorf("%+v, %v", due, err)
		}
	})
}

// Leases are listed by the time at which they end, with the action that renewed them last.
func TestLeasesAreListed_LEASE4(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Declare("first", amqp.Table{"x-expires": int64(50_000)})
		ch.Declare("second", amqp.Table{"x-expires": int64(60_000)})
		b.Advance(time.Second)
		if _, _, err := ch.Get("first", true); err != nil {
			t.Fatal(err)
		}
		list := get[struct{ Items []leasedQueue }](w, "/api/x/leases").Items
		if len(list) != 2 || list[0].Name != "first" || *list[0].By != "get" || after(list[0].Ends) != 50*time.Second || after(list[0].Renewed) != 0 ||
			*list[1].By != "declare" || after(list[1].Ends) != 59*time.Second || list[1].Period != 60_000 {
			t.Errorf("%+v", list)
		}
		b.Advance(55 * time.Second)
		if list := get[struct{ Items []leasedQueue }](w, "/api/x/leases/%2F").Items; len(list) != 1 {
			t.Errorf("%+v", list)
		}
	})
}

// listByDeadline checks the list of messages of the queue soon.
func listByDeadline(w *web) {
	w.Helper()
	const soon = "/api/x/queues/%2F/soon/messages?order="
	if got := get[sights](w, soon+"deadline"); strings.Join(got.payloads(), ",") != "1 s,2 s,30 s,4000 s" {
		w.Errorf("%+v", got)
	}
	w.want(400, reason("bad_request", "order must be queue, number or deadline, not size"), "GET", soon+"size", "")
	w.want(400, reason("bad_request", "order deadline is supported for ready messages only"), "GET", soon+"deadline&state=unacked", "")
}
