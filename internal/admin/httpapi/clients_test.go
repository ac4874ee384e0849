package httpapi

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/queuestats"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

// crowd is a broker with two connections.
type crowd struct {
	*fake
	closed []string
	asked  []string // names of connections
}

func (c *crowd) Connections(_ context.Context, name string) ([]management.Connection, error) {
	c.asked = append(c.asked, name)
	return slices.DeleteFunc([]management.Connection{
		{Name: "a", User: "guest", VHost: "/", State: "running", ClientProperties: protocol.Table{{Key: "connection_name", Value: "mine"}}},
		{Name: "b", User: "viewer", VHost: "dev", State: "running"},
	}, func(k management.Connection) bool { return name != "" && k.Name != name }), c.err
}

func (c *crowd) CloseConnection(_ context.Context, name, reason string) (bool, error) {
	c.closed = append(c.closed, name+": "+reason)
	return true, c.err
}

func (c *crowd) CloseConnectionsOf(_ context.Context, user, reason string) error {
	c.closed = append(c.closed, "all of "+user+": "+reason)
	return c.err
}

func (c *crowd) Channels(ctx context.Context, connection string) (all []management.Channel, err error) {
	list, err := c.Connections(ctx, connection)
	for i := range list {
		k := &list[i]
		all = append(all, management.Channel{Connection: k, Number: map[string]int{"a": 1, "b": 2}[k.Name], User: k.User, VHost: k.VHost, Consumers: 1})
	}
	return all, err
}

func (c *crowd) ChannelNumbered(ctx context.Context, connection string, number int) (found management.Channel, consumers []management.Consumer, is bool, err error) {
	all, err := c.Channels(ctx, connection)
	if len(all) == 0 || all[0].Number != number {
		return found, nil, false, err
	}
	consumers = []management.Consumer{{Queue: "q", Tag: map[string]string{"a": "t1", "b": "t2"}[connection], Connection: all[0].Connection, Channel: number}}
	return all[0], consumers, true, err
}

func (c *crowd) Consumers(ctx context.Context, _ string) ([]management.Consumer, error) {
	list, err := c.Connections(ctx, "")
	return []management.Consumer{
		{Queue: "q", VHost: "/", Tag: "t1", Connection: &list[0], Channel: 1},
		{Queue: "q", VHost: "dev", Tag: "t2", Connection: &list[1], Channel: 2},
		{Queue: "q", VHost: "/", Tag: "t3"},
	}, err
}

func (c *crowd) QueueNames(string) (names []management.QueueSummary) {
	for i := range c.queues {
		q, s := &c.queues[i], &queuestats.Stats{}
		s.Set(&queuestats.Values{queuestats.Ready: int64(q.Ready), queuestats.Unacked: int64(q.Unacked)})
		names = append(names, management.QueueSummary{VHost: q.VHost, Name: q.Name, Stats: s})
	}
	return names
}

func (c *crowd) Exchanges(context.Context, string) ([]management.Exchange, error) {
	return []management.Exchange{{VHost: "/", Name: "x"}, {VHost: "dev", Name: "x"}, {VHost: "dev", Name: "y"}}, c.err
}

