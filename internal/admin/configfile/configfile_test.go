package configfile

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"candlemark/internal/routing/filter"
	"candlemark/internal/servicebus/entity"
)

func TestParse(t *testing.T) {
	text, err := os.ReadFile("testdata/Config.json")
	if err != nil {
		t.Fatal(err)
	}
	all, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	orders := entity.New(entity.Queue, "", "orders")
	orders.DeadLetteringOnMessageExpiration, orders.DefaultMessageTimeToLive, orders.MaxDeliveryCount = true, entity.Hour, 3
	orders.DuplicateDetectionHistoryTimeWindow, orders.ForwardDeadLetteredMessagesTo = 20*entity.Second, "failures"
	events := entity.New(entity.Topic, "", "events")
	events.DefaultMessageTimeToLive = entity.Hour
	red := entity.New(entity.Subscription, "events", "red")
	red.LockDuration, red.MaxDeliveryCount, red.ForwardTo = 30*entity.Second, 5, "orders"
	for i, want := range []entity.Description{orders, entity.New(entity.Queue, "", "failures"), events, red, entity.New(entity.Subscription, "events", "all")} {
		if all[i].Description != want {
			t.Errorf("got %+v\nwant %+v", all[i].Description, want)
		}
	}
	byFields := filter.Rule{Name: "by-fields", Filter: filter.Correlation, Properties: []filter.Property{
		{Name: "color", Value: filter.TextOf("red")}, {Name: "gift", Value: filter.Of(true)}, {Name: "price", Value: filter.Of(1.5)}, {Name: "size", Value: filter.Of(int64(5))},
	}}
	byFields.System[filter.ContentType], byFields.System[filter.Label] = filter.TextOf("application/json"), filter.TextOf("order//1")
	bySQL := filter.Rule{Name: "by-sql", Filter: filter.SQL, SQL: "color = 'red'"}
	if rules := all[3].Rules; len(rules) != 2 || !rules[0].Same(&byFields) || !rules[1].Same(&bySQL) || all[4].Rules != nil {
		t.Errorf("%+v", rules)
	}
}

func TestParseErrors(t *testing.T) {
	of := func(inside string) string { return `{"UserConfig":{"Namespaces":[{` + inside + `}]}}` }
	for want, text := range map[string]string{
		`line 2: json: unknown field "Queus"`:    "{\"UserConfig\":{\"Namespaces\":[{\n\"Queus\":[]}]}}",
		"line 1":                                 "{",
		"there is text after the end":            of("") + "x",
		"has 0 namespaces":                       `{}`,
		`"1 hour" is not a duration`:             of(`"Queues":[{"Name":"q","Properties":{"LockDuration":"1 hour"}}]`),
		`queue "": the name of a queue is empty`: of(`"Queues":[{}]`),
		`queue "q" is defined twice`:             of(`"Queues":[{"Name":"q"},{"Name":"q"}]`),
		`FilterType "Odd"`:                       of(`"Topics":[{"Name":"t","Subscriptions":[{"Name":"s","Rules":[{"Name":"r","Properties":{"FilterType":"Odd"}}]}]}]`),
		`rule "r": SQL filter: at character 5`:   of(`"Topics":[{"Name":"t","Subscriptions":[{"Name":"s","Rules":[{"Name":"r","Properties":{"FilterType":"Sql","SqlFilter":{"SqlExpression":"a = "}}}]}]}]`),
		"MaxDeliveryCount is 0":                  of(`"Queues":[{"Name":"q","Properties":{"MaxDeliveryCount":0}}]`),
		"more than 4194304 bytes":                strings.Repeat(" ", MaxFile+1),

		`property "a" of a correlation filter has no comparable value`: of(`"Topics":[{"Name":"t","Subscriptions":[{"Name":"s","Rules":[{"Name":"r","Properties":{"FilterType":"Correlation","CorrelationFilter":{"Properties":{"a":[]}}}}]}]}]`),
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"UserConfig":{"Namespaces":[{"Queues":[{"Name":"q"}]}]}} // "`))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := Parse(text)
		for i := range all {
			if err == nil && all[i].Validate() != nil {
				t.Errorf("%+v", all[i])
			}
		}
	})
}

// TestDocumented: the code block in docs/servicebus.md is a valid file.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/servicebus.md")
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(text, []byte("    {\n      \"UserConfig\""))
	if at < 0 {
		t.Fatal("there is no file")
	}
	var block []byte
	for line := range bytes.Lines(text[at:]) {
		if len(bytes.TrimSpace(line)) > 0 && !bytes.HasPrefix(line, []byte("    ")) {
			break
		}
		block = append(block, line...)
	}
	if all, err := Parse(block); err != nil || len(all) != 3 {
		t.Errorf("%d entities, %v", len(all), err)
	}
}
