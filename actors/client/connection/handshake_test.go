package connection_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"candlemark/actors/client/connection"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/users"
	"candlemark/internal/access/auth"
	"candlemark/protocol"

	"github.com/rs/zerolog"
)

func TestHandshakeOffers(t *testing.T) {
	bubble(t, func(c *connection.Config) { c.Capabilities = []string{"of_tomorrow", "basic.nack"} }, func(r *rig) {
		r.send(protocol.ProtocolHeader[:])
		start := expect[*protocol.ConnectionStart](r.client, 0)
		if start.VersionMajor != 0 || start.VersionMinor != 9 || start.Mechanisms != "PLAIN AMQPLAIN" || start.Locales != "en_US" {
			t.Errorf("%+v", start)
		}
		for key, want := range map[string]any{"product": "Candlemark", "version": "4.3.6", "product_version": "0.1", "platform": "Go"} {
			if got, _ := start.ServerProperties.Get(key); got != want {
				t.Errorf("%s = %v", key, got)
			}
		}
		v, _ := start.ServerProperties.Get("capabilities")
		able, _ := v.(protocol.Table)
		if len(able) != 10 { // the nine of RabbitMQ, and one from the configuration
			t.Errorf("capabilities %v", able)
		}
		r.sendMethods(0, &protocol.ConnectionStartOk{Mechanism: "AMQPLAIN", Response: amqplain(t, "lim", "secret")})
		if tune := *expect[*protocol.ConnectionTune](r.client, 0); tune != (protocol.ConnectionTune{ChannelMax: 2047, FrameMax: 131072, Heartbeat: 60}) {
			t.Errorf("%+v", tune)
		}
	})
}

// TestHandshakeNames: the product and cluster name announced come from the configuration.
func TestHandshakeNames(t *testing.T) {
	bubble(t, func(c *connection.Config) { c.Product, c.ClusterName = "RabbitMQ", "here" }, func(r *rig) {
		r.send(protocol.ProtocolHeader[:])
		properties := expect[*protocol.ConnectionStart](r.client, 0).ServerProperties
		for key, want := range map[string]string{"product": "RabbitMQ", "cluster_name": "here"} {
			if got, _ := properties.Get(key); got != want {
				t.Errorf("%s is %v", key, got)
			}
		}
	})
}

func amqplain(t *testing.T, user, password string) []byte {
	b, err := protocol.AppendTable(nil, protocol.Table{{Key: "LOGIN", Value: user}, {Key: "PASSWORD", Value: password}})
	if err != nil {
		t.Fatal(err)
	}
	return b[4:]
}

func TestHandshakeDescribe(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.login(protocol.ConnectionTuneOk{ChannelMax: 10, FrameMax: 4096, Heartbeat: 7})
		r.openChannel(3)
		f, err := r.ask(func(q mail.Request) any { return &mail.DescribeConnection{Request: q} })
		info, ok := f.(*mail.ConnectionInfo)
		if err != nil || !ok {
			t.Fatalf("%v %v", f, err)
		}
		product, _ := info.ClientProperties.Get("product")
		if info.Name != "pipe -> pipe" || info.State != "running" || info.User != "lim" || info.VHost != "/" || info.Mechanism != "PLAIN" ||
			product != "probe" || info.ChannelMax != 10 || info.FrameMax != 4096 || info.Heartbeat != 7 || len(info.Channels) != 1 ||
			info.Channels[0].ID != 3 || info.ConnectedAt != time.Now().UnixMilli() {
			t.Errorf("%+v", info)
		}
	})
}

func TestHandshakeOldHeaderOf09(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.send([]byte("AMQP\x01\x01\x00\x09"))
		expect[*protocol.ConnectionStart](r.client, 0)
	})
}

func TestHandshakeWrongHeader(t *testing.T) {
	for _, header := range []string{"AMQP\x00\x00\x08\x00", "AMQP\x00\x01\x00\x00", "GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03"} {
		bubble(t, nil, func(r *rig) {
			go r.Write([]byte(header))
			if f := <-r.frames; f.Type != 'A' {
				t.Errorf("got %+v", f)
			}
			r.isOver()
		})
	}
}

func TestHandshakeSilence(t *testing.T) {
	for name, say := range map[string]func(*rig){
		"nothing":     func(*rig) {},
		"half header": func(r *rig) { r.send([]byte("AMQP")) },
		"header only": func(r *rig) { r.send(protocol.ProtocolHeader[:]); expect[*protocol.ConnectionStart](r.client, 0) },
		"no open": func(r *rig) {
			r.startOk(able, "lim", "secret")
			expect[*protocol.ConnectionTune](r.client, 0)
			r.sendMethods(0, &protocol.ConnectionTuneOk{ChannelMax: 1, FrameMax: 4096, Heartbeat: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				takes(t, 10*time.Second, 10*time.Second, func() { say(r); r.isOver() })
			})
		})
	}
}

