package entity

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Status defines which operations an entity allows.
type Status string

// The statuses.
const (
	Active          Status = "Active"
	Disabled        Status = "Disabled"
	SendDisabled    Status = "SendDisabled"
	ReceiveDisabled Status = "ReceiveDisabled"
)

// Sends reports whether messages may be sent to the entity.
func (s Status) Sends() bool { return s != Disabled && s != SendDisabled }

// Receives reports whether messages may be received from the entity.
func (s Status) Receives() bool { return s != Disabled && s != ReceiveDisabled }

// Description has the properties of an entity. Not every kind has all properties (Validate).
type Description struct {
	Kind Kind
	// Name is the name of the entity, and Topic the topic of a subscription.
	Name, Topic string

	LockDuration                        Duration
	DefaultMessageTimeToLive            Duration
	AutoDeleteOnIdle                    Duration
	DuplicateDetectionHistoryTimeWindow Duration

	RequiresDuplicateDetection       bool
	RequiresSession                  bool
	DeadLetteringOnMessageExpiration bool
	// MaxDeliveryCount is the number of deliveries after which a message is dead-lettered.
	MaxDeliveryCount int64
	// MaxSizeInMegabytes is the size at which a queue accepts no more messages; 0 for no limit except the broker's. It
	// has no effect for a topic.
	MaxSizeInMegabytes int64
	// ForwardTo and ForwardDeadLetteredMessagesTo name queues or topics, or "" if there is none.
	ForwardTo, ForwardDeadLetteredMessagesTo string

	Extra
}

// Extra has the properties of an entity that do not follow from its queue or exchange and their policies.
type Extra struct {
	Status       Status `json:"status,omitempty"`
	UserMetadata string `json:"user_metadata,omitempty"`
	// ForwardToAddress and ForwardDeadLettersAddress are the forwarding addresses as they were set, "" if only a name was.
	ForwardToAddress          string `json:"forward_to_address,omitempty"`
	ForwardDeadLettersAddress string `json:"forward_dead_letters_address,omitempty"`
	// ForwardToSB and ForwardDeadLettersSB: a forwarding address set with an earlier version is shown with the scheme sb instead of
	// https.
	ForwardToSB          bool `json:"forward_to_sb,omitempty"`
	ForwardDeadLettersSB bool `json:"forward_dead_letters_sb,omitempty"`
	// Created and Updated are moments in ms since 1970, 0 if unknown.
	Created int64 `json:"created,omitempty"`
	Updated int64 `json:"updated,omitempty"`
	// These properties are returned as they were set, and have no effect. TopicIdle and TopicMegabytes are
	// AutoDeleteOnIdle and MaxSizeInMegabytes of a topic, 0 for none: an exchange does not end by itself and keeps no
	// messages. UnusedWindow is the DuplicateDetectionHistoryTimeWindow of an entity without duplicate detection, 0 for the default.
	TopicIdle                                 Duration `json:"auto_delete_on_idle,omitempty"`
	UnusedWindow                              Duration `json:"duplicate_detection_history_time_window,omitempty"`
	TopicMegabytes                            int64    `json:"max_size_in_megabytes,omitempty"`
	EnableBatchedOperations                   *bool    `json:"enable_batched_operations,omitempty"`
	EnablePartitioning                        bool     `json:"enable_partitioning,omitempty"`
	EnableExpress                             bool     `json:"enable_express,omitempty"`
	SupportOrdering                           *bool    `json:"support_ordering,omitempty"`
	DeadLetteringOnFilterEvaluationExceptions *bool    `json:"dead_lettering_on_filter_evaluation_exceptions,omitempty"`
	MaxMessageSizeInKilobytes                 int64    `json:"max_message_size_in_kilobytes,omitempty"`
}

// Defaults of Service Bus.
const (
	DefaultLockDuration     = Minute
	DefaultDeliveryCount    = 10
	DefaultDuplicateHistory = 10 * Minute
	// DefaultMegabytes is the size shown for an entity without a limit.
	DefaultMegabytes = 1024
	// MaxMetadata is the maximum size of UserMetadata in bytes.
	MaxMetadata = 1024
	// Partitions is how many times the MaxSizeInMegabytes that is set a new entity with EnablePartitioning gets, as in Service Bus.
	Partitions = 16
	// StandardKilobytes is the MaxMessageSizeInKilobytes of all entities of Service Bus's Standard tier.
	StandardKilobytes = 256
	// MinKilobytes and MaxKilobytes are the bounds of MaxMessageSizeInKilobytes.
	MinKilobytes = 1024
	MaxKilobytes = 102_400
	// MaxDeliveries and MaxMegabytes are the largest MaxDeliveryCount and MaxSizeInMegabytes.
	MaxDeliveries = 1<<31 - 1
	MaxMegabytes  = 1 << 30
)

// ShownMegabytes returns the size shown for an entity without a limit.
func ShownMegabytes(partitioned bool) int64 {
	if partitioned {
		return DefaultMegabytes * Partitions
	}
	return DefaultMegabytes
}

// New returns an entity of that name with the defaults.
func New(kind Kind, topic, name string) Description {
	d := Description{
		Kind: kind, Topic: topic, Name: name, DefaultMessageTimeToLive: Forever, AutoDeleteOnIdle: Forever,
		DuplicateDetectionHistoryTimeWindow: DefaultDuplicateHistory, Extra: Extra{Status: Active},
	}
	if kind != Topic {
		d.LockDuration, d.MaxDeliveryCount = DefaultLockDuration, DefaultDeliveryCount
	}
	return d
}

// Path returns the name of its queue or exchange.
func (d *Description) Path() string {
	if d.Kind == Subscription {
		return SubscriptionQueue(d.Topic, d.Name)
	}
	return d.Name
}

