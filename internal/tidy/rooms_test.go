package tidy

import (
	"go/ast"
	"path"
	"slices"
	"strings"
)

// leaves are the low-level packages that any actor may import.
var leaves = []string{
	"protocol", "protocol/amqp10", "policies/...", "internal/auth", "internal/budget", "internal/clock", "internal/events", "internal/queuestats", "internal/seqmap", "internal/message",
	"internal/metrics", "internal/outbox", "internal/jsonencode", "internal/topology", "internal/topology/timeheaders",
}

// rooms lists for each package which of our packages it may import. "..." at the end stands for all packages below. A
// parent may always import the packages below it. A package without a line here is not part of the repository yet.
var rooms = map[string][]string{
	"actors/connection/connevents":   {"protocol", "actors/mail", "internal/events"},
	"internal/servicebus/sas":        {},
	"internal/events/eventlog":       {"protocol", "internal/events", "internal/jsonencode", "internal/redact"},
	"internal/servicebus/grants":     {"internal/auth", "internal/servicebus/sas"},
	"internal/servicebus/filter":     {"protocol"},
	"internal/servicebus/numbers":    {"internal/topology"},
	"internal/servicebus/status":     {"internal/servicebus/entity"},
	"internal/servicebus/view":       {"protocol", "protocol/amqp10", "protocol/amqp10/convert", "internal/servicebus/filter"},
	"internal/servicebus/ruleaction": {"protocol", "protocol/amqp10", "protocol/amqp10/convert", "internal/message", "internal/servicebus/filter", "internal/servicebus/view"},
	"internal/servicebus/entity":     {"protocol", "policies", "internal/servicebus/filter"},
	"internal/servicebus/configfile": {"internal/servicebus/..."},
	"internal/servicebus/atom":       {"protocol", "internal/servicebus/..."},
	"internal/servicebus/admin":      {"protocol", "policies", "internal/auth", "internal/management", "internal/parameters", "internal/servicebus/..."},
	"internal/topology/instant":      {"protocol"},
	"internal/topology/timeheaders":  {"protocol", "internal/clock", "internal/topology/instant"},
	"internal/topology/canonical":    {"protocol"},
	"protocol":                       {},
	"protocol/amqp10":                {},
	"protocol/amqp10/convert":        {"protocol", "protocol/amqp10"},
	"protocol/amqp10/hotpath":        {"protocol/amqp10"},
	"policies":                       {"protocol", "internal/erlang", "internal/jsonencode", "policies/retry"},
	"policies/retry":                 {},
	"policies/pattern":               {},
	"policies/changes":               {"protocol", "policies"},
	"actors/mail":                    {"protocol", "policies/...", "internal/budget", "internal/events", "internal/message", "internal/metrics", "internal/servicebus/filter", "internal/topology"},
	"actors/mailbox":                 {},
	"actors/actorlib":                {"actors/mail", "internal/topology"},
	"actors/connection":              actorOf("internal/socket", "internal/stream"),
	"actors/connection/lifecycle":    actorOf("internal/stream", "actors/connection/connevents"),
	"actors/connection10":            actorOf("internal/dialect", "internal/dialect/transactions", "internal/servicebus/grants", "internal/servicebus/status", "internal/socket", "internal/stream", "actors/connection/connevents", "actors/connection/lifecycle"),
	"actors/session":                 actorOf("protocol/amqp10/hotpath", "internal/dialect/...", "internal/servicebus/grants", "internal/servicebus/numbers", "internal/servicebus/sas", "internal/servicebus/status", "actors/channel/outgoing", "actors/channel/peers", "actors/channel/requests", "actors/channel/rights", "actors/channel/routing", "actors/channel/unacked", "internal/dialect", "actors/channel/trace"),
	"actors/command":                 actorOf(),
	"actors/channel":                 actorOf(),
	"actors/channel/assembler":       {"protocol", "internal/budget"},
	"actors/channel/confirms":        {"protocol", "actors/mail"},
	"actors/channel/output":          {"protocol", "actors/mail", "actors/channel/confirms", "actors/channel/qos", "actors/channel/unacked", "internal/budget", "internal/message", "internal/outbox", "internal/topology"},
	"actors/channel/outgoing":        {"actors/mail"},
	"actors/channel/peers":           {"actors/mail", "actors/channel/qos", "actors/channel/unacked", "internal/budget"},
	"actors/channel/routing":         {"protocol", "actors/mail", "actors/channel/peers", "actors/channel/rights", "internal/auth", "internal/clock", "internal/message", "internal/topology"},
	"actors/channel/qos":             {"actors/mail"},
	"actors/channel/replies":         {"protocol", "actors/mail", "actors/channel/output", "actors/channel/requests", "actors/channel/unacked", "internal/message", "internal/outbox", "internal/topology"},
	"actors/channel/tx":              {"protocol", "actors/mail", "actors/channel/unacked", "internal/budget", "internal/message", "internal/topology"},
	"actors/channel/requests":        {"protocol", "actors/mail", "actors/channel/rights", "internal/auth", "internal/topology", "policies"},
	"actors/channel/rights":          {"protocol", "policies", "internal/auth", "internal/topology"},
	"actors/channel/trace":           {"protocol", "actors/channel/routing", "internal/message", "internal/topology"},
	"actors/channel/unacked":         {"actors/mail", "actors/channel/qos", "internal/seqmap"},
	"actors/exchange":                actorOf(),
	"actors/exchange/history":        {"protocol", "internal/budget", "internal/clock", "internal/message", "internal/topology"},
	"actors/shovel":                  actorOf("internal/parameters"),
	"actors/move":                    actorOf(),
	"actors/queue":                   actorOf("internal/servicebus/ruleaction", "internal/servicebus/filter", "internal/store"),
	"actors/deadletter":              actorOf(),
	"actors/vhost":                   actorOf("internal/definitions", "internal/store"),
	"actors/vhost/refusal":           {"protocol", "policies", "actors/mail", "internal/topology"},
	"actors/policy":                  actorOf("internal/definitions"),
	"supervision":                    {"protocol", "policies/...", "actors/...", "internal/..."},
	"internal/management":            {"protocol", "policies/...", "internal/auth", "internal/budget", "internal/config", "internal/events", "internal/queuestats", "internal/metrics", "internal/parameters"},
	"internal/auth":                  {"protocol", "policies/...", "internal/erlang", "internal/events", "internal/servicebus/sas"},
	"cmd/candlemark-bench":           {"internal/bench"},
	"internal/bench":                 {"internal/httpapi/client"},
	"internal/bench/load":            {"protocol", "internal/bench/stats", "internal/bench/verify", "internal/bench/wire", "internal/bench/wire10"},
	"internal/bench/proc":            {},
	"internal/bench/profile":         {"protocol", "internal/bench/load"},
	"internal/bench/report":          {"internal/bench/proc", "internal/bench/stats", "internal/bench/verify"},
	"internal/bench/shape":           {"protocol", "internal/bench/...", "internal/httpapi/client", "internal/parameters"},
	"internal/bench/stats":           {},
	"internal/bench/verify":          {},
	"internal/bench/wire":            {"protocol", "internal/parameters"},
	"internal/bench/wire10":          {"protocol", "protocol/amqp10", "protocol/amqp10/hotpath", "internal/bench/wire"},
	"internal/socket":                {},
	"internal/backup":                {"internal/events", "internal/management", "internal/store/vfs"},
	"internal/budget":                {},
	"internal/certificate":           {},
	"internal/clock":                 {},
	"internal/config":                {"internal/redact", "internal/suggest"},
	"internal/erlang":                {"protocol"},
	"internal/events":                {"protocol", "internal/redact"},
	"internal/queuestats":            {"policies"},
	"internal/redact":                {"internal/jsonencode"},
	"internal/seqmap":                {},
	"internal/message":               {"protocol"},
	"internal/dialect":               {"protocol", "protocol/amqp10", "protocol/amqp10/convert", "internal/clock", "internal/message", "internal/topology/timeheaders"},
	"internal/dialect/servicebus":    {"protocol", "protocol/amqp10", "protocol/amqp10/convert", "internal/clock", "internal/dialect", "internal/message", "internal/servicebus/entity", "internal/servicebus/filter"},
	"internal/dialect/transactions":  {"protocol/amqp10"},
	"internal/dialect/management":    {"protocol", "protocol/amqp10", "protocol/amqp10/convert", "internal/topology"},
	"internal/definitions":           {"protocol", "policies/...", "internal/auth", "internal/parameters", "internal/servicebus/entity", "internal/servicebus/sas", "internal/servicebus/status"},
	"internal/suggest":               {},
	"internal/flaghelp":              {},
	"internal/stream":                {"internal/budget", "internal/clock", "internal/message", "internal/outbox", "internal/socket"},
	"internal/systemd":               {},
	"internal/parameters":            {"internal/erlang", "internal/redact", "internal/servicebus/entity"},
	"internal/metrics":               {},
	"internal/outbox":                {"internal/budget"},
	"internal/jsonencode":            {},
	"internal/store":                 {"protocol", "internal/message"},
	"internal/store/...":             {"protocol", "internal/message", "internal/metrics", "internal/store/..."},

	"internal/store/segment/format":   {"internal/message", "internal/store"},
	"internal/store/segment/index":    {"internal/message", "internal/store", "internal/store/vfs", "internal/store/segment/format"},
	"internal/store/segment/progress": {"internal/store/vfs", "internal/store/segment/format"},
	"internal/store/segment/recovery": {"internal/store", "internal/store/vfs", "internal/store/segment/format", "internal/store/segment/index", "internal/store/segment/progress"},
	"internal/store/segment/spare":    {"internal/store/vfs"},

	"internal/testkit":        {"..."},
	"internal/testkit/...":    {},
	"internal/testkit/rules":  {"protocol", "internal/topology"},
	"internal/testkit/users":  {"internal/auth"},
	"internal/tidy":           {},
	"internal/topology":       {"protocol", "internal/erlang", "internal/queuestats", "internal/metrics", "internal/servicebus/filter", "internal/servicebus/view"},
	"internal/topology/names": {},
	"cmd/...":                 {"supervision/...", "internal/...", "policies", "protocol"},
	"integration":             {"..."},
	"integration/...":         {"..."},

	"internal/commandline/format": {"internal/erlang", "internal/jsonencode"},
	"internal/commandline/verb":   {"internal/commandline/format", "internal/httpapi/client"},
	"internal/commandline":        {"internal/suggest", "policies/...", "internal/auth", "internal/config", "internal/erlang", "internal/httpapi/client", "internal/jsonencode"},
	"internal/httpapi":            {"protocol", "policies", "internal/auth", "internal/budget", "internal/config", "internal/events", "internal/queuestats", "internal/management", "internal/parameters", "internal/jsonencode", "internal/servicebus/sas"},
	"internal/httpapi/client":     {"protocol", "internal/events"},
	"internal/httpapi/forms":      {"protocol", "internal/config", "internal/management", "internal/jsonencode", "internal/metrics"},
	"internal/httpapi/rest":       {"protocol", "internal/auth", "internal/budget", "internal/config", "internal/events", "internal/httpapi/forms", "internal/httpapi/session", "internal/httpapi/site", "internal/management", "internal/redact", "internal/jsonencode"},
	"internal/httpapi/site":       {},
	"internal/httpapi/session":    {},
	"internal/httpapi/ui":         {},
	"internal/httpapi/...": { // a section; sections do not import each other
		"protocol", "policies/...", "internal/auth", "internal/config", "internal/events", "internal/queuestats", "internal/httpapi/forms", "internal/httpapi/rest", "internal/httpapi/site",
		"internal/budget", "internal/management", "internal/metrics", "internal/parameters", "internal/redact", "internal/jsonencode", "internal/servicebus/...",
	},

	"internal/commandline/rabbitmqadmin": {"internal/httpapi/client"},

	"internal/httpapi/transfer/document": {"protocol", "policies/...", "internal/auth", "internal/httpapi/rest", "internal/parameters", "internal/redact", "internal/jsonencode", "internal/servicebus/filter", "internal/servicebus/sas", "internal/topology"},

	"supervision/ask": {"actors/actorlib", "actors/mail", "internal/clock"},
	"supervision/localchannel": {
		"protocol", "actors/connection", "actors/mail", "supervision/ask",
		"internal/auth", "internal/events", "internal/management", "internal/message", "internal/outbox", "internal/topology",
	},
	"supervision/queries": {
		"protocol", "policies/...", "actors/deadletter", "actors/mail", "actors/move", "actors/vhost/refusal", "supervision/ask", "internal/auth", "internal/events", "internal/queuestats", "internal/management", "internal/metrics", "internal/topology",
	},
	"supervision/shovels":   {"actors/mail", "actors/shovel", "internal/clock", "internal/definitions", "internal/management", "internal/parameters", "internal/servicebus/status"},
	"supervision/resources": {"protocol", "internal/budget", "internal/clock", "internal/config", "internal/events", "internal/management"},

	"actors/connection10/transactions": {"protocol/amqp10", "actors/mail", "internal/dialect/transactions"},
	"actors/session/config": {
		"actors/mail", "internal/auth", "internal/budget", "internal/clock", "internal/dialect/transactions", "internal/events", "internal/message", "internal/metrics", "internal/outbox",
		"internal/servicebus/grants", "internal/servicebus/sas", "internal/servicebus/status", "internal/topology",
	},
	"actors/session/transactions": {
		"protocol/amqp10", "actors/channel/unacked", "actors/mail", "actors/session/batches", "actors/session/entities", "actors/session/settlement", "actors/session/window",
		"internal/budget", "internal/clock", "internal/dialect/transactions", "internal/message", "internal/seqmap", "internal/servicebus/ruleaction", "internal/topology",
	},

	"actors/session/entities":   {"protocol", "policies", "protocol/amqp10", "actors/mail", "actors/session/access", "internal/auth", "internal/clock", "internal/dialect", "internal/dialect/servicebus", "internal/message", "internal/servicebus/entity", "internal/servicebus/filter", "internal/servicebus/numbers", "internal/topology"},
	"actors/session/batches":    {"protocol/amqp10", "actors/mail", "internal/seqmap"},
	"actors/session/settlement": {"protocol/amqp10", "actors/channel/unacked", "actors/mail", "internal/clock", "internal/dialect", "internal/dialect/servicebus", "internal/seqmap"},
	"actors/session/tokens":     {"actors/mail", "actors/session/access", "internal/auth", "internal/dialect/servicebus", "internal/servicebus/sas"},
	"actors/session/answers":    {"actors/session/window", "internal/topology"},
	"actors/session/transfers":  {"protocol/amqp10", "protocol/amqp10/hotpath", "actors/session/window", "internal/outbox"},
	"actors/session/access": {
		"protocol", "protocol/amqp10", "actors/channel/rights", "internal/auth", "internal/clock", "internal/dialect/servicebus", "internal/servicebus/grants", "internal/servicebus/status", "internal/topology",
	},
	"actors/session/incoming": {
		"protocol", "protocol/amqp10", "actors/channel/rights", "actors/channel/routing", "actors/session/access", "internal/budget", "internal/dialect", "internal/dialect/servicebus",
		"internal/message", "internal/topology", "internal/topology/timeheaders",
	},
	"actors/session/window":        {"protocol/amqp10"},
	"actors/session/temporary":     {"protocol", "protocol/amqp10", "actors/channel/requests", "actors/mail", "internal/dialect", "internal/events"},
	"actors/session/sessionevents": {"protocol", "actors/mail", "internal/events", "internal/topology"},
	"actors/session/management": {
		"protocol", "policies", "actors/mail", "actors/channel/requests", "internal/auth", "internal/dialect/management", "internal/topology",
	},
	"actors/queue/schedule": {
		"actors/mail", "actors/queue/backlog", "actors/queue/content", "actors/queue/dueindex", "actors/queue/expiry",
		"actors/queue/records", "internal/budget", "internal/clock", "internal/message", "internal/store", "internal/topology", "internal/topology/timeheaders", "policies", "protocol",
	},
	"actors/queue/messages": {
		"policies", "actors/mail", "actors/queue/backlog", "actors/queue/content", "actors/queue/deadletters", "actors/queue/deferred", "actors/queue/duplicates", "actors/queue/expiry", "actors/queue/notices", "actors/queue/paging", "actors/queue/records",
		"actors/queue/schedule", "actors/queue/sessions", "internal/budget", "internal/clock", "internal/queuestats", "internal/message", "internal/metrics", "internal/servicebus/ruleaction", "internal/servicebus/filter", "internal/store", "internal/topology", "protocol",
	},
	"actors/queue/claims": {
		"actors/mail", "actors/queue/backlog", "actors/queue/consumers", "actors/queue/content", "actors/queue/messages", "actors/queue/records", "internal/clock", "internal/store",
	},
	"actors/queue/notices": {"internal/store"},
	"actors/queue/work":    {"actors/mail", "internal/clock"},
	"actors/queue/purge": {
		"actors/mail", "actors/queue/backlog", "actors/queue/messages", "actors/queue/work", "internal/clock", "internal/store",
	},
	"actors/queue/deliveries": {
		"policies", "actors/mail", "actors/queue/acktimeouts", "actors/queue/backlog", "actors/queue/consumers", "actors/queue/content", "actors/queue/messages",
		"actors/queue/sessions", "actors/queue/work", "internal/clock", "internal/message", "internal/store", "protocol",
	},
	"actors/queue/sessions": {"protocol", "actors/mail", "actors/queue/backlog", "actors/queue/consumers", "internal/store"},
	"actors/queue/receivers": {
		"actors/mail", "actors/queue/backlog", "actors/queue/consumers", "actors/queue/deliveries", "actors/queue/messages", "actors/queue/paging", "actors/queue/sessions",
		"actors/queue/work", "internal/clock", "internal/store",
	},
	"actors/queue/duplicates":  {"protocol"},
	"actors/queue/deferred":    {"actors/queue/backlog", "actors/queue/wheel", "internal/store"},
	"actors/queue/acktimeouts": {"actors/queue/backlog", "actors/queue/consumers", "actors/queue/wheel", "internal/store"},
	"actors/queue/backlog":     {"internal/budget", "internal/message", "actors/queue/wheel"},
	"actors/queue/consumers":   {"protocol", "actors/mail", "internal/budget", "internal/seqmap"},
	"actors/queue/content":     {"protocol", "actors/mail", "actors/queue/backlog", "internal/clock", "internal/message", "internal/store", "internal/topology/timeheaders"},
	"actors/queue/deadletters": {
		"policies", "actors/mail", "actors/queue/backlog", "actors/queue/content", "actors/queue/paging", "actors/queue/records",
		"internal/clock", "internal/seqmap", "internal/store", "internal/topology",
	},
	"actors/queue/dueindex": {},
	"actors/queue/expiry":   {"policies", "actors/queue/backlog", "actors/queue/wheel", "internal/clock", "internal/store"},
	"actors/queue/inspect": {
		"protocol", "policies", "actors/mail", "actors/queue/acktimeouts", "actors/queue/backlog", "actors/queue/consumers", "actors/queue/content", "actors/queue/deferred", "actors/queue/expiry",
		"actors/queue/paging", "actors/queue/schedule", "actors/queue/sessions", "internal/clock", "internal/store",
	},
	"actors/queue/flowcontrol": {"actors/mail", "internal/message"},
	"actors/queue/lease":       {},
	"actors/queue/paging":      {"actors/mail", "actors/queue/backlog", "actors/queue/content", "actors/queue/records", "actors/queue/schedule", "internal/clock", "internal/store"},
	"actors/queue/records":     {"policies", "actors/mail", "actors/queue/backlog", "actors/queue/content", "internal/clock", "internal/message", "internal/store", "internal/topology"},
	"actors/queue/wheel":       {},
}

