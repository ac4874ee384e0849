package document

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"candlemark/internal/access/auth"
	"candlemark/policies"
	"candlemark/protocol"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fresh returns the objects of a new broker.
func fresh() Present {
	p := Present{
		Users: map[string]bool{"guest": true}, VHosts: map[string]auth.VHost{"/": {Name: "/"}},
		Exchanges: map[Name]policies.ExchangeDeclaration{}, Queues: map[Name]policies.QueueDeclaration{},
	}
	for name, kind := range builtIn {
		p.Exchanges[Name{"/", name}] = policies.ExchangeDeclaration{Type: kind, Durable: true}
	}
	return p
}

// report formats the warnings and verdicts of a plan.
func report(p *Plan) string {
	var b strings.Builder
	for _, w := range p.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	for _, i := range p.Items {
		fmt.Fprintf(&b, "%s %s", i.Section, i.Verdict)
		if i.VHost != "" {
			fmt.Fprintf(&b, " [%s]", i.VHost)
		}
		fmt.Fprintf(&b, " %s\n", i.Name)
		for _, n := range i.Notes {
			fmt.Fprintf(&b, "    %s: %s\n", n.Verdict, n.Text)
		}
	}
	return b.String()
}

// Definitions of typical deployments are judged, and the verdict on each item equals the golden report.
func TestReports(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			d, err := Read(text)
			if err != nil {
				t.Fatal(err)
			}
			got, golden := report(Judge(d, fresh(), "")), strings.TrimSuffix(file, "json")+"report"
			if os.Getenv("CANDLEMARK_REWRITE") != "" {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

// Each case judges one item for a broker with existing objects.
func TestJudge(t *testing.T) {
	present := func() Present {
		p := fresh()
		p.VHosts["v"] = auth.VHost{Name: "v", DefaultQueueType: "quorum", Tracing: true}
		p.Exchanges[Name{"v", "x"}] = policies.ExchangeDeclaration{Type: "topic", Durable: true}
		p.Queues[Name{"v", "q"}] = policies.QueueDeclaration{Durable: true, Arguments: protocol.Table{{Key: "x-queue-type", Value: "quorum"}}}
		return p
	}
	for _, c := range []struct{ section, item, want string }{
		{"users", `{"name":"u","tags":[]}`, "taken the user has no password: it can log in only with a certificate"},
		{"users", `{"name":"u","password":"p","tags":"a, b"}`, "taken"},
		{"users", `{"name":"u","password":"p","administrator":true}`, "taken"},
		{"users", `{"name":"u","password":"p"}`, "refused tags_not_present"},
		{"users", `{"name":"","tags":""}`, "refused user cannot be an empty string"},
		{"users", `{"name":"u","password_hash":"*","tags":""}`, `refused ["not_base64","***"]`},
		{"users", `{"name":"u","password_hash":"AAAAAAAA","hashing_algorithm":"rot13","tags":""}`, "refused the password hashing algorithm 'rot13' is not known"},
		{"users", `{"name":"u","password":"p","tags":"","limits":{"max-connections":1}}`, "taken"},
		{"users", `{"name":"u","password":"p","tags":"","limits":{"x":1}}`, "approximated a limit is left out: Unrecognised terms [{<<\"x\">>,1}] in user-limits"},
		{"users", `{"name":"u","password":"p","tags":"","limits":[["max-channels",7]]}`, "taken"},
		{"users", `{"name":"guest","password":"guest","tags":"administrator"}`, "risky guest has its default password: delete it, or give it another one"},
		{"users", `7`, "refused it is not an object"},
		{"users", `{"name":7,"tags":""}`, `refused ["not_string","name"]`},

		{"vhosts", `{"name":"w"}`, "taken"},
		{"vhosts", `{"name":"w","limits":[],"metadata":{"description":"d","tags":["t"],"default_queue_type":"quorum"}}`, "taken"},
		{"vhosts", `{"name":"w","default_queue_type":"stream"}`, "approximated there are no streams: queues that are declared without a type are classic"},
		{"vhosts", `{"name":"w","default_queue_type":"x"}`, "approximated default_queue_type is left out: x is not a valid queue type"},
		{"vhosts", `{"name":"w","limits":[["max-queues",50]],"metadata":[["description","d"],["tags",[]],["default_queue_type","undefined"]]}`, "taken"},
		{"vhosts", `{"name":"w","limits":[["max-queues","many"],["max-connections",3]]}`, "approximated a limit is left out: Validation failed: max-queues should be a number, actually was <<\"many\">>"},
		{"vhosts", `{"name":"w","limits":7}`, "approximated a limit is left out: Validation failed: limits not a list 7"},
		{"vhosts", `{"name":"w","metadata":7}`, `approximated metadata is left out: ["not_a_map","metadata"]`},
		{"vhosts", `{"name":"w","description":7,"tags":{},"tracing":"perhaps"}`, `approximated description is left out: ["not_string","description"]; tags is left out: ["not_string","tags"]; tracing is left out: ["not_boolean","perhaps"]`},
		{"vhosts", `{"name":""}`, "refused vhost cannot be an empty string"},

		{"permissions", `{"user":"guest","vhost":"v","configure":"","write":"a(?!b)","read":".*"}`, "taken"},
		{"permissions", `{"user":"nobody","vhost":"v","configure":"","write":"","read":""}`, "refused there is no user 'nobody'"},
		{"permissions", `{"user":"guest","vhost":"w","configure":"","write":"","read":""}`, "refused Please create virtual host \"w\" prior to importing definitions."},
		{"permissions", `{"user":"guest","vhost":"v","configure":"","write":""}`, "refused [{key_missing,read}]"},
		{"permissions", `{"user":"guest","configure":"","write":"","read":""}`, "refused Virtual host does not exist and is not specified in definitions file."},
		{"topic_permissions", `{"user":"guest","vhost":"v","exchange":"x","write":"^{username}","read":""}`, "taken"},

		{"parameters", `{"component":"vhost-limits","name":"limits","vhost":"v","value":{"max-queues":5}}`, "taken"},
		{"parameters", `{"component":"vhost-limits","name":"limits","vhost":"v","value":[]}`, "taken"},
		{"parameters", `{"component":"operator_policy","name":"p","vhost":"v","value":{"pattern":"^x","definition":{"expires":1},"priority":0}}`, "taken"},
		{"parameters", `{"component":"operator_policy","name":"p","vhost":"v","value":{"pattern":"^x","definition":{"overdue-messages":"drop"},"priority":0}}`, "refused [{<<\"overdue-messages\">>,<<\"drop\">>}] are not recognised policy settings"},
		{"parameters", `{"component":"shovel","name":"s","vhost":"v","value":{}}`, "refused Validation failed: Must specify 'src-exchange' or 'src-queue': Key \"dest-uri\" not found in s: Key \"src-uri\" not found in s"},
		{"parameters", `{"component":"policy","name":"s","vhost":"v","value":{}}`, "refused policies may not be set using this method"},
		{"parameters", `{"component":"shovel","name":"s","vhost":"v"}`, "refused [{key_missing,value}]"},
		{"global_parameters", `{"name":"n","value":null}`, "taken"},
		{"global_parameters", `{"name":"n"}`, "refused [{key_missing,value}]"},
		{"global_parameters", `{"name":"internal_cluster_id","value":"i"}`, "ignored it belongs to the broker that the definitions come from"},

		{"policies", `{"name":"p","vhost":"v","pattern":"^a","definition":{"message-ttl":1}}`, "taken"},
		{"policies", `{"name":"p","vhost":"v","pattern":"a","definition":{"max-length":1}}`, "risky its pattern is not anchored with ^, and max-length can remove the messages of all queues that it matches"},
		{"policies", `{"name":"p","vhost":"v","pattern":"a","definition":{"alternate-exchange":"x"},"apply-to":"exchanges"}`, "taken"},
		{"policies", `{"name":"p","vhost":"v","pattern":"a","definition":{"ha-mode":"all"}}`, "ignored ha-mode is left out: there is one node; it has no other keys"},
		{"policies", `{"name":"p","vhost":"v","pattern":"a","definition":{"ha-mode":"all","dead-letter-exchange":"x"}}`, "approximated ha-mode is left out: there is one node"},
		{"policies", `{"name":"p","vhost":"v","pattern":"^a","definition":{"queue-mode":"lazy"}}`, "approximated queue-mode has no effect: every queue pages its messages to the disk by itself"},
		{"policies", `{"name":"p","vhost":"v","pattern":"(","definition":{"expires":1}}`, "refused pattern should be regular expression but is invalid: {\"missing )\",1}"},
		{"policies", `{"name":"p","vhost":"v","pattern":"^a","definition":{}}`, "refused no policy provided"},
		{"policies", `{"name":"","vhost":"v","pattern":"^a","definition":{"expires":1}}`, "refused policy name is empty"},

		{"exchanges", `{"name":"n","vhost":"v","type":"topic","durable":true}`, "taken"},
		{"exchanges", `{"name":"x","vhost":"v","type":"topic","durable":true,"auto_delete":false,"internal":false,"arguments":{}}`, "taken"},
		{"exchanges", `{"name":"x","vhost":"v","type":"direct","durable":true}`, "ignored it already exists and stays as it is: inequivalent arg 'type' for exchange 'x' in vhost 'v': received 'direct' but current is 'topic'"},
		{"exchanges", `{"name":"n","vhost":"v","type":"x-jms-topic","durable":true}`, "ignored unknown exchange type x-jms-topic"},
		{"exchanges", `{"name":"n","vhost":"v","type":"x-delayed-message","arguments":{"x-delayed-type":"x-jms-topic"}}`, "ignored unknown exchange type x-jms-topic"},
		{"exchanges", `{"name":"n","vhost":"v","type":"x-delayed-message"}`, "refused Invalid argument, 'x-delayed-type' must be an existing exchange type"},
		{"exchanges", `{"name":"n","vhost":"v","type":"fanout","arguments":{"alternate-exchange":1}}`, "refused invalid type 'long' for arg 'alternate-exchange' in exchange 'n' in vhost 'v'"},
		{"exchanges", `{"name":"","vhost":"v","type":"direct"}`, "ignored the exchange is the broker's own"},
		{"exchanges", `{"name":"amq.mine","vhost":"v","type":"direct"}`, "ignored the exchange is the broker's own"},
		{"exchanges", `{"name":"candlemark.admin","vhost":"v","type":"fanout"}`, "ignored the exchange is the broker's own"},
		{"exchanges", `{"name":"n","vhost":"v"}`, "refused [{key_missing,type}]"},
		{"exchanges", `{"name":"` + strings.Repeat("n", 256) + `","vhost":"v","type":"direct"}`, "refused the name has 256 bytes, more than 255"},

		{"queues", `{"name":"n","vhost":"v","durable":true,"auto_delete":false,"arguments":{}}`, "taken"},
		{"queues", `{"name":"q","vhost":"v","durable":true}`, "taken"},
		{"queues", `{"name":"q","vhost":"v","durable":true,"arguments":{"x-queue-type":"classic"}}`, "ignored it already exists and stays as it is: inequivalent arg 'x-queue-type' for queue 'q' in vhost 'v': received 'classic' but current is 'quorum'"},
		{"queues", `{"name":"n","vhost":"v","durable":true,"arguments":{"x-queue-type":"stream"}}`, "ignored there are no streams"},
		{"queues", `{"name":"n","vhost":"v","durable":true,"type":"stream","arguments":{}}`, "ignored there are no streams"},
		{"queues", `{"name":"n","vhost":"v","durable":true,"type":"classic","arguments":[]}`, "taken"},
		{"queues", `{"name":"amq.gen-1","vhost":"v"}`, "ignored names that begin with amq. are the broker's own"},
		{"queues", `{"name":"n","vhost":"v","exclusive":true}`, "ignored it is exclusive to a connection"},
		{"queues", `{"name":"n.dlq","vhost":"v","durable":true,"arguments":{"x-dead-letter-queue-of":"n"}}`, "ignored the broker creates it for the dead letters of 'n'"},
		{"queues", `{"name":"n","vhost":"v","durable":true,"arguments":{"x-queue-type":"super"}}`, `refused invalid arg 'x-queue-type' for queue 'n' in vhost 'v': "unsupported queue type 'super'"`},
		{"queues", `{"name":"n","vhost":"v","durable":true,"auto_delete":true,"arguments":{"x-queue-type":"quorum"}}`, "refused invalid property 'auto-delete' for queue 'n' in vhost 'v'"},
		{"queues", `{"name":"n","vhost":"v","arguments":{"x-message-ttl":"5"}}`, `refused invalid arg 'x-message-ttl' for queue 'n' in vhost 'v': "expected integer, got longstr"`},
		{"queues", `{"name":"n","vhost":"v","arguments":{"x-queue-mode":"lazy"}}`, "approximated x-queue-mode has no effect: every queue pages its messages to the disk by itself"},
		{"queues", `{"name":"n","vhost":"v","durable":"perhaps"}`, `refused ["not_boolean","perhaps"]`},
		{"queues", `{"name":"n","vhost":"v","arguments":7}`, `refused ["unhandled_type",7]`},

		{"bindings", `{"source":"x","vhost":"v","destination":"q","destination_type":"queue","routing_key":"a.#"}`, "taken"},
		{"bindings", `{"source":"x","vhost":"v","destination":"x","destination_type":"exchange","routing_key":"a.#"}`, "taken"},
		{"bindings", `{"source":"x","vhost":"v","destination":"q.dlq","destination_type":"queue","routing_key":""}`, "taken"},
		{"bindings", `{"source":"","vhost":"v","destination":"q","destination_type":"queue","routing_key":"q"}`, "ignored every queue is bound to the default exchange"},
		{"bindings", `{"source":"y","vhost":"v","destination":"q","destination_type":"queue","routing_key":""}`, "refused no exchange 'y' in vhost 'v'"},
		{"bindings", `{"source":"x","vhost":"v","destination":"r","destination_type":"queue","routing_key":""}`, "refused no queue 'r' in vhost 'v'"},
		{"bindings", `{"source":"x","vhost":"v","destination":"q","destination_type":"exchange","routing_key":""}`, "refused no exchange 'q' in vhost 'v'"},
		{"bindings", `{"source":"x","vhost":"v","destination":"q","destination_type":"stream","routing_key":""}`, "refused the type of the destination is 'stream', neither queue nor exchange"},
		{"bindings", `{"source":"x","vhost":"v","destination":"q"}`, "refused [{key_missing,destination_type}]"},
	} {
		d, err := Read([]byte(`{"` + c.section + `":[` + c.item + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		p := Judge(d, present(), "")
		var texts []string
		for _, n := range p.Items[0].Notes {
			texts = append(texts, n.Text)
		}
		if got := strings.TrimSpace(string(p.Items[0].Verdict) + " " + strings.Join(texts, "; ")); got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.section, c.item, got, c.want)
		}
		if v := p.Items[0].Verdict; (v == Ignored || v == Refused) && p.Items[0].Value != nil {
			t.Errorf("%s %s would be done: %v", c.section, c.item, p.Items[0].Value)
		}
	}
}

// Items may refer to other items of the document, unless these are missing or not imported.
func TestItemsRestOnEarlierOnes(t *testing.T) {
	p := judged(t, `{
		"bindings": [
			{"source":"amq.topic","vhost":"w","destination":"q","destination_type":"queue","routing_key":""},
			{"source":"s","vhost":"w","destination":"q","destination_type":"queue","routing_key":""},
			{"source":"amq.topic","vhost":"w","destination":"stream","destination_type":"queue","routing_key":""}
		],
		"queues": [{"name":"q","vhost":"w","durable":true},{"name":"stream","vhost":"w","durable":true,"arguments":{"x-queue-type":"stream"}}],
		"exchanges": [{"name":"s","vhost":"w","type":"x-super-stream","durable":true}],
		"permissions": [{"user":"u","vhost":"w","configure":"","write":"","read":""}],
		"vhosts": [{"name":"w","default_queue_type":"quorum"}], "users": [{"name":"u","password":"p","tags":""}]
	}`, "")
	want := `users taken u
vhosts taken w
permissions taken [w] u
exchanges ignored [w] s
    ignored: unknown exchange type x-super-stream
queues taken [w] q
queues ignored [w] stream
    ignored: there are no streams
bindings taken [w] amq.topic → q
bindings ignored [w] s → q
    ignored: the exchange 's' is not imported
bindings ignored [w] amq.topic → stream
    ignored: the queue 'stream' is not imported
`
	if got := report(p); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// All objects are imported into the given virtual host, even if they name another.
func TestIntoOneVHost(t *testing.T) {
	p := judged(t, `{"users":[{"name":"u","tags":""}],"queues":[{"name":"q","durable":true},{"name":"r","vhost":"elsewhere","durable":true}]}`, "/")
	want := "warning: section \"users\" is not imported into one virtual host\nqueues taken [/] q\nqueues taken [/] r\n"
	if got := report(p); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func judged(t *testing.T, text, vhost string) *Plan {
	t.Helper()
	d, err := Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return Judge(d, fresh(), vhost)
}

// Unknown items are reported and otherwise ignored.
func TestUnknown(t *testing.T) {
	p := judged(t, `{"rabbit_version":"9","news":[1],"users":7,"queues":[{"name":"q","vhost":"/","owner":"a"},{"name":"r","vhost":"/","owner":"b"}]}`, "")
	want := []string{
		`unknown section "news" is ignored`, `section "users" is ignored: it is not a list`,
		`queues: unknown key "owner" is ignored (items: 2)`,
	}
	if !slices.Equal(p.Warnings, want) {
		t.Errorf("%q", p.Warnings)
	}
	if counts := p.Counts(); counts[Taken] != 2 || len(counts) != len(Verdicts) {
		t.Errorf("%v", counts)
	}
}

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"": "", " \n": "", "{}": "", "\ufeff{}": "", "[]": "failed_to_parse_json", "null": "failed_to_parse_json", "{": "failed_to_parse_json",
		`{"users":[` + strings.Repeat("0,", MaxItems) + "0]}": "the definitions have more than 250000 items",
	} {
		_, err := Read([]byte(text))
		if err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
}

// An item that might take much memory when it is decoded is refused; others are taken. Items of a section are parts of its text.
func TestLargeItems(t *testing.T) {
	large := `{"name":"l","vhost":"/","arguments":[` + strings.Repeat("[],", maxItem/3) + `[]]}`
	before := testing.AllocsPerRun(1, func() {
		p := judged(t, `{"queues":[ {"name":"q","vhost":"/"} ,`+large+`]}`, "")
		if len(p.Items) != 2 || p.Items[0].Verdict != Taken || p.Items[1].Verdict != Refused || p.Items[1].Name != "#2" {
			t.Errorf("%d items", len(p.Items))
		}
	})
	if before > 1000 {
		t.Errorf("%v allocations", before)
	}
}

// The hash algorithm of passwords depends on the program that wrote the document.
func TestAlgorithm(t *testing.T) {
	for version, want := range map[string]string{
		"": auth.SHA256, "3.5.7": auth.MD5, "2.8.4": auth.MD5, "3.6.0": auth.SHA256, "3.13.1": auth.SHA256, "4.0.5": auth.SHA256,
	} {
		p := judged(t, `{"rabbit_version":"`+version+`","users":[{"name":"u","tags":"","password_hash":"AAAAAAAA"}]}`, "")
		if got := p.Items[0].Value.(auth.Account).Algorithm; got != want {
			t.Errorf("%q: %s", version, got)
		}
	}
}

func TestAnchored(t *testing.T) {
	patterns := map[string]bool{
		"": false, "a": false, ".*": false, "^": false, "^.*": false, "^.*$": false, "^(.*)$": false, "^a": true, `\Aa`: true,
		"^a|b": false, "^a|^b": true, "^(a|b)": true, `^a\|b`: true, "^[|]": true, "^(?!amq\\.).*": false, "^(?!amq\\.)a": true, "a$": false,
	}
	for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
		if got := anchored(pattern); got != patterns[pattern] {
			t.Errorf("%q: %v", pattern, got)
		}
	}
}
