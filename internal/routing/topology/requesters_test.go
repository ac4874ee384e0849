package topology_test

import (
	"testing"

	"candlemark/integration/testkit/address"
	"candlemark/internal/routing/topology"
)

func TestRequesters(t *testing.T) {
	v := topology.NewVHost("/")
	channel := address.Named("channel")
	before := v.Generation()
	a, b := v.AddRequester("aa", channel), v.AddRequester("bb", channel)
	if a.Name != "amq.rabbitmq.reply-to.aa" || !a.Requester || a.PID.GetId() != channel.GetId() || a.PID == b.PID || a.PID == channel {
		t.Errorf("%+v", a)
	}
	if v.Requester([]byte(a.Name)) != a || v.Requester([]byte(b.Name)) != b {
		t.Error("not found")
	}
	for _, name := range []string{"", "aa", "amq.rabbitmq.reply-to", "amq.rabbitmq.reply-to.", "amq.rabbitmq.reply-to.c"} {
		if q := v.Requester([]byte(name)); q != nil {
			t.Errorf("%q is %v", name, q)
		}
	}
	v.RemoveRequester(a)
	if v.Requester([]byte(a.Name)) != nil || v.Requester([]byte(b.Name)) != b {
		t.Error("the wrong one was removed")
	}
	if v.Generation() != before {
		t.Error("removing a requester changed the generation")
	}
	name := []byte(b.Name)
	if n := testing.AllocsPerRun(10, func() { v.Requester(name) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
