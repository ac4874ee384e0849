package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/storage/store/memory"
	"candlemark/supervision"

	"github.com/asynkron/protoactor-go/actor"
	amqp "github.com/rabbitmq/amqp091-go"
)

// putShovel declares a shovel in / as guest, with the addresses of this broker unless value says otherwise.
func putShovel(b *testkit.Bubble, name string, value map[string]any) {
	b.Helper()
	putShovelAs(b, parameters.Setter{User: "guest"}, name, value)
}

// putShovelAs is putShovel for another user.
func putShovelAs(b *testkit.Bubble, by parameters.Setter, name string, value map[string]any) {
	b.Helper()
	all := map[string]any{"src-uri": "amqp://", "dest-uri": "amqp://"}
	for key, v := range value {
		all[key] = v
	}
	text, err := json.Marshal(all)
	if err != nil {
		b.Fatal(err)
	}
	if err := parameters.Validate(parameters.Shovel, name, text, nil); err != nil {
		b.Fatal(err)
	}
	if _, err := b.Node.API().PutParameter(context.Background(), parameters.Parameter{Component: parameters.Shovel, VHost: "/", Name: name, Value: text, Setter: by}); err != nil {
		b.Fatal(err)
	}
}

// theShovel returns the only shovel, or nil if there is none.
func theShovel(b *testkit.Bubble) *management.Shovel {
	b.Helper()
	synctest.Wait()
	list := b.Node.API().ListShovels("")
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// state returns the state of the only shovel, and its reason.
func state(b *testkit.Bubble) string {
	b.Helper()
	x := theShovel(b)
	if x == nil {
		return "none"
	}
	return strings.TrimSpace(x.State + " " + x.Reason)
}

// await waits until the only shovel is in a state.
func await(b *testkit.Bubble, want string) {
	b.Helper()
	for range 100 {
		if state(b) == want {
			return
		}
		b.Advance(100 * time.Millisecond)
	}
	b.Fatalf("the shovel is %q, not %q", state(b), want)
}

func fill(ch *testkit.Channel, queue string, from, to int) {
	ch.Confirms()
	for i := from; i < to; i++ {
		if !ch.Publish("", queue, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: fmt.Append(nil, i)}) {
			panic("refused")
		}
	}
}

// bodies empties a queue and returns the bodies.
func bodies(b *testkit.Bubble, ch *testkit.Channel, queue string) (list []string) {
	b.Helper()
	for {
		d, there, err := ch.Get(queue, true)
		if err != nil {
			b.Fatal(err)
		}
		if !there {
			return list
		}
		list = append(list, string(d.Body))
	}
}

func numbers(from, to int) (list []string) {
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprint(i))
	}
	return list
}

// A shovel moves all present and later messages, in order and unchanged, and declares missing queues.
func TestShovel(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		if _, err := ch.QueueDeclare("a", true, false, false, false, nil); err != nil {
			b.Fatal(err)
		}
		fill(ch, "a", 0, 500)
		whole := amqp.Publishing{
			Headers: amqp.Table{"i": int32(1), "t": amqp.Table{"x": []any{"y", true}}, "b": []byte{1}}, ContentType: "text/plain", ContentEncoding: "gzip",
			DeliveryMode: 2, Priority: 5, CorrelationId: "c", ReplyTo: "r", Expiration: "600000", MessageId: "m", Timestamp: time.Unix(1e9, 0).UTC(),
			Type: "t", UserId: "guest", AppId: "app", Body: []byte("whole"),
		}
		ch.Publish("", "a", whole)
		putShovel(b, "s", map[string]any{"src-queue": "a", "dest-queue": "b", "src-prefetch-count": 7, "dest-queue-args": map[string]any{"x-max-priority": 3}})
		await(b, "running")
		b.Advance(time.Second)
		fill(ch, "a", 500, 600)
		b.Advance(time.Second)
		x := theShovel(b)
		if x.Forwarded != 601 || x.Pending != 0 || x.From != "amqp://" || x.To != "amqp://" || x.ToMove >= 0 {
			t.Errorf("%+v", x)
		}
		if got := b.Queue("b"); got == nil || !got.Durable {
			t.Errorf("%+v", got)
		}
		d, _, err := ch.Get("b", true) // out of order by its priority
		if err != nil || string(d.Body) != "whole" {
			t.Fatalf("%q %v", d.Body, err)
		}
		got := amqp.Publishing{
			Headers: d.Headers, ContentType: d.ContentType, ContentEncoding: d.ContentEncoding, DeliveryMode: d.DeliveryMode, Priority: d.Priority,
			CorrelationId: d.CorrelationId, ReplyTo: d.ReplyTo, Expiration: d.Expiration, MessageId: d.MessageId, Timestamp: d.Timestamp.UTC(),
			Type: d.Type, UserId: d.UserId, AppId: d.AppId, Body: d.Body,
		}
		if fmt.Sprint(got) != fmt.Sprint(whole) {
			t.Errorf("\n got %v\nwant %v", got, whole)
		}
		if got, want := bodies(b, ch, "b"), numbers(0, 600); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d messages, want %d: %v", len(got), len(want), got)
		}
	})
}

