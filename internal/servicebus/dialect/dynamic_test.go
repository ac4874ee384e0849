package dialect

import (
	"strings"
	"testing"

	"candlemark/protocol/amqp10"
)

func TestDEC18_Names(t *testing.T) {
	capable := []amqp10.Symbol{"other", temporaryQueue}
	source, target := &amqp10.Source{Dynamic: true, Capabilities: capable}, &amqp10.Target{Dynamic: true, Capabilities: capable}
	for _, c := range []struct {
		m    *amqp10.Attach
		want string
	}{
		{&amqp10.Attach{Name: "my/l", Role: amqp10.RoleSender, Source: &amqp10.Source{}, Target: target}, "amq.dyn-box-my/l-x"},
		{&amqp10.Attach{Name: "l", Role: amqp10.RoleReceiver, Source: source, Target: &amqp10.Target{}}, "amq.dyn-box-l-x"},
		{&amqp10.Attach{Name: strings.Repeat("z", 146), Role: amqp10.RoleReceiver, Source: source}, "amq.dyn-box-" + strings.Repeat("z", 146) + "-x"},
		{&amqp10.Attach{Name: strings.Repeat("z", 147), Role: amqp10.RoleReceiver, Source: source}, "amq.dyn.gen-x"},
		{&amqp10.Attach{Role: amqp10.RoleReceiver, Source: &amqp10.Source{Dynamic: true}}, ""},
		{&amqp10.Attach{Role: amqp10.RoleReceiver, Source: &amqp10.Source{Dynamic: true, Address: amqp10.Some("/queues/q"), Capabilities: capable}}, ""},
		{&amqp10.Attach{Role: amqp10.RoleSender, Target: &amqp10.Target{Dynamic: true}}, ""},
	} {
		got, err := TemporaryName(c.m, "box", "x")
		if got != c.want || (err == nil) != (c.want != "") || !IsDynamic(c.m) {
			t.Errorf("%+v: %q, %v", c.m, got, err)
		}
	}
	if got := QueueAddress("amq.dyn-a b/c+\u00e9"); got != "/queues/amq.dyn-a%20b%2Fc%2B%C3%A9" {
		t.Error(got)
	}
}
