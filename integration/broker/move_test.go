package broker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"

	amqp "github.com/rabbitmq/amqp091-go"
)

// moved is the JSON form of a move.
type moved struct {
	ID, State, Reason, User string
	Moved, Left             int64
	Targets                 map[string]int64
	Kept                    map[string]int64 `json:"left_by_reason"`
	Ended                   *time.Time       `json:"ended_at"`
}

// moves starts a move and waits until it is over.
func (w *web) moves(b *testkit.Bubble, queue, body string) moved {
	w.Helper()
	m := decode[moved](w, w.ask("", "POST", "/api/x/queues/%2F/"+queue+"/move", body))
	if strings.Contains(body, "dry_run") {
		return m
	}
	for range 100 {
		if m = get[moved](w, "/api/x/moves/"+m.ID); m.State != "running" {
			break
		}
		b.Advance(100 * time.Millisecond)
	}
	return m
}

// deadLettering declares a queue that dead-letters to the queue "dead".
func deadLettering(b *testkit.Bubble, ch *testkit.Channel, queue string, args amqp.Table) {
	b.Helper()
	args["x-dead-letter-exchange"], args["x-dead-letter-routing-key"] = "", "dead"
	ch.Declare(queue, args)
}

// Dead letters are moved back to the queue in which they died: in order, with their original exchange, key, headers and history,
// not marked as redelivered, without the expiration that dead-lettering removed. Messages without a history stay.
func TestMoveToOrigin(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		ch.Declare("dead", nil)
		deadLettering(b, ch, "orders", amqp.Table{})
		deadLettering(b, ch, "bills", amqp.Table{})
		ch.Exchange("x", "topic")
		ch.Bind("orders", "a.*", "x")
		for i := range 300 {
			m := amqp.Publishing{Body: fmt.Append(nil, i), Expiration: "1000", Headers: amqp.Table{"n": int32(i)}, CorrelationId: "c"}
			if i%3 == 0 {
				ch.Publish("", "bills", m)
			} else {
				ch.Publish("x", "a.b", m)
			}
		}
		ch.Publish("", "dead", testkit.Text("held"))
		ch.Publish("", "dead", amqp.Publishing{Body: []byte("own"), Headers: amqp.Table{"x-death": []any{amqp.Table{"queue": "orders", "reason": "expired", "count": int64(1)}}}})
		b.Advance(2 * time.Second)
		held, ok, err := ch.Get("dead", false) // not moved, because it is unacked
		if err != nil || !ok || string(held.Body) != "held" {
			t.Fatal(held, ok, err)
		}
		dry := w.moves(b, "dead", `{"to":"origin","dry_run":true}`)
		if dry.State != "finished" || dry.Moved != 300 || dry.Targets["orders"]+dry.Targets["bills"] != 300 || dry.Left != 1 || dry.Kept["no_x_death"] != 1 || dry.ID != "" {
			t.Errorf("%+v", dry)
		}
		if q := b.Describe("dead"); q.Ready != 301 || q.Unacked != 1 {
			t.Errorf("a dry run has moved something: %+v", q)
		}
		got := w.moves(b, "dead", `{"to":"origin"}`)
		if got.State != "finished" || got.Moved != 300 || got.Left != 1 || got.Kept["no_x_death"] != 1 || got.User != "guest" || got.Ended == nil {
			t.Errorf("%+v", got)
		}
		if q := b.Describe("dead"); q.Ready != 1 || q.Unacked != 1 || q.Counts.Redeliver != 0 {
			t.Errorf("%+v", q)
		}
		expectMoved(t, ch, got.Targets["orders"])
		if err := held.Ack(false); err != nil {
			t.Fatal(err)
		}
		if d := ch.Fetch("dead"); d == nil || string(d.Body) != "own" || d.Redelivered {
			t.Errorf("%+v", d)
		}
	})
}

// expectMoved consumes and checks the messages moved back to orders.
func expectMoved(t *testing.T, ch *testkit.Channel, count int64) {
	t.Helper()
	var last string
	for range count {
		d := ch.Fetch("orders")
		if d == nil {
			t.Fatal("one is missing")
		}
		if last != "" && len(last) >= len(d.Body) && last >= string(d.Body) {
			t.Errorf("%s comes behind %s", d.Body, last)
		}
		last = string(d.Body)
		deaths, _ := d.Headers["x-death"].([]any)
		if d.Exchange != "x" || d.RoutingKey != "a.b" || d.Redelivered || d.Expiration != "" || d.CorrelationId != "c" || d.Headers["n"] == nil || len(deaths) != 1 {
			t.Fatalf("%+v", d)
		}
	}
	if ch.Fetch("orders") != nil {
		t.Error("one came twice")
	}
}

