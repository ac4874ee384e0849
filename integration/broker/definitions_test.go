package broker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/supervision"

	"github.com/asynkron/protoactor-go/actor"
	amqp "github.com/rabbitmq/amqp091-go"
)

// An export equals the import byte by byte; importing the same again changes nothing.
func TestDefinitions_Identity(t *testing.T) {
	document := everyKind(t)
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		w := bubbleWeb(b)
		w.want(204, "", "POST", "/api/definitions", document)
		sameLines(w, document)
		w.want(204, "", "POST", "/api/definitions", document)
		sameLines(w, document)
	})
}

// sameLines compares an export with a document line by line.
func sameLines(w *web, document string) {
	w.Helper()
	got := strings.Split(strings.ReplaceAll(w.ask("", "GET", "/api/definitions", "").Body.String(), "},{", "},\n{"), "\n")
	want := strings.Split(strings.ReplaceAll(document, "},{", "},\n{"), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			w.Fatalf("\n got %s\nwant %s", got[min(i, len(got)):min(i+1, len(got))], want[min(i, len(want)):min(i+1, len(want))])
		}
	}
}

// everyKind returns a document with items of every kind, in the form and the order of an export.
func everyKind(t *testing.T) string {
	text, err := os.ReadFile("testdata/definitions_every_kind.json")
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		t.Fatal(err)
	}
	return compact.String()
}

// RabbitMQ's sections contain nothing that its import would refuse (DEF-10): no component, setting or exchange type of our own.
func TestDEF10_SectionsOfOurOwn(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w := bubbleWeb(b)
		w.want(204, "", "POST", "/api/definitions", `{
			"parameters": [{"vhost":"/","component":"operator_policy","name":"limit","value":{"pattern":"^q","definition":{"max-length":5}}}],
			"policies": [
				{"vhost":"/","name":"mixed","pattern":"^q","definition":{"delayed-messages":true,"max-length":7}},
				{"vhost":"/","name":"ours","pattern":"^r","definition":{"forward-to":"x"}},
				{"vhost":"/","name":"theirs","pattern":"^s","definition":{"expires":60000}}
			],
			"exchanges": [
				{"vhost":"/","name":"late","type":"x-delayed-message","durable":true,"auto_delete":false,"internal":false,"arguments":{"x-delayed-type":"direct"}},
				{"vhost":"/","name":"x","type":"fanout","durable":true,"auto_delete":false,"internal":false,"arguments":{}}
			],
			"queues": [{"vhost":"/","name":"q","durable":true,"auto_delete":false,"arguments":{}}],
			"bindings": [
				{"vhost":"/","source":"late","destination":"q","destination_type":"queue","routing_key":"1","arguments":{}},
				{"vhost":"/","source":"x","destination":"late","destination_type":"exchange","routing_key":"2","arguments":{}},
				{"vhost":"/","source":"x","destination":"q","destination_type":"queue","routing_key":"3","arguments":{}}
			]
		}`)
		type named struct {
			Name       string         `json:"name"`
			Key        string         `json:"routing_key"`
			Definition map[string]any `json:"definition"`
		}
		var export map[string]json.RawMessage
		if err := json.Unmarshal(w.ask("", "GET", "/api/definitions", "").Body.Bytes(), &export); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for section, text := range export {
			var items []named
			if json.Unmarshal(text, &items) != nil {
				continue
			}
			for _, i := range items {
				got[section] += i.Name + i.Key
				if i.Definition != nil {
					got[section] += fmt.Sprint(i.Definition)
				}
				got[section] += " "
			}
		}
		for section, want := range map[string]string{
			"policies": "mixedmap[max-length:7] theirsmap[expires:60000] ", "exchanges": "x ", "bindings": "3 ", "parameters": "limit ",
			"candlemark_policies": "mixedmap[delayed-messages:true max-length:7] oursmap[forward-to:x] ", "candlemark_exchanges": "late ",
			"candlemark_bindings": "1 2 ", "candlemark_parameters": "",
		} {
			if got[section] != want {
				t.Errorf("%s: %q, want %q", section, got[section], want)
			}
		}
	})
}

