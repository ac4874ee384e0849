package republish

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// answerTTL is the TTL of answers in ms: nobody waits for longer.
const answerTTL = 30_000

// answerType is the property type of answers.
const answerType = "candlemark.error"

// failure is the body of an answer.
type failure struct {
	Error  string `json:"error"`
	Reason string `json:"reason"`
	Queue  string `json:"queue"`
}

// failures says why requests are answered, by the reasons of DL-9.
var failures = map[string]string{
	"expired": "the request expired", rejected: "a consumer has rejected the request", "maxlen": "the queue was full",
	"delivery_limit": "too many deliveries of the request have failed",
}

// answer turns a request that its queue has dropped into the answer to it (ANS-1, ANS-3); false if it is no request, or
// none that may be answered. An answer has no reply-to, and so is never answered.
func answer(m *message.Message, b *batch) bool {
	scan, err := protocol.ScanProperties(m.Header)
	if err != nil || len(scan.ReplyTo) == 0 {
		return false
	}
	id := scan.CorrelationID
	if len(id) == 0 {
		id = scan.MessageID
	}
	to := replyQueue(string(scan.ReplyTo))
	if len(id) == 0 || !topology.IsReplyName([]byte(to)) && (m.Overlay == nil || !m.Overlay.Answerable) {
		return false
	}
	reason, known := failures[b.Reason]
	if !known {
		reason = "the request could not be passed on"
	}
	body, err := json.Marshal(failure{b.Reason, reason, b.Queue})
	if err != nil {
		return false
	}
	p := protocol.Properties{
		Flags:       protocol.FlagContentType | protocol.FlagCorrelationID | protocol.FlagExpiration | protocol.FlagType,
		ContentType: "application/json", CorrelationID: string(id), Expiration: strconv.Itoa(answerTTL), Type: answerType,
	}
	*m = message.Message{RoutingKey: []byte(to), Header: p.Append(nil), Body: body, Number: m.Number, TTL: answerTTL, Owned: true}
	return true
}

// forget settles a message that is no request, as if there were no dead-lettering.
func (s *state) forget(b *batch, id uint64) {
	s.stats.ByReason(b.Reason).NoExchange.Add(1)
	r := b.answering()
	r.Dropped++
	r.Add(id)
}

// replyQueue returns the name of the queue in a reply-to, which may be an address of AMQP 1.0.
func replyQueue(replyTo string) string {
	if name, is := strings.CutPrefix(replyTo, "/queues/"); is {
		if name, err := url.PathUnescape(name); err == nil {
			return name
		}
	}
	return replyTo
}
