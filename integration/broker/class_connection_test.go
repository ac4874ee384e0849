package broker

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/protocol"
)

func method(class, id uint16, arguments ...byte) rawFrame {
	return rawFrame{protocol.FrameMethod, append([]byte{byte(class >> 8), byte(class), byte(id >> 8), byte(id)}, arguments...)}
}

// on0 is a method or frame sent on channel 0.
func on0(what any) on { return on{0, what} }

func TestClassConnection(t *testing.T) {
	secret := &protocol.ConnectionUpdateSecret{NewSecret: []byte("x"), Reason: "due"}
	play(t, []row{
		{"close", []any{&protocol.ConnectionClose{ReplyCode: 200}}, "connection.close-ok"},
		{"update-secret", []any{secret}, "connection.update-secret-ok"},
		{"heartbeat", []any{on0(rawFrame{protocol.FrameHeartbeat, nil})}, ""},
		{"ERR-2 open twice", []any{&protocol.ConnectionOpen{VirtualHost: "/"}}, "connection 504 10/40 CHANNEL_ERROR - unexpected method in connection state running"},
		{"ERR-2 start from a client", []any{&protocol.ConnectionStart{Mechanisms: "PLAIN", Locales: "en_US"}}, "connection 504 10/10 CHANNEL_ERROR - unexpected method in connection state running"},
		{"ERR-2 tune-ok late", []any{&protocol.ConnectionTuneOk{}}, "connection 504 10/31 CHANNEL_ERROR - unexpected method in connection state running"},
		{"ERR-2 close-ok unasked", []any{&protocol.ConnectionCloseOk{}}, "connection 504 10/51 CHANNEL_ERROR - unexpected method in connection state running"},
		{"ERR-2 method on channel 0", []any{on0(&protocol.QueueDeclare{Queue: "q"})}, "connection 504 50/10 CHANNEL_ERROR - unexpected method in connection state running"},
		{"ERR-2 content on channel 0", []any{on0(rawFrame{protocol.FrameBody, []byte("x")})}, `connection 505 0/0 UNEXPECTED_FRAME - type 3, all octets = <<"x">>`},
		{"ERR-2 unknown class", []any{method(11, 10)}, "connection 540 11/10 NOT_IMPLEMENTED - unknown method {11,10}"},
		{"ERR-2 unknown method", []any{method(60, 39)}, "connection 540 60/39 NOT_IMPLEMENTED - unknown method {60,39}"},
		{"ERR-2 frame of no type", []any{rawFrame{9, []byte("abc")}}, `connection 501 0/0 FRAME_ERROR - type 9, all octets = <<"abc">>: unknown_frame`},
		{"ERR-2 frame without an end", []any{[]byte{1, 0, 1, 0, 0, 0, 4, 0, 20, 0, 40, 0xCD}}, "connection 501 0/0 FRAME_ERROR - type 1, all octets = <<0,20,0,40>>: {invalid_frame_end_marker,205}"},
		{"ERR-2 frame too large", []any{[]byte{3, 0, 1, 0, 2, 0, 1}}, "connection 501 0/0 FRAME_ERROR - type 3, all octets = <<>>: {frame_too_large,131073,131064}"},
		{"ERR-2 heartbeat on a channel", []any{rawFrame{protocol.FrameHeartbeat, nil}}, "connection 505 0/0 UNEXPECTED_FRAME - type 8, all octets = <<>>"},
		{"ERR-2 arguments cut", []any{method(60, 10, 0, 0)}, "connection 501 60/10 FRAME_ERROR - cannot decode <<0,0>>"},
		{"DEC-8 malformed UTF-8", []any{method(50, 10, 0, 0, 2, 0xC3, 0x28, 0, 0, 0, 0, 0)}, "connection 501 0/0 FRAME_ERROR - Malformed UTF-8 in shortstr"},
	})
}

