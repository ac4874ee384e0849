package session10

import (
	"fmt"
	"testing"

	"candlemark/actors/client/input"
	"candlemark/actors/client/session10/incoming"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/protocol/amqp10"
)

// frames returns n frames in one read.
func frames(s *state, n int, frame func(i int) []amqp10.Composite) *mail.Inbound {
	var b []byte
	for i := range n {
		for _, p := range frame(i) {
			b = amqp10.AppendFrame(b, 0, p)
		}
	}
	chunk := s.cfg.Gate.NewChunk(len(b))
	return &mail.Inbound{Runs: [][]byte{b}, Chunk: chunk}
}

// Frames with one answer each count for the turn like routing steps; the rest is processed in further turns.
func TestAnswersOfATurnAreBounded(t *testing.T) {
	for name, frame := range map[string]func(i int) []amqp10.Composite{
		"echo": func(int) []amqp10.Composite { return []amqp10.Composite{&amqp10.Flow{Echo: true}} },
		"link": func(int) []amqp10.Composite {
			return []amqp10.Composite{&amqp10.Flow{Handle: amqp10.Some(uint32(0)), Echo: true}}
		},
		"attach and detach": func(i int) []amqp10.Composite {
			return []amqp10.Composite{
				&amqp10.Attach{Name: fmt.Sprint(i), Handle: 1, Role: amqp10.RoleSender, Target: &amqp10.Target{Address: amqp10.Some("/exchanges/crowd")}},
				&amqp10.Detach{Handle: 1, Closed: true},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := crowded(1)
			s.cfg.HandleMax = 255
			s.links[0] = &link{publisher: &publisher{Link: incoming.Link{Credit: 10}}}
			s.Handle(frames(s, 4000, frame))
			turns, before, most := 0, uint64(0), 0
			for again := true; again; turns++ {
				b := s.cfg.Outbox.Take()
				most, before = max(most, len(b)), before+uint64(len(b))
				again = false
				for _, p := range s.Out {
					if _, is := p.Mail.(input.Resume); is {
						again = true
					}
				}
				s.Out = nil
				if again {
					s.Handle(input.Resume{})
				}
			}
			if s.in.Parked() > 0 || s.in.Phase != input.Open || before == 0 || turns < 10 || most > 1<<16 {
				t.Errorf("%d turns, the longest with %d of %d bytes of answers, %d left", turns, most, before, s.in.Parked())
			}
		})
	}
}

// Comparing an entity's name with the names of all queues counts for the turn.
func TestNamesOfATurnAreBounded(t *testing.T) {
	s, _ := crowded(1)
	s.cfg.HandleMax = 255
	d := s.cfg.VHost.Directory()
	for i := range 1000 {
		d = d.WithQueue(&topology.Queue{Name: fmt.Sprint("other", i)})
	}
	s.cfg.VHost.Publish(d)
	attaches := func(name string) int {
		s.Handle(frames(s, 40, func(i int) []amqp10.Composite {
			return []amqp10.Composite{&amqp10.Attach{Name: fmt.Sprint(i), Handle: 1, Role: amqp10.RoleSender, Target: &amqp10.Target{Address: amqp10.Some(name)}}, &amqp10.Detach{Handle: 1, Closed: true}}
		}))
		return s.in.Parked()
	}
	if attaches("other7") > 0 || attaches("nobody") == 0 {
		t.Error("names that do not exist do not end a turn")
	}
}
