package session10

import (
	"testing"

	"candlemark/actors/client/session10/incoming"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/address"
	"candlemark/internal/servicebus/dialect/management"
	"candlemark/internal/transport/budget"
	"candlemark/protocol/amqp10"
)

// TestRequestsWait_PRO21: a request to /management waits, with all later input, until there is room for it in decoded form, and returns the
// room with its answer. A request whose link has ended meanwhile, or that is waiting when the session ends, needs none.
func TestRequestsWait_PRO21(t *testing.T) {
	nothing := make(amqp10.List, 60_000)
	whole, err := amqp10.Append(nil, amqp10.Map{{Key: "arguments", Value: amqp10.Map{{Key: "k", Value: nothing}}}})
	if err != nil {
		t.Fatal(err)
	}
	request := amqp10.AppendComposite(nil, &amqp10.Properties{Subject: []byte("PUT"), To: []byte("/queues/q"), ReplyTo: []byte("$me"), MessageID: amqp10.Value{0x44}})
	request = amqp10.AppendSection(request, amqp10.SectionValue, whole)
	for name, end := range map[string]func(s *state, l *link, other *budget.Command){
		"room": func(_ *state, _ *link, other *budget.Command) { other.Return() },
		"end of the link": func(_ *state, l *link, other *budget.Command) {
			l.publisher = nil
			other.Return()
		},
		"end of the session": func(s *state, _ *link, other *budget.Command) {
			s.leaveQueues()
			other.Return()
		},
	} {
		objects := budget.NewObjects()
		objects.SetLimit(1) // 4 MiB for commands
		s, _ := crowded(1)
		var later []any
		s.cfg.Objects, s.in.Post = objects.Connection("guest", "/"), func(_ mail.Address, m any) { later = append(later, m) }
		s.cfg.VHost.PID = address.Named("vhost")
		other := &budget.Command{}
		other.Ask(s.cfg.Objects, 4<<20, nil)
		l := &link{publisher: &publisher{Link: incoming.Link{Window: 8}, node: s.answering.nodeOf(dialectOf(management.Address, s))}}
		s.links[0] = l
		s.answering.ask(&transfer{link: l}, l.publisher.node, request)
		if !s.in.Waits() || objects.Commands() != 4<<20 {
			t.Fatalf("%d bytes", objects.Commands())
		}
		sent := len(s.Out)
		end(s, l, other)
		for _, m := range later {
			s.Handle(m)
		}
		want := int64(0)
		if name == "room" {
			want = amqp10.WorstMemory * int64(len(request))
		}
		if objects.Commands() != want || s.in.Waits() != (want > 0) || (len(s.Out) > sent) != (want > 0) {
			t.Errorf("%s: %d bytes have room, want %d; %d sent", name, objects.Commands(), want, len(s.Out)-sent)
		}
		if s.in.Waits() {
			s.Handle(&mail.DeclareQueueReply{Reply: mail.Request{ReplyTo: s.Self(), ID: s.in.Due()}.Done(nil), Name: "q"})
		}
		if objects.Commands() != 0 {
			t.Errorf("%s: %d bytes at the end", name, objects.Commands())
		}
	}
}
