package integration

import (
	"bytes"
	"testing"
	"time"

	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// Invalid AMQP on an open connection ends the connection with the right code, and no other client is affected.
func TestAttackOnOpenConnection(t *testing.T) {
	t.Parallel()
	b := start(t)
	s := b.bystander()
	publish := method(1, &protocol.BasicPublish{RoutingKey: s.queue})
	header := func(size uint64) []byte { return protocol.AppendHeaderFrame(nil, 1, size, []byte{0, 0}) }
	for name, c := range map[string]struct {
		say  []byte
		code uint16
		text string
	}{
		"garbage":             {bytes.Repeat([]byte("garbage "), 100), protocol.FrameErr, "FRAME_ERROR"},
		"oversized frame":     {[]byte{1, 0, 1, 0, 2, 0, 1}, protocol.FrameErr, "frame_too_large"},
		"enormous frame":      {[]byte{1, 0, 1, 0xff, 0xff, 0xff, 0xff}, protocol.FrameErr, "frame_too_large"},
		"bad end":             {append(method(1, &protocol.BasicGet{Queue: "x"})[:14], bytes.Repeat([]byte{0}, 100)...), protocol.FrameErr, "invalid_frame_end_marker"},
		"unknown type":        {frameOf(4, 1, 'x'), protocol.FrameErr, "FRAME_ERROR"},
		"unknown method":      {frameOf(1, 1, 0, 60, 0, 99), protocol.NotImplemented, ""},
		"unknown class":       {frameOf(1, 1, 0, 99, 0, 10), protocol.NotImplemented, ""},
		"method cut short":    {frameOf(1, 1, 0, 50, 0, 10, 0, 0, 5, 'a'), protocol.FrameErr, ""},
		"no method":           {frameOf(1, 1, 0), protocol.FrameErr, ""},
		"unopened channel":    {method(7, &protocol.BasicGet{Queue: "x"}), protocol.ChannelErr, "CHANNEL_ERROR - expected 'channel.open'"},
		"header on unopened":  {protocol.AppendHeaderFrame(nil, 7, 0, []byte{0, 0}), protocol.UnexpectedFrame, ""},
		"second channel.open": {method(1, &protocol.ChannelOpen{}), protocol.ChannelErr, "second 'channel.open' seen"},
		"publish on 0":        {method(0, &protocol.BasicPublish{}), protocol.ChannelErr, "unexpected method in connection state running"},
		"header on 0":         {protocol.AppendHeaderFrame(nil, 0, 0, []byte{0, 0}), protocol.UnexpectedFrame, ""},
		"start-ok again":      {method(0, &protocol.ConnectionStartOk{}), protocol.ChannelErr, "unexpected method in connection state running"},
		"heartbeat on 1":      {frameOf(protocol.FrameHeartbeat, 1), protocol.UnexpectedFrame, ""},
		"header alone":        {header(0), protocol.UnexpectedFrame, "UNEXPECTED_FRAME"},
		"body alone":          {protocol.AppendBodyFrames(nil, 1, []byte("x"), frameMax), protocol.UnexpectedFrame, "UNEXPECTED_FRAME"},
		"no header":           {append(publish, method(1, &protocol.BasicGet{Queue: "x"})...), protocol.UnexpectedFrame, "UNEXPECTED_FRAME"},
		"header of another class": {
			append(publish, frameOf(protocol.FrameHeader, 1, 0, 50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0)...), protocol.UnexpectedFrame, "UNEXPECTED_FRAME",
		},
		"body too long": {
			bytes.Join([][]byte{publish, header(1), protocol.AppendBodyFrames(nil, 1, []byte("four"), frameMax)}, nil), protocol.FrameErr, "",
		},
		"table that lies": {
			frameOf(1, 1, append([]byte{0, 50, 0, 10, 0, 0, 1, 'q', 0}, 0xff, 0xff, 0xff, 0xff)...), protocol.FrameErr, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // when framing is lost, the broker waits a while before it closes the connection
			i := b.connectRaw(t)
			i.login(0)
			i.open(1)
			i.say(c.say)
			i.refused(c.code, c.text)
			s.undisturbed(b)
		})
	}
}

