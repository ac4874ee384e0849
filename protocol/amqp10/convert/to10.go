package convert

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// typeEncoded is the type of a 0-9-1 message whose body is the encoded body sections of a message of AMQP 1.0.
const typeEncoded = "amqp-1.0"

// Message is a message of 0-9-1 as it is delivered.
type Message struct {
	Exchange   []byte
	RoutingKey []byte
	Properties protocol.Properties // with what the broker adds to the headers; with an original that [Fits], the result of [Beside] is enough
	Original   []byte              // of AppendOriginal, if a client of AMQP 1.0 has published it
	Body       []byte
	// Amended are application properties, Annotations message annotations that the message was given later; among Properties they are headers, which
	// may have changed their types.
	Amended, Annotations amqp10.Map
}

// Delivery holds the data of a delivery in AMQP 1.0 that is not part of the message.
type Delivery struct {
	FirstAcquirer bool   // first delivery of the message
	DeliveryCount uint32 // attempts that failed
	WholeHeader   bool   // as in [amqp10.Header]
	// Annotations, unless nil, are shown in place of the exchange and the routing key, and of headers of the same
	// names. Their keys are symbols.
	Annotations amqp10.Map
	// Instructions, unless nil, are the delivery annotations, with symbols as keys.
	Instructions amqp10.Map
}

// Append appends to head the sections of a message of AMQP 1.0 that the broker writes, and to rest the pieces of m that follow them. With an
// original they are the bare message as its publisher has sent it.
func Append(head []byte, rest [][]byte, m *Message, d Delivery) ([]byte, [][]byte) {
	p := &m.Properties
	header := amqp10.Header{Durable: p.Has(protocol.FlagDeliveryMode) && p.DeliveryMode == 2, FirstAcquirer: d.FirstAcquirer, DeliveryCount: d.DeliveryCount, Whole: d.WholeHeader}
	if p.Has(protocol.FlagPriority) {
		header.Priority = amqp10.Some(p.Priority)
	}
	if p.Has(protocol.FlagExpiration) {
		if ms, err := strconv.ParseUint(p.Expiration, 10, 64); err == nil {
			header.TTL = amqp10.Some(uint32(min(ms, math.MaxUint32)))
		}
	}
	head = amqp10.AppendComposite(head, &header)
	if d.Instructions != nil {
		if v, err := amqp10.Append(nil, d.Instructions); err == nil { // there are not too many levels
			head = amqp10.AppendSection(head, amqp10.SectionDeliveryAnnotations, v)
		}
	}
	head = appendAnnotations(head, m, d.Annotations)
	if Fits(m.Original, m.Body) {
		return head, appendPieces(rest, amended(m.Original, m.Amended), m.Body)
	}
	head = appendProperties(head, p)
	head = appendApplicationProperties(head, p, byName(m.Amended))
	if !p.Has(protocol.FlagType) || p.Type != typeEncoded || !onlyBody(m.Body) {
		head = amqp10.AppendDataHead(head, len(m.Body))
	}
	if len(m.Body) > 0 {
		rest = append(rest, m.Body)
	}
	return head, rest
}

// onlyBody reports whether b is the body of a message of AMQP 1.0, perhaps with a footer, and nothing else.
func onlyBody(b []byte) bool {
	s, err := amqp10.ScanSections(b)
	return err == nil && s.BodyKind != 0 && len(s.BodyAndFooter()) == len(b)
}