// far is another broker, which the first one reaches as host "far".
type far struct {
	b       *testkit.Bubble
	journal *memory.Journal
	meta    *definitions.Memory
	mu      sync.Mutex
	node    *supervision.Node // nil while it does not run
	to      []net.Conn        // its connections to the first broker
}

// runFar runs a test with two brokers.
func runFar(t *testing.T, test func(b *testkit.Bubble, f *far)) {
	t.Helper()
	f := &far{}
	testkit.Run(t, func(cfg *supervision.Config) { cfg.Dial = f.dial }, func(b *testkit.Bubble) {
		b.Log.Allow("shovel terminated")
		f.b, f.journal, f.meta = b, memory.New(memory.Options{Delay: time.Millisecond}), definitions.NewMemory()
		f.start()
		defer func() { f.stop(f.journal, f.meta) }()
		test(b, f)
	})
}

func (f *far) dial(_ context.Context, to *parameters.URI) (net.Conn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.node == nil || to.Host != "far" {
		return nil, errors.New("nobody is there")
	}
	theirs, ours := net.Pipe()
	f.node.Connect(ours)
	f.to = append(f.to, theirs)
	return theirs, nil
}

func (f *far) start() {
	f.b.Helper()
	node, err := supervision.Start(supervision.Config{
		Journal: f.journal, Meta: f.meta, Users: auth.NewGuest(), Workers: 2, Limits: supervision.Limits{NoHeartbeat: true}, Name: "far",
	})
	if err != nil {
		f.b.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.node = node
}

func (f *far) stop(journal *memory.Journal, meta *definitions.Memory) {
	f.b.Helper()
	f.mu.Lock()
	node := f.node
	f.node = nil
	f.mu.Unlock()
	if err := node.Stop(context.Background()); err != nil {
		f.b.Error(err)
	}
	_ = journal.Close()
	_ = meta.Close()
}

// crash restarts it with the data stored at this moment.
func (f *far) crash() {
	f.b.Helper()
	journal, meta := f.journal, f.meta
	f.journal, f.meta = journal.Reopen(memory.Options{Delay: time.Millisecond}), meta.Reopen()
	f.cut()
	f.stop(journal, meta)
	f.start()
}

// cut cuts all connections between the two brokers.
func (f *far) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.to {
		_ = c.Close()
	}
	f.to = nil
}

// channel opens a channel on a new connection to it.
func (f *far) channel() *testkit.Channel {
	f.b.Helper()
	return f.b.ConnectTo(f.node).Open()
}

