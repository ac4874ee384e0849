package atom

import (
	"encoding/xml"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"candlemark/internal/routing/filter"
	"candlemark/internal/servicebus/entity"
)

// MaxBody is the maximum size of a request in bytes.
const MaxBody = 256 << 10

// element is any XML element.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func (e *element) child(name string) *element {
	for i := range e.Children {
		if e.Children[i].XMLName.Local == name {
			return &e.Children[i]
		}
	}
	return nil
}

// kind returns the xsi:type without its prefix.
func (e *element) kind() string {
	for _, a := range e.Attrs {
		if a.Name.Local == "type" && strings.HasSuffix(a.Name.Space, "XMLSchema-instance") {
			_, local, found := strings.Cut(a.Value, ":")
			if !found {
				return a.Value
			}
			return local
		}
	}
	return ""
}

// isNil reports whether the element is nil.
func (e *element) isNil() bool {
	for _, a := range e.Attrs {
		if a.Name.Local == "nil" && a.Value == "true" {
			return true
		}
	}
	return false
}

// described returns the description in an entry.
func described(body []byte, name string) (*element, error) {
	if len(body) > MaxBody {
		return nil, fmt.Errorf("the request has more than %d bytes", MaxBody)
	}
	var entry element
	if err := xml.Unmarshal(body, &entry); err != nil {
		return nil, fmt.Errorf("the request is not XML: %w", err)
	}
	if content := entry.child("content"); content != nil {
		if d := content.child(name); d != nil {
			return d, nil
		}
	}
	return nil, fmt.Errorf("the request is not an entry with a %s", name)
}

var descriptions = [...]string{entity.Queue: "QueueDescription", entity.Topic: "TopicDescription", entity.Subscription: "SubscriptionDescription"}

// ReadEntity reads the entry that creates an entity, or changes before, with the rules of a new subscription. Missing
// properties get the defaults of a new entity. Read-only properties that clients send back, such as counts, are
// ignored; so are unknown elements, which later clients may send. It fails for invalid XML and values; the entity is
// not validated.
func ReadEntity(body []byte, d entity.Description, before *entity.Description) (entity.Description, []filter.Rule, error) {
	from, err := described(body, descriptions[d.Kind])
	if err != nil {
		return d, nil, err
	}
	r := reader{from: from}
	read(&r, "LockDuration", &d.LockDuration, entity.ParseDuration)
	read(&r, "DefaultMessageTimeToLive", &d.DefaultMessageTimeToLive, entity.ParseDuration)
	read(&r, "AutoDeleteOnIdle", &d.AutoDeleteOnIdle, entity.ParseDuration)
	read(&r, "DuplicateDetectionHistoryTimeWindow", &d.DuplicateDetectionHistoryTimeWindow, entity.ParseDuration)
	read(&r, "RequiresDuplicateDetection", &d.RequiresDuplicateDetection, flag)
	read(&r, "RequiresSession", &d.RequiresSession, flag)
	read(&r, "DeadLetteringOnMessageExpiration", &d.DeadLetteringOnMessageExpiration, flag)
	read(&r, "EnablePartitioning", &d.EnablePartitioning, flag)
	read(&r, "EnableExpress", &d.EnableExpress, flag)
	read(&r, "EnableBatchedOperations", &d.EnableBatchedOperations, pointer)
	read(&r, "SupportOrdering", &d.SupportOrdering, pointer)
	read(&r, "DeadLetteringOnFilterEvaluationExceptions", &d.DeadLetteringOnFilterEvaluationExceptions, pointer)
	read(&r, "MaxDeliveryCount", &d.MaxDeliveryCount, number(1, entity.MaxDeliveries))
	read(&r, "MaxSizeInMegabytes", &d.MaxSizeInMegabytes, number(0, entity.MaxMegabytes))
	read(&r, "MaxMessageSizeInKilobytes", &d.MaxMessageSizeInKilobytes, number(entity.MinKilobytes, entity.MaxKilobytes))
	read(&r, "ForwardTo", &d.ForwardTo, named)
	read(&r, "ForwardTo", &d.ForwardToAddress, written)
	read(&r, "ForwardDeadLetteredMessagesTo", &d.ForwardDeadLetteredMessagesTo, named)
	read(&r, "ForwardDeadLetteredMessagesTo", &d.ForwardDeadLettersAddress, written)
	read(&r, "UserMetadata", &d.UserMetadata, asIs)
	read(&r, "Status", &d.Status, func(s string) (entity.Status, error) { return entity.Status(s), nil })
	switch {
	case before == nil && d.EnablePartitioning:
		d.MaxSizeInMegabytes *= entity.Partitions
	case before != nil && before.MaxSizeInMegabytes == 0 && d.MaxSizeInMegabytes == entity.ShownMegabytes(before.EnablePartitioning):
		d.MaxSizeInMegabytes = 0 // as it was given
	}
	var rules []filter.Rule
	if of := from.child("DefaultRuleDescription"); of != nil && !of.isNil() {
		rule, err := readRule(of, filter.DefaultRule)
		r.wrong = append(r.wrong, err)
		rules = append(rules, rule)
	}
	return d, rules, errors.Join(r.wrong...)
}

// reader collects the errors in the children of an element.
type reader struct {
	from  *element
	wrong []error
}

// read reads a child, if it exists and is not empty.
func read[T any](r *reader, name string, to *T, parse func(string) (T, error)) {
	e := r.from.child(name)
	if e == nil || e.isNil() || strings.TrimSpace(e.Text) == "" {
		return
	}
	v, err := parse(strings.TrimSpace(e.Text))
	if err != nil {
		r.wrong = append(r.wrong, fmt.Errorf("%s: %w", name, err))
		return
	}
	*to = v
}

func asIs(s string) (string, error)   { return s, nil }
func pointer(s string) (*bool, error) { v, err := flag(s); return &v, err }

func flag(s string) (bool, error) {
	v, err := strconv.ParseBool(s)
	if err != nil {
		return false, fmt.Errorf("%.40q is neither true nor false", s)
	}
	return v, nil
}

// number returns a function that reads a number. Its error names the range; the range is checked with the whole entity.
func number(least, most int64) func(string) (int64, error) {
	return func(s string) (int64, error) {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%.40q is not a number between %d and %d", s, least, most)
		}
		return n, nil
	}
}

// path returns the name of an entity, whose whole address clients send.
func path(s string) string {
	if _, rest, found := strings.Cut(s, "://"); found {
		_, s, _ = strings.Cut(rest, "/")
	}
	return strings.Trim(s, "/")
}

func named(s string) (string, error) { return path(s), nil }

// maxAddress is the largest address that is returned as it was set, in bytes.
const maxAddress = 512

// written returns an address as it is returned to clients: as it was set, but with scheme and host in lower case, as in Service Bus (SBE-9).
// It returns "" for a mere name.
func written(s string) (string, error) {
	at := strings.Index(s, "://")
	if at < 0 || len(s) > maxAddress {
		return "", nil
	}
	end := len(s)
	if slash := strings.IndexByte(s[at+3:], '/'); slash >= 0 {
		end = at + 3 + slash
	}
	return strings.ToLower(s[:end]) + s[end:], nil
}

// sbScheme begins addresses of entities, which may also begin with https.
const sbScheme = "sb://"

// IsTopic reports whether an entry describes a topic.
func IsTopic(body []byte) bool {
	_, err := described(body, descriptions[entity.Topic])
	return err == nil
}
