package messages

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/protocol"
)

// maxHeaders is how many headers a filter may name.
const maxHeaders = 16

var (
	// conditions are parameters that select messages together with message_id.
	conditions = []string{"message_id", "correlation_id", "headers", "due_after", "due_before"}
	// options are parameters of commands with conditions.
	options = []string{"retries", "dry_run"}
	// ends are parameters of a pause.
	ends = []string{"until", "for"}
	// others are parameters of commands that change scheduled messages, besides due and delay of reschedule, or pause a queue.
	others = []string{"id", "queue", "exchange", "vhost"}
)

// looked is the answer for messages that would be changed.
type looked struct {
	Count      int    `json:"matched"`
	Unreadable int    `json:"unreadable,omitempty"`
	Due        string `json:"due,omitempty"`
	DryRun     bool   `json:"dry_run"`
}

// known checks that all parameters are known ones, as a condition that is not understood would select too many messages.
func (w params) known(more ...string) error {
	return w.only(slices.Concat(conditions, options, others, more))
}

// only checks that there are no parameters but these, and that none is empty.
func (w params) only(names []string) error {
	for _, name := range slices.Sorted(maps.Keys(w)) {
		if !slices.Contains(names, name) {
			return rest.Complaintf("unknown parameter '%s'", name)
		}
		if w[name] == "" {
			return rest.Complaintf("%s must not be empty", name)
		}
	}
	return nil
}

// filter reads which messages a command is about. A message-id alone is no condition, but a name (DLY-11).
func (w params) filter() (f management.ScheduledFilter, err error) {
	given := func(name string) bool { _, there := w[name]; return there }
	switch {
	case !slices.ContainsFunc(slices.Concat(conditions[1:], options), given):
		return w.id()
	case given("id"):
		return f, rest.Complaint("an id cannot be combined with conditions")
	case !slices.ContainsFunc(conditions, given):
		return f, rest.Complaintf("a condition is required: %s", strings.Join(conditions, ", "))
	}
	f.MessageID, f.CorrelationID = w["message_id"], w["correlation_id"]
	if f.Headers, err = w.headers(); err != nil {
		return f, err
	}
	for name, at := range map[string]*int64{"due_after": &f.DueFrom, "due_before": &f.DueBefore} {
		if given(name) {
			if *at, err = parseDate(name, w[name]); err != nil {
				return f, err
			}
		}
	}
	for name, flag := range map[string]*bool{"retries": &f.Retries, "dry_run": &f.Look} {
		switch w[name] {
		case "true":
			*flag = true
		case "", "false":
		default:
			return f, rest.Complaintf("%s must be true or false, not %s", name, w[name])
		}
	}
	return f, nil
}

// headers reads the headers of a filter, an object.
func (w params) headers() (protocol.Table, error) {
	text, there := w["headers"]
	if !there {
		return nil, nil
	}
	b := rest.Body{Fields: map[string]json.RawMessage{"headers": json.RawMessage(text)}}
	headers := b.Table("headers")
	if b.Err != nil || len(headers) == 0 || len(headers) > maxHeaders {
		return nil, rest.Complaintf("headers must be a JSON object with 1 to %d headers and their values", maxHeaders)
	}
	for _, h := range headers {
		if len(h.Key) > 255 {
			return nil, rest.Complaint("the name of a header has at most 255 bytes")
		}
	}
	return headers, nil
}

// change changes the messages that a command is about, or counts them. shown returns the answer.
func change(ctx context.Context, b management.Messages, by management.Asker, at management.Place, f management.ScheduledFilter, to *management.When, shown func(management.Swept) any) (any, error) {
	swept, err := b.ChangeScheduled(ctx, by, at, f, to)
	switch code, text := rest.ProtocolError(err); {
	case err != nil && code != 0 && swept.Count > 0 && !f.Look:
		return nil, &protocol.ChannelError{Code: code, Text: fmt.Sprintf("%s; before, %d messages were changed", text, swept.Count)}
	case err != nil:
		return nil, err
	case f.Named() && swept.Count == 0:
		return nil, nothingScheduled
	case !f.Look:
		return shown(swept), nil
	}
	look := looked{swept.Count, swept.Unreadable, "", true}
	if to != nil {
		look.Due = forms.Stamp(swept.Due)
	}
	return look, nil
}