// With on-confirm no message is lost if either side fails in the middle, and few are duplicated.
func TestShovelLosesNothing(t *testing.T) {
	const count, prefetch, times = 3000, 50, 12
	for _, toFar := range []bool{true, false} {
		t.Run(fmt.Sprintf("to far %t", toFar), func(t *testing.T) {
			runFar(t, func(b *testkit.Bubble, f *far) {
				value := map[string]any{"src-queue": "a", "dest-queue": "b", "src-prefetch-count": prefetch, "reconnect-delay": 0.05}
				source := b.Connect().Open()
				if value["dest-uri"] = "amqp://far?heartbeat=0"; !toFar {
					delete(value, "dest-uri")
					value["src-uri"] = []string{"amqp://elsewhere", "amqp://far?heartbeat=0"}
					source = f.channel()
				}
				if _, err := source.QueueDeclare("a", true, false, false, false, nil); err != nil {
					b.Fatal(err)
				}
				fill(source, "a", 0, count)
				putShovel(b, "s", value)
				random := rand.New(rand.NewPCG(1, 2))
				for i := range times {
					b.Advance(time.Duration(random.IntN(120)) * time.Millisecond)
					if i%3 == 2 {
						f.crash()
					} else {
						f.cut()
					}
				}
				b.Advance(10 * time.Second)
				ends := map[bool]*testkit.Channel{true: f.channel(), false: b.Connect().Open()}
				if left := bodies(b, ends[!toFar], "a"); len(left) > 0 {
					t.Errorf("%d messages are left: %s", len(left), state(b))
				}
				got := bodies(b, ends[toFar], "b")
				seen := map[string]bool{}
				for _, body := range got {
					seen[body] = true
				}
				for _, body := range numbers(0, count) {
					if !seen[body] {
						t.Errorf("%s is lost", body)
					}
				}
				if twice := len(got) - len(seen); twice > times*prefetch {
					t.Errorf("%d came twice", twice)
				} else {
					t.Logf("%d came twice", twice)
				}
			})
		})
	}
}

// A shovel that has finished is deleted.
func TestShovelIsDone(t *testing.T) {
	for _, c := range []struct {
		value map[string]any
		moved int // of 100
	}{
		{map[string]any{"src-delete-after": "queue-length"}, 100},
		{map[string]any{"src-delete-after": 30}, 30},
		{map[string]any{"src-delete-after": 30, "ack-mode": "on-publish"}, 30},
		{map[string]any{"src-delete-after": 0}, 0},
		{map[string]any{"src-delete-after": "queue-length", "ack-mode": "no-ack", "src-prefetch-count": 3}, 100},
	} {
		t.Run(fmt.Sprint(c.value), func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				ch := b.Connect().Open()
				ch.Declare("a", nil)
				ch.Declare("b", nil)
				fill(ch, "a", 0, 100)
				c.value["src-queue"], c.value["dest-queue"] = "a", "b"
				putShovel(b, "s", c.value)
				await(b, "none")
				b.Advance(time.Second)
				if n := len(b.Node.API().Parameters("")); n != 0 {
					t.Errorf("%d parameters", n)
				}
				if got, want := bodies(b, ch, "b"), numbers(0, c.moved); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("moved %v, want %v", got, want)
				}
				if got, want := bodies(b, ch, "a"), numbers(c.moved, 100); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("left %v, want %v", got, want)
				}
			})
		})
	}
}

// Messages refused by the destination are requeued after a delay; the others are acknowledged one by one, so that none is lost.
func TestShovelRefused(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("a", nil)
		ch.Declare("b", amqp.Table{"x-max-length": 10, "x-overflow": "reject-publish"})
		fill(ch, "a", 0, 100)
		putShovel(b, "s", map[string]any{"src-queue": "a", "dest-queue": "b", "src-delete-after": 100, "src-prefetch-count": 20})
		var got []string
		for range 60 {
			b.Advance(time.Second)
			if x := theShovel(b); x != nil && x.Forwarded > 3000 {
				t.Fatalf("%d publishes", x.Forwarded)
			}
			got = append(got, bodies(b, ch, "b")...)
		}
		if seen := len(got); seen != 100 || theShovel(b) != nil {
			t.Errorf("%d messages, %s: %v", seen, state(b), got)
		}
	})
}

