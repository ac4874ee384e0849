package channel

import (
	"testing"

	"candlemark/actors/client/input"
	"candlemark/actors/system/mail"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"
)

// voids take 24 times the bytes of their encoding: 2.4 MB.
var voids = protocol.Table{{Key: "k", Value: make(protocol.Array, 100_000)}}

// spacious is a rig with room for 2 MiB of arguments of commands.
func spacious(t *testing.T) (*rig, *budget.Objects) {
	o := budget.NewObjects()
	o.SetLimit(1)
	return newRig(t, func(c *Config) { c.Objects = o.Connection("guest", "/") }), o
}

// PRO-21: the arguments of a command get room before they are decoded, and return it with the answer.
func TestArgumentsNeedRoom_PRO21(t *testing.T) {
	size := voids.Memory()
	for _, m := range []protocol.Method{
		&protocol.QueueDeclare{Queue: "q", Arguments: voids},
		&protocol.QueueBind{Queue: "q1", Exchange: "x", Arguments: voids},
		&protocol.QueueUnbind{Queue: "q1", Exchange: "x", Arguments: voids},
		&protocol.ExchangeDeclare{Exchange: "e", Type: "direct", Arguments: voids},
		&protocol.ExchangeBind{Source: "x", Destination: "h", Arguments: voids},
		&protocol.ExchangeUnbind{Source: "x", Destination: "h", Arguments: voids},
		&protocol.BasicConsume{Queue: "q1", ConsumerTag: "t", Arguments: voids},
	} {
		for name, end := range map[string]func(r *rig){
			"answer":  (*rig).succeed,
			"refusal": func(r *rig) { r.reply(protocol.ChannelErrorf(protocol.PreconditionFailed, "no")) },
			"queue that is back": func(r *rig) {
				r.reply(&mail.Missed{Queue: "q1"})
				again := r.posts[len(r.posts)-1].Mail.(*mail.AwaitQueue)
				r.turn(&mail.TopologyReply{Reply: again.Done(nil)})
				r.succeed()
			},
			"end":   func(r *rig) { r.turn(input.Expired{ID: r.in.Due()}) },
			"panic": func(r *rig) { r.dropBegun() },
		} {
			r, o := spacious(t)
			r.command(m)
			if held := o.Commands(); held != size {
				t.Errorf("%s: %d bytes have room, want %d", m.Key().String(), held, size)
			}
			end(r)
			if held := o.Commands(); held != 0 {
				t.Errorf("%s: %d bytes have room after the %s", m.Key().String(), held, name)
			}
		}
	}
}

// PRO-21: a command without room waits with its frame, and all later input of its channel with it, also when the connection ends.
func TestArgumentsWait_PRO21(t *testing.T) {
	for name, end := range map[string]func(r *rig, other *budget.Command){
		"room": func(r *rig, other *budget.Command) { other.Return() },
		"end of the connection": func(r *rig, other *budget.Command) {
			r.turn(&mail.CloseChannel{})
			other.Return()
		},
	} {
		r, o := spacious(t)
		other := &budget.Command{}
		other.Ask(r.cfg.Objects, 2<<20, nil)
		r.feed(frame(&protocol.QueueDeclare{Queue: "q", Arguments: voids}), publish("x", "one", "behind"))
		if r.sent(); len(r.asked) > 0 || !r.in.Waits() {
			t.Fatal("the command did not wait")
		}
		end(r, other)
		for _, m := range r.later {
			r.turn(m)
		}
		r.later = nil
		if len(r.asked) != 1 || o.Commands() != voids.Memory() {
			t.Fatalf("%s: %d commands, %d bytes", name, len(r.asked), o.Commands())
		}
		r.succeed()
		if o.Commands() != 0 {
			t.Errorf("%s: %d bytes", name, o.Commands())
		}
	}
	r, _ := spacious(t)
	other := &budget.Command{}
	other.Ask(r.cfg.Objects, 2<<20, nil)
	r.feed(frame(&protocol.QueueDeclare{Queue: "q", Arguments: voids}))
	r.fail(internalError("for the test"), nil)
	if other.Return(); len(r.later) > 0 {
		t.Error("a channel that failed still waits")
	}
}