// An export contains nothing that the broker creates itself or that belongs to a connection.
func TestDefinitions_LeftOut(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		exclusive, err := ch.QueueDeclare("mine", false, false, true, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		named, err := ch.QueueDeclare("", false, true, false, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		ch.Declare("q", amqp.Table{"x-dead-letter-queue": true})
		for _, queue := range []string{exclusive.Name, named.Name, "q"} {
			ch.Bind(queue, "k", "amq.direct")
		}
		delayed(b, ch, "later", "fanout", "held", "")
		const want = `{"rabbit_version":"4.3.6","rabbitmq_version":"4.3.6","product_name":"Candlemark","product_version":"",` +
			`"rabbitmq_definition_format":"single_virtual_host","original_vhost_name":"/","explanation":"Definitions of virtual host '/'",` +
			`"metadata":{"description":"Default virtual host","tags":[],"default_queue_type":"classic"},"description":"Default virtual host",` +
			`"default_queue_type":"classic","limits":{},"parameters":[],"policies":[],` +
			`"queues":[{"name":"held","durable":true,"auto_delete":false,"type":"classic","arguments":{"x-queue-type":"classic"}},{"name":"q","durable":false,"auto_delete":false,"type":"classic","arguments":{"x-dead-letter-queue":true,"x-queue-type":"classic"}}],` +
			`"exchanges":[],"bindings":[{"source":"amq.direct","destination":"q","destination_type":"queue","routing_key":"k","arguments":{}}],` +
			`"candlemark_exchanges":[{"name":"later","type":"x-delayed-message","durable":true,"auto_delete":false,"internal":false,"arguments":{"x-delayed-type":"fanout"}}],` +
			`"candlemark_bindings":[{"source":"later","destination":"held","destination_type":"queue","routing_key":"","arguments":{}}]}`
		w := bubbleWeb(b)
		w.want(200, want, "GET", "/api/definitions/%2F", "")
		if got := w.ask("", "GET", "/api/definitions?download=all.json", "").Header().Get("Content-Disposition"); got != "attachment; filename=all.json" {
			t.Error(got)
		}
		w.want(400, reason("bad_request", "vhost_not_found"), "GET", "/api/definitions/nope", "")
		w.want(404, reason("not_found", "vhost_not_found"), "POST", "/api/definitions/nope", "{}")
	})
}

// Administrators may export and import, with any permissions; other users may not.
func TestDefinitions_Rights(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		for name, tags := range map[string][]string{"admin": {"administrator"}, "maker": {"policymaker"}, "watcher": {"monitoring"}} {
			if _, err := b.Users.PutAccount(auth.Account{Name: name, Tags: tags, Hash: auth.HashPassword("pw")}); err != nil {
				t.Fatal(err)
			}
			if tags[0] == "administrator" {
				continue
			}
			if _, err := b.Users.PutGrant(auth.Grant{User: name, VHost: "/", Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
				t.Fatal(err)
			}
		}
		w := bubbleWeb(b)
		for _, path := range []string{"/api/definitions", "/api/definitions/%2F"} {
			for _, as := range []string{"maker:pw", "watcher:pw"} {
				for _, method := range []string{"GET", "POST"} {
					if got := w.ask(as, method, path, "{}"); got.Code != 401 || got.Body.String() != reason("not_authorised", "Not administrator user") {
						t.Errorf("%s %s %s: %d %s", as, method, path, got.Code, got.Body)
					}
				}
			}
		}
		const things = `{"queues":[{"name":"q","vhost":"/","durable":true}],"bindings":[{"source":"amq.topic","vhost":"/","destination":"q","destination_type":"queue","routing_key":"a"}]}`
		if got := w.ask("admin:pw", "POST", "/api/definitions", things); got.Code != 204 {
			t.Errorf("%d %s", got.Code, got.Body)
		}
		if b.Queue("q") == nil {
			t.Error("the queue is not there")
		}
	})
}

// importReport is the report of an import.
type importReport struct {
	Imported bool
	Counts   map[string]int
	Warnings []string
	Items    []struct {
		Section, VHost, Name, Verdict string
		Notes                         []struct{ Verdict, Text string }
	}
}

// An invalid item does not affect the others, unless the import is strict; a dry run changes nothing.
func TestDefinitions_BadItem(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w := bubbleWeb(b)
		const document = `{"queues":[{"name":"bad","vhost":"/","arguments":{"x-expires":0}},{"name":"good","vhost":"/"}]}`
		const why = "queues 'bad' in virtual host '/': invalid arg 'x-expires' for queue 'bad' in vhost '/': {value_zero,0}"
		dry := decode[importReport](w, w.ask("", "POST", "/api/definitions?dry_run=true", document))
		if dry.Imported || dry.Counts["refused"] != 1 || dry.Counts["taken"] != 1 || b.Queue("good") != nil {
			t.Errorf("%+v", dry)
		}
		w.want(400, reason("bad_request", why), "POST", "/api/definitions?strict=true", document)
		strict := decode[importReport](w, w.ask("", "POST", "/api/definitions?strict=true&report=true", document))
		if strict.Imported || b.Queue("good") != nil {
			t.Errorf("%+v", strict)
		}
		w.want(400, reason("bad_request", why), "POST", "/api/definitions", document)
		if b.Queue("good") == nil || b.Queue("bad") != nil {
			t.Error("the good queue is not there, or the bad one is")
		}
		done := decode[importReport](w, w.ask("", "POST", "/api/definitions?report=true", document))
		if !done.Imported || done.Counts["taken"] != 1 || done.Counts["refused"] != 1 {
			t.Errorf("%+v", done)
		}
		w.want(400, reason("bad_request", "failed_to_parse_json"), "POST", "/api/definitions", "[")
	})
}