// A client that starts with another protocol header is sent the broker's [AMQP 4.2.2].
func TestAttackWithWrongHeader(t *testing.T) {
	t.Parallel()
	b := start(t)
	s := b.bystander()
	for name, say := range map[string]string{
		"AMQP 0-8": "AMQP\x01\x01\x08\x00", "AMQP 1.0 TLS": "AMQP\x02\x01\x00\x00",
		"AMQP 0-10": "AMQP\x01\x01\x00\x0a", "HTTP": "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"TLS": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "zeros": string(make([]byte, 4096)),
	} {
		t.Run(name, func(t *testing.T) {
			i := b.connectRaw(t)
			i.say([]byte(say))
			i.answers(protocol.ProtocolHeader[:])
			s.undisturbed(b)
		})
	}
}

// A client that does not finish the handshake in time is disconnected.
func TestAttackBySilence(t *testing.T) {
	t.Parallel()
	b := start(t, "--handshake-timeout", "5s")
	s := b.bystander()
	for name, say := range map[string]func(*rawClient){
		"nothing":     func(*rawClient) {},
		"half header": func(i *rawClient) { i.say([]byte("AMQP")) },
		"no start-ok": func(i *rawClient) { i.say(protocol.ProtocolHeader[:]); expect[*protocol.ConnectionStart](i) },
		"no tune-ok":  func(i *rawClient) { i.greet("guest"); expect[*protocol.ConnectionTune](i) },
		"no sasl-init": func(i *rawClient) {
			i.say(amqp10.SASLProtocolHeader[:])
			i.answers(amqp10.AppendFrame(amqp10.SASLProtocolHeader[:], 0, &amqp10.SASLMechanisms{ServerMechanisms: []amqp10.Symbol{"PLAIN", "AMQPLAIN", "ANONYMOUS", "MSSBCBS"}}))
		},
		"half a frame": func(i *rawClient) {
			i.say(protocol.ProtocolHeader[:])
			expect[*protocol.ConnectionStart](i)
			i.say(method(0, &protocol.ConnectionStartOk{Mechanism: "PLAIN"})[:10])
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := b.connectRaw(t)
			say(i)
			i.over()
		})
	}
	t.Run("afterwards", func(*testing.T) { s.undisturbed(b) })
}

func TestAttackOnLogin(t *testing.T) {
	t.Parallel()
	b := start(t)
	s := b.bystander()
	i := b.connectRaw(t)
	i.greet("wrong")
	i.refused(protocol.AccessRefused, "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN.")
	i = b.connectRaw(t)
	i.greet("guest")
	expect[*protocol.ConnectionTune](i)
	i.say(method(0, &protocol.ConnectionTuneOk{FrameMax: frameMax, ChannelMax: 1}), method(0, &protocol.ConnectionOpen{VirtualHost: "none"}))
	i.refused(protocol.NotAllowed, "NOT_ALLOWED - vhost none not found")
	s.undisturbed(b)
}

// Connections end abruptly in every way; the broker notices, and releases their resources.
func TestAttackByLeaving(t *testing.T) {
	t.Parallel()
	b := start(t)
	s := b.bystander()
	long := method(1, &protocol.BasicPublish{RoutingKey: s.queue})
	long = protocol.AppendHeaderFrame(long, 1, 1<<20, []byte{0, 0})
	long = protocol.AppendBodyFrames(long, 1, make([]byte, 1<<19), frameMax)
	for name, leave := range map[string]func(*rawClient){
		"half-closed":      func(i *rawClient) { i.must(i.CloseWrite()) },
		"truncated frame":  func(i *rawClient) { i.say(method(1, &protocol.BasicGet{Queue: "x"})[:9]); i.must(i.CloseWrite()) },
		"truncated body":   func(i *rawClient) { i.say(long); i.must(i.CloseWrite()) },
		"closed":           func(i *rawClient) { i.must(i.Close()) },
		"reset":            func(i *rawClient) { i.must(i.SetLinger(0)); i.must(i.Close()) },
		"reset in a frame": func(i *rawClient) { i.say(long[:len(long)-100]); i.must(i.SetLinger(0)); i.must(i.Close()) },
	} {
		t.Run(name, func(t *testing.T) {
			i := b.connectRaw(t)
			i.login(0)
			i.mine("mine")
			leave(i)
			eventually(t, "the exclusive queue ends", func() bool { return !s.takes("mine") })
			s.undisturbed(b)
		})
	}
}

// With heartbeats of one second, a silent client is disconnected after two.
func TestAttackByDeadClient(t *testing.T) {
	t.Parallel()
	b := start(t)
	s := b.bystander()
	i := b.connectRaw(t)
	began := time.Now()
	i.login(1)
	i.over()
	if past := time.Since(began); past < time.Second {
		t.Errorf("cut off after %v", past)
	}
	s.undisturbed(b)
}
