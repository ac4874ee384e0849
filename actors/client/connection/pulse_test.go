package connection_test

import (
	"testing"
	"time"

	"candlemark/actors/client/connection"
	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

func beating(t *testing.T, seconds uint16, test func(r *rig)) {
	bubble(t, nil, func(r *rig) {
		r.login(protocol.ConnectionTuneOk{ChannelMax: 10, FrameMax: 4096, Heartbeat: seconds})
		test(r)
	})
}

func (c *client) expectHeartbeat() {
	c.t.Helper()
	if f, ok := <-c.frames; !ok || f.Type != protocol.FrameHeartbeat || f.Channel != 0 {
		c.t.Fatalf("got %+v %v", f, ok)
	}
}

// A silent connection receives a heartbeat every half interval, and is closed after 2 to 2.5 intervals.
func TestHeartbeatDeadPeer(t *testing.T) {
	beating(t, 10, func(r *rig) {
		r.openChannel(1)
		begin := time.Now()
		beats := 0
		for f := range r.frames {
			if f.Type != protocol.FrameHeartbeat {
				t.Errorf("got %+v", f)
			}
			beats++
		}
		if beats < 2 || beats > 4 {
			t.Errorf("%d heartbeats", beats)
		}
		r.isOver()
		if lived := time.Since(begin); lived < 20*time.Second || lived > 25*time.Second {
			t.Errorf("lived %v", lived)
		}
		r.expectEvents("close 1", "release")
	})
}

// The time for which the broker's process was paused does not count for the heartbeat timeout, which starts anew.
func TestHeartbeatAfterPause(t *testing.T) {
	var c *clock.Clock
	bubble(t, func(cfg *connection.Config) { c = cfg.Clock }, func(r *rig) {
		r.login(protocol.ConnectionTuneOk{ChannelMax: 10, FrameMax: 4096, Heartbeat: 10})
		r.openChannel(1)
		run := func(seconds int) {
			for range seconds {
				<-time.After(time.Second)
				c.Look()
			}
		}
		run(18) // three checks without input
		<-time.After(time.Minute)
		c.Look()
		run(14)
		r.send(protocol.AppendHeartbeat(nil))
		c.EndLooks()
		begin := time.Now()
		for range r.frames {
		}
		r.isOver()
		if lived := time.Since(begin); lived < 20*time.Second || lived > 25*time.Second {
			t.Errorf("lived %v", lived)
		}
		r.expectEvents("close 1", "release")
	})
}

// Any byte received keeps a connection alive, and any frame sent replaces a heartbeat.
func TestHeartbeatTraffic(t *testing.T) {
	beating(t, 4, func(r *rig) {
		for range 10 {
			<-time.After(7 * time.Second)
			r.send(protocol.AppendHeartbeat(nil))
		}
		<-time.After(time.Second) // between two heartbeats
		for len(r.frames) > 0 {
			r.expectHeartbeat()
		}
		for id := uint16(1); id < 8; id++ { // an answer between any two heartbeats
			r.openChannel(id)
			<-time.After(2 * time.Second)
		}
		if len(r.frames) != 0 {
			t.Errorf("got %+v", <-r.frames)
		}
	})
}

// A peer that sends only heartbeats receives one exactly every half interval: a heartbeat sent does not replace the next one.
func TestHeartbeatEveryHalfInterval(t *testing.T) {
	beating(t, 10, func(r *rig) {
		<-time.After(time.Second) // between two heartbeats, and after the handshake
		for len(r.frames) > 0 {
			<-r.frames
		}
		r.expectHeartbeat()
		for range 10 {
			begin := time.Now()
			r.send(protocol.AppendHeartbeat(nil))
			r.expectHeartbeat()
			if after := time.Since(begin); after != 5*time.Second {
				t.Errorf("the next one came after %v", after)
			}
		}
	})
}

// Half a frame also counts as a sign of life.
func TestHeartbeatHalfFrame(t *testing.T) {
	beating(t, 4, func(r *rig) {
		for _, b := range append(protocol.AppendHeartbeat(nil), protocol.AppendHeartbeat(nil)...) {
			<-time.After(7 * time.Second)
			r.send([]byte{b})
		}
	})
}

func TestHeartbeatNone(t *testing.T) {
	beating(t, 0, func(r *rig) {
		<-time.After(1000 * time.Hour)
		r.openChannel(1)
		if len(r.frames) != 0 {
			t.Errorf("got %+v", <-r.frames)
		}
	})
}

// While a channel keeps its chunks, the reader stops; the heartbeat timeout does not count while it stops, and all
// input is processed in the end.
func TestCreditStopsTheReader(t *testing.T) {
	const limit = 4 * (128<<10 + 4096)
	var gate *message.Gate
	var channel *actor.PID
	bubble(t, func(c *connection.Config) {
		c.FrameMax, c.InFlightLimit = 4096, limit
		inner := c.NewChannel
		c.NewChannel = func(s connection.ChannelSpec) *actor.Props { gate = s.Gate; return inner(s) }
	}, func(r *rig) {
		r.login(protocol.ConnectionTuneOk{ChannelMax: 10, FrameMax: 4096, Heartbeat: 4})
		r.openChannel(1)
		channel = actor.NewPID(r.conn.Address, r.conn.Id+"/channel/1.1")
		const total = 4 << 20
		written := make(chan int)
		go func() {
			frame := append(methodFrames(1, ack), protocol.AppendBodyFrames(nil, 1, make([]byte, 4000), 0)...)
			sent := 0
			for sent < total {
				n, err := r.Write(frame)
				if err != nil {
					break
				}
				sent += n
			}
			written <- sent
		}()
		<-time.After(time.Minute) // much longer than the heartbeat timeout
		if used := gate.Used(); used < limit || used > 2*limit {
			t.Errorf("%d bytes under way, the limit is %d", used, limit)
		}
		for sent := 0; sent < total; {
			r.system.Root.Send(channel, letGo{})
			select {
			case sent = <-written:
			case <-time.After(10 * time.Millisecond):
			}
		}
		for len(r.frames) > 0 {
			r.expectHeartbeat()
		}
		for len(r.events) > 0 {
			<-r.events
		}
	})
}
