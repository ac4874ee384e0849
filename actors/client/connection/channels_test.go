package connection_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/client/connection"
	"candlemark/actors/system/mail"
	"candlemark/protocol"

	"github.com/asynkron/protoactor-go/actor"
)

var (
	ack     = &protocol.BasicAck{}
	publish = &protocol.BasicPublish{RoutingKey: "q"}
)

func contentFrames(channel uint16, body int) []byte {
	b := protocol.AppendMethodFrame(nil, channel, publish)
	b = protocol.AppendHeaderFrame(b, channel, uint64(body), []byte{0, 0})
	return protocol.AppendBodyFrames(b, channel, make([]byte, body), 4096)
}

// A read is passed on as one mail per channel, with frames in any order.
func TestFramesTravelInBatches(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.openChannel(1)
		r.openChannel(2)
		b := append(contentFrames(1, 3), contentFrames(1, 0)...)
		b = append(b, contentFrames(2, 2)...)
		b = protocol.AppendHeartbeat(b)
		b = append(b, contentFrames(1, 1)...)
		r.send(b)
		r.expectEventsInAnyOrder(
			"1: basic.publish frame(2,14) frame(3,3) basic.publish frame(2,14) basic.publish frame(2,14) frame(3,1)",
			"2: basic.publish frame(2,14) frame(3,2)")
	})
}

// The reader carries out the turns that follow from a small read; after a large read it continues to read (ADR 56).
func TestReaderCarriesOn(t *testing.T) {
	var carried atomic.Int32
	change := func(cfg *connection.Config) {
		cfg.Carry = func(post func()) {
			carried.Add(1)
			post()
		}
	}
	running(t, change, func(r *rig) {
		r.openChannel(1)
		for n := range int32(3) {
			r.send(contentFrames(1, 3))
			synctest.Wait()
			if got := carried.Load(); got != n+1 {
				t.Errorf("%d reads were carried on, want %d", got, n+1)
			}
		}
		for range 20 { // reads grow until one takes all available bytes
			r.send(contentFrames(1, 60_000))
		}
		synctest.Wait()
		before := carried.Load()
		r.send(contentFrames(1, 60_000))
		synctest.Wait()
		if got := carried.Load(); got != before {
			t.Errorf("a read of 60,000 bytes was carried on")
		}
	})
}

// A frame that arrives in pieces of any size is passed on once, complete.
func TestFramesInPieces(t *testing.T) {
	for _, piece := range []int{1, 7, 1000, 5000} {
		running(t, nil, func(r *rig) {
			r.openChannel(1)
			b := contentFrames(1, 9000)
			for len(b) > 0 {
				n := min(piece, len(b))
				r.send(b[:n])
				b = b[n:]
			}
			r.expectFrames("1:", "basic.publish", "frame(2,14)", "frame(3,4088)", "frame(3,4088)", "frame(3,824)")
		})
	}
}

// The largest frame is accepted, including the 8 bytes that clients may count wrongly.
func TestFramesLarge(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.openChannel(1)
		for range 5 {
			r.send(protocol.AppendBodyFrames(nil, 1, make([]byte, 131072), 0))
			r.expectEvents("1: frame(3,131072)")
		}
	})
}

func TestChannelOpenTwice(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.openChannel(1)
		r.sendMethods(1, &protocol.ChannelOpen{})
		r.expectClose(504, "CHANNEL_ERROR - second 'channel.open' seen", 20, 10)
	})
}

func TestChannelNotOpen(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.sendMethods(5, publish)
		r.expectClose(504, "CHANNEL_ERROR - expected 'channel.open'", 60, 40)
	})
	running(t, nil, func(r *rig) {
		r.send(protocol.AppendBodyFrames(nil, 5, []byte("x"), 0))
		r.expectClose(505, "UNEXPECTED_FRAME - expected method frame, got non method frame instead", 0, 0)
	})
}

func TestChannelMaxIsKept(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.login(protocol.ConnectionTuneOk{ChannelMax: 2, FrameMax: 4096})
		r.openChannel(100)
		r.openChannel(200)
		r.sendMethods(3, &protocol.ChannelOpen{})
		r.expectClose(530, "NOT_ALLOWED - number of channels opened (2) has reached the negotiated channel_max (2)", 0, 0)
	})
}

func TestChannelSpec(t *testing.T) {
	var spec connection.ChannelSpec
	running(t, func(c *connection.Config) {
		inner := c.NewChannel
		c.NewChannel = func(s connection.ChannelSpec) *actor.Props { spec = s; return inner(s) }
	}, func(r *rig) {
		r.openChannel(7)
		r.expectEvents()
		if spec.ID != 7 || !mail.Same(spec.Connection, r.conn) || spec.FrameMax != 131072 || spec.VHost != r.vhost || spec.User.Name != "lim" ||
			spec.ClientProduct != "probe" || !spec.Capabilities.BasicNack || spec.Capabilities.ConsumerCancelNotify || spec.Outbox == nil || spec.Gate == nil {
			t.Errorf("%+v", spec)
		}
	})
}

