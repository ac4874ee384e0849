package connection_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/client/connection"
	"candlemark/actors/system/mail"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"
)

// shortage raises and ends alarms as the broker does.
type shortage struct {
	budget.Budget
	*budget.Valve
	r *rig
}

// begin raises the alarm or changes its reason.
func (s *shortage) begin(reason string) {
	s.SetShut(true)
	s.r.forward(&mail.Block{Reason: reason})
}

func (s *shortage) end() {
	s.SetShut(false)
	s.r.forward(&mail.Unblock{})
}

// short runs test on a connection with a valve that the test can shut.
func short(t *testing.T, test func(r *rig, s *shortage)) {
	s := &shortage{}
	s.Valve = budget.NewValve(&s.Budget)
	bubble(t, func(cfg *connection.Config) { cfg.Valve = s.Valve }, func(r *rig) {
		s.r = r
		test(r, s)
	})
}

// alarmed runs test on a connection with channel 1 whose client may announce the capability connection.blocked.
func alarmed(t *testing.T, wants bool, test func(r *rig, s *shortage)) {
	short(t, func(r *rig, s *shortage) {
		r.startOk(protocol.Table{{Key: "capabilities", Value: protocol.Table{{Key: "connection.blocked", Value: wants}}}}, "lim", "secret")
		expect[*protocol.ConnectionTune](r.client, 0)
		r.sendMethods(0, &protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072, Heartbeat: 4}, &protocol.ConnectionOpen{VirtualHost: "/"})
		expect[*protocol.ConnectionOpenOk](r.client, 0)
		r.openChannel(1)
		test(r, s)
	})
}

func (r *rig) forward(m any) {
	r.system.Root.Send(r.conn, m)
	synctest.Wait()
}

func (r *rig) isShown(state string) {
	r.t.Helper()
	answer, err := r.ask(func(q mail.Request) any { return &mail.DescribeConnection{Request: q} })
	if info, ok := answer.(*mail.ConnectionInfo); err != nil || !ok || info.State != state {
		r.t.Errorf("shown as %+v %v, want %s", answer, err, state)
	}
}

// later writes in the background; done when all is read.
func (r *rig) later(b []byte) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.send(b)
	}()
	return done
}

// silent waits for a while; only heartbeats may arrive.
func (r *rig) silent(d time.Duration) {
	r.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	for len(r.client.frames) > 0 {
		if f := <-r.client.frames; f.Type != protocol.FrameHeartbeat {
			r.t.Errorf("got %+v", f)
		}
	}
}

// A client that publishes during an alarm is notified and not read until the end of the alarm; the publish itself is accepted.
// The heartbeat timeout does not count during the alarm.
func TestBlocked_Publisher(t *testing.T) {
	for _, wants := range []bool{true, false} {
		alarmed(t, wants, func(r *rig, s *shortage) {
			s.begin("low on memory")
			r.isShown("blocking")
			r.sendMethods(1, ack) // not a publish: reading continues
			r.expectEvents("1: basic.ack")
			r.send(slices.Concat(contentFrames(1, 3), contentFrames(1, 4))) // both in one read, which is accepted as a whole
			r.expectEvents("1: basic.publish frame(2,14) frame(3,3) basic.publish frame(2,14) frame(3,4)")
			if wants {
				if m := expect[*protocol.ConnectionBlocked](r.client, 0); m.Reason != "low on memory" {
					t.Errorf("%+v", m)
				}
			}
			r.isShown("blocked")
			s.begin("low on disk & memory") // not notified again
			sent := r.later(contentFrames(1, 5))
			r.silent(time.Minute)
			r.expectEvents()
			s.end()
			<-sent
			if wants {
				expect[*protocol.ConnectionUnblocked](r.client, 0)
			}
			r.expectEvents("1: basic.publish frame(2,14) frame(3,5)")
			r.isShown("running")
			r.silent(0)
		})
	}
}

// A client that does not publish is not notified.
func TestBlocked_Consumer(t *testing.T) {
	alarmed(t, true, func(r *rig, s *shortage) {
		s.begin("low on memory")
		s.end()
		r.send(contentFrames(1, 1))
		r.expectEvents("1: basic.publish frame(2,14) frame(3,1)")
		r.silent(0)
	})
}

// An alarm that directly follows another is announced again, because the client was unblocked in between.
func TestBlocked_Again(t *testing.T) {
	alarmed(t, true, func(r *rig, s *shortage) {
		for range 3 {
			s.begin("low on memory")
			r.send(contentFrames(1, 1))
			expect[*protocol.ConnectionBlocked](r.client, 0)
			s.SetShut(false)
			r.system.Root.Send(r.conn, &mail.Unblock{})
			s.begin("low on disk")
			expect[*protocol.ConnectionUnblocked](r.client, 0)
			var m protocol.Method
			if len(r.client.frames) > 0 { // the reader had not resumed reading
				_, m = r.receive()
			} else {
				r.send(contentFrames(1, 1))
				_, m = r.receive()
			}
			if b, ok := m.(*protocol.ConnectionBlocked); !ok || b.Reason != "low on disk" {
				t.Fatalf("%+v", m)
			}
			s.end()
			expect[*protocol.ConnectionUnblocked](r.client, 0)
		}
		for len(r.events) > 0 {
			<-r.events
		}
	})
}

