package entity

import (
	"strings"
	"testing"

	"candlemark/policies"
)

func TestDurations(t *testing.T) {
	for text, want := range map[string]Duration{
		"PT1M": Minute, "P14D": 14 * Day, "PT0.5S": 500, "P1DT2H3M4.5S": Day + 2*Hour + 3*Minute + 4500, "PT1H30M": 90 * Minute,
		foreverText: Forever, "P99999999999D": Forever, "PT0S": 0, "PT90S": 90 * Second, "P0DT1S": Second, "PT5.001S": 5001,
	} {
		got, err := ParseDuration(text)
		if err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
		if again, err := ParseDuration(got.String()); err != nil || again != got {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "P", "PT", "1M", "P1M", "P1Y", "-PT1S", "PT1M1H", "PT1.5H", "P1DT", "PT1S1S", "PTS", "P1S", "PT1", "P1W", "PTT1S", "PT1e9S", "pt1s"} {
		if d, err := ParseDuration(text); err == nil {
			t.Errorf("%q: %s", text, d)
		}
	}
	for d, want := range map[Duration]string{Minute: "PT1M", 14 * Day: "P14D", Day + Second/2: "P1DT0.5S", 0: "PT0S", Hour + 1: "PT1H0.001S"} {
		if got := d.String(); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}

func TestParseAddress(t *testing.T) {
	for path, want := range map[string]Address{
		"q": {Entity: "q"}, "/a/b/": {Entity: "a/b"}, "q/$DeadLetterQueue": {Entity: "q", Sub: DeadLetters}, "q/$deadletterqueue/$Management": {Entity: "q", Sub: DeadLetters, Management: true},
		"t/Subscriptions/s": {Entity: "t", Subscription: "s"}, "a/b/subscriptions/S": {Entity: "a/b", Subscription: "S"},
		"t/Subscriptions/s/$DeadLetterQueue": {Entity: "t", Subscription: "s", Sub: DeadLetters}, "q/$management": {Entity: "q", Management: true},
		"q/$Transfer/$DeadLetterQueue": {Entity: "q", Sub: TransferDeadLetters}, "$cbs": {Entity: "$cbs"}, "": {},
		"amqps://host:5671/q/$management": {Entity: "q", Management: true}, "sb://host/": {}, "sb://host": {},
		"ȺȺȺȺȺȺȺȺȺȺȺȺȺ/subscriptions/x": {Entity: "ȺȺȺȺȺȺȺȺȺȺȺȺȺ", Subscription: "x"}, "İ/subscriptions/x": {Entity: "İ", Subscription: "x"}, // the lower-case name has another length
		"t/ſubscriptions/x": {Entity: "t/ſubscriptions/x"}, "\xff/subscriptions/x": {Entity: "\xff", Subscription: "x"},
	} {
		if got := ParseAddress(path); got != want {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
	for path, want := range map[string]string{
		"q": "q", "q/$DeadLetterQueue": "q.dlq", "t/subscriptions/s": "t/Subscriptions/s", "t/subscriptions/s/$deadletterqueue": "t/Subscriptions/s.dlq",
	} {
		if got := ParseAddress(path).QueueName(); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	kind, topic, own := OfQueue("t/Subscriptions/s")
	if kind != Subscription || topic != "t" || own != "s" {
		t.Error(kind, topic, own)
	}
}

func TestCheckName(t *testing.T) {
	for _, name := range []string{"q", "a/b-c_d.e~f", strings.Repeat("x", maxName)} {
		if err := CheckName(Queue, name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "/a", "a/", "a//b", "ä", "a b", "$cbs", "q.dlq", "a/Subscriptions/b", "a/$management", "a/$Forward", strings.Repeat("x", maxName+1)} {
		if CheckName(Queue, name) == nil {
			t.Errorf("%q is taken", name)
		}
	}
	if CheckName(Subscription, "a/b") == nil || CheckName(Subscription, strings.Repeat("x", 51)) == nil || CheckRuleName("a/b") == nil || CheckRuleName(strings.Repeat("x", 51)) == nil {
		t.Error("a name is taken")
	}
	if err := CheckRuleName("$Default"); err != nil {
		t.Error(err)
	}
}

func topics(name string) bool { return name == "t" }

// The policy and the arguments made from a description can be converted back to it.
func TestThereAndBack(t *testing.T) {
	full := New(Queue, "", "q")
	full.LockDuration, full.DefaultMessageTimeToLive, full.AutoDeleteOnIdle = 30*Second, Hour, 5*Minute
	full.MaxDeliveryCount, full.MaxSizeInMegabytes, full.DeadLetteringOnMessageExpiration = 3, 2048, true
	full.RequiresDuplicateDetection, full.DuplicateDetectionHistoryTimeWindow = true, Minute
	full.UserMetadata, full.Status, full.Created = "about it", SendDisabled, 5
	forwards := New(Subscription, "t", "s")
	forwards.ForwardTo, forwards.ForwardDeadLetteredMessagesTo = "t", "q"
	back := New(Subscription, "t", "s2")
	back.ForwardTo, back.ForwardDeadLetteredMessagesTo = "q", "t"
	session := New(Queue, "", "with.session")
	session.RequiresSession = true
	for _, d := range []Description{New(Queue, "", "plain"), full, forwards, back, session} {
		if err := d.Validate(); err != nil {
			t.Error(err)
		}
		p, err := d.Policy("/", topics, nil)
		if err != nil {
			t.Fatal(d.Path(), err)
		}
		args := d.Arguments(nil)
		effective := policies.NewSet("/").With(p).Effective(policies.KindOf(args), d.Path())
		if got := OfSettings(d.Path(), args, policies.SettingsFor(args, effective), d.Extra); got != d {
			t.Errorf("%s:\n got %+v\nwant %+v", d.Path(), got, d)
		}
		extra, err := ParseExtra(d.Marshal())
		if err != nil || extra != d.Extra {
			t.Errorf("%+v, %v", extra, err)
		}
	}
	topic := New(Topic, "", "t")
	topic.RequiresDuplicateDetection, topic.DuplicateDetectionHistoryTimeWindow = true, Minute
	topic.DefaultMessageTimeToLive, topic.AutoDeleteOnIdle = Hour, 5*Minute
	topic.MaxSizeInMegabytes = 2048
	extra, err := ParseExtra(topic.Kept().Marshal())
	got := OfExchange("t", topic.Arguments(nil), int64(Hour), extra)
	if got.TopicIdle, got.TopicMegabytes = 0, 0; err != nil || got != topic {
		t.Errorf("%+v, %v", got, err)
	}
	if p, err := topic.Policy("/", topics, nil); err != nil || p == nil {
		t.Error(p, err)
	}
	plain := New(Topic, "", "t")
	if p, err := plain.Policy("/", topics, nil); err != nil || p != nil {
		t.Error(p, err)
	}
	if v, _ := forwards.Arguments(&topic).Get(argDuplicates); v != int64(Minute) {
		t.Error("a subscription does not look for the topic's duplicates")
	}
}

func TestValidate(t *testing.T) {
	change := func(kind Kind, f func(*Description)) error {
		d := New(kind, "t", "x")
		if kind != Subscription {
			d.Topic = ""
		}
		f(&d)
		return d.Validate()
	}
	for want, err := range map[string]error{
		"LockDuration is PT0S":        change(Queue, func(d *Description) { d.LockDuration = 0 }),
		"LockDuration is P10675199DT": change(Queue, func(d *Description) { d.LockDuration = Forever }),
		"DefaultMessageTimeToLive is": change(Queue, func(d *Description) { d.DefaultMessageTimeToLive = 0 }),
		"AutoDeleteOnIdle is P3651D":  change(Queue, func(d *Description) { d.AutoDeleteOnIdle = 3651 * Day }),
		"AutoDeleteOnIdle is PT0S":    change(Topic, func(d *Description) { d.AutoDeleteOnIdle = 0 }),
		"DuplicateDetectionHistory": change(Queue, func(d *Description) {
			d.RequiresDuplicateDetection, d.DuplicateDetectionHistoryTimeWindow = true, Second
		}),
		"MaxDeliveryCount is 0":            change(Queue, func(d *Description) { d.MaxDeliveryCount = 0 }),
		"MaxSizeInMegabytes is -1":         change(Queue, func(d *Description) { d.MaxSizeInMegabytes = -1 }),
		"UserMetadata has":                 change(Queue, func(d *Description) { d.UserMetadata = strings.Repeat("x", 1025) }),
		`Status is "Odd"`:                  change(Queue, func(d *Description) { d.Status = "Odd" }),
		"cannot be set on a topic":         change(Topic, func(d *Description) { d.ForwardTo = "q" }),
		"cannot be set on a subscription":  change(Subscription, func(d *Description) { d.RequiresDuplicateDetection = true }),
		"RequiresSession cannot have":      change(Queue, func(d *Description) { d.RequiresSession, d.ForwardTo = true, "q" }),
		"cannot forward to itself":         change(Queue, func(d *Description) { d.ForwardTo = "X" }),
		"has a character other than":       change(Queue, func(d *Description) { d.ForwardTo = "a b" }),
		"the names of topic and":           change(Subscription, func(d *Description) { d.Topic = strings.Repeat("x", 240) }),
		"the name of a subscription is em": change(Subscription, func(d *Description) { d.Name = "" }),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	a, b := New(Queue, "", "q"), New(Queue, "", "q")
	if b.RequiresSession = true; a.Fixed(&b) == nil {
		t.Error("a session can be required later")
	}
	if b = a; a.Fixed(&b) != nil {
		t.Error("nothing has changed")
	}
}

// TestFailedRules_ServiceBus_SBR7: a subscription dead-letters messages for which a rule fails, unless that is switched off.
func TestFailedRules_ServiceBus_SBR7(t *testing.T) {
	on, off := true, false
	for _, c := range []struct {
		kind Kind
		set  *bool
		want bool
	}{{Subscription, nil, true}, {Subscription, &on, true}, {Subscription, &off, false}, {Queue, &on, false}} {
		d := New(c.kind, map[Kind]string{Subscription: "t"}[c.kind], "s")
		d.DeadLetteringOnFilterEvaluationExceptions = c.set
		p, err := d.Policy("/", topics, nil)
		if err != nil {
			t.Fatal(err)
		}
		effective := policies.NewSet("/").With(p).Effective(policies.KindOf(d.Arguments(nil)), d.Path())
		if got := policies.SettingsFor(d.Arguments(nil), effective).DeadLetterFailedRules; got != c.want {
			t.Errorf("%v %v: %v", c.kind, c.set, got)
		}
	}
}
