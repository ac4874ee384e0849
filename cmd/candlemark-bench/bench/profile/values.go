package profile

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"candlemark/protocol"
)

// seconds reads a number of seconds, as PerfTest does, or a duration.
func seconds(d *time.Duration) func(string) error {
	return func(text string) error {
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			*d = time.Duration(n * float64(time.Second))
			return nil
		}
		given, err := time.ParseDuration(text)
		if err == nil {
			*d = given
		}
		return err
	}
}

// list reads texts with commas between them.
func list(to *[]string) func(string) error {
	return func(text string) error {
		*to = nil
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				*to = append(*to, part)
			}
		}
		return nil
	}
}

// numbers reads numbers with commas between them.
func numbers(to *[]int) func(string) error {
	return func(text string) error {
		var parts []string
		_ = list(&parts)(text) // cannot fail
		for _, part := range parts {
			n, err := strconv.Atoi(part)
			if err != nil {
				return err
			}
			*to = append(*to, n)
		}
		return nil
	}
}

// table reads key=value with commas between them: whole numbers are integers, true and false booleans, all else
// texts.
func table(to *protocol.Table) func(string) error {
	return func(text string) error {
		*to = nil
		for pair := range strings.SplitSeq(text, ",") {
			key, value, ok := strings.Cut(pair, "=")
			if !ok || key == "" {
				return fmt.Errorf("%q is not key=value", pair)
			}
			*to = to.Set(strings.TrimSpace(key), fieldOf(strings.TrimSpace(value)))
		}
		return nil
	}
}

func fieldOf(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	return text
}

// texts are the properties with text values, by PerfTest's names without capitals.
var texts = map[string]struct {
	flag uint16
	at   func(*protocol.Properties) *string
}{
	"contenttype":     {protocol.FlagContentType, func(p *protocol.Properties) *string { return &p.ContentType }},
	"contentencoding": {protocol.FlagContentEncoding, func(p *protocol.Properties) *string { return &p.ContentEncoding }},
	"correlationid":   {protocol.FlagCorrelationID, func(p *protocol.Properties) *string { return &p.CorrelationID }},
	"replyto":         {protocol.FlagReplyTo, func(p *protocol.Properties) *string { return &p.ReplyTo }},
	"expiration":      {protocol.FlagExpiration, func(p *protocol.Properties) *string { return &p.Expiration }},
	"messageid":       {protocol.FlagMessageID, func(p *protocol.Properties) *string { return &p.MessageID }},
	"type":            {protocol.FlagType, func(p *protocol.Properties) *string { return &p.Type }},
	"userid":          {protocol.FlagUserID, func(p *protocol.Properties) *string { return &p.UserID }},
	"appid":           {protocol.FlagAppID, func(p *protocol.Properties) *string { return &p.AppID }},
}

// properties reads key=value with commas between them: names of properties as PerfTest has them, and anything else is a header.
func properties(p *protocol.Properties) func(string) error {
	return func(text string) error {
		var all protocol.Table
		if err := table(&all)(text); err != nil {
			return err
		}
		for _, f := range all {
			name := strings.ToLower(strings.ReplaceAll(f.Key, "_", ""))
			number, isNumber := f.Value.(int64)
			switch property, is := texts[name]; {
			case is:
				p.Flags |= property.flag
				*property.at(p) = fmt.Sprint(f.Value)
			case isNumber && name == "priority" && number >= 0 && number < 256:
				p.Flags, p.Priority = p.Flags|protocol.FlagPriority, uint8(number)
			case isNumber && name == "deliverymode" && (number == 1 || number == 2):
				p.Flags, p.DeliveryMode = p.Flags|protocol.FlagDeliveryMode, uint8(number)
			case isNumber && name == "timestamp" && number >= 0:
				p.Flags, p.Timestamp = p.Flags|protocol.FlagTimestamp, protocol.Timestamp(number)
			default:
				p.Flags, p.Headers = p.Flags|protocol.FlagHeaders, p.Headers.Set(f.Key, f.Value)
			}
		}
		return nil
	}
}