// testRooms lists what tests may import in addition; "integration" alone may import everything.
var testRooms = []string{"internal/testkit/...", "actors/mailbox", "internal/store/memory"}

func actorOf(more ...string) []string {
	return append(append([]string{"actors/mail", "actors/actorlib"}, leaves...), more...)
}

// room returns the line for a folder: its own, or the line of the nearest "..." above it.
func room(dir string) ([]string, bool) {
	if allowed, ok := rooms[dir]; ok {
		return allowed, true
	}
	for up := path.Dir(dir); up != "."; up = path.Dir(up) {
		if allowed, ok := rooms[up+"/..."]; ok {
			return allowed, true
		}
	}
	return nil, false
}

func covers(pattern, dir string) bool {
	prefix, below := strings.CutSuffix(pattern, "...")
	if !below {
		return pattern == dir
	}
	return strings.HasPrefix(dir+"/", prefix)
}

// checkImports enforces the star: actors share only actors/mail, and lower packages do not import higher ones.
func checkImports(h *repository) (complaints []string) {
	for _, f := range h.files {
		allowed, ok := room(f.dir)
		if !ok {
			complaints = append(complaints, h.complain(f.tree.Name, "%s has no line in the import table of internal/tidy", f.dir))
			continue
		}
		for _, i := range f.tree.Imports {
			if strings.HasPrefix(imported(i), browserLibrary) && !(f.test && covers("integration/...", f.dir)) {
				complaints = append(complaints, h.complain(i, "only tests in integration drive a browser"))
			}
			target, ours := strings.CutPrefix(imported(i), module+"/")
			if !ours || strings.HasPrefix(target, f.dir+"/") {
				continue
			}
			permits := func(pattern string) bool { return covers(pattern, target) }
			if f.test && (target == f.dir || slices.ContainsFunc(testRooms, permits)) {
				continue
			}
			if !f.test && covers("internal/testkit/...", target) {
				complaints = append(complaints, h.complain(i, "internal/testkit is for tests"))
			} else if !slices.ContainsFunc(allowed, permits) {
				complaints = append(complaints, h.complain(i, "%s may not import %s", f.dir, target))
			}
		}
	}
	return complaints
}