// TestFiguresOfOthers: users without the tag monitoring see neither totals of virtual hosts without access nor
// consumers, addresses and limits of other users.
func TestFiguresOfOthers(t *testing.T) {
	c := &crowd{fake: newFake("/", "dev")}
	connections, _ := c.Connections(context.Background(), "")
	consumers, _ := c.Consumers(context.Background(), "")
	c.queues = []management.Queue{
		{VHost: "/", Name: "q", Figures: queuestats.Figures{Ready: 3, Unacked: 1}, Details: &management.QueueDetails{Consumers: consumers[:2], Owner: &connections[0]}},
		{VHost: "/", Name: "theirs", ExclusiveTag: "t1", ActiveTag: "t1", Details: &management.QueueDetails{Consumers: consumers[:1]}},
		{VHost: "dev", Name: "secret", Figures: queuestats.Figures{Ready: 1000}},
	}
	u := someUsers()
	for _, name := range []string{"guest", "viewer"} {
		if err := u.SetUserLimits(name, func(auth.Limits) auth.Limits { return auth.Limits{auth.MaxChannels: 9} }); err != nil {
			t.Fatal(err)
		}
	}
	h := NewHandler(c, u, zerolog.Nop())
	const refused = `{"error":"not_authorised","reason":"User not authorised to access object"}`
	const totals = "/api/overview?columns=object_totals,queue_totals.messages,listeners"
	const details = "?columns=consumer_details.consumer_tag,owner_pid_details.name,exclusive_consumer_tag"
	const own = `{"user":"viewer","value":{"max-channels":9}}`
	for _, test := range []struct {
		as, path string
		status   int
		want     string
	}{
		{guest, totals, 200, `{"listeners":[{"ip_address":"127.0.0.1","node":"candlemark@here","port":5672,"protocol":"amqp","tls":false}],` +
			`"object_totals":{"channels":2,"connections":1,"consumers":3,"exchanges":8,"queues":5},"queue_totals":{"messages":17}}`},
		{"viewer:v", totals, 200, `{"listeners":[],"object_totals":{"channels":1,"connections":1,"consumers":1,"exchanges":1,"queues":2},"queue_totals":{"messages":4}}`},
		{guest, "/api/queues/%2F/q" + details, 200, `{"consumer_details":[{"consumer_tag":"t1"},{"consumer_tag":"t2"}],"exclusive_consumer_tag":null,"owner_pid_details":{"name":"a"}}`},
		{"viewer:v", "/api/queues/%2F/q" + details, 200, `{"consumer_details":[{"consumer_tag":"t2"}],"exclusive_consumer_tag":null}`},
		{"viewer:v", "/api/queues/%2F/theirs" + details, 200, `{"consumer_details":[],"exclusive_consumer_tag":null}`},
		{guest, "/api/user-limits", 200, `[{"user":"guest","value":{"max-channels":9}},` + own + `]`},
		{guest, "/api/user-limits/viewer", 200, `[` + own + `]`},
		{"viewer:v", "/api/user-limits", 200, `[` + own + `]`},
		{"viewer:v", "/api/user-limits/viewer", 200, `[` + own + `]`},
		{"viewer:v", "/api/user-limits/guest", 401, refused},
		{"viewer:v", "/api/user-limits/nobody", 401, refused},
	} {
		if w := do(t, h, test.as, "GET", test.path, ""); w.Code != test.status || w.Body.String() != test.want {
			t.Errorf("%s %s\n got %d %s\nwant %d %s", test.as, test.path, w.Code, w.Body, test.status, test.want)
		}
	}
}

