package entity

import (
	"fmt"
	"strings"

	"candlemark/policies"
)

// Kind is the kind of an entity: queue, topic or subscription.
type Kind uint8

// The kinds of entities.
const (
	Queue Kind = iota
	Topic
	Subscription
)

// String returns the word for the kind.
func (k Kind) String() string { return [...]string{"queue", "topic", "subscription"}[k] }

// Parts of paths. Service Bus compares them, like all names, case-insensitively.
const (
	Subscriptions   = "Subscriptions"
	Rules           = "Rules"
	DeadLetters     = "$DeadLetterQueue"
	transfer        = "$Transfer"
	Management      = "$management"
	forwardExchange = "/$Forward"
)

// The longest names, in characters.
const (
	maxName = 250 // of a queue or topic, with room for .dlq; Service Bus has 260
	maxPart = 50  // of a subscription or a rule
)

// Address is a parsed path of Service Bus.
type Address struct {
	// Entity is the name of a queue or topic, Subscription one of the topic's, or "" if there is none.
	Entity, Subscription string
	// Sub is the sub-queue: DeadLetters, TransferDeadLetters or "".
	Sub string
	// Management: the path ends in $management.
	Management bool
}

// TransferDeadLetters is the sub-queue of messages that could not be forwarded, which is always empty here.
const TransferDeadLetters = transfer + "/" + DeadLetters

// ParseAddress parses a path: q, t/Subscriptions/s, either with /$DeadLetterQueue or /$Transfer/$DeadLetterQueue, and
// all of them with /$management; also as a URL, amqps://host/q. It never fails: names are not checked.
func ParseAddress(path string) (a Address) {
	if _, rest, absolute := strings.Cut(path, "://"); absolute {
		_, path, _ = strings.Cut(rest, "/")
	}
	path = strings.Trim(path, "/")
	path, a.Management = cutSuffixFold(path, "/"+Management)
	var sub bool
	if path, sub = cutSuffixFold(path, "/"+TransferDeadLetters); sub {
		a.Sub = TransferDeadLetters
	} else if path, sub = cutSuffixFold(path, "/"+DeadLetters); sub {
		a.Sub = DeadLetters
	}
	const between = "/" + Subscriptions + "/"
	at := len(path) - len(between)
	for at > 0 && !strings.EqualFold(path[at:at+len(between)], between) {
		at--
	}
	if at < 1 {
		a.Entity = path
		return a
	}
	a.Entity, a.Subscription = path[:at], path[at+len(between):]
	return a
}

// QueueName returns the name of the ordinary queue behind an address; for a topic it is the topic's name.
func (a Address) QueueName() string {
	name := a.Entity
	if a.Subscription != "" {
		name = SubscriptionQueue(a.Entity, a.Subscription)
	}
	if a.Sub == DeadLetters {
		name += policies.DeadLetterQueueSuffix
	}
	return name
}

// Renamed returns a path with another name of its queue, or topic.
func Renamed(path, name string) string {
	a := ParseAddress(path)
	if a.Sub == DeadLetters {
		name = strings.TrimSuffix(name, policies.DeadLetterQueueSuffix)
	}
	if a.Sub != "" {
		name += "/" + a.Sub
	}
	if a.Management {
		name += "/" + Management
	}
	return name
}

// SubscriptionQueue returns the name of the queue of a subscription.
func SubscriptionQueue(topic, subscription string) string {
	return topic + "/" + Subscriptions + "/" + subscription
}

// OfQueue returns the entity whose queue has that name.
func OfQueue(name string) (kind Kind, topic, own string) {
	if a := ParseAddress(name); a.Subscription != "" {
		return Subscription, a.Entity, a.Subscription
	}
	return Queue, "", name
}

// DeadLetterQueue returns the name of the dead-letter queue of a queue.
func DeadLetterQueue(queue string) string { return queue + policies.DeadLetterQueueSuffix }

// IsDeadLetters reports whether a queue is the dead-letter queue of another one.
func IsDeadLetters(name string) bool { return strings.HasSuffix(name, policies.DeadLetterQueueSuffix) }

// Same reports whether two names are equal, case-insensitively.
func Same(a, b string) bool { return strings.EqualFold(a, b) }

func cutSuffixFold(s, suffix string) (string, bool) {
	if len(s) > len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix) {
		return s[:len(s)-len(suffix)], true
	}
	return s, false
}

// CheckName checks the name of a queue or topic, which may have parts divided by slashes.
func CheckName(kind Kind, name string) error {
	limit := maxName
	if kind == Subscription {
		limit = maxPart
	}
	switch {
	case name == "":
		return fmt.Errorf("the name of a %s is empty", kind)
	case len(name) > limit:
		return fmt.Errorf("the name of a %s has more than %d bytes", kind, limit)
	case strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || strings.Contains(name, "//"):
		return fmt.Errorf("the name %q of a %s has an empty part", name, kind)
	case kind == Subscription && strings.Contains(name, "/"):
		return fmt.Errorf("the name %q of a subscription has a slash", name)
	case IsDeadLetters(name):
		return fmt.Errorf("the name %q of a %s ends in %s, which is reserved for dead-letter queues", name, kind, policies.DeadLetterQueueSuffix)
	case ParseAddress(name) != Address{Entity: name}:
		return fmt.Errorf("the name %q of a %s has a part that is reserved in addresses", name, kind)
	}
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-~/", r)) {
			return fmt.Errorf("the name %q of a %s has a character other than letters, digits, period, hyphen, underscore, tilde and slash", name, kind)
		}
	}
	return nil
}

// CheckRuleName checks the name of a rule.
func CheckRuleName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the name of a rule is empty")
	case len(name) > maxPart:
		return fmt.Errorf("the name of a rule has more than %d bytes", maxPart)
	case strings.ContainsAny(name, "/?#@\\"):
		return fmt.Errorf("the name %q of a rule has one of the characters /?#@\\", name)
	}
	return nil
}
