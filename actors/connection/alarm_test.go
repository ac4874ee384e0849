package connection_test

import (
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/mail"
	"candlemark/protocol"
)

// alarmed runs test on a connection with channel 1 that may want to hear of
// alarms.
func alarmed(t *testing.T, wants bool, test func(r *rig)) {
	bubble(t, nil, func(r *rig) {
		r.startOk(protocol.Table{{Key: "capabilities", Value: protocol.Table{{Key: "connection.blocked", Value: wants}}}}, "lim", "secret")
		expect[*protocol.ConnectionTune](r.client, 0)
		r.sendMethods(0, &protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072, Heartbeat: 4}, &protocol.ConnectionOpen{VirtualHost: "/"})
		expect[*protocol.ConnectionOpenOk](r.client, 0)
		r.openChannel(1)
		test(r)
	})
}

func (r *rig) tell(m any) {
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

// later writes what is not read yet.
func (r *rig) later(b []byte) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.send(b)
	}()
	return done
}

// silent takes heartbeats for a while; nothing else may come.
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

// Who publishes during an alarm is told and not read until it is over; the
// publish itself is taken. The silence is not held against the client.
func TestBlocked_Publisher(t *testing.T) {
	for _, wants := range []bool{true, false} {
		alarmed(t, wants, func(r *rig) {
			r.tell(&mail.Block{Reason: "low on memory"})
			r.isShown("blocking")
			r.sendMethods(1, ack) // no publish: it is read as ever
			r.expectEvents("1: basic.ack")
			r.send(contentFrames(1, 3))
			r.expectEvents("1: basic.publish frame(2,14) frame(3,3)")
			if wants {
				if m := expect[*protocol.ConnectionBlocked](r.client, 0); m.Reason != "low on memory" {
					t.Errorf("%+v", m)
				}
			}
			r.isShown("blocked")
			r.tell(&mail.Block{Reason: "low on disk"}) // not told twice
			sent := r.later(contentFrames(1, 5))
			r.silent(time.Minute)
			r.expectEvents()
			r.tell(&mail.Unblock{})
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

// Who does not publish hears nothing of it.
func TestBlocked_Consumer(t *testing.T) {
	alarmed(t, true, func(r *rig) {
		r.tell(&mail.Block{Reason: "low on memory"})
		r.tell(&mail.Unblock{})
		r.send(contentFrames(1, 1))
		r.expectEvents("1: basic.publish frame(2,14) frame(3,1)")
		r.silent(0)
	})
}

// An alarm right behind another is told again: the client was heard in between.
func TestBlocked_Again(t *testing.T) {
	alarmed(t, true, func(r *rig) {
		for range 3 {
			r.tell(&mail.Block{Reason: "low on memory"})
			r.send(contentFrames(1, 1))
			expect[*protocol.ConnectionBlocked](r.client, 0)
			r.system.Root.Send(r.conn, &mail.Unblock{})
			r.system.Root.Send(r.conn, &mail.Block{Reason: "low on disk"})
			synctest.Wait()
			expect[*protocol.ConnectionUnblocked](r.client, 0)
			var m protocol.Method
			if len(r.client.frames) > 0 { // the reader had not begun to read again
				_, m = r.receive()
			} else {
				r.send(contentFrames(1, 1))
				_, m = r.receive()
			}
			if b, ok := m.(*protocol.ConnectionBlocked); !ok || b.Reason != "low on disk" {
				t.Fatalf("%+v", m)
			}
			r.tell(&mail.Unblock{})
			expect[*protocol.ConnectionUnblocked](r.client, 0)
		}
		for len(r.events) > 0 {
			<-r.events
		}
	})
}

// An alarm that is there when a connection opens counts for it, and one that
// lasts keeps nothing from ending.
func TestBlocked_Opening(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.tell(&mail.Block{Reason: "low on memory"})
		r.startOk(protocol.Table{{Key: "capabilities", Value: protocol.Table{{Key: "connection.blocked", Value: true}}}}, "lim", "secret")
		expect[*protocol.ConnectionTune](r.client, 0)
		r.sendMethods(0, &protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072}, &protocol.ConnectionOpen{VirtualHost: "/"})
		expect[*protocol.ConnectionOpenOk](r.client, 0)
		r.openChannel(1)
		r.send(contentFrames(1, 1))
		expect[*protocol.ConnectionBlocked](r.client, 0)
		r.expectEvents("1: basic.publish frame(2,14) frame(3,1)")
		r.tell(&mail.CloseConnection{Err: protocol.ConnectionErrorf(protocol.ConnectionForced, "enough")})
		r.expectClose(320, "CONNECTION_FORCED - enough", 0, 0)
		r.sendMethods(0, &protocol.ConnectionCloseOk{})
		r.isOver()
	})
}