// Exchanges as source and destination, with and without keys; headers record the path.
func TestShovelOfExchanges(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Exchange("from", "topic")
		ch.Exchange("to", "topic")
		ch.Declare("b", nil)
		ch.Bind("b", "#", "to")
		putShovel(b, "s", map[string]any{
			"src-exchange": "from", "src-exchange-key": "k.*", "dest-exchange": "to", "dest-add-forward-headers": true,
			"dest-add-timestamp-header": true, "dest-publish-properties": map[string]any{"app_id": "shovel", "delivery_mode": 2},
		})
		await(b, "running")
		ch.Send("from", "other", testkit.Text("no"))
		ch.Send("from", "k.1", amqp.Publishing{Body: []byte("yes"), Headers: amqp.Table{"x-shovelled": []any{amqp.Table{"shovel-name": "earlier"}}}})
		b.Advance(time.Second)
		d, there, err := ch.Get("b", true)
		if !there || err != nil {
			t.Fatal(there, err)
		}
		if d.RoutingKey != "k.1" || d.AppId != "shovel" || d.DeliveryMode != 2 || d.Headers["x-shovelled-timestamp"] != time.Now().Add(-time.Second).Unix() {
			t.Errorf("%+v", d)
		}
		got, want := fmt.Sprint(d.Headers["x-shovelled"]), "[map[dest-exchange:to dest-uri:amqp:// shovel-name:s shovel-type:dynamic shovel-vhost:/ "+
			"shovelled-by:candlemark@localhost src-exchange:from src-exchange-key:k.* src-uri:amqp://] map[shovel-name:earlier]]"
		if got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
		putShovel(b, "s", map[string]any{"src-exchange": "from", "src-exchange-key": "#", "dest-exchange": "", "dest-exchange-key": "b"})
		await(b, "running")
		ch.Send("from", "any", testkit.Text("other"))
		b.Advance(time.Second)
		if got := bodies(b, ch, "b"); fmt.Sprint(got) != "[other]" {
			t.Errorf("%v", got)
		}
	})
}

// The status of a shovel that cannot run; it retries unless configured otherwise. The status contains no passwords.
func TestShovelTerminated(t *testing.T) {
	runFar(t, func(b *testkit.Bubble, f *far) {
		ch := b.Connect().Open()
		ch.Declare("a", nil)
		for _, c := range []struct {
			value map[string]any
			want  string
		}{
			{map[string]any{"dest-uri": "amqp://u:secret@elsewhere"}, "failed to connect to destination: amqp://elsewhere: nobody is there"},
			{map[string]any{"src-uri": "amqp://u:secret@far?heartbeat=0"}, `failed to connect to source: amqp://far: Exception (403) Reason: "username or password not allowed"`},
			{map[string]any{"src-uri": "amqp://u:secret@"}, `failed to connect to source: amqp://: Exception (403) Reason: "username or password not allowed"`},
			{map[string]any{"src-uri": "amqp://stranger@"}, "failed to connect to source: amqp://: there is no user 'stranger'"},
			{map[string]any{"src-uri": "amqp:///none"}, `failed to connect to source: amqp:///none: Exception (530) Reason: "NOT_ALLOWED - vhost none not found"`},
			{map[string]any{"src-queue": "c", "src-predeclared": true}, `failed to set up the source: Exception (404) Reason: "NOT_FOUND - no queue 'c' in vhost '/'"`},
			{map[string]any{"dest-queue": "c", "dest-predeclared": true}, `failed to set up the destination: Exception (404) Reason: "NOT_FOUND - no queue 'c' in vhost '/'"`},
			{map[string]any{"dest-uri": "amqps://far?cacertfile=/nowhere"}, "failed to connect to destination: amqps://far: cacertfile: files cannot be used: the setting shovel-files names no folder"},
			{map[string]any{"src-protocol": "amqp10", "src-address": "a", "src-queue": nil}, "shovels do not support AMQP 1.0 here: use amqp091"},
		} {
			value := map[string]any{"src-queue": "a", "dest-queue": "b", "reconnect-delay": 0}
			for key, v := range c.value {
				if value[key] = v; v == nil {
					delete(value, key)
				}
			}
			b.Log.Allow("login refused", "vhost none not found", "no queue 'c'", "handshake")
			putShovel(b, "s", value)
			await(b, "terminated "+c.want)
			b.Advance(time.Hour)
			if got := state(b); got != "terminated "+c.want {
				t.Error(got)
			}
		}
		putShovel(b, "s", map[string]any{"src-queue": "a", "dest-queue": "c", "dest-predeclared": true, "reconnect-delay": 5})
		await(b, `terminated failed to set up the destination: Exception (404) Reason: "NOT_FOUND - no queue 'c' in vhost '/'"`)
		ch.Declare("c", nil)
		fill(ch, "a", 0, 3)
		b.Advance(4 * time.Second)
		if got := state(b); !strings.HasPrefix(got, "terminated") {
			t.Error("early:", got)
		}
		await(b, "running")
		b.Advance(time.Second)
		// The queue of the destination is deleted: a message for it stays in the source.
		if _, err := ch.QueueDelete("c", false, false, false); err != nil {
			t.Fatal(err)
		}
		fill(ch, "a", 3, 4)
		await(b, "terminated queue 'c' no longer exists at the destination")
		if got := bodies(b, ch, "a"); fmt.Sprint(got) != "[3]" {
			t.Errorf("%v", got)
		}
		// The queue of the source is deleted.
		ch.Declare("c", nil)
		b.Advance(10 * time.Second)
		if _, err := ch.QueueDelete("a", false, false, false); err != nil {
			t.Fatal(err)
		}
		await(b, "terminated the source cancelled the consumer: the queue was deleted or moved")
	})
}

