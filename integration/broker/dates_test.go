package broker

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/sas"
	"candlemark/internal/admin/httpapi/servicebus"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/rs/zerolog"
)

// wall returns the date of the laptop's clock in ms, in a while.
func (l *laptop) wall(in time.Duration) int64 {
	return time.Now().UnixMilli() + time.Duration(l.set.Load()+l.slept.Load()+int64(in)).Milliseconds()
}

// A date that arrives at the moment at which the machine's clock was set is judged by the new clock, in any command:
// the messages are due in time, also after a restart before the broker has noticed the change by itself (TTL-35).
func TestTTL35_DatesAtOnce(t *testing.T) {
	for name, restart := range map[string]bool{"": false, ", restarted": true} {
		for _, by := range []time.Duration{2 * time.Hour, -5 * time.Hour, 490_000 * time.Hour} {
			t.Run(by.String()+name, func(t *testing.T) {
				onLaptop(t, func(b *testkit.Bubble, l *laptop) {
					ch := b.Connect().Open()
					ch.Confirms()
					durable(b, ch, "q", amqp.Table{"x-delayed-messages": true})
					durable(b, ch, "mine", amqp.Table{"x-delayed-messages": true, "x-deliver-at-header": "eta"})
					durable(b, ch, "until", deadTo("dead", "x-expires-at-header", "until"))
					durable(b, ch, "dead", nil)
					stores(b, ch, "", "q", amqp.Publishing{Body: []byte("moved"), MessageId: "m", DeliveryMode: 2, Headers: amqp.Table{"x-delay": int64(3_600_000)}})
					b.AdvanceTo(2500 * ms)
					l.set.Add(int64(by))
					dated := func(queue, body, header string, at int64) {
						b.Helper()
						stores(b, ch, "", queue, amqp.Publishing{Body: []byte(body), DeliveryMode: 2, Headers: amqp.Table{header: at}})
					}
					from := b.Elapsed()
					at := l.wall(20 * time.Second)
					dated("q", "deliver at", "x-deliver-at", at)
					dated("mine", "eta", "eta", at)
					dated("until", "until", "until", at)
					dated("until", "over", "until", l.wall(-ms))
					w := bubbleWeb(b)
					w.want(200, "-", "PUT", "/api/x/queues/%2F/q/scheduled?message_id=m", fmt.Sprintf(`{"due":%d}`, at))
					if restart {
						b.Restart(0)
						ch = b.Connect().Open()
					}
					expectDrained(b, ch, "dead", "over")
					b.AdvanceTo(from + 20*time.Second - 2*ms)
					for _, q := range []string{"q", "mine", "dead"} {
						expectDrained(b, ch, q, "")
					}
					b.AdvanceTo(from + 20*time.Second + 20*ms)
					expectDrained(b, ch, "mine", "eta")
					expectDrained(b, ch, "dead", "until")
					got := strings.Join(ch.Drain("q"), ",")
					if got != "deliver at,moved" && got != "moved,deliver at" {
						t.Errorf("released: %s", got)
					}
					b.Advance(2 * time.Second)
					if want := map[bool]int{false: 1, true: 0}[restart]; b.Log.Count("was set") != want {
						t.Errorf("%d lines say that the clock was set", b.Log.Count("was set"))
					}
				})
			})
		}
	}
}

// Dates in answers, and the validity of tokens, follow the clock as it was set (TTL-35).
func TestTTL35_DatesInAnswers(t *testing.T) {
	for _, by := range []time.Duration{30 * time.Hour, -30 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			onLaptop(t, func(b *testkit.Bubble, l *laptop) {
				c := b.Connect()
				ch := c.Open()
				ch.Declare("q", amqp.Table{"x-expires": 60_000})
				ch.Declare("from", nil)
				putShovel(b, "s", map[string]any{"src-queue": "from", "dest-queue": "q"})
				w := bubbleWeb(b)
				b.AdvanceTo(10 * time.Second)
				l.set.Add(int64(by))
				b.AdvanceTo(12 * time.Second)
				near := func(what string, ms int64) {
					t.Helper()
					if off := ms - l.wall(0); off < -15_000 || off > 15_000 {
						t.Errorf("%s: %v away", what, time.Duration(off)*time.Millisecond)
					}
				}
				near("connected at", get[[]struct {
					At int64 `json:"connected_at"`
				}](w, "/api/connections")[0].At)
				near("shovel since", theShovel(b).Since)
				near("queue idle since", b.Describe("q").LastUse)
				for query, want := range map[string]int{"lease_ends_within=60000": 1, "lease_ends_within=1000": 0} {
					if list := get[struct{ Items []any }](w, "/api/queues?page=1&"+query).Items; len(list) != want {
						t.Errorf("%s: %d queues", query, len(list))
					}
				}
				if err := b.Users.SetAccessKeys("guest", sas.Keys{Primary: "key", Secondary: "other"}); err != nil {
					t.Fatal(err)
				}
				handler := servicebus.NewHandler(b.Node.API(), b.Users, "/", false, zerolog.Nop())
				ask := func(method, path, body string, valid time.Duration) *httptest.ResponseRecorder {
					r := httptest.NewRequest(method, path, strings.NewReader(body))
					r.RemoteAddr = "127.0.0.1:1"
					r.Header.Set("Authorization", sas.New("http://"+r.Host+"/", "guest", "key", time.UnixMilli(l.wall(valid))))
					answer := httptest.NewRecorder()
					handler.ServeHTTP(answer, r)
					synctest.Wait()
					return answer
				}
				if got := ask("GET", "/$Resources/Queues", "", -time.Minute); got.Code != 401 {
					t.Errorf("a token that has expired: %d", got.Code)
				}
				created := ask("PUT", "/entity?api-version=2021-05", `<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><QueueDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"/></content></entry>`, time.Minute)
				_, text, _ := strings.Cut(created.Body.String(), "<CreatedAt>")
				text, _, _ = strings.Cut(text, "</CreatedAt>")
				at, err := time.Parse(time.RFC3339, text)
				if err != nil {
					t.Fatalf("%d %s: %v", created.Code, created.Body, err)
				}
				near("created at", at.UnixMilli())
			})
		})
	}
}
