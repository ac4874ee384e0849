package channel

import (
	"strings"
	"testing"

	"candlemark/actors/mail"
	"candlemark/protocol"
)

// PRO-21: the arguments of a command count as input of the connection until the answer.
func TestArgumentsAreCharged_PRO21(t *testing.T) {
	large := protocol.Table{{Key: "k", Value: strings.Repeat("x", 3000)}}
	for _, m := range []protocol.Method{
		&protocol.QueueDeclare{Queue: "q", Arguments: large},
		&protocol.QueueBind{Queue: "q1", Exchange: "x", Arguments: large},
		&protocol.QueueUnbind{Queue: "q1", Exchange: "x", Arguments: large},
		&protocol.ExchangeDeclare{Exchange: "e", Type: "direct", Arguments: large},
		&protocol.ExchangeBind{Source: "x", Destination: "h", Arguments: large},
		&protocol.ExchangeUnbind{Source: "x", Destination: "h", Arguments: large},
		&protocol.BasicConsume{Queue: "q1", ConsumerTag: "t", Arguments: large},
	} {
		for name, end := range map[string]func(r *rig){
			"answer":  (*rig).succeed,
			"refusal": func(r *rig) { r.reply(protocol.ChannelErrorf(protocol.PreconditionFailed, "no")) },
			"queue that is back": func(r *rig) {
				r.reply(&mail.Missed{Queue: "q1"})
				if used := r.cfg.Gate.Used(); used < 3000 {
					t.Errorf("%s that is asked again: %d bytes are charged", m.Key().String(), used)
				}
				again := r.posts[len(r.posts)-1].Mail.(*mail.AwaitQueue)
				r.turn(&mail.TopologyReply{Reply: again.Done(nil)})
				if used := r.cfg.Gate.Used(); used < 3000 || used > 4000 {
					t.Errorf("%s again: %d bytes are charged", m.Key().String(), used)
				}
				r.succeed()
			},
			"end": func(r *rig) { r.turn(awaitExpired{r.await.id}) },
		} {
			r := newRig(t)
			r.command(m)
			if used := r.cfg.Gate.Used(); used < 3000 || used > 4000 {
				t.Errorf("%s: %d bytes are charged", m.Key().String(), used)
			}
			end(r)
			if used := r.cfg.Gate.Used(); used != 0 {
				t.Errorf("%s: %d bytes are charged after the %s", m.Key().String(), used, name)
			}
		}
	}
}