// Shovels are restored at a start, are deleted with their virtual host, and restart after a panic.
func TestShovelsLive(t *testing.T) {
	var poison atomic.Bool
	testkit.RunStored(t, func(cfg *supervision.Config) {
		cfg.Fault = func(who *actor.PID, what any) bool {
			return strings.HasPrefix(who.Id, "broker/shovel/") && poison.CompareAndSwap(true, false)
		}
	}, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		if _, err := ch.QueueDeclare("a", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		putShovel(b, "s", map[string]any{"src-queue": "a", "dest-queue": "b"})
		await(b, "running")
		b.Restart(time.Second)
		await(b, "running")
		ch = b.Connect().Open()
		fill(ch, "a", 0, 10)
		b.Advance(time.Second)
		b.Log.Allow("actor panicked")
		poison.Store(true)
		if found, err := b.Node.API().RestartShovel(context.Background(), "/", "s"); !found || err != nil {
			t.Fatal(found, err)
		}
		await(b, "running")
		fill(ch, "a", 10, 20)
		b.Advance(time.Second)
		if got, want := bodies(b, ch, "b"), numbers(0, 20); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v", got)
		}
		makeVHost(b, auth.VHost{Name: "v"})
		p := parameters.Parameter{Component: "shovel", VHost: "v", Name: "t", Value: []byte(`{"src-uri":"amqp:///v","src-queue":"a","dest-uri":"amqp:///v","dest-queue":"b"}`), Setter: parameters.Setter{User: "guest"}}
		if _, err := b.Node.API().PutParameter(context.Background(), p); err != nil {
			t.Fatal(err)
		}
		b.Advance(time.Second)
		if n := len(b.Node.API().ListShovels("v")); n != 1 || b.Node.API().ListShovels("v")[0].State != "running" {
			t.Errorf("%+v", b.Node.API().ListShovels("v"))
		}
		removeVHost(b, "v")
		if n := len(b.Node.API().ListShovels("")); n != 1 {
			t.Errorf("%d shovels", n)
		}
		if _, err := b.Node.API().PutParameter(context.Background(), p); !errors.As(err, new(parameters.Refusal)) {
			t.Error(err)
		}
	})
}

// A shovel without a login has all permissions in this broker; one with a user has that user's permissions.
func TestShovelsUsers(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("shovel terminated", "refused for user 'poor'")
		if _, err := b.Users.PutAccount(auth.Account{Name: "poor", Hash: auth.HashPassword("secret")}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Users.PutGrant(auth.Grant{User: "poor", VHost: "/", Read: "^a$", Write: "^$", Configure: "^[ab]$"}); err != nil {
			t.Fatal(err)
		}
		ch := b.Connect().Open()
		ch.Declare("a", nil)
		ch.Declare("b", nil)
		ch.Confirms()
		ch.Publish("", "a", amqp.Publishing{UserId: "guest", Body: []byte("x")})
		refused := `terminated destination closed the channel or connection: 403 ACCESS_REFUSED - write access to exchange 'amq.default' in vhost '/' refused for user 'poor'`
		for uri, want := range map[string]string{"amqp://poor@": refused, "amqp://poor:secret@": refused} {
			putShovel(b, "s", map[string]any{"src-queue": "a", "dest-queue": "b", "dest-uri": uri})
			await(b, want)
		}
		putShovel(b, "s", map[string]any{"src-queue": "a", "dest-queue": "b", "src-uri": "amqp://poor@", "dest-uri": "amqp:///%2F"})
		await(b, "running")
		b.Advance(time.Second)
		if got := bodies(b, ch, "b"); fmt.Sprint(got) != "[x]" {
			t.Errorf("%v", got)
		}
	})
}
