package configfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"candlemark/internal/routing/filter"
	"candlemark/internal/servicebus/entity"
)

// MaxFile is the maximum size of a file in bytes.
const MaxFile = 4 << 20

// Entity is an entity of the file; Rules are the rules of a subscription, nil if the file has none.
type Entity struct {
	entity.Description
	Rules []filter.Rule
}

type (
	document struct {
		UserConfig struct {
			Namespaces []namespace
			Logging    json.RawMessage // how the emulator logs
		}
	}
	namespace struct {
		Name   string
		Queues []queue
		Topics []topic
	}
	queue struct {
		Name       string
		Properties properties
	}
	topic struct {
		Name          string
		Properties    properties
		Subscriptions []subscription
	}
	subscription struct {
		Name       string
		Properties properties
		Rules      []rule
	}
	properties struct {
		LockDuration, DefaultMessageTimeToLive, DuplicateDetectionHistoryTimeWindow, AutoDeleteOnIdle *duration
		DeadLetteringOnMessageExpiration, RequiresDuplicateDetection, RequiresSession                 bool
		ForwardTo, ForwardDeadLetteredMessagesTo, UserMetadata                                        string
		MaxDeliveryCount, MaxSizeInMegabytes                                                          *int64
	}
	rule struct {
		Name       string
		Properties struct {
			FilterType        string
			CorrelationFilter correlation
			SqlFilter         struct{ SqlExpression string } //nolint:revive // as in the file
			Action            struct{ SqlExpression string } //nolint:revive // as in the file
		}
	}
	correlation struct {
		ContentType, CorrelationID, Label, Subject, MessageID, ReplyTo, ReplyToSessionID, SessionID, To string
		Properties                                                                                      map[string]any
	}
	duration struct{ entity.Duration }
)

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *duration) UnmarshalText(text []byte) (err error) {
	if len(text) > 0 {
		d.Duration, err = entity.ParseDuration(string(text))
	}
	return err
}

// Parse reads a file. Errors name the problem and the entity; all entities are valid.
func Parse(text []byte) ([]Entity, error) {
	if len(text) > MaxFile {
		return nil, fmt.Errorf("the file has more than %d bytes", MaxFile)
	}
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	d := json.NewDecoder(bytes.NewReader(withoutComments(text)))
	d.DisallowUnknownFields()
	d.UseNumber()
	var file document
	if err := d.Decode(&file); err != nil {
		return nil, located(text, d.InputOffset(), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, located(text, d.InputOffset(), errors.New("there is text after the end of the JSON document"))
	}
	if n := len(file.UserConfig.Namespaces); n != 1 {
		return nil, fmt.Errorf("UserConfig.Namespaces has %d namespaces: exactly one is supported", n)
	}
	return file.UserConfig.Namespaces[0].entities()
}

// located adds the line number to an error.
func located(text []byte, at int64, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = syntax.Offset
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(text[:min(int(at), len(text))], []byte("\n")), err)
}

// withoutComments replaces comments outside of texts by blanks.
func withoutComments(text []byte) []byte {
	text = slices.Clone(text)
	blank := func(from, to int) int {
		for i := from; i < to; i++ {
			if text[i] != '\n' {
				text[i] = ' '
			}
		}
		return to
	}
	until := func(at int, mark string, past int) int {
		if n := bytes.Index(text[at:], []byte(mark)); n >= 0 {
			return at + n + past
		}
		return len(text)
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case bytes.HasPrefix(text[i:], []byte("//")):
			i = blank(i, until(i, "\n", 0)) - 1
		case bytes.HasPrefix(text[i:], []byte("/*")):
			i = blank(i, until(i+2, "*/", 2)) - 1
		}
	}
	return text
}

