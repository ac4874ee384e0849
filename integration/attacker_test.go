package integration

import (
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"candlemark/protocol"
)

// attacker is a connection that sends arbitrary bytes; every error is returned instead of failing the test.
type attacker struct {
	net.Conn
	buf []byte
}

// attackTime limits each single step of an attacker.
const attackTime = 3 * time.Second

// attack connects; it does not log in if user is "".
func (b *broker) attack(user string) (*attacker, error) {
	conn, err := net.DialTimeout("tcp", b.amqp, attackTime)
	if err != nil {
		return nil, err
	}
	a := &attacker{Conn: conn}
	if err = conn.SetDeadline(time.Now().Add(attackTime)); err == nil && user != "" {
		err = a.login(user, user)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return a, nil
}

func (a *attacker) login(user, password string) error {
	err := a.say(protocol.ProtocolHeader[:])
	for _, answer := range [][]byte{
		method(0, &protocol.ConnectionStartOk{Mechanism: "PLAIN", Response: []byte("\x00" + user + "\x00" + password), Locale: "en_US"}),
		slices.Concat(method(0, &protocol.ConnectionTuneOk{ChannelMax: 2047, FrameMax: frameMax}), method(0, &protocol.ConnectionOpen{VirtualHost: "/"})),
		nil,
	} {
		if err == nil {
			err = a.hear(1)
		}
		if err == nil {
			err = a.say(answer)
		}
	}
	return err
}

func (a *attacker) say(parts ...[]byte) error {
	_, err := a.Write(slices.Concat(parts...))
	return err
}

// hear reads that many frames of any kind.
func (a *attacker) hear(frames int) error {
	for frames > 0 {
		_, n, _, err := protocol.ParseFrame(a.buf, 0)
		if err != nil {
			return err
		}
		if n > 0 {
			a.buf = a.buf[n:]
			frames--
			continue
		}
		more := make([]byte, 64<<10)
		if n, err = a.Read(more); err != nil {
			return err
		}
		a.buf = append(a.buf, more[:n]...)
	}
	return nil
}

// open opens channels 1 to n.
func (a *attacker) open(n int) error {
	for channel := 1; channel <= n; channel++ {
		if err := errors.Join(a.say(method(uint16(channel), &protocol.ChannelOpen{})), a.hear(1)); err != nil {
			return err
		}
	}
	return nil
}

// opened connects and opens n channels.
func (b *broker) opened(user string, n int) (*attacker, error) {
	a, err := b.attack(user)
	if err != nil {
		return nil, err
	}
	if err := a.open(n); err != nil {
		_ = a.Close()
		return nil, err
	}
	return a, nil
}

// publishing returns the frames of a whole message.
func publishing(channel uint16, exchange, key string, body []byte) []byte {
	return slices.Concat(begun(channel, exchange, key, len(body), nil), protocol.AppendBodyFrames(nil, channel, body, frameMax))
}

// begun returns the method and header frames of a message, without its body.
func begun(channel uint16, exchange, key string, size int, p *protocol.Properties) []byte {
	if p == nil {
		p = &protocol.Properties{}
	}
	m := method(channel, &protocol.BasicPublish{Exchange: exchange, RoutingKey: key, Mandatory: true})
	return protocol.AppendHeaderFrame(m, channel, uint64(size), p.Append(nil))
}

var attackingHTTP = &http.Client{Timeout: attackTime, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// browse sends a request and discards the answer.
func (b *broker) browse(user, method, path string, body io.Reader) error {
	r, err := http.NewRequestWithContext(b.Context(), method, "http://"+b.http+path, body)
	if err != nil {
		return err
	}
	if user != "" {
		r.SetBasicAuth(user, user)
	}
	answer, err := attackingHTTP.Do(r)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.Body.Close()
}

// digits returns a number of n digits.
func digits(n int) string { return strings.Repeat("9", n) }