func TestHandshakeLogin(t *testing.T) {
	refused := "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile."
	t.Run("told", func(t *testing.T) {
		bubble(t, nil, func(r *rig) {
			r.startOk(able, "lim", "wrong")
			r.expectClose(403, refused, 0, 0)
			r.sendMethods(0, &protocol.ConnectionCloseOk{})
			takes(t, 0, 0, r.isOver)
		})
	})
	silent := func(name string, start *protocol.ConnectionStartOk) {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				r.send(protocol.ProtocolHeader[:])
				expect[*protocol.ConnectionStart](r.client, 0)
				r.sendMethods(0, start)
				takes(t, 3*time.Second, 3*time.Second, r.isOver)
			})
		})
	}
	silent("not capable", &protocol.ConnectionStartOk{Mechanism: "PLAIN", Response: []byte("\x00lim\x00wrong")})
	silent("malformed", &protocol.ConnectionStartOk{ClientProperties: able, Mechanism: "PLAIN", Response: []byte("lim")})
	silent("unknown mechanism", &protocol.ConnectionStartOk{ClientProperties: able, Mechanism: "EXTERNAL"})
	silent("no anonymous login", &protocol.ConnectionStartOk{ClientProperties: able, Mechanism: "ANONYMOUS", Response: []byte("guest")})
}

// guessed is an authenticator that throttles logins.
type guessed struct{ users.Fixed }

func (guessed) Authenticate(string, []byte, auth.Peer) (auth.User, error) {
	return auth.User{}, auth.ErrThrottled
}

// TestHandshakeThrottled: a throttled login is refused like one with a wrong password, and not logged, because it is counted
// elsewhere.
func TestHandshakeThrottled(t *testing.T) {
	var log bytes.Buffer
	bubble(t, func(c *connection.Config) { c.Authenticator, c.Log = &guessed{}, zerolog.New(&log) }, func(r *rig) {
		r.startOk(able, "lim", "secret")
		r.expectClose(403, "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile.", 0, 0)
		r.sendMethods(0, &protocol.ConnectionCloseOk{})
		r.isOver()
	})
	if strings.Contains(log.String(), "login") || strings.Contains(log.String(), "handshake") {
		t.Error(log.String())
	}
}

func TestHandshakeWrongMethod(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.send(protocol.ProtocolHeader[:])
		expect[*protocol.ConnectionStart](r.client, 0)
		r.sendMethods(0, &protocol.ConnectionOpen{VirtualHost: "/"})
		takes(t, 3*time.Second, 3*time.Second, r.isOver)
	})
	bubble(t, nil, func(r *rig) {
		r.startOk(able, "lim", "secret")
		expect[*protocol.ConnectionTune](r.client, 0)
		r.sendMethods(0, &protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072}, &protocol.ConnectionTuneOk{})
		r.expectClose(504, "CHANNEL_ERROR - unexpected method in connection state opening", 10, 31)
		takes(t, 10*time.Second, 10*time.Second, r.isOver)
	})
}

func TestHandshakeTune(t *testing.T) {
	for _, c := range []struct {
		ok   protocol.ConnectionTuneOk
		text string
	}{
		{protocol.ConnectionTuneOk{ChannelMax: 2048, FrameMax: 131072}, "negotiated channel_max = 2048 is higher than the maximum allowed value (2047)"},
		{protocol.ConnectionTuneOk{ChannelMax: 0, FrameMax: 131072}, "negotiated channel_max = 0 (no limit) is higher than the maximum allowed value (2047)"},
		{protocol.ConnectionTuneOk{ChannelMax: 1, FrameMax: 131073}, "negotiated frame_max = 131073 is higher than the maximum allowed value (131072)"},
		{protocol.ConnectionTuneOk{ChannelMax: 1, FrameMax: 0}, "negotiated frame_max = 0 is higher than the maximum allowed value (131072)"},
		{protocol.ConnectionTuneOk{ChannelMax: 1, FrameMax: 4095}, "negotiated frame_max = 4095 is lower than the minimum allowed value (4096)"},
	} {
		bubble(t, nil, func(r *rig) {
			r.startOk(able, "lim", "secret")
			expect[*protocol.ConnectionTune](r.client, 0)
			r.sendMethods(0, &c.ok)
			r.expectClose(530, "NOT_ALLOWED - "+c.text, 10, 30)
			r.sendMethods(0, &protocol.ConnectionCloseOk{})
			r.isOver()
		})
	}
}

func TestHandshakeVHost(t *testing.T) {
	for vhost, text := range map[string]string{
		"nowhere":   "NOT_ALLOWED - vhost nowhere not found",
		"forbidden": "NOT_ALLOWED - access to vhost 'forbidden' refused for user 'lim'",
	} {
		bubble(t, nil, func(r *rig) {
			r.sayOpen(protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: 131072}, vhost)
			r.expectClose(530, text, 10, 40)
			r.sendMethods(0, &protocol.ConnectionCloseOk{})
			r.isOver()
			r.expectEvents()
		})
	}
}

func TestHandshakeClientLeaves(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.startOk(able, "lim", "secret")
		expect[*protocol.ConnectionTune](r.client, 0)
		r.sendMethods(0, &protocol.ConnectionClose{ReplyCode: 200})
		expect[*protocol.ConnectionCloseOk](r.client, 0)
		takes(t, 3*time.Second, 3*time.Second, r.isOver)
	})
	bubble(t, nil, func(r *rig) {
		r.send(protocol.ProtocolHeader[:])
		expect[*protocol.ConnectionStart](r.client, 0)
		r.Close()
		r.isOver()
	})
}

func TestHandshakeGarbage(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.send(protocol.ProtocolHeader[:])
		expect[*protocol.ConnectionStart](r.client, 0)
		go r.Write([]byte("\xff\xff\xff\xff\xff\xff\xff\xff garbage, more of it, and still more"))
		takes(t, 3*time.Second, 3*time.Second, r.isOver)
	})
}
