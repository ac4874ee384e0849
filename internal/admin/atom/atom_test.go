package atom

import (
	"encoding/xml"
	"reflect"
	"strings"
	"testing"
	"time"

	"candlemark/internal/access/sas"
	"candlemark/internal/admin/entityadmin"
	"candlemark/internal/routing/filter"
	"candlemark/internal/servicebus/entity"
)

const base = "http://localhost:5300/"

// Reading a written entry returns the same value.
func TestThereAndBack(t *testing.T) {
	no := false
	full := entity.New(entity.Queue, "", "q")
	full.LockDuration, full.DefaultMessageTimeToLive, full.AutoDeleteOnIdle = 30*entity.Second, entity.Hour, entity.Day
	full.MaxDeliveryCount, full.MaxSizeInMegabytes, full.RequiresDuplicateDetection = 3, 2048, true
	full.ForwardDeadLetteredMessagesTo, full.ForwardDeadLettersAddress, full.UserMetadata, full.Status = "dead", "sb://localhost:5300/dead", "<&>'\"", entity.SendDisabled
	full.EnableBatchedOperations, full.RequiresSession, full.DeadLetteringOnMessageExpiration = &no, true, true
	forwards := entity.New(entity.Subscription, "t", "s")
	forwards.ForwardTo, forwards.ForwardToAddress = "q", "https://localhost:5300/q"
	for _, d := range []entity.Description{full, forwards, entity.New(entity.Queue, "", "q"), entity.New(entity.Topic, "", "t")} {
		text := Entry(base, &entityadmin.Entity{Description: d, Counts: entityadmin.Counts{Active: 1, DeadLetters: 2, Scheduled: 3, Transfers: 4}})
		if err := xml.Unmarshal(text, new(element)); err != nil {
			t.Fatal(err)
		}
		got, _, err := ReadEntity(text, entity.New(d.Kind, d.Topic, d.Name), &d)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		for _, p := range []**bool{&got.EnableBatchedOperations, &got.SupportOrdering, &got.DeadLetteringOnFilterEvaluationExceptions} {
			if *p != nil && **p {
				*p = nil // the default, which is always written
			}
		}
		if got.EnableBatchedOperations != nil {
			got.EnableBatchedOperations = &no
		}
		if got != d {
			t.Errorf("got %+v\nwant %+v\n%s", got, d, text)
		}
		if want := "<ForwardDeadLetteredMessagesTo>sb://localhost:5300/dead<"; strings.Contains(string(text), want) != (d.ForwardDeadLetteredMessagesTo != "") {
			t.Errorf("%s is not in %s", want, text)
		}
		for _, want := range []string{"<d2p1:ScheduledMessageCount>3<", "<d2p1:TransferMessageCount>4<", "<MessageCount>10<"} {
			if !strings.Contains(string(text), want) && d.Kind != entity.Topic {
				t.Errorf("%s is not in %s", want, text)
			}
		}
	}
}

// TestOrder: the .NET client accepts elements only in this order, and the JavaScript client accepts only one namespace in CountDetails.
func TestOrder(t *testing.T) {
	for kind, want := range map[entity.Kind]string{
		entity.Queue: "LockDuration MaxSizeInMegabytes RequiresDuplicateDetection RequiresSession DefaultMessageTimeToLive DeadLetteringOnMessageExpiration " +
			"DuplicateDetectionHistoryTimeWindow MaxDeliveryCount EnableBatchedOperations SizeInBytes MessageCount IsAnonymousAccessible AuthorizationRules Status " +
			"CreatedAt UpdatedAt AccessedAt SupportOrdering CountDetails AutoDeleteOnIdle EnablePartitioning EntityAvailabilityStatus EnableExpress",
		entity.Topic: "DefaultMessageTimeToLive MaxSizeInMegabytes RequiresDuplicateDetection DuplicateDetectionHistoryTimeWindow EnableBatchedOperations SizeInBytes " +
			"FilteringMessagesBeforePublishing IsAnonymousAccessible AuthorizationRules Status CreatedAt UpdatedAt AccessedAt SupportOrdering CountDetails SubscriptionCount " +
			"AutoDeleteOnIdle EnablePartitioning EntityAvailabilityStatus EnableSubscriptionPartitioning EnableExpress SqlFilterCount CorrelationFilterCount",
		entity.Subscription: "LockDuration RequiresSession DefaultMessageTimeToLive DeadLetteringOnMessageExpiration DeadLetteringOnFilterEvaluationExceptions MessageCount " +
			"MaxDeliveryCount EnableBatchedOperations Status CreatedAt UpdatedAt AccessedAt CountDetails AutoDeleteOnIdle EntityAvailabilityStatus",
	} {
		d, err := described(Entry(base, &entityadmin.Entity{Description: entity.New(kind, "t", "e")}), descriptions[kind])
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range d.Children {
			names = append(names, c.XMLName.Local)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s", kind, got)
		}
		if c := d.child("CountDetails"); len(c.Attrs) != 1 || len(c.Children) != 5 {
			t.Errorf("%+v", c)
		}
	}
}