// A channel number can be opened again at once, even in the same write.
func TestChannelReuse(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.openChannel(1)
		for range 20 {
			r.send(methodFrames(1, &protocol.ChannelClose{ReplyCode: 200}, &protocol.ChannelOpen{}, ack))
			expect[*protocol.ChannelCloseOk](r.client, 1)
			expect[*protocol.ChannelOpenOk](r.client, 1)
			r.expectEvents("1: channel.close", "1: basic.ack")
		}
	})
}

// After its channel.close the client must open the channel before it uses it; an extra close-ok is ignored, since both sides may
// have closed at once.
func TestChannelAfterClose(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.openChannel(1)
		r.sendMethods(1, &protocol.ChannelClose{ReplyCode: 200})
		expect[*protocol.ChannelCloseOk](r.client, 1)
		r.sendMethods(1, &protocol.ChannelCloseOk{})
		r.expectEvents("1: channel.close")
		r.sendMethods(1, ack)
		r.expectClose(504, "CHANNEL_ERROR - expected 'channel.open'", 60, 80)
	})
}

// A second channel.close is for a channel that is not open.
func TestChannelCloseTwice(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.openChannel(1)
		r.sendMethods(1, &protocol.ChannelClose{ReplyCode: 200})
		expect[*protocol.ChannelCloseOk](r.client, 1)
		r.sendMethods(1, &protocol.ChannelClose{ReplyCode: 200})
		r.expectClose(504, "CHANNEL_ERROR - expected 'channel.open'", 20, 40)
	})
}

// When both sides close at once, the channel receives both methods, in order.
func TestChannelCloseCrossing(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.openChannel(1)
		r.sendMethods(1, &protocol.ChannelCloseOk{}, ack, &protocol.ChannelClose{ReplyCode: 200})
		expect[*protocol.ChannelCloseOk](r.client, 1)
		r.expectEvents("1: channel.close-ok", "1: channel.close")
	})
}

// An open waits for the previous channel of that number to end, up to a timeout.
func TestChannelThatNeverEnds(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.openChannel(1)
		r.sendMethods(1, &protocol.ChannelCloseOk{}, &protocol.ChannelOpen{})
		takes(t, 30*time.Second, 30*time.Second, func() {
			r.expectClose(541, "INTERNAL_ERROR - the previous channel 1 has not ended in time", 0, 0)
		})
	})
}

func TestFrameErrors(t *testing.T) {
	for name, c := range map[string]struct {
		frame         []byte
		code          uint16
		text          string
		class, method uint16
		step          bool // the framing is intact: close-ok is understood
	}{
		"garbage": {[]byte("GET / HTTP/1.1\r\n\r\n"), 501, "", 0, 0, false},
		"oversized": {
			[]byte{3, 0, 1, 0, 2, 0, 1},
			501,
			"FRAME_ERROR - type 3, all octets = <<>>: {frame_too_large,131073,131064}", 0, 0, false,
		},
		"bad end": {
			[]byte{3, 0, 1, 0, 0, 0, 1, 'x', 0},
			501,
			"FRAME_ERROR - type 3, all octets = <<\"x\">>: {invalid_frame_end_marker,0}", 0, 0, false,
		},
		"unknown type":           {[]byte{5, 0, 1, 0, 0, 0, 1, 'x', 0xCE}, 501, "FRAME_ERROR - type 5, all octets = <<\"x\">>: unknown_frame", 0, 0, true},
		"heartbeat on a channel": {[]byte{8, 0, 1, 0, 0, 0, 0, 0xCE}, 505, "UNEXPECTED_FRAME - type 8, all octets = <<>>", 0, 0, true},
		"body on channel 0": {
			protocol.AppendBodyFrames(nil, 0, []byte("x"), 0), 505,
			"UNEXPECTED_FRAME - type 3, all octets = <<\"x\">>", 0, 0, true,
		},
		"unknown method": {[]byte{1, 0, 0, 0, 0, 0, 4, 0, 99, 0, 1, 0xCE}, 540, "NOT_IMPLEMENTED - unknown method {99,1}", 99, 1, true},
		"wrong method on channel 0": {
			methodFrames(0, &protocol.ConnectionOpenOk{}), 504,
			"CHANNEL_ERROR - unexpected method in connection state running", 10, 41, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			running(t, nil, func(r *rig) {
				r.openChannel(1)
				r.send(append(methodFrames(1, ack), c.frame...))
				m := expect[*protocol.ConnectionClose](r.client, 0)
				if m.ReplyCode != c.code || c.text != "" && m.ReplyText != c.text || m.Class != c.class || m.Method != c.method {
					t.Errorf("%+v", m)
				}
				r.expectEvents("1: basic.ack", "close 1", "release")
				go r.Write(contentFrames(1, 5000)) // later input is dropped
				if c.step {
					go r.Write(methodFrames(0, &protocol.ConnectionCloseOk{}))
					takes(t, 0, 0, r.isOver)
				} else {
					takes(t, 3*time.Second, 3*time.Second, r.isOver)
				}
				r.expectEvents()
			})
		})
	}
}

// An incomplete frame is discarded when the socket is closed.
func TestFrameTruncated(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.openChannel(1)
		whole := contentFrames(1, 100)
		r.send(whole[:len(whole)-1])
		r.expectEvents("1: basic.publish frame(2,14)")
		r.Close()
		r.isOver()
		r.expectEvents("close 1", "release")
	})
}
