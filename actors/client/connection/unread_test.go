package connection_test

import (
	"bytes"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/client/connection"
	"candlemark/actors/system/mail"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

var ask = &protocol.ConnectionUpdateSecret{NewSecret: []byte("x"), Reason: "to be answered"}

// A client that reads nothing is cut off after 15 to 20 s, even if it sends heartbeats, and everything is released.
func TestUnread_CutOff(t *testing.T) {
	beating(t, 60, func(r *rig) {
		r.openChannel(1)
		r.stopReading()
		r.sendMethods(0, ask)
		takes(t, 15*time.Second, 20*time.Second, func() {
			for {
				select {
				case <-r.ended:
					return
				case <-time.After(time.Second):
					r.send(protocol.AppendHeartbeat(nil))
				}
			}
		})
		r.expectEvents("close 1", "release")
	})
}

func TestUnread_ForEver(t *testing.T) {
	running(t, func(c *connection.Config) { c.SendTimeout = -1 }, func(r *rig) {
		r.stopReading()
		r.sendMethods(0, ask)
		select {
		case <-r.ended:
			t.Error("cut off")
		case <-time.After(time.Hour):
		}
	})
}

// A client that reads a little is slow, not dead.
func TestUnread_Slow(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.stopReading()
		for range 10 {
			r.sendMethods(0, ask)
		}
		for range 100 {
			<-time.After(14 * time.Second)
			if _, err := r.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		takes(t, 15*time.Second, 20*time.Second, func() { <-r.ended })
		r.expectEvents("release")
	})
}

// A forced close does not wait for the client to read.
func TestUnread_Forced(t *testing.T) {
	running(t, func(c *connection.Config) { c.OutboxLimit = 10 }, func(r *rig) {
		r.openChannel(1)
		r.stopReading()
		r.sendMethods(0, ask, ask, ask) // the third waits for room
		synctest.Wait()
		r.system.Root.Send(r.conn, &mail.CloseConnection{})
		takes(t, 3*time.Second, 3*time.Second, func() { <-r.ended })
		r.expectEvents("close 1", "release")
	})
}

// The connection's own answers are limited like its channels' answers; they continue when the client reads.
func TestUnread_Opens(t *testing.T) {
	const cycles, limit = 300, 200
	var opened atomic.Int32
	running(t, func(c *connection.Config) {
		c.OutboxLimit = limit
		spawn := c.NewChannel
		c.NewChannel = func(s connection.ChannelSpec) *actor.Props {
			opened.Add(1)
			return spawn(s)
		}
	}, func(r *rig) {
		r.stopReading()
		cycle := append(methodFrames(1, &protocol.ChannelOpen{}, &protocol.ChannelClose{}), methodFrames(0, ask)...)
		go r.Write(bytes.Repeat(cycle, cycles))
		synctest.Wait()
		if n := opened.Load(); n > 2*limit/12 {
			t.Errorf("%d channels were opened for a client that does not read", n)
		}
		go io.Copy(io.Discard, r.Conn)
		synctest.Wait()
		if n := opened.Load(); n != cycles {
			t.Errorf("%d of %d channels were opened", n, cycles)
		}
		for len(r.events) > 0 {
			<-r.events
		}
	})
}

// A channel that takes long to close receives the client's channel.close a limited number of times, even if it is sent
// more often.
func TestUnread_ClosesAgain(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.openChannel(1)
		r.sendMethods(1, &protocol.BasicReject{}) // the channel takes long to close
		r.expectEvents("1: basic.reject")
		for range 50 {
			r.sendMethods(1, &protocol.ChannelClose{})
		}
		r.expectEvents("1: channel.close", "1: channel.close", "1: channel.close")
	})
}
