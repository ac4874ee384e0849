package amqp10

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"candlemark/integration/testkit"
	"candlemark/internal/admin/httpapi"
	"candlemark/internal/admin/management"

	"github.com/Azure/go-amqp"
	"github.com/rs/zerolog"
)

// ask sends a request to the HTTP API as guest.
func ask(b *testkit.Bubble, path string) string {
	b.Helper()
	r := httptest.NewRequest("GET", path, nil)
	r.RemoteAddr = "127.0.0.1:1"
	r.SetBasicAuth("guest", "guest")
	answer := httptest.NewRecorder()
	httpapi.NewHandler(b.Node.API(), b.Users, zerolog.Nop()).ServeHTTP(answer, r)
	if answer.Code != 200 {
		b.Fatalf("%s: %d %s", path, answer.Code, answer.Body)
	}
	return answer.Body.String()
}

// Connections, sessions and links are shown with their unsettled messages and their credit.
func TestSessionsAndLinksAreShown(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		b.Connect().Open().Declare("q", nil)
		s := c.sender("/queues/q", &amqp.SenderOptions{Name: "from"})
		c.sender("", &amqp.SenderOptions{Name: "anywhere"})
		r := c.receiver("/queues/q", &amqp.ReceiverOptions{Name: "to", Credit: 10})
		c.put(s, "1", "2", "3")
		c.want(r, "1")
		for range 2 {
			if c.next(r) == nil {
				t.Fatal("lost")
			}
		}
		b.Advance(0)
		var connections []struct {
			Name, Protocol string
			Channels       int
			ContainerID    string `json:"container_id"`
			Named          string `json:"user_provided_name"`
		}
		if err := json.Unmarshal([]byte(ask(b, "/api/connections?sort=protocol")), &connections); err != nil {
			t.Fatal(err)
		}
		if len(connections) != 2 || connections[0].Protocol != "AMQP 0-9-1" || connections[1].Protocol != "AMQP 1-0" || connections[1].Channels != 1 ||
			connections[0].ContainerID != "" || connections[1].ContainerID == "" || connections[1].ContainerID != connections[1].Named {
			t.Fatalf("%+v", connections)
		}
		const want = `[{"channel_number":0,"handle_max":255,"next_incoming_id":3,"incoming_window":2045,"next_outgoing_id":3,"remote_incoming_window":4997,"outgoing_unsettled_deliveries":2,` +
			`"incoming_links":[{"handle":0,"link_name":"from","target_address":"/queues/q","delivery_count":3,"credit":497,"unconfirmed_messages":0},` +
			`{"handle":1,"link_name":"anywhere","target_address":"","delivery_count":0,"credit":500,"unconfirmed_messages":0}],` +
			`"outgoing_links":[{"handle":2,"link_name":"to","source_address":"/queues/q","queue_name":"q","send_settled":false,"delivery_count":3,"credit":7,"unsettled_messages":2}]}]`
		at := "/api/connections/" + url.PathEscape(connections[1].Name) + "/sessions"
		if got := ask(b, at); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		const to = `[{"address":"/queues/q","credit":7,"delivery_count":3,"handle":2,"name":"to","queue":"q","role":"receiver","session":0,"unsettled":2,"user":"guest","vhost":"/"}]`
		if got := ask(b, "/api/x/links?page=1&name=to&columns=name,session,handle,role,address,queue,delivery_count,credit,unsettled,user,vhost"); !strings.Contains(got, `"items":`+to) {
			t.Errorf("%s\nwant %s", got, to)
		}
		if got := ask(b, "/api/x/links?columns=name"); got != `[{"name":"from"},{"name":"anywhere"},{"name":"to"}]` {
			t.Error(got)
		}
	})
}

// Counters are kept per protocol, also after the clients have disconnected.
func TestFiguresByProtocol(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		figures := func() (m [management.Protocols]management.ByProtocol) {
			b.Advance(0)
			all, err := b.Node.API().Metrics(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			return all.ByProtocol
		}
		ch := b.Connect().Open()
		ch.Declare("q", nil)
		ch.Send("", "q", testkit.Text("0"))
		b.Advance(0)
		c := connect(b, nil)
		s, r := c.sender("/queues/q", nil), c.receiver("/queues/q", nil)
		c.put(s, "1", "2")
		c.want(r, "0", "1", "2")
		m := figures()
		old, ours := m[management.AMQP091], m[management.AMQP10]
		if old.Counts.Publish != 1 || old.Publishers != 1 || old.Consumers != 0 || old.Published.Routed != 1 {
			t.Errorf("0-9-1: %+v", old)
		}
		if ours.Counts.Publish != 2 || ours.Counts.Confirm != 2 || ours.Publishers != 1 || ours.Consumers != 1 || ours.Published.Routed != 2 {
			t.Errorf("1.0: %+v", ours)
		}
		_ = c.conn.Close()
		if m := figures(); m[management.AMQP10].Counts.Publish != 2 || m[management.AMQP10].Consumers != 0 || m[management.AMQP10].Publishers != 0 || m[management.AMQP091].Counts.Publish != 1 {
			t.Errorf("afterwards: %+v", m)
		}
	})
}