// Messages that a target refuses and unroutable ones stay unchanged at their positions and are counted; all others are moved.
// TTLs begin anew.
func TestMoveKeepsWhatIsRefused(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		if _, err := ch.QueueDeclare("q", true, false, false, false, amqp.Table{"x-queue-type": "quorum", "x-delivery-limit": int32(0)}); err != nil {
			t.Fatal(err)
		}
		ch.Declare("few", amqp.Table{"x-max-length": int32(3), "x-overflow": "reject-publish"})
		for i := range 10 {
			ch.Publish("", "q", testkit.Expiring(fmt.Sprint(i), "60000"))
		}
		b.Advance(50 * time.Second)
		if m := w.moves(b, "q", `{"to":{"queue":"few"}}`); m.Moved != 3 || m.Left != 7 || m.Kept["refused"] != 7 || m.Targets["few"] != 3 {
			t.Errorf("%+v", m)
		}
		b.Advance(9 * time.Second)
		if few, q := b.Describe("few"), b.Describe("q"); few.Ready != 3 || q.Ready != 7 || few.Expiring.Next-q.Expiring.Next < 49_000 {
			t.Errorf("%+v, %+v", few, q)
		}
		ch.Exchange("x", "direct")
		ch.Bind("few", "there", "x")
		if m := w.moves(b, "q", `{"to":{"exchange":"x","routing_key":"nowhere"}}`); m.Moved != 0 || m.Kept["unroutable"] != 7 {
			t.Errorf("%+v", m)
		}
		ids := get[sights](w, "/api/x/queues/%2F/q/messages").Messages
		ch.Drain("few")
		body := fmt.Sprintf(`{"to":{"exchange":"x","routing_key":"there"},"ids":[%q,%s,"999"]}`, ids[5].ID, ids[2].ID)
		if m := w.moves(b, "q", body); m.Moved != 2 || m.Left != 0 {
			t.Errorf("%+v", m)
		}
		if got := ch.Drain("few"); !slices.Equal(got, []string{"5", "8"}) {
			t.Error(got)
		}
		if got := ch.Drain("q"); !slices.Equal(got, []string{"3", "4", "6", "7", "9"}) { // not dead-lettered although the delivery limit is 0
			t.Error(got)
		}
	})
}

// A move does not exceed its rate, and ends after the current batch when it is stopped; messages published during the
// move stay.
func TestMoveRateAndStop(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		ch.Declare("q", nil)
		ch.Declare("to", nil)
		for i := range 100 {
			ch.Publish("", "q", testkit.Text(fmt.Sprint(i)))
		}
		m := decode[moved](w, w.ask("", "POST", "/api/x/queues/%2F/q/move", `{"to":{"queue":"to"},"rate":20}`))
		ch.Publish("", "q", testkit.Text("late"))
		for s := range 3 {
			b.Advance(time.Second)
			if got := b.Describe("to").Ready; got < 20*s || got > 20*(s+1)+5 {
				t.Errorf("%d after %d s", got, s+1)
			}
		}
		w.want(204, "", "DELETE", "/api/x/moves/"+m.ID, "")
		b.Advance(time.Second)
		m = get[moved](w, "/api/x/moves/"+m.ID)
		if n := b.Describe("to").Ready; m.State != "stopped" || m.Moved != int64(n) || b.Describe("q").Ready != 101-n || b.Describe("q").Unacked != 0 {
			t.Errorf("%+v, %d", m, n)
		}
		if all := get[[]moved](w, "/api/x/moves"); len(all) != 1 || all[0].ID != m.ID {
			t.Errorf("%+v", all)
		}
		if m = w.moves(b, "q", `{"to":{"queue":"to"}}`); m.State != "finished" || b.Describe("to").Ready != 101 {
			t.Errorf("%+v", m)
		}
		got := ch.Drain("to")
		for i := range 100 {
			if got[i] != fmt.Sprint(i) {
				t.Fatalf("%s at %d", got[i], i)
			}
		}
		w.want(404, "-", "DELETE", "/api/x/moves/77", "")
		w.want(404, "-", "GET", "/api/x/moves/77", "")
	})
}