// An alarm raised before a connection opens applies to it, and does not prevent it from being closed.
func TestBlocked_Opening(t *testing.T) {
	short(t, func(r *rig, s *shortage) {
		s.begin("low on memory")
		r.startOk(protocol.Table{{Key: "capabilities", Value: protocol.Table{{Key: "connection.blocked", Value: true}}}}, "lim", "secret")
		expect[*protocol.ConnectionTune](r.client, 0)
		r.sendMethods(0, &protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072}, &protocol.ConnectionOpen{VirtualHost: "/"})
		expect[*protocol.ConnectionOpenOk](r.client, 0)
		r.openChannel(1)
		r.send(contentFrames(1, 1))
		expect[*protocol.ConnectionBlocked](r.client, 0)
		r.expectEvents("1: basic.publish frame(2,14) frame(3,1)")
		r.forward(&mail.CloseConnection{Err: protocol.ConnectionErrorf(protocol.ConnectionForced, "enough")})
		r.expectClose(320, "CONNECTION_FORCED - enough", 0, 0)
		r.sendMethods(0, &protocol.ConnectionCloseOk{})
		r.isOver()
	})
}

// A client that publishes after the reason changed receives the current reason.
func TestBlocked_Reason(t *testing.T) {
	alarmed(t, true, func(r *rig, s *shortage) {
		s.begin("low on memory")
		s.begin("low on disk & memory")
		s.begin("low on disk")
		r.send(contentFrames(1, 1))
		if m := expect[*protocol.ConnectionBlocked](r.client, 0); m.Reason != "low on disk" {
			t.Errorf("%+v", m)
		}
		r.expectEvents("1: basic.publish frame(2,14) frame(3,1)")
	})
}

// The reader may know of an alarm before the actor does; the client is still notified, once.
func TestBlocked_NewsBehindTheReader(t *testing.T) {
	alarmed(t, true, func(r *rig, s *shortage) {
		for range 2 {
			s.SetShut(true)
			r.send(contentFrames(1, 1))
			r.expectEvents("1: basic.publish frame(2,14) frame(3,1)")
			r.silent(time.Second)
			r.isShown("running")
			s.begin("low on memory")
			expect[*protocol.ConnectionBlocked](r.client, 0)
			r.isShown("blocked")
			s.end()
			expect[*protocol.ConnectionUnblocked](r.client, 0)
			r.isShown("running")
		}
		s.SetShut(true) // the alarm ends before the actor is informed
		r.send(contentFrames(1, 1))
		r.expectEvents("1: basic.publish frame(2,14) frame(3,1)")
		r.system.Root.Send(r.conn, &mail.Block{Reason: "low on disk"})
		s.end()
		expect[*protocol.ConnectionBlocked](r.client, 0)
		expect[*protocol.ConnectionUnblocked](r.client, 0)
		r.send(contentFrames(1, 1))
		r.expectEvents("1: basic.publish frame(2,14) frame(3,1)")
	})
}

// While queues hold too many bytes, publishers wait without notification; clients that do not publish are read. An alarm that
// follows is announced.
func TestBlocked_Flow(t *testing.T) {
	for _, alarm := range []bool{false, true} {
		alarmed(t, true, func(r *rig, s *shortage) {
			s.SetMax(100)
			s.Add(101)
			r.sendMethods(1, ack)
			r.expectEvents("1: basic.ack")
			r.send(contentFrames(1, 3))
			r.expectEvents("1: basic.publish frame(2,14) frame(3,3)")
			sent := r.later(contentFrames(1, 5))
			r.silent(time.Minute)
			r.expectEvents()
			r.isShown("running")
			if alarm {
				s.begin("low on memory")
				expect[*protocol.ConnectionBlocked](r.client, 0)
				r.silent(time.Minute)
				r.expectEvents()
				s.Add(-1)
				s.end()
				expect[*protocol.ConnectionUnblocked](r.client, 0)
			} else {
				s.Add(-1)
				s.Relieve()
			}
			<-sent
			r.expectEvents("1: basic.publish frame(2,14) frame(3,5)")
		})
	}
}

// Flow control does not prevent a connection from being closed.
func TestBlocked_FlowAndTheEnd(t *testing.T) {
	alarmed(t, true, func(r *rig, s *shortage) {
		s.SetMax(100)
		s.Add(101)
		r.send(contentFrames(1, 3))
		r.expectEvents("1: basic.publish frame(2,14) frame(3,3)")
		r.forward(&mail.CloseConnection{Err: protocol.ConnectionErrorf(protocol.ConnectionForced, "enough")})
		r.expectClose(320, "CONNECTION_FORCED - enough", 0, 0)
		r.sendMethods(0, &protocol.ConnectionCloseOk{})
		r.isOver()
	})
}
