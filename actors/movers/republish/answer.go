package republish

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/convert"
)

// answerTTL is the TTL of answers in ms: nobody waits for longer.
const answerTTL = 30_000

// answerType is the property type of answers.
const answerType = "candlemark.error"

const contentType = "application/json"

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
	_, original := protocol.SplitOriginal(m.Header)
	asked, is10 := convert.OriginalProperties(original)
	id := string(scan.CorrelationID)
	if asked.CorrelationID == nil && id == "" {
		id, asked.CorrelationID = string(scan.MessageID), asked.MessageID
	}
	to := replyQueue(string(scan.ReplyTo))
	if asked.CorrelationID == nil && id == "" || !topology.IsReplyName([]byte(to)) && (m.Overlay == nil || !m.Overlay.Answerable) {
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
	p := protocol.Properties{Flags: protocol.FlagContentType | protocol.FlagCorrelationID, ContentType: contentType, CorrelationID: id}
	if is10 {
		p, original, err = answer10(&asked, body)
	}
	if err != nil {
		return false
	}
	p.Flags |= protocol.FlagExpiration | protocol.FlagType
	p.Expiration, p.Type = strconv.Itoa(answerTTL), answerType
	header := p.Append(nil)
	if is10 {
		list := len(header)
		header = protocol.WithOriginal(append(header, original...), list)
	}
	*m = message.Message{RoutingKey: []byte(to), Header: header, Body: body, Number: m.Number, TTL: answerTTL, Owned: true}
	return true
}

// answer10 returns the properties and the original of the answer to a request of AMQP 1.0, whose id keeps its type; asked has the correlation-id. The
// group of the answer is that which the request names for it, as queues with sessions need one.
func answer10(asked *amqp10.Properties, body []byte) (p protocol.Properties, original []byte, err error) {
	encoded := amqp10.AppendComposite(nil, &amqp10.Properties{
		CorrelationID: asked.CorrelationID, ContentType: amqp10.SymbolText(contentType), GroupID: asked.ReplyToGroupID,
	})
	encoded = amqp10.AppendSection(encoded, amqp10.SectionData, amqp10.AppendBinary(nil, body))
	s, err := amqp10.ScanSections(encoded)
	if err != nil {
		return p, nil, err
	}
	var from amqp10.Properties
	p, _, err = convert.To091(&s, &from)
	return p, convert.AppendOriginal(nil, encoded, &s), err
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
