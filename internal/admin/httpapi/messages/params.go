package messages

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// params holds the parameters of a request about messages by name, from the query or the JSON body. Values are not
// empty, except those of conditions and of ends: a script whose variable is not set would select all messages, or pause a queue for ever.
type params map[string]string

// Limits on lists of messages.
const (
	maxListed   = 1000
	listedFirst = 100   // unless said otherwise
	shownBody   = 50000 // bytes, unless said otherwise
	maxShown    = 3 << 20
)

// fromQuery reads a query, each of whose parameters is given once.
func fromQuery(q url.Values) (params, error) {
	w := params{}
	for name, values := range q {
		if len(values) > 1 {
			return nil, rest.Complaintf("the parameter %s is given more than once", name)
		}
		w.put(name, values[0])
	}
	return w, nil
}

// fromObject reads an object, whose numbers may be written as texts.
func fromObject(object map[string]json.RawMessage) params {
	w := params{}
	for name, raw := range object {
		w.put(name, rest.BareValue(raw))
	}
	return w
}

func (w params) put(name, value string) {
	switch {
	case value != "" && value != "null":
		w[name] = value
	case slices.Contains(conditions, name), value == "" && slices.Contains(ends, name):
		w[name] = ""
	}
}

// whole reads a number between bounds, or its default.
func (w params) whole(name string, lower, upper, otherwise int) (int, error) {
	written, there := w[name]
	if !there {
		return otherwise, nil
	}
	n, err := strconv.Atoi(written)
	if err != nil || n < lower || n > upper {
		return 0, rest.Complaintf("%s must be a number from %d to %d, not %s", name, lower, upper, written)
	}
	return n, nil
}

// number reads the number of a message, 0 if it is absent.
func (w params) number(name string) (uint64, error) {
	written, there := w[name]
	if !there {
		return 0, nil
	}
	n, err := strconv.ParseUint(written, 10, 64)
	if err != nil || n == 0 {
		return 0, rest.Complaintf("%s must be a number, 1 or more, not %s", name, written)
	}
	return n, nil
}

// limit returns how many items are wanted.
func (w params) limit() (int, error) { return w.whole("limit", 1, maxListed, listedFirst) }

// after returns the position after which a list continues.
func (w params) after() (c management.Cursor, err error) {
	written, there := w["after"]
	if !there {
		return c, nil
	}
	due, seq, scheduled := strings.Cut(written, "-")
	if !scheduled {
		due, seq = "0", written
	}
	var badDue, badSeq error
	c.Due, badDue = strconv.ParseInt(due, 10, 64)
	c.Seq, badSeq = strconv.ParseUint(seq, 10, 64)
	if badDue != nil || badSeq != nil {
		return c, rest.Complaintf("after must be the value of next in an earlier answer, not %s", written)
	}
	return c, nil
}

// page returns the requested part of a list.
func (w params) page() (after management.Cursor, limit int, err error) {
	if after, err = w.after(); err == nil {
		limit, err = w.limit()
	}
	return after, limit, err
}

// next returns the form of a cursor, null after the last item.
func next(c *management.Cursor) *string {
	if c == nil {
		return nil
	}
	text := strconv.FormatUint(c.Seq, 10)
	if c.Due != 0 {
		text = strconv.FormatInt(c.Due, 10) + "-" + text
	}
	return &text
}

// id names scheduled messages.
func (w params) id() (which management.ScheduledFilter, err error) {
	which.MessageID = w["message_id"]
	which.ID, err = w.number("id")
	if err == nil && (which.ID == 0) == (which.MessageID == "") {
		err = rest.Complaint("either id or message_id is required")
	}
	return which, err
}

// when returns the new time for scheduled messages.
func (w params) when() (management.When, error) {
	due, delay := w["due"], w["delay"]
	if (due == "") == (delay == "") {
		return management.When{}, rest.Complaint("either due or delay is required")
	}
	if delay != "" {
		ms, err := strconv.ParseInt(delay, 10, 64)
		if err != nil || ms < 0 {
			return management.When{}, rest.Complaintf("delay must be a number of milliseconds, 0 or more, not %s", delay)
		}
		return management.When{MS: ms, Relative: true}, nil
	}
	ms, err := parseDate("due", due)
	return management.When{MS: ms}, err
}

// parseDate reads a date, in wall ms: in RFC 3339, or in ms since 1970.
func parseDate(name, text string) (ms int64, err error) {
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && ms > 0 {
		return ms, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || at.UnixMilli() <= 0 {
		return 0, rest.Complaintf("%s must be an RFC 3339 time or milliseconds since 1970, not %s", name, text)
	}
	return at.Add(time.Millisecond - 1).UnixMilli(), nil // never early
}