// Users who may read the queue and publish to the target may move messages, and list and stop their own moves.
func TestMovePermissions(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		ch.Declare("q", nil)
		ch.Declare("to", nil)
		ch.Exchange("x", "topic")
		ch.Bind("to", "#", "x")
		ch.Publish("", "q", testkit.Text("1"))
		if _, err := b.Users.PutAccount(auth.Account{Name: "ann", Hash: auth.HashPassword("a"), Tags: []string{"management"}}); err != nil {
			t.Fatal(err)
		}
		grant := func(write, read string) {
			if _, err := b.Users.PutGrant(auth.Grant{User: "ann", VHost: "/", Write: write, Read: read}); err != nil {
				t.Fatal(err)
			}
		}
		try := func(to string, want int) {
			t.Helper()
			if got := w.ask("ann:a", "POST", "/api/x/queues/%2F/q/move", `{"to":`+to+`}`); got.Code != want {
				t.Errorf("%s: %d %s", to, got.Code, got.Body)
			}
			b.Advance(time.Second)
		}
		const toExchange = `{"exchange":"x","routing_key":"a.b"}`
		grant("^x$", "")
		try(toExchange, 401)
		grant("", "^q$")
		try(toExchange, 401)
		try(`{"queue":"to"}`, 401)
		try(`"origin"`, 401)
		grant("^x$", "^q$")
		try(`{"queue":"to"}`, 401)
		if _, err := b.Users.PutTopicGrant(auth.TopicGrant{User: "ann", VHost: "/", Exchange: "x", Write: "^c", Read: ".*"}); err != nil {
			t.Fatal(err)
		}
		try(toExchange, 401)
		try(`{"exchange":"x"}`, 200) // with the key of each message
		mine := get[[]moved](w, "/api/x/moves")
		if len(mine) != 1 || mine[0].Kept["access_refused"] != 1 || mine[0].User != "ann" {
			t.Errorf("%+v", mine)
		}
		w.moves(b, "q", `{"to":"origin"}`) // a move of another user
		var hers []moved
		if hers = decode[[]moved](w, w.ask("ann:a", "GET", "/api/x/moves", "")); len(hers) != 1 || hers[0].ID != mine[0].ID {
			t.Errorf("%+v", hers)
		}
		for id, want := range map[string]int{mine[0].ID: 204, "2": 404} {
			if got := w.ask("ann:a", "DELETE", "/api/x/moves/"+id, ""); got.Code != want {
				t.Errorf("%s: %d", id, got.Code)
			}
		}
		try(`{"exchange":"x","routing_key":"c"}`, 200)
		if got := ch.Drain("to"); len(got) != 1 {
			t.Error(got)
		}
	})
}

// Invalid requests are refused.
func TestMoveRequests(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Declare("q", nil)
		for body, text := range map[string]string{
			`{}`:                                  "[{key_missing,to}]",
			`{"to":"there"}`:                      `to must be the string origin, or an object with queue, or with exchange and optionally routing_key`,
			`{"to":{"queue":"a","exchange":"b"}}`: `to must be the string origin, or an object with queue, or with exchange and optionally routing_key`,
			`{"to":{"queue":"q"}}`:                "406 PRECONDITION_FAILED - the messages are already in queue 'q'",
			`{"to":"origin","ids":[]}`:            "ids must be a list of 1 to 1000 message numbers",
			`{"to":"origin","ids":[-1]}`:          "ids must be a list of numbers, 1 or more, not -1",
			`{"to":"origin","rate":0}`:            "rate must be a number of messages per second, above 0 and at most 1000000",
			`{"to":"origin","dry_run":3}`:         "dry_run must be true or false",
		} {
			w.want(400, reason("bad_request", text), "POST", "/api/x/queues/%2F/q/move", body)
		}
		w.want(404, "-", "POST", "/api/x/queues/%2F/q/move", `{"to":{"queue":"none"}}`)
		w.want(404, "-", "POST", "/api/x/queues/%2F/none/move", `{"to":"origin"}`)
	})
}

// The numbers of concurrent moves and of remembered finished moves are limited.
func TestMovesAreBounded(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w, ch := bubbleWeb(b), b.Connect().Open()
		ch.Confirms()
		ch.Declare("q", nil)
		ch.Declare("to", nil)
		for range management.MaxMoves * 2 {
			ch.Publish("", "q", testkit.Text("m"))
		}
		const slow = `{"to":{"queue":"to"},"rate":0.001}`
		// Each user has a share, so that one cannot take all places (ACC-10).
		var users []string
		for i := range management.MaxMoves/management.MaxMovesOfUser + 1 {
			users = append(users, fmt.Sprint("mover", i))
			if _, err := b.Users.PutAccount(auth.Account{Name: users[i], Hash: auth.HashPassword("pw"), Tags: []string{"management"}}); err != nil {
				t.Fatal(err)
			}
			grant(b, users[i], ".*")
		}
		move := func(user, want string) {
			t.Helper()
			if got := w.ask(user+":pw", "POST", "/api/x/queues/%2F/q/move", slow); !strings.Contains(got.Body.String(), want) {
				t.Errorf("%s: %d %s", user, got.Code, got.Body)
			}
		}
		for _, user := range users[:len(users)-1] {
			for range management.MaxMovesOfUser {
				move(user, `"running"`)
				b.Advance(time.Second)
			}
			move(user, "user '"+user+"' has 4 running moves")
		}
		move(users[len(users)-1], "16 moves are running")
		for _, m := range get[[]moved](w, "/api/x/moves") {
			w.want(204, "", "DELETE", "/api/x/moves/"+m.ID, "")
		}
		b.Advance(time.Second)
		for range management.MaxMovesEnded + 20 {
			w.moves(b, "q", `{"to":{"queue":"to"},"ids":[1000000]}`)
		}
		if all := get[[]moved](w, "/api/x/moves"); len(all) > management.MaxMovesEnded+1 {
			t.Errorf("%d are remembered", len(all))
		}
	})
}