// browserLibrary is for tests.
const browserLibrary = "github.com/chromedp/"

const actorLibrary = "github.com/asynkron/protoactor-go"

// addressLibrary connects our addresses with the actor library: a package that imports it depends on the library, too.
const addressLibrary = module + "/actors/actorlib"

// actorRooms may import the actor library.
var actorRooms = []string{"actors/...", "supervision/...", "integration/...", "internal/testkit"}

// pureRooms are below actorRooms and may not import it: they are the cores of actors, or call others through function values.
var pureRooms = []string{
	"actors/channel/assembler", "actors/channel/confirms", "actors/channel/outgoing", "actors/channel/output", "actors/channel/peers", "actors/channel/qos",
	"actors/channel/replies", "actors/channel/requests", "actors/channel/rights", "actors/channel/routing", "actors/channel/trace",
	"actors/channel/tx", "actors/channel/unacked",
	"actors/connection/connevents", "actors/connection10/transactions", "actors/exchange/history", "actors/mail",
	"actors/queue/acktimeouts", "actors/queue/backlog", "actors/queue/claims", "actors/queue/consumers", "actors/queue/content", "actors/queue/deadletters",
	"actors/queue/deferred", "actors/queue/deliveries", "actors/queue/duplicates", "actors/queue/expiry", "actors/queue/flowcontrol", "actors/queue/inspect", "actors/queue/lease", "actors/queue/messages", "actors/queue/notices",
	"actors/queue/paging", "actors/queue/purge", "actors/queue/receivers", "actors/queue/records", "actors/queue/schedule", "actors/queue/sessions", "actors/queue/wheel", "actors/queue/work",
	"actors/session/config", "actors/session/transactions",
	"actors/session/access", "actors/session/answers", "actors/session/batches", "actors/session/entities", "actors/session/incoming", "actors/session/management", "actors/session/settlement", "actors/session/sessionevents", "actors/session/temporary", "actors/session/tokens", "actors/session/transfers", "actors/session/window", "actors/vhost/refusal", "supervision/queries", "supervision/resources", "supervision/shovels",
}