// Failed handshakes, by the answer to the last method or frame sent.
func TestClassConnection_Handshake(t *testing.T) {
	good, vhost := startOk("guest", "guest"), &protocol.ConnectionOpen{VirtualHost: "/"}
	other := func(change func(*protocol.ConnectionStartOk)) *protocol.ConnectionStartOk {
		m := startOk("guest", "no")
		change(m)
		return m
	}
	tune := func(channels uint16, frames uint32) *protocol.ConnectionTuneOk {
		return &protocol.ConnectionTuneOk{ChannelMax: channels, FrameMax: frames}
	}
	const refused = "connection 403 0/0 ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile."
	for _, r := range []row{
		{"AMQPLAIN", []any{other(func(m *protocol.ConnectionStartOk) {
			b, _ := protocol.AppendTable(nil, protocol.Table{{Key: "LOGIN", Value: "guest"}, {Key: "PASSWORD", Value: "guest"}})
			m.Mechanism, m.Response = "AMQPLAIN", b[4:]
		})}, "connection.tune"},
		{"ERR-2 password", []any{startOk("guest", "no")}, refused},
		{"ERR-2 unknown user", []any{startOk("somebody", "pass")}, refused},
		{"password of an old client", []any{other(func(m *protocol.ConnectionStartOk) { m.ClientProperties = nil })}, "end"},
		{"ERR-2 mechanism", []any{other(func(m *protocol.ConnectionStartOk) { m.Mechanism = "GSSAPI" })}, "end"},
		{"ERR-2 response", []any{other(func(m *protocol.ConnectionStartOk) { m.Response = []byte("guest") })}, "end"},
		{"ERR-2 channel_max", []any{good, tune(2048, 131072)}, "connection 530 10/30 NOT_ALLOWED - negotiated channel_max = 2048 is higher than the maximum allowed value (2047)"},
		{"ERR-2 channel_max 0", []any{good, tune(0, 131072)}, "connection 530 10/30 NOT_ALLOWED - negotiated channel_max = 0 (no limit) is higher than the maximum allowed value (2047)"},
		{"ERR-2 frame_max", []any{good, tune(2047, 131073)}, "connection 530 10/30 NOT_ALLOWED - negotiated frame_max = 131073 is higher than the maximum allowed value (131072)"},
		{"ERR-2 frame_max small", []any{good, tune(2047, 4095)}, "connection 530 10/30 NOT_ALLOWED - negotiated frame_max = 4095 is lower than the minimum allowed value (4096)"},
		{"ERR-2 open before tune-ok", []any{good, vhost}, "end"},
		{"ERR-2 unknown vhost", []any{good, tune(2047, 131072), &protocol.ConnectionOpen{VirtualHost: "nowhere"}}, "connection 530 10/40 NOT_ALLOWED - vhost nowhere not found"},
		{"ERR-2 vhost refused", []any{startOk("nobody", "pass"), tune(2047, 131072), vhost}, "connection 530 10/40 NOT_ALLOWED - access to vhost '/' refused for user 'nobody'"},
	} {
		t.Run(r.name, func(t *testing.T) {
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				b.Log.Allow("")
				if _, err := b.Users.PutAccount(auth.Account{Name: "nobody", Hash: auth.HashPassword("pass")}); err != nil {
					t.Fatal(err)
				}
				w := dialWire(b)
				defer w.conn.Close()
				w.say(r.say[:len(r.say)-1]...)
				w.take()
				w.say(r.say[len(r.say)-1])
				b.Advance(5 * time.Second) // some refusals are slow
				if heard := w.take(); heard != r.want {
					t.Errorf("\n got %s\nwant %s", heard, r.want)
				}
			})
		})
	}
}

