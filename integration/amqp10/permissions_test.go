package amqp10

import (
	"context"
	"strings"
	"testing"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
)

// commands of clients of RabbitMQ, in order. Each needs one or two permissions.
var commands = []struct {
	name string
	do   func(c *client) any
}{
	{"publish", func(c *client) any { return c.sends("/queues/q") }},
	{"publish to exchange", func(c *client) any { return c.sends("/exchanges/x/key") }},
	{"publish anywhere", func(c *client) any {
		s, err := c.begin().NewSender(context.Background(), "", nil)
		if err != nil {
			return condition(err)
		}
		to := "/queues/q"
		return condition(s.Send(context.Background(), &amqp.Message{Properties: &amqp.MessageProperties{To: &to}, Data: [][]byte{nil}}, nil))
	}},
	{"consume", func(c *client) any {
		_, err := c.begin().NewReceiver(context.Background(), "/queues/q", &amqp.ReceiverOptions{Credit: -1})
		return condition(err)
	}},
	{"purge", command("DELETE", "/queues/q/messages", nil)},
	{"describe", command("GET", "/queues/q", nil)},
	{"declare", command("PUT", "/queues/new", map[string]any{"durable": true, "arguments": map[string]any{}})},
	{"delete", command("DELETE", "/queues/new", nil)},
	{"declare exchange", command("PUT", "/exchanges/y", map[string]any{"type": "fanout"})},
	{"delete exchange", command("DELETE", "/exchanges/y", nil)},
	{"bind", command("POST", "/bindings", map[string]any{"source": "x", "binding_key": "k", "arguments": map[string]any{}, "destination_queue": "q"})},
	{"unbind", command("DELETE", "/bindings/src=x;dstq=q;key=k;args=", nil)},
}

func (c *client) sends(address string) any {
	s, err := c.begin().NewSender(context.Background(), address, nil)
	if err != nil {
		return condition(err)
	}
	return condition(s.Send(context.Background(), amqp.NewMessage([]byte("m")), nil))
}

func command(verb, path string, body any) func(c *client) any {
	return func(c *client) any {
		own := *c
		own.session = c.begin()
		code, _ := own.pair(5).ask(verb, path, body)
		return code
	}
}

// Each operation of both dialects needs the permissions that it needs in AMQP 0-9-1, and no others.
func TestPermissions_BothDialects(t *testing.T) {
	run(t, func(b *testkit.Bubble, _ *client) {
		entity(b)
		if err := b.Connect().Open().ExchangeDeclare("x", "fanout", true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		b.Log.Allow("session ended by the broker", "link detached")
		for _, c := range []struct{ name, configure, write, read, commands, operations string }{
			{"nothing", "^$", "^$", "^$", "", ""},
			{"configure", ".*", "", "", "describe, declare, delete, declare exchange, delete exchange", "rules"},
			{"write", "", ".*", "", "publish, publish to exchange, publish anywhere, describe", sends},
			{"read", "", "", ".*", "consume, purge, describe", listens},
			{"both", "", ".*", ".*", "publish, publish to exchange, publish anywhere, consume, purge, describe, bind, unbind", both},
			{"queue", "", "^q$", "", "describe", ""},
			{"default", "", `^amq\.default$`, "", "publish, publish anywhere", "send"},
			{"exchange", "", "^x$", "", "publish to exchange", ""},
			{"other", "^other$", "^other$", "^other$", "", ""},
		} {
			user(b, c.name, c.configure, c.write, c.read)
			x := login(b, c.name)
			var all []string
			for _, o := range commands {
				if got := o.do(x); got != amqp.ErrCondUnauthorizedAccess && got != "401" && got != "403" {
					all = append(all, o.name)
				}
			}
			if got := strings.Join(all, ", "); got != c.commands {
				t.Errorf("%s: %q, want %q", c.name, got, c.commands)
			}
			if got := x.allowed(); got != c.operations {
				t.Errorf("%s: of entities %q, want %q", c.name, got, c.operations)
			}
			_ = x.conn.Close()
		}
	})
}