func appendAnnotations(dst []byte, m *Message, own amqp10.Map) []byte {
	dst = amqp10.AppendDescriptor(dst, amqp10.SectionMessageAnnotations)
	dst, start := amqp10.OpenMap(dst)
	count := 0
	add := func(key string, v any) {
		switch v.(type) {
		case amqp10.List, amqp10.Map, amqp10.Array:
			if _, err := amqp10.Append(nil, amqp10.List{v}); err != nil {
				return // too many levels for a map
			}
		}
		if grown, err := amqp10.Append(amqp10.AppendSymbol(dst, key), v); err == nil {
			dst, count = grown, count+2
		}
	}
	if own == nil {
		dst = appendText(amqp10.AppendSymbol(dst, "x-exchange"), m.Exchange)
		dst = appendText(amqp10.AppendSymbol(dst, "x-routing-key"), m.RoutingKey)
		count = 4
	}
	for _, e := range own {
		add(string(e.Key.(amqp10.Symbol)), e.Value)
	}
	if p := &m.Properties; p.Has(protocol.FlagType) && p.Type != typeEncoded {
		dst, count = appendText(amqp10.AppendSymbol(dst, "x-basic-type"), []byte(p.Type)), count+2
	}
	headers := m.Properties.Headers
	kept, given, amended := entriesFor(keptAnnotations(m.Original), len(headers)), byName(m.Annotations), byName(m.Amended)
	if m.Properties.Has(protocol.FlagHeaders) && len(headers) > 0 {
		application := entriesFor(applicationProperties(m.Original), len(headers)) // which are headers, too
		for _, f := range headers {
			key, v, ok := annotation(f)
			if _, is := own.Get(key); !ok || is || application.get(f.Key) != nil {
				continue
			}
			if as, is := given[key]; is {
				add(key, as)
			} else if _, is := amended[f.Key]; is {
				continue
			} else if as := kept.get(key); as != nil && isHeader(as, f.Value) {
				dst, count = append(amqp10.AppendSymbol(dst, key), as...), count+2
			} else {
				add(key, v)
			}
		}
	}
	for key, v := range withoutHeader(kept.all, headers) {
		name, _ := key.Text()
		if _, is := own.Get(string(name)); !is {
			dst, count = append(append(dst, key...), v...), count+2
		}
	}
	return amqp10.CloseCompound(dst, start, count)
}

// annotation returns the annotation that a header becomes; ok is false for headers that become none.
func annotation(f protocol.Field) (key string, v any, ok bool) {
	switch {
	case f.Key == "CC":
		key = "x-cc"
	case f.Key == "x-death":
		deaths, isArray := f.Value.(protocol.Array)
		return "x-opt-deaths", deathMaps(deaths), isArray
	case strings.HasPrefix(f.Key, "x-"):
		key = f.Key
	default:
		return "", nil, false
	}
	v, ok = to10(f.Value)
	return key, v, ok
}

// deathMaps returns the entries of x-death, each as a map.
func deathMaps(deaths protocol.Array) amqp10.Array {
	maps := amqp10.Array{Of: amqp10.TypeMap}
	for _, d := range deaths {
		t, ok := d.(protocol.Table)
		if !ok {
			continue
		}
		m := amqp10.Map{}
		for _, f := range t {
			switch v := f.Value.(type) {
			case protocol.Timestamp: // the time of the first: later ones are not kept
				m = append(m, amqp10.Entry{Key: amqp10.Symbol("first-time"), Value: milliseconds(v)}, amqp10.Entry{Key: amqp10.Symbol("last-time"), Value: milliseconds(v)})
			case protocol.Array:
				keys := amqp10.Array{Of: amqp10.TypeString}
				for _, key := range v {
					if s, ok := key.(string); ok {
						keys.Values = append(keys.Values, s)
					}
				}
				m = append(m, amqp10.Entry{Key: amqp10.Symbol(f.Key), Value: keys})
			default:
				m = append(m, deathEntry(f))
			}
		}
		slices.SortStableFunc(m, func(a, b amqp10.Entry) int { return deathRank(a) - deathRank(b) })
		maps.Values = append(maps.Values, m)
	}
	return maps
}

// deathRank orders the entries of a death as RabbitMQ does.
func deathRank(e amqp10.Entry) int {
	if i := slices.Index([]any{amqp10.Symbol("ttl"), amqp10.Symbol("queue"), amqp10.Symbol("reason"), amqp10.Symbol("count")}, e.Key); i >= 0 {
		return i
	}
	return math.MaxInt
}