func (n *namespace) entities() (all []Entity, err error) {
	var wrong []error
	add := func(d entity.Description, p *properties, rules []filter.Rule) {
		p.apply(&d)
		all = append(all, Entity{d, rules})
		if err := d.Validate(); err != nil {
			wrong = append(wrong, fmt.Errorf("%s %q: %w", d.Kind, d.Path(), err))
		}
	}
	for i := range n.Queues {
		q := &n.Queues[i]
		add(entity.New(entity.Queue, "", q.Name), &q.Properties, nil)
	}
	for i := range n.Topics {
		t := &n.Topics[i]
		add(entity.New(entity.Topic, "", t.Name), &t.Properties, nil)
		for j := range t.Subscriptions {
			s := &t.Subscriptions[j]
			rules, err := s.rules()
			if err != nil {
				wrong = append(wrong, fmt.Errorf("subscription %q of topic %q: %w", s.Name, t.Name, err))
			}
			add(entity.New(entity.Subscription, t.Name, s.Name), &s.Properties, rules)
		}
	}
	names := map[string]bool{}
	for i := range all {
		path := strings.ToLower(all[i].Path())
		if names[path] {
			wrong = append(wrong, fmt.Errorf("%s %q is defined twice", all[i].Kind, all[i].Path()))
		}
		names[path] = true
	}
	return all, errors.Join(wrong...)
}

func (p *properties) apply(d *entity.Description) {
	for _, one := range [...]struct {
		from *duration
		to   *entity.Duration
	}{
		{p.LockDuration, &d.LockDuration},
		{p.DefaultMessageTimeToLive, &d.DefaultMessageTimeToLive},
		{p.DuplicateDetectionHistoryTimeWindow, &d.DuplicateDetectionHistoryTimeWindow},
		{p.AutoDeleteOnIdle, &d.AutoDeleteOnIdle},
	} {
		if one.from != nil && one.from.Duration > 0 {
			*one.to = one.from.Duration
		}
	}
	if p.MaxDeliveryCount != nil {
		d.MaxDeliveryCount = *p.MaxDeliveryCount
	}
	if p.MaxSizeInMegabytes != nil {
		d.MaxSizeInMegabytes = *p.MaxSizeInMegabytes
	}
	d.DeadLetteringOnMessageExpiration, d.RequiresSession = p.DeadLetteringOnMessageExpiration, p.RequiresSession
	d.RequiresDuplicateDetection = p.RequiresDuplicateDetection && d.Kind != entity.Subscription
	d.ForwardTo, d.ForwardDeadLetteredMessagesTo, d.UserMetadata = p.ForwardTo, p.ForwardDeadLetteredMessagesTo, p.UserMetadata
}

func (s *subscription) rules() (rules []filter.Rule, err error) {
	for i := range s.Rules {
		from := &s.Rules[i]
		r := filter.Rule{Name: from.Name, Action: from.Properties.Action.SqlExpression}
		switch kind := from.Properties.FilterType; strings.ToLower(kind) {
		case "correlation":
			r.Filter = filter.Correlation
			from.Properties.CorrelationFilter.apply(&r)
		case "sql":
			r.Filter, r.SQL = filter.SQL, from.Properties.SqlFilter.SqlExpression
		case "true", "":
		case "false":
			r.Filter = filter.False
		default:
			return nil, fmt.Errorf("rule %q: FilterType %q is not Correlation, Sql, True or False", r.Name, kind)
		}
		if err := errors.Join(entity.CheckRuleName(r.Name), r.Validate()); err != nil {
			return nil, fmt.Errorf("rule %q: %w", r.Name, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func (c *correlation) apply(r *filter.Rule) {
	if c.Label == "" {
		c.Label = c.Subject
	}
	for f, text := range [filter.Fields]string{
		filter.ContentType: c.ContentType, filter.CorrelationID: c.CorrelationID, filter.Label: c.Label, filter.MessageID: c.MessageID,
		filter.ReplyTo: c.ReplyTo, filter.ReplyToSessionID: c.ReplyToSessionID, filter.SessionID: c.SessionID, filter.To: c.To,
	} {
		if text != "" {
			r.System[f] = filter.TextOf(text)
		}
	}
	for name, v := range c.Properties {
		if n, ok := v.(json.Number); ok {
			if whole, err := n.Int64(); err == nil {
				v = whole
			} else {
				v, _ = n.Float64()
			}
		}
		value := filter.Value{Kind: filter.Other}
		switch v.(type) {
		case string, int64, float64, bool:
			value = filter.Of(v)
		}
		r.Properties = append(r.Properties, filter.Property{Name: name, Value: value})
	}
	slices.SortFunc(r.Properties, func(a, b filter.Property) int { return strings.Compare(a.Name, b.Name) })
}
