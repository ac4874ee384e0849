package entity

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"candlemark/internal/routing/filter"
	"candlemark/policies"
	"candlemark/protocol"
)

// Arguments of queues and exchanges.
const (
	argQueueType  = "x-queue-type"
	argDuplicates = "x-duplicate-detection-window" // ms
	argSessions   = "x-sessions"
)

// policyPriority gives them precedence over users' policies, unless users' policies have a higher one.
const policyPriority = 100

// PolicyName returns the name of the policy of an entity's queue or exchange.
func PolicyName(path string) string { return policies.EntityPrefix + path }

// ForwardExchange returns the name of the exchange that leads only to a queue, for messages forwarded to the queue.
func ForwardExchange(queue string) string { return queue + forwardExchange }

// Arguments returns the arguments of the entity's queue or exchange: properties that cannot be changed once it exists.
// topic is the topic of a subscription, nil for others.
func (d *Description) Arguments(topic *Description) (t protocol.Table) {
	if d.Kind != Topic {
		t = append(t, protocol.Field{Key: argQueueType, Value: "quorum"})
	}
	from := d
	if topic != nil {
		from = topic
	}
	if from.RequiresDuplicateDetection {
		t = append(t, protocol.Field{Key: argDuplicates, Value: int64(from.DuplicateDetectionHistoryTimeWindow)})
	}
	if d.RequiresSession {
		t = append(t, protocol.Field{Key: argSessions, Value: true})
	}
	return t
}

// properties are the settings of a policy that follow from properties of the entity.
var properties = []string{
	"message-ttl", "consumer-timeout", "delivery-limit", "delayed-messages", "dead-letter-expired", "dead-letter-failed-rules", "expires", "expires-renewed-by", "max-length-bytes",
	"dead-letter-queue", "dead-letter-exchange", "dead-letter-routing-key", "forward-to",
}

// Policy returns the policy of the entity, with the properties that can be changed; nil if it needs none. isTopic
// reports whether a name belongs to a topic. before is the present policy of that name, nil for none: settings that an
// administrator has added to it are kept (SBE-15). Error: from package policies, for a name that no policy can have.
func (d *Description) Policy(vhost string, isTopic func(name string) bool, before *policies.Policy) (*policies.Policy, error) {
	settings, applies, pattern := map[string]any{}, "queues", "^"+regexp.QuoteMeta(d.Path())+"$"
	if d.DefaultMessageTimeToLive < Forever {
		settings["message-ttl"] = int64(d.DefaultMessageTimeToLive)
	}
	if d.Kind == Topic {
		applies = "exchanges"
	} else {
		d.queueSettings(settings, isTopic)
	}
	if before != nil && before.Pattern == pattern {
		for _, e := range before.Definition {
			if _, set := settings[e.Key]; !set && !slices.Contains(properties, e.Key) {
				settings[e.Key] = e.Value
			}
		}
	}
	if len(settings) == 0 {
		return nil, nil
	}
	body, err := json.Marshal(map[string]any{
		"pattern": pattern, "definition": settings, "priority": policyPriority, "apply-to": applies,
	})
	if err != nil {
		return nil, err
	}
	return policies.Parse(vhost, PolicyName(d.Path()), false, body)
}

func (d *Description) queueSettings(settings map[string]any, isTopic func(name string) bool) {
	settings["consumer-timeout"] = int64(d.LockDuration)
	settings["delivery-limit"] = d.MaxDeliveryCount - 1
	settings["delayed-messages"] = true
	settings["dead-letter-expired"] = d.DeadLetteringOnMessageExpiration
	if on := d.DeadLetteringOnFilterEvaluationExceptions; d.Kind == Subscription {
		settings["dead-letter-failed-rules"] = on == nil || *on
	}
	if d.AutoDeleteOnIdle < Forever {
		settings["expires"] = int64(d.AutoDeleteOnIdle)
		settings["expires-renewed-by"] = "publish, peek, update, scheduled"
	}
	if d.MaxSizeInMegabytes > 0 {
		settings["max-length-bytes"] = d.MaxSizeInMegabytes << 20
		settings["overflow"] = "reject-publish"
	}
	switch to := d.ForwardDeadLetteredMessagesTo; {
	case to == "":
		settings["dead-letter-queue"] = true
	case isTopic(to):
		settings["dead-letter-exchange"] = to
	default:
		settings["dead-letter-exchange"], settings["dead-letter-routing-key"] = "", to
	}
	switch to := d.ForwardTo; {
	case to == "":
	case isTopic(to):
		settings["forward-to"] = to
	default:
		settings["forward-to"] = ForwardExchange(to)
	}
}