// Existing objects stay, except the kinds that RabbitMQ replaces: users, permissions, policies and limits.
func TestDefinitions_Merge(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		ch := b.Connect().Open()
		ch.Declare("q", amqp.Table{"x-message-ttl": int32(5000)})
		ch.Declare("other", nil)
		w := bubbleWeb(b)
		w.want(201, "", "PUT", "/api/policies/%2F/p", `{"pattern":"^q","definition":{"max-length":5}}`)
		w.want(204, "", "PUT", "/api/user-limits/guest/max-channels", `{"value":50}`)
		r := decode[importReport](w, w.ask("", "POST", "/api/definitions/%2F?report=true", `{"queues":[{"name":"q","durable":true}],
			"policies":[{"name":"p","pattern":"^q","definition":{"max-length":7},"priority":3}]}`))
		if !r.Imported || r.Counts["ignored"] != 1 || r.Counts["taken"] != 1 {
			t.Errorf("%+v", r)
		}
		w.want(204, "", "POST", "/api/definitions", `{"users":[{"name":"guest","password":"new","tags":"administrator","limits":{"max-connections":9}}]}`)
		got := w.ask("guest:new", "GET", "/api/definitions", "").Body.String()
		for _, want := range []string{
			`"limits":{"max-channels":50,"max-connections":9}`, `"definition":{"max-length":7},"priority":3`,
			`{"name":"other","vhost":"/"`, `"arguments":{"x-message-ttl":5000,"x-queue-type":"classic"}`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("no %s in %s", want, got)
			}
		}
	})
}

// A form may contain the document; the size of a body is limited.
func TestDefinitions_Bodies(t *testing.T) {
	testkit.Run(t, nil, func(b *testkit.Bubble) {
		w := bubbleWeb(b)
		var form bytes.Buffer
		f := multipart.NewWriter(&form)
		if err := f.WriteField("redirect", "../#/overview"); err != nil {
			t.Fatal(err)
		}
		file, err := f.CreateFormFile("file", "all.json")
		if err == nil {
			_, err = file.Write([]byte(`{"queues":[{"name":"q","vhost":"/"}]}`))
		}
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if got := w.ask("", "POST", "/api/definitions", form.String(), "Content-Type", f.FormDataContentType()); got.Code != 204 || b.Queue("q") == nil {
			t.Errorf("%d %s", got.Code, got.Body)
		}
		if got := w.ask("", "POST", "/api/definitions", "--b--", "Content-Type", "multipart/form-data; boundary=b"); got.Code != 400 {
			t.Errorf("%d %s", got.Code, got.Body)
		}
		const limit = 24 << 20
		w.want(204, "", "POST", "/api/definitions", "{"+strings.Repeat(" ", limit-2)+"}")
		w.want(400, reason("bad_request", "Exceeded HTTP request body size limit"), "POST", "/api/definitions", "{"+strings.Repeat(" ", limit-1)+"}")
	})
}

// The dry run of an import of a deployment's definitions predicts its result: the broker refuses nothing else.
func TestDefinitions_Deployments(t *testing.T) {
	files, err := filepath.Glob("../../internal/admin/httpapi/definitionfile/document/testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			testkit.Run(t, nil, func(b *testkit.Bubble) {
				w := bubbleWeb(b)
				dry := w.ask("", "POST", "/api/definitions?dry_run=true", string(text)).Body.String()
				done := w.ask("", "POST", "/api/definitions?report=true", string(text)).Body.String()
				if want := strings.Replace(dry, `"imported":false`, `"imported":true`, 1); done != want {
					t.Errorf("\n done %s\nsaid %s", done, want)
				}
				exported := w.ask("", "GET", "/api/definitions", "").Body.String()
				w.want(204, "", "POST", "/api/definitions", exported)
				sameLines(w, exported)
			})
		})
	}
}

// Queues are declared 64 at a time, and policies all at once: a virtual host is notified of them one time.
func TestDefinitions_Work(t *testing.T) {
	var changes atomic.Int64
	testkit.RunStored(t, func(cfg *supervision.Config) {
		cfg.Trace = func(_, _ *actor.PID, what any) {
			if _, is := what.(*mail.ApplyPolicies); is {
				changes.Add(1)
			}
		}
	}, func(b *testkit.Bubble) {
		const count = 500
		var queues, policies []string
		for n := range count {
			queues = append(queues, fmt.Sprintf(`{"name":"q%d","vhost":"/","durable":true}`, n))
			policies = append(policies, fmt.Sprintf(`{"name":"p%d","vhost":"/","pattern":"^q%d$","definition":{"max-length":%d}}`, n, n, n))
		}
		opened := func() uint64 {
			o, err := b.Node.API().Overview(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			return o.Churn.ChannelsOpened
		}
		channels := opened()
		changes.Store(0)
		w := bubbleWeb(b)
		w.want(204, "", "POST", "/api/definitions", `{"queues":[`+strings.Join(queues, ",")+`],"policies":[`+strings.Join(policies, ",")+`]}`)
		if n := opened() - channels; n < 2 || n > 64 {
			t.Errorf("%d channels", n)
		}
		if n := changes.Load(); n != 1 {
			t.Errorf("%d changes of policies", n)
		}
		if q := get[map[string]any](w, "/api/queues/%2F/q499"); q["policy"] != "p499" {
			t.Errorf("%v", q["policy"])
		}
	})
}