// TestKeysThereAndBack_SBT5: access keys of an entity can be read after they are written.
func TestKeysThereAndBack_SBT5(t *testing.T) {
	want := []entityadmin.Key{
		{Name: "a", Rights: []sas.Right{sas.Manage, sas.Send, sas.Listen}, Keys: sas.Keys{Primary: "<1>", Secondary: "2"}},
		{Name: "b", Rights: []sas.Right{sas.Listen}, Keys: sas.Keys{Primary: "3", Secondary: "4"}},
	}
	for _, kind := range []entity.Kind{entity.Queue, entity.Topic} {
		text := Entry(base, &entityadmin.Entity{Description: entity.New(kind, "", "e"), Keys: want})
		if got, err := ReadKeys(text, kind); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	odd := `<entry><content><QueueDescription xmlns:i="` + instance + `"><AuthorizationRules><AuthorizationRule i:type="Odd"/></AuthorizationRules></QueueDescription></content></entry>`
	if _, err := ReadKeys([]byte(odd), entity.Queue); err == nil || !strings.Contains(err.Error(), `"Odd"`) {
		t.Error(err)
	}
}

func TestRulesThereAndBack(t *testing.T) {
	asks := filter.Rule{Name: "c", Filter: filter.Correlation, Properties: []filter.Property{
		{Name: "color", Value: filter.TextOf("<red>")}, {Name: "n", Value: filter.Of(int64(5))}, {Name: "f", Value: filter.Of(1.5)}, {Name: "b", Value: filter.Of(true)},
	}}
	asks.System[filter.Label], asks.System[filter.To] = filter.TextOf("l"), filter.TextOf("t")
	for _, r := range []filter.Rule{
		{Name: filter.DefaultRule},
		{Name: "no", Filter: filter.False},
		asks,
		{Name: "acts", Action: "SET a = @x; REMOVE b", Parameters: []filter.Parameter{{Name: "@x", Value: filter.Of("<y>")}}},
		{Name: "both", Filter: filter.SQL, SQL: "a < @x", Action: "SET a = @x", Parameters: []filter.Parameter{{Name: "@x", Value: filter.Of(int64(5))}}},
		{Name: "sql", Filter: filter.SQL, SQL: "a < @x", Parameters: []filter.Parameter{{Name: "@x", Value: filter.Of(int64(5))}}},
	} {
		text := RuleEntry(base, "t/Subscriptions/s", &r)
		if got, err := ReadRule(text, r.Name); err != nil || !got.Same(&r) {
			t.Errorf("got %+v, %v\nwant %+v\n%s", got, err, r, text)
		}
	}
	_, rules, err := ReadEntity([]byte(`<entry><content><SubscriptionDescription xmlns:i="`+instance+`"><DefaultRuleDescription><Filter i:type="SqlFilter">`+
		`<SqlExpression>a = 1</SqlExpression></Filter><Name>first</Name></DefaultRuleDescription></SubscriptionDescription></content></entry>`),
		entity.New(entity.Subscription, "t", "s"), nil)
	if want := (filter.Rule{Name: "first", Filter: filter.SQL, SQL: "a = 1"}); err != nil || len(rules) != 1 || !rules[0].Same(&want) {
		t.Error(rules, err)
	}
}

// TestParameters_SBE9: filter and action each list the parameters that they use; the filter also lists parameters that
// neither uses.
func TestParameters_SBE9(t *testing.T) {
	value := filter.Of("v")
	for _, c := range []struct {
		rule           filter.Rule
		filter, action string
	}{
		{filter.Rule{Filter: filter.SQL, SQL: "a LIKE 'O%'", Action: "SET b = @X"}, "", "@x"},
		{filter.Rule{Filter: filter.SQL, SQL: "a = @x", Action: "SET b = 1"}, "@x", ""},
		{filter.Rule{Filter: filter.SQL, SQL: "a = @x", Action: "SET b = @x"}, "@x", "@x"},
		{filter.Rule{Filter: filter.SQL, SQL: "a = 1"}, "@x", ""},
		{filter.Rule{Action: "SET b = @x"}, "", "@x"},
	} {
		c.rule.Name, c.rule.Parameters = "r", []filter.Parameter{{Name: "@x", Value: value}}
		d, err := described(RuleEntry(base, "t/Subscriptions/s", &c.rule), "RuleDescription")
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"Filter": c.filter, "Action": c.action} {
			got := ""
			if err := readValues(d.child(name).child("Parameters"), func(name string, _ filter.Value) { got += name }); err != nil || got != want {
				t.Errorf("%+v: parameters of %s: %q, %v, want %q", c.rule, name, got, err, want)
			}
		}
	}
}

