package dialect

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"candlemark/protocol/amqp10"
)

// Target is the destination of a message, or of all messages of a link.
type Target struct{ Exchange, Key string }

// ParseTarget reads an address to publish to: /queues/:queue, /exchanges/:exchange or /exchanges/:exchange/:key, each
// segment percent-encoded. The error is amqp:invalid-field.
func ParseTarget(address string) (Target, error) {
	if queue, ok := strings.CutPrefix(address, "/queues/"); ok {
		name, err := segment(address, queue)
		return Target{Key: name}, err
	}
	rest, ok := strings.CutPrefix(address, "/exchanges/")
	if !ok {
		return Target{}, badAddress(address)
	}
	exchange, key, keyed := strings.Cut(rest, "/")
	x, err := segment(address, exchange)
	if err == nil && x == "amq.default" {
		err = amqp10.Errorf(amqp10.InvalidField, "the default exchange is addressed as /queues/ and a queue, not as '%s'", address)
	}
	if err != nil || !keyed {
		return Target{Exchange: x}, err
	}
	k, err := decoded(address, key)
	return Target{x, k}, err
}

// ParseSource reads the address of a queue to receive from: /queues/:queue.
func ParseSource(address string) (queue string, err error) {
	name, ok := strings.CutPrefix(address, "/queues/")
	if !ok {
		return "", badAddress(address)
	}
	return segment(address, name)
}

// QueueAddress returns the address of a queue.
func QueueAddress(name string) string {
	return "/queues/" + strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}

// volatileQueue is the capability of a source for direct replies.
const volatileQueue = amqp10.Symbol("rabbitmq:volatile-queue")

// linkDetach is the expiry policy of a node that ends with its link [AMQP 1.0 messaging 3.5.6].
const linkDetach = amqp10.Symbol("link-detach")

// CheckVolatile checks an attach with a dynamic source for direct replies, which are settled and end with the link. The error is amqp:not-implemented, or amqp:invalid-field.
func CheckVolatile(m *amqp10.Attach) error {
	s := m.Source
	switch {
	case s.Address.Set:
		return amqp10.Errorf(amqp10.InvalidField, "a dynamic source must not have an address")
	case m.SndSettleMode != amqp10.SenderSettled:
		return amqp10.Errorf(amqp10.NotImplemented, "direct reply-to requires snd-settle-mode settled")
	case s.Durable != 0 || s.Timeout != 0 || s.ExpiryPolicy != linkDetach:
		return amqp10.Errorf(amqp10.NotImplemented, "direct reply-to requires durable none, expiry-policy link-detach and timeout 0")
	}
	return nil
}

// segment returns a decoded segment that must not be empty.
func segment(address, encoded string) (string, error) {
	name, err := decoded(address, encoded)
	if err == nil && name == "" {
		err = badAddress(address)
	}
	return name, err
}

func decoded(address, encoded string) (string, error) {
	name, err := url.PathUnescape(encoded)
	if err != nil || !utf8.ValidString(name) || len(name) > 255 || strings.ContainsRune(encoded, '/') {
		return "", badAddress(address)
	}
	return name, nil
}

func badAddress(address string) error {
	return amqp10.Errorf(amqp10.InvalidField, "bad address '%s': expected /queues/:queue, /exchanges/:exchange and /exchanges/:exchange/:routing-key, percent-encoded",
		strings.ToValidUTF8(address[:min(len(address), 255)], ""))
}