// Users without the tag monitoring see and close only their own connections; administrators see and close all.
func TestClientsOfOthers(t *testing.T) {
	c := &crowd{fake: newFake("/", "dev")}
	h := NewHandler(c, users, zerolog.Nop())
	const gone, refused = absent, `{"error":"not_authorised","reason":"User not authorised to access object"}`
	for _, test := range []struct {
		as, method, path string
		status           int
		want             string
	}{
		{guest, "GET", "/api/connections?columns=name", 200, `[{"name":"a"},{"name":"b"}]`},
		{"viewer:v", "GET", "/api/connections?columns=name", 200, `[{"name":"b"}]`},
		{guest, "GET", "/api/vhosts/dev/connections?columns=name", 200, `[{"name":"b"}]`},
		{
			guest, "GET", "/api/connections/a?columns=user_provided_name,ssl,client_properties", 200,
			`{"client_properties":{"connection_name":"mine"},"ssl":false,"user_provided_name":"mine"}`,
		},
		{"viewer:v", "GET", "/api/connections/a", 401, refused},
		{"viewer:v", "DELETE", "/api/connections/a", 401, refused},
		{"viewer:v", "DELETE", "/api/connections/b", 204, ""},
		{guest, "DELETE", "/api/connections/b", 204, ""},
		{guest, "DELETE", "/api/connections/none", 404, gone},
		{guest, "GET", "/api/connections/username/viewer?columns=name", 200, `[{"name":"b"}]`},
		{"viewer:v", "GET", "/api/connections/username/viewer?columns=name", 200, `[{"name":"b"}]`},
		{guest, "GET", "/api/connections/username/channels", 200, `[]`},
		{"viewer:v", "GET", "/api/connections/username/guest", 401, refused},
		{"viewer:v", "DELETE", "/api/connections/username/guest", 401, refused},
		{guest, "DELETE", "/api/connections/username/viewer", 204, ""},
		{guest, "DELETE", "/api/connections/a/channels", 404, gone},
		{guest, "GET", "/api/connections/a/nothing", 404, gone},
		{guest, "GET", "/api/channels?columns=name", 200, `[{"name":"a (1)"},{"name":"b (2)"}]`},
		{"viewer:v", "GET", "/api/channels?columns=name", 200, `[{"name":"b (2)"}]`},
		{guest, "GET", "/api/vhosts/dev/channels?columns=name", 200, `[{"name":"b (2)"}]`},
		{guest, "GET", "/api/connections/a/channels?columns=number", 200, `[{"number":1}]`},
		{"viewer:v", "GET", "/api/connections/a/channels", 401, refused},
		{"viewer:v", "GET", "/api/channels/a%20(1)", 401, refused},
		{guest, "GET", "/api/channels/b%20(2)?columns=number,consumer_details.consumer_tag", 200, `{"consumer_details":[{"consumer_tag":"t2"}],"number":2}`},
		{guest, "GET", "/api/channels/b%20(3)", 404, gone},
		{
			guest, "GET", "/api/consumers?columns=consumer_tag,channel_details.name", 200,
			`[{"channel_details":{"name":"a (1)"},"consumer_tag":"t1"},{"channel_details":{"name":"b (2)"},"consumer_tag":"t2"},` +
				`{"channel_details":{"name":""},"consumer_tag":"t3"}]`,
		},
		{"viewer:v", "GET", "/api/consumers?columns=consumer_tag", 200, `[{"consumer_tag":"t2"}]`},
	} {
		if w := do(t, h, test.as, test.method, test.path, ""); w.Code != test.status || w.Body.String() != test.want {
			t.Errorf("%s %s %s\n got %d %s\nwant %d %s", test.as, test.method, test.path, w.Code, w.Body, test.status, test.want)
		}
	}
	if len(c.closed) != 3 || c.closed[0] != "b: Closed via management plugin" || c.closed[2] != "all of viewer: Closed via management plugin" {
		t.Errorf("%q", c.closed)
	}
}

// TestOneIsAsked_ACC12: a request about one connection or channel asks no other one.
func TestOneIsAsked_ACC12(t *testing.T) {
	c := &crowd{fake: newFake("/", "dev")}
	h := NewHandler(c, users, zerolog.Nop())
	for path, want := range map[string]int{
		"/api/connections/a": 200, "/api/connections/a/channels": 200, "/api/connections/a/sessions": 200, "/api/channels/a%20(1)": 200,
		"/api/connections/none": 404, "/api/channels/a%20(7)": 404, "/api/channels/a": 404, "/api/channels/a%20(1": 404,
	} {
		c.asked = nil
		w := do(t, h, guest, "GET", path, "")
		if got := fmt.Sprint(c.asked); w.Code != want || slices.Contains(c.asked, "") {
			t.Errorf("%s: %d, asked %s", path, w.Code, got)
		}
	}
}

// lookingAhead is a broker that does not say what comes before done is closed.
type lookingAhead struct {
	*crowd
	looking sync.WaitGroup
	done    chan struct{}
}

func (l *lookingAhead) Ahead(context.Context) ([]management.Ahead, error) {
	l.looking.Done()
	<-l.done
	return nil, nil
}

// TestAheadHasNoTurn_ACC12: requests for what comes that wait, of many users, keep nobody from a list.
func TestAheadHasNoTurn_ACC12(t *testing.T) {
	l := &lookingAhead{crowd: &crowd{fake: newFake("/")}, done: make(chan struct{})}
	u := someUsers()
	var waiting sync.WaitGroup
	for i := range 5 {
		name := fmt.Sprint("u", i)
		if _, err := u.PutAccount(auth.Account{Name: name, Hash: auth.HashPassword("p"), Tags: []string{"monitoring"}}); err != nil {
			t.Fatal(err)
		}
	}
	h := NewHandler(l, u, zerolog.Nop())
	l.looking.Add(5)
	for i := range 5 {
		waiting.Go(func() { do(t, h, fmt.Sprintf("u%d:p", i), "GET", "/api/x/ahead", "") })
	}
	l.looking.Wait()
	if w := do(t, h, guest, "GET", "/api/connections", ""); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	close(l.done)
	waiting.Wait()
}