func TestClassChannel(t *testing.T) {
	ended := &protocol.ChannelClose{ReplyCode: 200}
	fail := &protocol.QueueDeclare{Queue: "none", Passive: true}
	publish := func(things ...any) []any {
		return append([]any{&protocol.BasicPublish{RoutingKey: "q"}}, things...)
	}
	header := func(size byte) rawFrame {
		return rawFrame{protocol.FrameHeader, []byte{0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, size, 0, 0}}
	}
	body := rawFrame{protocol.FrameBody, []byte("body")}
	play(t, []row{
		{"open", []any{on{7, &protocol.ChannelOpen{}}}, "channel.open-ok"},
		{"close", []any{ended}, "channel.close-ok"},
		{"reuse", []any{ended, &protocol.ChannelOpen{}, &protocol.BasicQos{}}, "basic.qos-ok"},
		{"reuse after an error", []any{fail, &protocol.ChannelCloseOk{}, &protocol.ChannelOpen{}}, "channel.open-ok"},
		{"flow", []any{&protocol.ChannelFlow{Active: true}}, "channel.flow-ok"},
		{"cancel-ok", []any{&protocol.BasicCancelOk{ConsumerTag: "t"}, &protocol.BasicQos{}}, "basic.qos-ok"},
		{"in error all but close is dropped", []any{fail, &protocol.QueueDeclare{Queue: "q"}, &protocol.BasicAck{DeliveryTag: 9}, ended}, "channel.close-ok"},
		{"body", publish(header(4), body), ""},
		{"ERR-3 channel exception", []any{fail}, "channel 404 50/10 NOT_FOUND - no queue 'none' in vhost '/'"},
		{"ERR-2 open twice", []any{&protocol.ChannelOpen{}}, "connection 504 20/10 CHANNEL_ERROR - second 'channel.open' seen"},
		{"ERR-2 not open", []any{on{3, fail}}, "connection 504 50/10 CHANNEL_ERROR - expected 'channel.open'"},
		{"ERR-2 closed", []any{ended, fail}, "connection 504 50/10 CHANNEL_ERROR - expected 'channel.open'"},
		{"ERR-2 content on a closed one", []any{ended, body}, "connection 505 0/0 UNEXPECTED_FRAME - expected method frame, got non method frame instead"},
		{"ERR-2 content on one not open", []any{on{3, body}}, "connection 505 0/0 UNEXPECTED_FRAME - expected method frame, got non method frame instead"},
		{"ERR-2 flow off", []any{&protocol.ChannelFlow{}}, "connection 540 20/20 NOT_IMPLEMENTED - active=false"},
		{"ERR-2 method of the server", []any{&protocol.QueueDeclareOk{Queue: "q"}}, "connection 503 50/11 COMMAND_INVALID - unimplemented method"},
		{"ERR-2 delivery from a client", []any{&protocol.BasicDeliver{ConsumerTag: "t"}}, "connection 503 60/60 COMMAND_INVALID - unimplemented method"},
		{"ERR-2 body first", []any{body}, "connection 505 0/0 UNEXPECTED_FRAME - expected method frame, got non method frame instead"},
		{"ERR-2 method instead of a header", publish(&protocol.BasicQos{}), "connection 505 60/40 UNEXPECTED_FRAME - expected content header for class 60, got non content header frame instead"},
		{"ERR-2 body instead of a header", publish(body), "connection 505 60/40 UNEXPECTED_FRAME - expected content header for class 60, got non content header frame instead"},
		{"ERR-2 header instead of a body", publish(header(4), header(4)), "connection 505 60/40 UNEXPECTED_FRAME - expected content body, got non content body frame instead"},
		{"ERR-2 method instead of a body", publish(header(4), &protocol.BasicQos{}), "connection 505 60/40 UNEXPECTED_FRAME - expected content body, got non content body frame instead"},
		{"ERR-2 body too long", publish(header(3), body), "connection 501 60/40 FRAME_ERROR - content body frame exceeds remaining content size"},
		{"ERR-2 header of another class", publish(rawFrame{protocol.FrameHeader, []byte{0, 50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}), "connection 505 60/40 UNEXPECTED_FRAME - expected content header for class 60, got one for class 50 instead"},
		{"ERR-2 weight", publish(rawFrame{protocol.FrameHeader, []byte{0, 60, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}), "connection 505 60/40 UNEXPECTED_FRAME - expected content header for class 60, got non content header frame instead"},
		{"ERR-2 body of 512 MiB and more", publish(rawFrame{protocol.FrameHeader, []byte{0, 60, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 1, 0, 0}}), "connection 501 60/40 FRAME_ERROR - content body size 536870913 exceeds maximum allowed size 536870912"},
		{"ERR-2 broken properties", publish(rawFrame{protocol.FrameHeader, []byte{0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 9, 'x'}}), "connection 501 60/40 FRAME_ERROR - cannot decode properties <<128,0,9,120>>"},
		{"ERR-1 long text is cut", []any{&protocol.QueueDeclare{Queue: strings.Repeat("q", 255), Passive: true}}, "channel 404 50/10 NOT_FOUND - no queue '" + strings.Repeat("q", 230) + "..."},
	})
}

// Message bodies of any size up to the limit arrive; one byte more is refused.
func TestClassChannel_Size(t *testing.T) {
	play(t, []row{
		{"empty", []any{&protocol.ConfirmSelect{}, whole{BasicPublish: protocol.BasicPublish{RoutingKey: "q"}}}, "basic.ack 1"},
		{"16 MiB", []any{&protocol.ConfirmSelect{}, whole{body: string(bytes.Repeat([]byte("x"), 16<<20))}}, "basic.ack 1"},
		{"ERR-2 above", []any{whole{body: string(bytes.Repeat([]byte("x"), 16<<20+1))}}, "channel 406 60/40 PRECONDITION_FAILED - message size 16777217 is larger than configured max size 16777216"},
	})
}
