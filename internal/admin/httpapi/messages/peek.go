package messages

import (
	"context"
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// states by their names.
var states = []struct {
	name  string
	state int
}{{"ready", management.StateReady}, {"unacked", management.StateUnacked}, {"scheduled", management.StateScheduled}, {"deferred", management.StateDeferred}}

// peekedItem is the form of a peeked message. Times that do not apply are null.
type peekedItem struct {
	ID            string       `json:"id"`
	State         string       `json:"state"`
	Enqueued      string       `json:"enqueued_at"`
	Expires       *string      `json:"expires_at"`
	Due           *string      `json:"due"`
	Locked        *string      `json:"lock_expires_at"`
	Redelivered   bool         `json:"redelivered"`
	DeliveryCount uint32       `json:"delivery_count"`
	Priority      uint8        `json:"priority"`
	Exchange      string       `json:"exchange"`
	RoutingKey    string       `json:"routing_key"`
	Properties    forms.Object `json:"properties"`
	Bytes         int64        `json:"payload_bytes"`
	Payload       string       `json:"payload"`
	Encoding      string       `json:"payload_encoding"`
	Unreadable    bool         `json:"unreadable,omitempty"`
}

// peekedPage is the form of a part of a queue.
type peekedPage struct {
	Messages []peekedItem `json:"messages"`
	Next     *string      `json:"next"`
}

// peek shows messages without consuming them.
func peek(ctx context.Context, b management.Messages, by management.Asker, at management.Place, w params) (any, error) {
	how, encoding, err := w.peek()
	if err != nil {
		return nil, err
	}
	page, err := b.Peek(ctx, by, at, how)
	if err != nil {
		return nil, err
	}
	return func() any {
		shown := peekedPage{Messages: make([]peekedItem, len(page.Messages)), Next: next(page.Next)}
		for i := range page.Messages {
			shown.Messages[i] = peeked(&page.Messages[i], encoding)
		}
		return shown
	}, nil
}

// peek reads the parameters of a peek.
func (w params) peek() (how management.Peek, encoding string, err error) {
	if how.After, how.Limit, err = w.page(); err != nil {
		return how, "", err
	}
	if how.Cut, err = w.whole("truncate", 0, math.MaxInt32, shownBody); err != nil {
		return how, "", err
	}
	how.Cut = min(how.Cut, maxShown)
	for name := range strings.SplitSeq(w["state"], ",") {
		known := name == ""
		for _, s := range states {
			if s.name == name || name == "" {
				known, how.States = true, how.States|s.state
			}
		}
		if !known {
			return how, "", rest.Complaintf("state must be ready, unacked, scheduled or deferred, or several of them separated by commas, not %s", w["state"])
		}
	}
	switch order := w["order"]; {
	case order == "deadline" && (w["state"] == "" || how.States == management.StateReady):
		how.ByDeadline = true
	case order == "deadline":
		return how, "", rest.Complaint("order deadline is supported for ready messages only")
	case order == "number":
		how.ByNumber = true
	case order != "" && order != "queue":
		return how, "", rest.Complaintf("order must be queue, number or deadline, not %s", order)
	}
	switch encoding = w["encoding"]; encoding {
	case "":
		encoding = "auto"
	case "auto", "base64":
	default:
		return how, "", errEncoding
	}
	return how, encoding, nil
}

func peeked(m *management.Peeked, encoding string) peekedItem {
	item := peekedItem{
		ID: strconv.FormatUint(m.ID, 10), Enqueued: forms.Stamp(m.Enqueued), Expires: forms.Optional(m.Expires), Due: forms.Optional(m.Due),
		Locked: forms.Optional(m.Locked), Redelivered: m.Redelivered, DeliveryCount: m.DeliveryCount, Priority: m.Priority,
		Exchange: m.Exchange, RoutingKey: m.RoutingKey, Properties: shownProperties(&m.Properties), Bytes: m.Bytes, Unreadable: m.Unreadable,
	}
	for _, s := range states {
		if s.state == m.State {
			item.State = s.name
		}
	}
	if slices.ContainsFunc(m.Body, isLong) {
		encoding = "base64"
	}
	item.Payload, item.Encoding = payload(m.Body, encoding)
	return item
}

// isLong reports whether JSON writes a character of one byte as six: a text with many of them is shorter in base64.
func isLong(b byte) bool { return b < ' ' && b != '\n' && b != '\r' && b != '\t' }

// payload returns the form of a body, or of its beginning: a truncated character at the end does not make it binary.
func payload(body []byte, encoding string) (text, form string) {
	whole := body
	for i := 0; i < utf8.UTFMax-1 && len(whole) > 0 && !utf8.Valid(whole); i++ {
		whole = whole[:len(whole)-1]
	}
	if encoding == "auto" && (utf8.Valid(body) || len(whole) > 0 && utf8.Valid(whole) && !utf8.FullRune(body[len(whole):])) {
		return string(whole), "string"
	}
	var b strings.Builder // EncodeToString would take twice the memory
	b.Grow(base64.StdEncoding.EncodedLen(len(body)))
	e := base64.NewEncoder(base64.StdEncoding, &b)
	_, _ = e.Write(body)
	_ = e.Close()
	return b.String(), "base64"
}
