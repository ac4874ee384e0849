package main

import (
	"regexp"
	"strings"
	"testing"

	"candlemark/internal/admin/commandline"

	amqp "github.com/rabbitmq/amqp091-go"
)

// dates matches times as the API formats them.
var dates = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+\+00:00`)

// session runs command lines that depend on each other and checks their output.
func session(t *testing.T, url string, steps [][2]string) {
	t.Helper()
	for _, step := range steps {
		stdout, stderr, code := candlemark(url, strings.Split(step[0], "|")...)
		stdout = dates.ReplaceAllString(ports.ReplaceAllString(stdout, "127.0.0.1:*"), "*")
		if stdout != step[1] || stderr != "" || code != 0 {
			t.Errorf("%s: exit %d, stderr %q\n got %q\nwant %q", step[0], code, stderr, stdout, step[1])
		}
	}
}

// refusals runs command lines that must fail, and checks their errors.
func refusals(t *testing.T, url string, steps []refusal) {
	t.Helper()
	for _, step := range steps {
		_, stderr, code := candlemark(url, strings.Split(step.line, "|")...)
		if code != step.code || !strings.Contains(stderr, step.stderr) {
			t.Errorf("%s: exit %d, stderr %q, want %d, %q", step.line, code, stderr, step.code, step.stderr)
		}
	}
}

type refusal struct {
	line   string
	code   int
	stderr string
}

// post publishes and waits for the confirms.
func post(t *testing.T, ch *amqp.Channel, exchange, key string, messages ...amqp.Publishing) {
	t.Helper()
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		d, err := ch.PublishWithDeferredConfirm(exchange, key, false, false, m)
		if err != nil || !d.Wait() {
			t.Fatal(err)
		}
	}
}

// TestPeekVerb_TTL9: the table of peeked messages shows deadlines, and the JSON output contains whole bodies.
func TestPeekVerb_TTL9(t *testing.T) {
	url, _, ch := serveNode(t)
	if _, err := ch.QueueDeclare("q", false, false, false, false, amqp.Table{"x-consumer-timeout": 60_000}); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 100)
	post(t, ch, "", "q", amqp.Publishing{Body: []byte("a\tb\nc"), Expiration: "60000"}, amqp.Publishing{Body: []byte(long)}, amqp.Publishing{Body: []byte("3")})
	if _, ok, err := ch.Get("q", false); !ok || err != nil {
		t.Fatal(err)
	}
	session(t, url, [][2]string{
		{"peek|q|--limit|2", "Peeking at messages of queue 'q' in vhost '/' ...\nid\tstate\texpires_at\tredelivered\trouting_key\tpayload_bytes\tpayload\n" +
			"1\tunacked\t*\tfalse\tq\t5\ta\\tb\\nc\n2\tready\t\tfalse\tq\t100\t" + long[:60] + "\n"},
		{"-s|peek|q|id|lock_expires_at|properties|--truncate|0", "1\t*\t[{\"expiration\",\"60000\"}]\n2\t\t[]\n3\t\t[]\n"},
		{"peek|q|payload|--state|ready|--formatter|json", `[{"payload":"` + long + `"},{"payload":"3"}]` + "\n"},
		{
			"-q|list_unacked|q|id|consumer_tag|channel|connection|delivery_tag|lock_expires_at",
			"id\tconsumer_tag\tchannel\tconnection\tdelivery_tag\tlock_expires_at\n1\t\t127.0.0.1:* -> 127.0.0.1:* (1)\t127.0.0.1:* -> 127.0.0.1:*\t1\t*\n",
		},
		{"renew_lock|q|1", "Renewing the lock of message 1 of queue 'q' in vhost '/' ...\nThe message is locked until *\n"},
		{"return_lock|q|1", "Returning message 1 of queue 'q' in vhost '/' ...\n"},
		{"-s|peek|q|id|redelivered|--limit|1", "1\ttrue\n"},
		{"-s|list_queues|name|messages_ready|messages_scheduled|next_due", "q\t3\t0\t\n"},
	})
	refusals(t, url, []refusal{
		{"peek", commandline.ExitUsage, "not enough arguments."},
		{"peek|q|colour", commandline.ExitUsage, "Info key(s) colour are not supported"},
		{"peek|q|--state|dead", commandline.ExitUnavailable, "state must be ready, unacked, scheduled or deferred"},
		{"peek|none", commandline.ExitData, "NOT_FOUND - no queue 'none' in vhost '/'"},
		{"peek|-p|none|q", commandline.ExitData, "NOT_FOUND - vhost 'none' not found"},
		{"renew_lock|q|2", commandline.ExitData, "no such locked delivery: it was settled, or its lock has expired"},
		{"return_lock|q|1", commandline.ExitData, "no such locked delivery: it was settled, or its lock has expired"},
		{"renew_lock|q|x", commandline.ExitUnavailable, "id must be a number, 1 or more, not x"},
		{"list_unacked|q|--exchange", commandline.ExitUsage, "--exchange"},
	})
}

// TestScheduledVerbs_DLY11: the verbs handle scheduled messages of a queue and of a delayed exchange.
func TestScheduledVerbs_DLY11(t *testing.T) {
	url, _, ch := serveNode(t)
	if _, err := ch.QueueDeclare("q", false, false, false, false, amqp.Table{"x-delayed-messages": true}); err != nil {
		t.Fatal(err)
	}
	if err := ch.ExchangeDeclare("later", "x-delayed-message", false, false, false, false, amqp.Table{"x-delayed-type": "direct"}); err != nil {
		t.Fatal(err)
	}
	if err := ch.QueueBind("q", "q", "later", false, nil); err != nil {
		t.Fatal(err)
	}
	waits := func(id string, ms int) amqp.Publishing {
		return amqp.Publishing{Body: []byte(id), MessageId: id, Headers: amqp.Table{"x-delay": ms}}
	}
	post(t, ch, "", "q", waits("a", 3_600_000), waits("b", 1_800_000), waits("c", 7_200_000))
	post(t, ch, "later", "q", waits("x", 3_000_000), waits("x", 90_000_000))
	const counts = "count\tpayload_bytes\tnext_due\toverdue\twithin_1s\twithin_1m\twithin_1h\twithin_1d\tlater\n"
	session(t, url, [][2]string{
		{"list_scheduled|q", "Listing scheduled messages of queue 'q' in vhost '/' ...\nid\tdue\tmessage_id\trouting_key\tpayload_bytes\n" +
			"2\t*\tb\tq\t1\n1\t*\ta\tq\t1\n3\t*\tc\tq\t1\n"},
		{"-s|list_scheduled|q|id|exchange|persistent|--limit|1", "2\t\tfalse\n"},
		{"list_scheduled|later|--exchange|message_id|--formatter|json", `[{"message_id":"x"},{"message_id":"x"}]` + "\n"},
		{"count_scheduled|later|--exchange", "Counting scheduled messages of exchange 'later' in vhost '/' ...\n" + counts + "2\t2\t*\t0\t0\t0\t1\t0\t1\n"},
		{"-s|peek|q|id|state|due|expires_at", "2\tscheduled\t*\t\n1\tscheduled\t*\t\n3\tscheduled\t*\t\n"},
		{"-s|list_queues|name|messages|messages_scheduled|next_due", "q\t0\t3\t*\n"},
		{"reschedule|q|3|2000-01-01T00:00:00Z", "Rescheduling messages of queue 'q' in vhost '/' ...\nRescheduled 1 messages, due *\n"},
		{"-q|reschedule|--delay|q|1|10m", "Rescheduled 1 messages, due *\n"},
		{"-q|reschedule|--message-id|x|--exchange|later|--delay|1", "Rescheduled 2 messages, due *\n"},
		{"-q|cancel_scheduled|q|--message-id|b", "Cancelled 1 messages\n"},
		{"-q|cancel_scheduled|q|--due-after|2000-01-01T00:00:00Z|--due-before|2999-01-01T00:00:00Z|--dry-run", "1 messages would be cancelled\n"},
		{`-q|reschedule|--delay|q|--headers|{"x-delay":3600000}|--dry-run|1h`, "1 messages would be rescheduled, due *\n"},
		{`-q|reschedule|--delay|q|--headers|{"x-delay":3600000}|--message-id|a|2h`, "Rescheduled 1 messages, due *\n"},
		{"-q|cancel_scheduled|q|--correlation-id|none", "Cancelled 0 messages\n"},
		{"-q|cancel_scheduled|q|--retries|--due-after|1", "Cancelled 0 messages\n"},
		{"-q|cancel_scheduled|q|1", "Cancelled 1 messages\n"},
		{"-s|list_scheduled|q", ""},
	})
	const gone = "no such scheduled message: it was released or cancelled, or never existed"
	refusals(t, url, []refusal{
		{"cancel_scheduled|q", commandline.ExitUsage, "not enough arguments: an id or a condition such as --message-id is required"},
		{"cancel_scheduled|q|1|2", commandline.ExitUsage, "too many arguments."},
		{"cancel_scheduled|q|--due-before|1|--due-before|2", commandline.ExitUsage, "it is given more than once"},
		{"cancel_scheduled|q|1|--message-id|a", commandline.ExitUsage, "too many arguments."},
		{"cancel_scheduled|q|1", commandline.ExitData, gone},
		{"cancel_scheduled|q|--dry-run", commandline.ExitUnavailable, "a condition is required: message_id, correlation_id, headers, due_after, due_before"},
		{"cancel_scheduled|q|--correlation-id|", commandline.ExitUnavailable, "correlation_id must not be empty"},
		{"cancel_scheduled|q|--headers|x", commandline.ExitUnavailable, "headers must be a JSON object with 1 to 16 headers and their values"},
		{"cancel_scheduled|q|1|--due-after|1", commandline.ExitUsage, "too many arguments."},
		{"reschedule|q|1", commandline.ExitUsage, "not enough arguments: an id or a condition such as --message-id, and a time, are required"},
		{"reschedule|q|1|tomorrow", commandline.ExitUnavailable, "due must be an RFC 3339 time or milliseconds since 1970, not tomorrow"},
		{"reschedule|q|--message-id|a|1", commandline.ExitData, gone},
		{"list_scheduled|none", commandline.ExitData, "NOT_FOUND - no queue 'none' in vhost '/'"},
		{"list_scheduled|amq.direct|--exchange", commandline.ExitUnavailable, "exchange 'amq.direct' in vhost '/' does not delay messages"},
	})
}

// TestPauseVerbs_PAUSE4: the verbs pause and resume a queue.
func TestPauseVerbs_PAUSE4(t *testing.T) {
	url, _, ch := serveNode(t)
	if _, err := ch.QueueDeclare("q", false, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	session(t, url, [][2]string{
		{"pause_queue|q", "Pausing queue 'q' in vhost '/' ...\nThe queue is paused\n"},
		{"-s|list_queues|name|state|paused_until", "q\tpaused\t\n"},
		{"-q|pause_queue|q|--for|2h30m", "The queue is paused until *\n"},
		{"-q|pause_queue|q|2035-01-01T00:00:00Z", "The queue is paused until *\n"},
		{"resume_queue|q", "Resuming queue 'q' in vhost '/' ...\nThe queue is not paused\n"},
		{"-s|list_queues|name|state", "q\trunning\n"},
	})
	refusals(t, url, []refusal{
		{"pause_queue|q|2035-01-01T00:00:00Z|--for|2h", commandline.ExitUsage, "give either a date or --for"},
		{"pause_queue|q|--for|", commandline.ExitUnavailable, "for must not be empty"},
		{"pause_queue|q|", commandline.ExitUnavailable, "until must not be empty"},
		{"pause_queue|none", commandline.ExitData, "NOT_FOUND - no queue 'none' in vhost '/'"},
		{"pause_queue|q|--for|soon", commandline.ExitUnavailable, "for must be a duration such as 90s or 2h30m, or a number of milliseconds, 1 or more, not soon"},
	})
}