func TestReadErrors(t *testing.T) {
	of := func(inside string) string {
		return "<entry><content><QueueDescription>" + inside + "</QueueDescription></content></entry>"
	}
	for want, text := range map[string]string{
		"not XML": "x", "not an entry": "<entry/>", "LockDuration: ": of("<LockDuration>1h</LockDuration>"),
		`MaxDeliveryCount: "x" is not a number between 1 and 2147483647`:                            of("<MaxDeliveryCount>x</MaxDeliveryCount>"),
		`MaxMessageSizeInKilobytes: "99999999999999999999" is not a number between 1024 and 102400`: of("<MaxMessageSizeInKilobytes>99999999999999999999</MaxMessageSizeInKilobytes>"),
		`MaxSizeInMegabytes: "1.5" is not a number between 0 and 1073741824`:                        of("<MaxSizeInMegabytes>1.5</MaxSizeInMegabytes>"),
		`RequiresSession: "maybe" is neither true nor false`:                                        of("<RequiresSession>maybe</RequiresSession>"),
		`SupportOrdering: "maybe" is neither true nor false`:                                        of("<SupportOrdering>maybe</SupportOrdering>"),
		"more than 262144": strings.Repeat(" ", MaxBody+1),
	} {
		if _, _, err := ReadEntity([]byte(text), entity.New(entity.Queue, "", "q"), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	rule := func(inside string) string {
		return `<entry><content><RuleDescription xmlns:i="` + instance + `">` + inside + "</RuleDescription></content></entry>"
	}
	for want, text := range map[string]string{
		`type "OddFilter"`: rule(`<Filter i:type="OddFilter"/>`), `type "OddAction"`: rule(`<Action i:type="OddAction"/>`),
		"has no key": rule(`<Filter i:type="CorrelationFilter"><Properties><x/></Properties></Filter>`),
		`property "a": "x" is not a value of type int`: rule(`<Filter i:type="CorrelationFilter"><Properties><x><Key>a</Key><Value i:type="int">x</Value></x></Properties></Filter>`),
	} {
		if _, err := ReadRule([]byte(text), "r"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{ // short, as minimizing takes time
		"<entry><content><QueueDescription><LockDuration>PT1M</LockDuration></QueueDescription></content></entry>",
		`<entry><content><RuleDescription xmlns:i="` + instance + `"><Filter i:type="SqlFilter"><SqlExpression>a=1</SqlExpression></Filter></RuleDescription></content></entry>`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(_ *testing.T, text []byte) {
		_, _, _ = ReadEntity(text, entity.New(entity.Queue, "", "q"), nil)
		_, _ = ReadRule(text, "r")
		_, _ = ReadKeys(text, entity.Queue)
	})
}

// TestAddresses_SBE9: forwarding addresses are returned as they were set, with scheme and host in lower case.
func TestAddresses_SBE9(t *testing.T) {
	for set, want := range map[string]string{
		"SB://LOCALHOST:5300/DEAD": "sb://localhost:5300/DEAD", "sb://other.example/dead": "sb://other.example/dead", "https://localhost:5300/dead": "https://localhost:5300/dead",
		"dead": "https://localhost:5300/dead", "sb://" + strings.Repeat("h", maxAddress) + "/dead": "https://localhost:5300/dead",
	} {
		body := `<entry><content><QueueDescription><ForwardTo>` + set + `</ForwardTo></QueueDescription></content></entry>`
		d, _, err := ReadEntity([]byte(body), entity.New(entity.Queue, "", "q"), nil)
		if err != nil || !entity.Same(d.ForwardTo, "dead") {
			t.Errorf("%q, %v", d.ForwardTo, err)
		}
		d.ForwardTo = "dead" // the name of the entity
		if text := string(Entry(base, &entityadmin.Entity{Description: d})); !strings.Contains(text, "<ForwardTo>"+want+"<") {
			t.Errorf("%s: %s is not in %s", set, want, text)
		}
		d.ForwardTo = "another" // changed otherwise since then
		if text := string(Entry(base, &entityadmin.Entity{Description: d})); !strings.Contains(text, "<ForwardTo>https://localhost:5300/another<") {
			t.Errorf("%s: %s", set, text)
		}
	}
	d := entity.New(entity.Queue, "", "q")
	d.ForwardTo, d.ForwardToSB = "dead", true // set with an earlier version
	if text := string(Entry(base, &entityadmin.Entity{Description: d})); !strings.Contains(text, "<ForwardTo>sb://localhost:5300/dead<") {
		t.Error(text)
	}
}

// TestTexts_SBE16: quotes are characters, no references by number, except for a carriage return.
func TestTexts_SBE16(t *testing.T) {
	const odd = "it's \"<&>\" \t\n\r \x01 é"
	r := filter.Rule{Name: "r", Filter: filter.SQL, SQL: odd, Action: odd}
	text := string(RuleEntry(base, "t/Subscriptions/s", &r))
	if want := "it's &quot;&lt;&amp;&gt;&quot; \t\n&#13; \uFFFD é"; strings.Count(text, want) != 2 {
		t.Errorf("%s is not in %s", want, text)
	}
	if got, err := ReadRule([]byte(text), "r"); err != nil || got.SQL != strings.ReplaceAll(odd, "\x01", "\uFFFD") || got.Action != got.SQL {
		t.Errorf("%q, %v", got.SQL, err)
	}
	if text := string(Failure(400, "it's", time.UnixMilli(0))); !strings.Contains(text, "it's Timestamp:1970-01-01T00:00:00Z<") {
		t.Error(text)
	}
	if text := string(Feed(&List{Base: base, Self: base + "a?b=1&c=2", Next: base + "a?b=3&c=4"})); !strings.Contains(text,
		`<link rel="self" href="http://localhost:5300/a?b=1&amp;c=2"/><link rel="next" href="http://localhost:5300/a?b=3&amp;c=4"/>`) {
		t.Error(text)
	}
}

// TestPartitioned_SBE9: a new entity with partitions has 16 times the given size; a changed entity has the given size.
func TestPartitioned_SBE9(t *testing.T) {
	body := func(size string) []byte {
		return []byte(`<entry><content><QueueDescription>` + size + `<EnablePartitioning>true</EnablePartitioning></QueueDescription></content></entry>`)
	}
	set, none := "<MaxSizeInMegabytes>1024</MaxSizeInMegabytes>", "<MaxSizeInMegabytes>16384</MaxSizeInMegabytes>"
	made, _, _ := ReadEntity(body(set), entity.New(entity.Queue, "", "q"), nil)
	unlimited, _, _ := ReadEntity(body(""), entity.New(entity.Queue, "", "q"), nil)
	changed, _, _ := ReadEntity(body(set), entity.New(entity.Queue, "", "q"), &made)
	back, _, _ := ReadEntity(body(none), entity.New(entity.Queue, "", "q"), &unlimited)
	if made.MaxSizeInMegabytes != 16384 || unlimited.MaxSizeInMegabytes != 0 || changed.MaxSizeInMegabytes != 1024 || back.MaxSizeInMegabytes != 0 {
		t.Error(made.MaxSizeInMegabytes, unlimited.MaxSizeInMegabytes, changed.MaxSizeInMegabytes, back.MaxSizeInMegabytes)
	}
	for _, d := range []entity.Description{made, unlimited} {
		if text := string(Entry(base, &entityadmin.Entity{Description: d})); !strings.Contains(text, none) {
			t.Error(text)
		}
	}
}
