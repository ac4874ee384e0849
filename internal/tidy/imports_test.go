package tidy

import (
	"go/ast"
	"path"
	"slices"
	"strings"
)

// districts lists the districts of the repository, a folder each, from the lowest to the highest, with the districts that
// their packages may import besides their own. A row names only districts above it in the list.
var districts = []struct {
	name string
	may  string
}{
	{"protocol", ""},
	{"internal/text", "protocol"},
	{"policies", "protocol internal/text"},
	{"internal/measure", "protocol internal/text policies"},
	{"internal/access", "protocol internal/text policies internal/measure"},
	{"internal/routing", "protocol internal/text internal/measure"},
	{"internal/transport", "internal/measure internal/routing"},
	{"internal/servicebus", "protocol policies internal/access internal/measure internal/routing"},
	{"internal/storage", "protocol internal/text policies internal/access internal/measure internal/routing internal/servicebus"},
	{"internal/admin", "protocol internal/text policies internal/access internal/measure internal/routing internal/transport internal/servicebus internal/storage"},
	{"actors/system", "protocol policies internal/measure internal/routing internal/transport"},
	{"actors/queue", "protocol policies internal/measure internal/routing internal/transport internal/storage actors/system"},
	{"actors/names", "protocol policies internal/access internal/measure internal/routing internal/transport internal/storage actors/system"},
	{"actors/movers", "protocol internal/measure internal/routing internal/transport internal/storage actors/system"},
	{"actors/client", "protocol policies internal/text internal/access internal/measure internal/routing internal/transport internal/servicebus actors/system"},
	{"supervision", "protocol policies internal/... actors/..."},
	{"internal/tidy", ""},
	{"cmd", "protocol policies internal/... supervision"},
	{"integration", "protocol policies internal/... actors/... supervision cmd"},
}

// apart lists packages that serve the same purpose in different ways: neither they nor packages below them import each other,
// nor does another package of their folder.
var apart = []string{
	"actors/client/channel", "actors/client/command", "actors/client/connection", "actors/client/connection10", "actors/client/session10",
	"actors/movers/move", "actors/movers/recurring", "actors/movers/republish", "actors/movers/shovel",
	"actors/names/exchange", "actors/names/policy", "actors/names/vhost",
	"internal/admin/httpapi/accounts", "internal/admin/httpapi/clients", "internal/admin/httpapi/definitionfile", "internal/admin/httpapi/effects",
	"internal/admin/httpapi/exposition", "internal/admin/httpapi/messages", "internal/admin/httpapi/node", "internal/admin/httpapi/servicebus",
	"internal/admin/httpapi/schedules", "internal/admin/httpapi/shovels", "internal/admin/httpapi/topology", "internal/admin/httpapi/websocket",
}

// forTests lists what tests may import in addition; "integration" alone may import everything.
var forTests = []string{"integration/testkit/...", "actors/system/mailbox", "internal/storage/store/memory"}

// district returns the index of a folder's district, -1 for none.
func district(dir string) int {
	return slices.IndexFunc(districts, func(d struct{ name, may string }) bool { return covers(d.name+"/...", dir) })
}

func covers(pattern, dir string) bool {
	prefix, below := strings.CutSuffix(pattern, "...")
	if !below {
		return pattern == dir
	}
	return strings.HasPrefix(dir+"/", prefix)
}

// separated reports whether two packages of one folder belong to different ones of apart.
func separated(from, to string) bool {
	of := slices.IndexFunc(apart, func(name string) bool { return covers(name+"/...", to) })
	return of >= 0 && !covers(apart[of]+"/...", from) && path.Dir(apart[of]) != from && strings.HasPrefix(from, path.Dir(apart[of])+"/")
}

// checkImports enforces the table of districts.
func checkImports(h *repository) (complaints []string) {
	for _, f := range h.files {
		at := district(f.dir)
		if at < 0 {
			complaints = append(complaints, h.complain(f.tree.Name, "%s is in no district of internal/tidy", f.dir))
			continue
		}
		may := strings.Fields(districts[at].may)
		for _, i := range f.tree.Imports {
			if strings.HasPrefix(imported(i), browserLibrary) && !(f.test && covers("integration/...", f.dir)) {
				complaints = append(complaints, h.complain(i, "only tests in integration drive a browser"))
			}
			target, ours := strings.CutPrefix(imported(i), module+"/")
			if !ours || f.test && (target == f.dir || slices.ContainsFunc(forTests, func(pattern string) bool { return covers(pattern, target) })) {
				continue
			}
			own := covers(districts[at].name+"/...", target)
			permits := func(pattern string) bool { return covers(strings.TrimSuffix(pattern, "/...")+"/...", target) }
			switch {
			case !covers("integration/...", f.dir) && covers("integration/testkit/...", target):
				complaints = append(complaints, h.complain(i, "integration/testkit is for tests"))
			case !own && !slices.ContainsFunc(may, permits), separated(f.dir, target):
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
const addressLibrary = module + "/actors/system/actorlib"

// shells are the packages that may import the actor library: all others are the cores of actors, or call actors through
// function values. Where a file is named, only this file of the package is the shell.
var shells = map[string]string{
	"actors/client/channel": "channel.go", "actors/client/command": "actor.go", "actors/client/connection": "", "actors/client/connection10": "",
	"actors/client/lifecycle": "", "actors/client/session10": "session.go", "actors/client/shell": "", "actors/movers/move": "", "actors/movers/recurring": "recurring.go", "actors/movers/republish": "deadletter.go",
	"actors/movers/shovel": "", "actors/names/exchange": "", "actors/names/policy": "policy.go", "actors/names/vhost": "vhost.go",
	"actors/queue": "", "actors/system/actorlib": "", "actors/system/mailbox": "",
	"supervision": "", "supervision/ask": "", "supervision/localchannel": "",
}

// checkActorLibrary permits protoactor only in packages with actors, and only its package actor; state.go, the core, never imports it.
func checkActorLibrary(h *repository) (complaints []string) {
	for _, f := range h.files {
		shell, known := shells[f.dir]
		pure := !known && !covers("integration/...", f.dir) || path.Base(f.path) == "state.go" || shell != "" && !f.test && path.Base(f.path) != shell
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
