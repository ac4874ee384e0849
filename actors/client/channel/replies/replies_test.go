package replies

import (
	"sync/atomic"
	"testing"

	"candlemark/actors/client/channel/output"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/transport/outbox"
	"candlemark/protocol"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type sender struct{}

func (sender) Self() mail.Address     { return nil }
func (sender) Send(mail.Address, any) {}

func TestConsumer(t *testing.T) {
	v := topology.NewVHost("/")
	d, counts := unacked.New(sender{}), mail.Counts{}
	out := output.New(output.Config{Outbox: outbox.New(1<<20, nil), Replies: new(atomic.Int64), VHost: v}, sender{}, &d, &counts)
	c := New(v, &out)
	refused := func(err error, want string) {
		t.Helper()
		if err == nil || err.Error() != "channel error "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	self := address.Named("self")
	_, err := c.Begin(&protocol.BasicConsume{}, self)
	refused(err, "406: PRECONDITION_FAILED - reply consumer cannot acknowledge")
	_, err = c.Address(nil)
	refused(err, "406: PRECONDITION_FAILED - fast reply consumer does not exist")
	tag, err := c.Begin(&protocol.BasicConsume{NoAck: true}, self)
	if err != nil || tag == "" || !c.Is(tag) || c.Is("") {
		t.Fatal(tag, err)
	}
	_, err = c.Begin(&protocol.BasicConsume{NoAck: true}, self)
	refused(err, "406: PRECONDITION_FAILED - reply consumer already set")
	name := c.Name()
	if err := c.Check(name); err != nil {
		t.Error(err)
	}
	reply := func() *mail.Enqueue {
		return &mail.Enqueue{Queue: c.name.PID, Messages: []message.Message{{Header: []byte{0, 0}, Owned: true}}}
	}
	for range 2 {
		if cause := c.Take(reply()); cause != mail.Gone || c.InHand() != nil || counts.DeliverNoAck != 1 {
			t.Errorf("cause %d, %d delivered", cause, counts.DeliverNoAck)
		}
		out.Leave() // later replies are dropped
	}
	c.End()
	c.End()
	if c.Is(tag) || c.Name() != "" {
		t.Error("it still consumes")
	}
	refused(c.Check(name), "404: NOT_FOUND - no queue '"+name+"' in vhost '/'")
	if err := c.Check(topology.ReplyName); err != nil {
		t.Error(err)
	}
}