// deathEntry returns a field of an entry of x-death that is a number or text.
func deathEntry(f protocol.Field) amqp10.Entry {
	s, isText := f.Value.(string)
	n, isNumber := protocol.Int64(f.Value)
	switch {
	case f.Key == "reason" && isText:
		return amqp10.Entry{Key: amqp10.Symbol("reason"), Value: amqp10.Symbol(s)}
	case f.Key == "count" && isNumber:
		return amqp10.Entry{Key: amqp10.Symbol("count"), Value: uint64(n)}
	case f.Key == "original-expiration" && isText:
		ms, _ := strconv.ParseUint(s, 10, 32)
		return amqp10.Entry{Key: amqp10.Symbol("ttl"), Value: uint32(ms)}
	}
	v, _ := to10(f.Value)
	return amqp10.Entry{Key: amqp10.Symbol(f.Key), Value: v}
}

func appendProperties(dst []byte, p *protocol.Properties) []byte {
	var to amqp10.Properties
	if p.Has(protocol.FlagMessageID) {
		to.MessageID = to10ID(p.MessageID)
	}
	if p.Has(protocol.FlagCorrelationID) {
		to.CorrelationID = to10ID(p.CorrelationID)
	}
	if p.Has(protocol.FlagUserID) {
		to.UserID = []byte(p.UserID)
	}
	if p.Has(protocol.FlagReplyTo) {
		to.ReplyTo = amqp10.Text(replyTo10(p.ReplyTo))
	}
	if p.Has(protocol.FlagContentType) {
		to.ContentType = amqp10.SymbolText(p.ContentType)
	}
	if p.Has(protocol.FlagContentEncoding) {
		to.ContentEncoding = amqp10.SymbolText(p.ContentEncoding)
	}
	if p.Has(protocol.FlagTimestamp) {
		to.CreationTime = amqp10.Some(milliseconds(p.Timestamp))
	}
	if p.Has(protocol.FlagAppID) {
		to.GroupID = amqp10.Text(p.AppID)
	}
	return amqp10.AppendComposite(dst, &to)
}

// appendApplicationProperties appends the headers other than annotations, if there are any. Headers in given are
// application properties, with any name, and have the values of given.
func appendApplicationProperties(dst []byte, p *protocol.Properties, given map[string]any) []byte {
	if !p.Has(protocol.FlagHeaders) {
		return dst
	}
	before := len(dst)
	dst = amqp10.AppendDescriptor(dst, amqp10.SectionApplicationProperties)
	dst, start := amqp10.OpenMap(dst)
	count := 0
	for _, f := range p.Headers {
		v, ok := to10(f.Value)
		as, is := given[f.Key]
		if is {
			v = as
		} else if _, _, is := annotation(f); is || !ok || !scalar(f.Value) || strings.HasPrefix(f.Key, "x-") {
			continue
		}
		if grown, err := amqp10.Append(amqp10.AppendString(dst, f.Key), v); err == nil {
			dst, count = grown, count+2
		}
	}
	if count == 0 {
		return dst[:before]
	}
	return amqp10.CloseCompound(dst, start, count)
}

// appendText appends text as a string or, if it is no UTF-8, as bytes.
func appendText(dst, text []byte) []byte {
	if !utf8.Valid(text) {
		return amqp10.AppendBinary(dst, text)
	}
	return amqp10.AppendString(dst, text)
}

// Beside decodes those properties of a list that Append writes in addition to an original: all others are in the
// original too.
func Beside(list []byte) (protocol.Properties, error) {
	return protocol.SelectProperties(list, protocol.FlagDeliveryMode|protocol.FlagPriority|protocol.FlagExpiration|protocol.FlagType|protocol.FlagHeaders, mayAnnotate)
}

// mayAnnotate reports whether a header may become an annotation.
func mayAnnotate(key []byte) bool { return bytes.HasPrefix(key, ownPrefix) || string(key) == "CC" }
