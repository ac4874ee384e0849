package requests

import (
	"fmt"
	"testing"

	"candlemark/actors/client/rights"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/users"
	"candlemark/internal/access/auth"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(last string, refused ...users.Refusal) *Client {
	v := topology.NewVHost("/")
	v.Publish(v.Directory().WithQueue(&topology.Queue{Name: "q"}))
	return &Client{
		Rights:    &rights.Rights{User: auth.User{Name: "guest"}, VHost: v, Permissions: &users.Fixed{Refused: refused}},
		LastQueue: last,
	}
}

// TestFor checks the mail for each method, and the client's answer to each reply.
func TestFor(t *testing.T) {
	for _, c := range []struct {
		method protocol.Method
		reply  any
		want   string
	}{
		{
			&protocol.QueueDeclare{Queue: "a\r\nb", Durable: true},
			&mail.DeclareQueueReply{Name: "ab", MessageCount: 2, ConsumerCount: 1},
			"*mail.DeclareQueue 7 *protocol.QueueDeclareOk",
		},
		{&protocol.QueueDelete{}, &mail.DeleteQueueReply{MessageCount: 2}, "*mail.DeleteQueue 7 *protocol.QueueDeleteOk"},
		{&protocol.QueuePurge{}, &mail.PurgeReply{MessageCount: 2}, "*mail.Purge 7 *protocol.QueuePurgeOk"},
		{&protocol.QueueBind{Exchange: "x"}, nil, "*mail.Bind 7 *protocol.QueueBindOk"},
		{&protocol.QueueUnbind{Exchange: "x"}, nil, "*mail.Unbind 7 *protocol.QueueUnbindOk"},
		{&protocol.ExchangeDeclare{Exchange: "x", Type: "fanout"}, nil, "*mail.DeclareExchange 7 *protocol.ExchangeDeclareOk"},
		{&protocol.ExchangeDelete{Exchange: "x"}, nil, "*mail.DeleteExchange 7 *protocol.ExchangeDeleteOk"},
		{&protocol.ExchangeBind{Source: "x", Destination: "y"}, nil, "*mail.Bind 7 *protocol.ExchangeBindOk"},
		{&protocol.ExchangeUnbind{Source: "x", Destination: "y"}, nil, "*mail.Unbind 7 *protocol.ExchangeUnbindOk"},
	} {
		r, err := client("q").For(c.method)
		if err != nil || r == nil || r.NoWait {
			t.Errorf("%s: %+v, %v", c.method.Key().String(), r, err)
			continue
		}
		m := r.Mail(mail.Request{ID: 7})
		if got := fmt.Sprintf("%T %d %T", m, m.(interface{ Done(error) mail.Reply }).Done(nil).Number(), r.Ok(c.reply)); got != c.want {
			t.Errorf("%s: %s, want %s", c.method.Key().String(), got, c.want)
		}
	}
	if r, err := client("q").For(&protocol.BasicQos{}); r != nil || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// DEC-9: an empty queue name means the queue declared last; if the key is empty, too, it is the name of that queue.
func TestFor_LastQueue(t *testing.T) {
	r, err := client("last\n").For(&protocol.QueueBind{Exchange: "x", NoWait: true})
	if err != nil || !r.NoWait {
		t.Fatal(r, err)
	}
	if m := r.Mail(mail.Request{}).(*mail.Bind); m.Binding.Destination != "last" || m.Binding.RoutingKey != "last\n" || m.Topic.Err() != nil {
		t.Errorf("%+v", m)
	}
	for _, m := range []protocol.Method{&protocol.QueueBind{}, &protocol.QueueUnbind{}, &protocol.QueueDelete{}, &protocol.QueuePurge{}} {
		if r, err := client("").For(m); r != nil || err == nil || err.Error() != "channel error 404: NOT_FOUND - no previously declared queue" {
			t.Errorf("%s: %+v, %v", m.Key().String(), r, err)
		}
	}
}

// A refused request produces no mail.
func TestFor_Refused(t *testing.T) {
	c := client("q", users.Refusal{User: "guest", Resource: auth.Resource{Kind: auth.Exchange, Name: "x"}, Permission: auth.Read})
	if r, err := c.For(&protocol.QueueBind{Exchange: "x"}); r != nil || err == nil {
		t.Errorf("%+v, %v", r, err)
	}
}