// The longest and shortest times.
const (
	maxTime         = 3650 * Day // of arguments of queues
	maxWindow       = 7 * Day
	minWindow       = 20 * Second
	maxPath         = 255
	forwardToItself = "an entity cannot forward to itself"
)

// Validate checks a description and returns all errors, one a line.
func (d *Description) Validate() error {
	var wrong []error
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if err := CheckName(d.Kind, d.Name); err != nil {
		wrong = append(wrong, err)
	}
	if d.Kind == Subscription {
		if err := CheckName(Topic, d.Topic); err != nil {
			wrong = append(wrong, err)
		}
	}
	if n := len(d.Path()) + len(".dlq"); n > maxPath {
		complain("the names of topic and subscription have %d bytes in total, %d too many", n, n-maxPath)
	}
	times := []struct {
		name     string
		of       Duration
		min, max Duration
		used     bool
	}{
		{"LockDuration", d.LockDuration, 1, maxTime, d.Kind != Topic},
		{"DefaultMessageTimeToLive", d.DefaultMessageTimeToLive, 1, maxTime, true},
		{"AutoDeleteOnIdle", d.AutoDeleteOnIdle, 1, maxTime, true},
		{"DuplicateDetectionHistoryTimeWindow", d.DuplicateDetectionHistoryTimeWindow, minWindow, maxWindow, d.RequiresDuplicateDetection},
	}
	for i, t := range times {
		if endless := t.of >= Forever && i != 0 && i != 3; t.used && !endless && (t.of < t.min || t.of > t.max) {
			complain("%s is %s, not between %s and %s", t.name, t.of, t.min, t.max)
		}
	}
	if d.Kind != Topic && (d.MaxDeliveryCount < 1 || d.MaxDeliveryCount > MaxDeliveries) {
		complain("MaxDeliveryCount is %d, not between 1 and %d", d.MaxDeliveryCount, int64(MaxDeliveries))
	}
	if d.MaxSizeInMegabytes < 0 || d.MaxSizeInMegabytes > MaxMegabytes {
		complain("MaxSizeInMegabytes is %d, not between 0 and %d", d.MaxSizeInMegabytes, MaxMegabytes)
	}
	if n := d.MaxMessageSizeInKilobytes; n != 0 && n != StandardKilobytes && (n < MinKilobytes || n > MaxKilobytes) {
		complain("The value for 'MaxMessageSizeInKilobytes' must be between %d and %d", MinKilobytes, MaxKilobytes) // in Service Bus's words
	}
	if len(d.UserMetadata) > MaxMetadata {
		complain("UserMetadata has more than %d bytes", MaxMetadata)
	}
	switch d.Status {
	case Active, Disabled, SendDisabled, ReceiveDisabled:
	default:
		complain("Status is %q, not Active, Disabled, SendDisabled or ReceiveDisabled", d.Status)
	}
	return errors.Join(append(wrong, d.validateKind()...)...)
}

// validateKind checks properties that not every kind of entity has.
func (d *Description) validateKind() (wrong []error) {
	if d.Kind == Topic {
		if d.ForwardTo != "" || d.ForwardDeadLetteredMessagesTo != "" || d.RequiresSession {
			wrong = append(wrong, errors.New("ForwardTo, ForwardDeadLetteredMessagesTo and RequiresSession cannot be set on a topic, only on its subscriptions"))
		}
	}
	if d.Kind == Subscription && d.RequiresDuplicateDetection {
		wrong = append(wrong, errors.New("RequiresDuplicateDetection cannot be set on a subscription, only on its topic"))
	}
	if d.RequiresSession && d.ForwardTo != "" {
		wrong = append(wrong, errors.New("an entity with RequiresSession cannot have ForwardTo"))
	}
	for _, to := range [...]string{d.ForwardTo, d.ForwardDeadLetteredMessagesTo} {
		if to != "" {
			if err := CheckName(Queue, to); err != nil {
				wrong = append(wrong, err)
			}
			if strings.EqualFold(to, d.Path()) {
				wrong = append(wrong, errors.New(forwardToItself))
			}
		}
	}
	return wrong
}

// Fixed returns an error that names the properties that differ but cannot be changed once the entity exists, nil if
// there are none.
func (d *Description) Fixed(after *Description) error {
	fixed := func(property string) error { return fixedError{property, d.Kind} }
	switch {
	case d.RequiresSession != after.RequiresSession:
		return fixed("RequiresSession")
	case d.RequiresDuplicateDetection != after.RequiresDuplicateDetection:
		return fixed("RequiresDuplicateDetection")
	case d.RequiresDuplicateDetection && d.DuplicateDetectionHistoryTimeWindow != after.DuplicateDetectionHistoryTimeWindow:
		return fmt.Errorf("%w (it is an argument of the queue)", fixed("DuplicateDetectionHistoryTimeWindow"))
	case d.EnablePartitioning != after.EnablePartitioning:
		return fixedError{property: partitioning, of: d.Kind}
	}
	return nil
}

const partitioning = "EnablePartitioning"

// fixedError reports a property that cannot be changed, in Service Bus's words (SBE-9).
type fixedError struct {
	property string
	of       Kind
}

func (e fixedError) Error() string {
	kind := e.of.String()
	kind = strings.ToUpper(kind[:1]) + kind[1:]
	if e.property == partitioning {
		return "Partitioning cannot be changed for " + kind + ". "
	}
	return "The value for the " + e.property + " property of an existing " + kind + " cannot be changed."
}

// Moment formats a time in ms since 1970 for XML; 0 is the beginning of .NET's calendar.
func Moment(ms int64) string {
	if ms == 0 {
		return "0001-01-01T00:00:00Z"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}