// shells are the only files of their packages that may import it: the others are the core of an actor, or use only addresses.
var shells = map[string]string{
	"actors/command": "actor.go", "actors/deadletter": "deadletter.go", "actors/policy": "policy.go", "actors/vhost": "vhost.go",
}

// checkActorLibrary permits protoactor only in packages with actors, and only its package actor; state.go, the core, never imports it.
func checkActorLibrary(h *repository) (complaints []string) {
	for _, f := range h.files {
		at := func(pattern string) bool { return covers(pattern, f.dir) }
		shell, divided := shells[f.dir]
		pure := !slices.ContainsFunc(actorRooms, at) || slices.ContainsFunc(pureRooms, at) || path.Base(f.path) == "state.go" ||
			divided && !f.test && path.Base(f.path) != shell
		for _, i := range f.tree.Imports {
			switch name := imported(i); {
			case !strings.HasPrefix(name, actorLibrary) && name != addressLibrary:
			case pure:
				complaints = append(complaints, h.complain(i, "the actor library does not belong here"))
			case name != actorLibrary+"/actor" && name != addressLibrary:
				complaints = append(complaints, h.complain(i, "of the actor library we use package actor only"))
			}
		}
	}
	return complaints
}

// checkExits: only main may end the process.
func checkExits(h *repository) (complaints []string) {
	for _, f := range h.files {
		if f.tree.Name.Name == "main" || f.test {
			continue
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if isCall(n, "os", "Exit") || isCall(n, "log", "Fatal", "Fatalf", "Fatalln") {
				complaints = append(complaints, h.complain(n, "only package main ends the process"))
			}
			return true
		})
	}
	return complaints
}