// OfSettings describes the entity of a queue from its arguments, its policies and its additional parameters, also for
// queues that clients of RabbitMQ have declared.
func OfSettings(name string, args protocol.Table, s policies.QueueSettings, extra Extra) Description {
	kind, topic, own := OfQueue(name)
	d := New(kind, topic, own)
	if extra.Status == "" {
		extra.Status = Active
	}
	d.Extra = extra
	orForever := func(ms int64) Duration {
		if ms < 0 || Duration(ms) >= Forever {
			return Forever
		}
		return Duration(ms)
	}
	d.DefaultMessageTimeToLive, d.AutoDeleteOnIdle = orForever(s.MessageTTL), orForever(s.Expires)
	if s.ConsumerTimeout > 0 {
		d.LockDuration = Duration(s.ConsumerTimeout)
	}
	d.MaxDeliveryCount = MaxDeliveries
	if s.DeliveryLimit >= 0 {
		d.MaxDeliveryCount = min(s.DeliveryLimit+1, MaxDeliveries)
	}
	if s.MaxLengthBytes > 0 {
		d.MaxSizeInMegabytes = (s.MaxLengthBytes + 1<<20 - 1) >> 20
	}
	d.DeadLetteringOnMessageExpiration = !s.DropExpired && (s.HasDLX || s.DeadLetterQueue)
	if s.HasDLX && !s.DeadLetterQueue {
		if d.ForwardDeadLetteredMessagesTo = s.DeadLetterExchange; s.DeadLetterExchange == "" {
			d.ForwardDeadLetteredMessagesTo = s.DeadLetterRoutingKey
		}
	}
	if s.HasForward {
		d.ForwardTo = strings.TrimSuffix(s.ForwardTo, forwardExchange)
	}
	d.RequiresSession = flag(args, argSessions)
	if kind == Queue {
		d.duplicates(args)
	}
	return d
}

// OfExchange describes an exchange of type x-rules as a topic. ttl is the cap of a policy in ms, negative for none.
func OfExchange(name string, args protocol.Table, ttl int64, extra Extra) Description {
	d := New(Topic, "", name)
	if extra.Status == "" {
		extra.Status = Active
	}
	d.Extra, d.MaxSizeInMegabytes = extra, extra.TopicMegabytes
	if extra.TopicIdle > 0 {
		d.AutoDeleteOnIdle = extra.TopicIdle
	}
	if ttl >= 0 {
		d.DefaultMessageTimeToLive = Duration(ttl)
	}
	d.duplicates(args)
	return d
}

func (d *Description) duplicates(args protocol.Table) {
	if d.UnusedWindow > 0 {
		d.DuplicateDetectionHistoryTimeWindow = d.UnusedWindow
	}
	v, _ := args.Get(argDuplicates)
	if window, ok := protocol.Int64(v); ok && window > 0 {
		d.RequiresDuplicateDetection, d.DuplicateDetectionHistoryTimeWindow = true, Duration(window)
	}
}

func flag(args protocol.Table, key string) bool {
	v, _ := args.Get(key)
	return v == true
}

// Declaration returns the method that declares the entity's queue, or exchange, for Commands.
func (d *Description) Declaration(topic *Description) protocol.Method {
	if d.Kind == Topic {
		return &protocol.ExchangeDeclare{Exchange: d.Path(), Type: filter.ExchangeType, Durable: true, Arguments: d.Arguments(nil)}
	}
	return &protocol.QueueDeclare{Queue: d.Path(), Durable: true, Arguments: d.Arguments(topic)}
}
