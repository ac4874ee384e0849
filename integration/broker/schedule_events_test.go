package broker

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
)

// TestScheduleEvents_REC15: events tell what users and time do to a schedule, without its message, and the metrics of each schedule how it runs.
func TestScheduleEvents_REC15(t *testing.T) {
	testkit.RunStored(t, func(c *supervision.Config) { c.EventsIn = "/" }, func(b *testkit.Bubble) {
		w, heard := bubbleWeb(b), listens(b)
		const path = "/api/x/schedules/%2F/s"
		const set = "parameter.set component=schedule name=s"
		of := func(event string) string { return "schedule." + event + " name=s vhost=/" }
		w.want(200, "-", "PUT", path, `{"every":60000,"queue":"q","body":"secret"}`)
		checkEvents(b, heard, "created", set, of("created")+" user=guest user_who_performed_action=guest")
		w.want(200, "-", "PUT", path, `{"every":60000,"queue":"q","body":"other"}`)
		checkEvents(b, heard, "changed", set)
		b.AdvanceTo(61 * time.Second)
		checkEvents(b, heard, "no queue", of("run.failed")+" by=timer result=unroutable time_ms=946684860000 user_who_performed_action=rmq-internal")
		durables(b, b.Connect().Open(), "q")
		heardNow(heard)
		b.AdvanceTo(121 * time.Second)
		checkEvents(b, heard, "stored")
		w.want(204, "-", "POST", path+"/pause", `{"note":"why"}`)
		checkEvents(b, heard, "paused", set, of("paused")+" note=why")
		for request, reason := range map[string]string{
			"/trigger {\"tiem\":1}": "unknown key 'tiem'", "/resume {\"note\":\"\"}": "unknown key 'note'", "/pause {\"nota\":\"\"}": "unknown key 'nota'", "/trigger?time=1&time=2": "the parameter time is given more than once",
		} {
			at, body, _ := strings.Cut(request, " ")
			w.want(400, "{\"error\":\"bad_request\",\"reason\":\""+reason+"\"}", "POST", path+at, body)
		}
		w.want(200, "-", "POST", path+"/trigger", "")
		checkEvents(b, heard, "triggered", of("triggered")+" result=stored user_who_performed_action=guest")
		w.want(204, "-", "POST", path+"/resume", "")
		checkEvents(b, heard, "resumed", set, of("resumed"))
		w.want(200, "-", "POST", path+"/backfill", `{"from":"2000-01-01T00:00:00Z"}`)
		checkEvents(b, heard, "backfill", set, of("backfill.started")+" from_ms=946684800000 to_ms=946684921001")
		b.AdvanceTo(122 * time.Second)
		checkEvents(b, heard, "backfilled", set, of("backfill.stopped"))
		text := w.ask("", "GET", "/metrics/detailed?family=schedule_metrics", "").Body.String()
		for _, line := range []string{"stored_total", "unroutable_total", "missed_total", "last_lateness_seconds", "running", "next_timestamp_seconds"} {
			if !strings.Contains(text, "candlemark_schedule_"+line+`{vhost="/",schedule="s"} `) {
				t.Errorf("no %s in %s", line, text)
			}
		}
		b.Restart(3 * time.Minute)
		w, heard = bubbleWeb(b), listens(b)
		w.want(200, "-", "PUT", path, `{"at":["2000-01-01T00:10:00Z"],"queue":"q"}`)
		checkEvents(b, heard, "one time", set)
		b.AdvanceTo(601 * time.Second)
		checkEvents(b, heard, "ended", of("ended"))
		w.want(204, "-", "DELETE", path, "")
		checkEvents(b, heard, "deleted", "parameter.cleared component=schedule name=s", of("deleted")+" user_who_performed_action=guest")
	})
}

// heardNow drops the events that have arrived.
func heardNow(heard <-chan amqp.Delivery) {
	synctest.Wait()
	for _, ok := testkit.TryReceive(heard, 0); ok; _, ok = testkit.TryReceive(heard, 0) {
		continue
	}
}
