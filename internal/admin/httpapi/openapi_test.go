package httpapi

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"candlemark/internal/measure/queuestats"

	"github.com/rs/zerolog"
)

// described has the operations, paths and components of openapi.yaml, as found by matching its lines.
type described struct {
	operations map[string]bool // "get /api/queues/{}": whether it needs no login
	paths      map[string]string
	components map[string]bool // "schemas/Queue": whether it is referred to
	references []string
}

var (
	pathLine      = regexp.MustCompile(`^  (/\S*):$`)
	methodLine    = regexp.MustCompile(`^    (get|put|post|delete):$`)
	kindLine      = regexp.MustCompile(`^  (\w+):$`)
	componentLine = regexp.MustCompile(`^    ([\w-]+):`)
	reference     = regexp.MustCompile(`\$ref: '#/components/([\w/-]+)'`)
)

func describedPaths() described {
	d := described{operations: map[string]bool{}, paths: map[string]string{}, components: map[string]bool{}}
	paths, components, _ := strings.Cut(string(document), "\ncomponents:\n")
	_, paths, _ = strings.Cut(paths, "\npaths:\n")
	path, operation := "", ""
	for line := range strings.Lines(paths) {
		line = strings.TrimSuffix(line, "\n")
		if m := pathLine.FindStringSubmatch(line); m != nil {
			path = m[1]
		} else if m := methodLine.FindStringSubmatch(line); m != nil {
			operation = strings.ToUpper(m[1]) + " " + variable.ReplaceAllString(path, "{}")
			d.operations[operation] = false
		} else if line == "      security: []" {
			d.operations[operation] = true
		} else if strings.HasPrefix(line, "    parameters: ") {
			d.paths[path] = line
		}
		if _, known := d.paths[path]; !known {
			d.paths[path] = ""
		}
	}
	kind := ""
	for line := range strings.Lines(components) {
		if m := kindLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			kind = m[1]
		} else if m := componentLine.FindStringSubmatch(line); m != nil {
			d.components[kind+"/"+m[1]] = kind == "securitySchemes"
		}
	}
	for _, m := range reference.FindAllStringSubmatch(string(document), -1) {
		d.references = append(d.references, m[1])
	}
	return d
}

// Every route is described, every described operation is served, and it needs a login unless the document says otherwise.
func TestOpenAPI(t *testing.T) {
	d := describedPaths()
	apart := map[string][]string{ // routes described as several operations
		"GET /api/connections/{}/{}":    {"GET /api/connections/{}/channels", "GET /api/connections/{}/sessions", "GET /api/connections/username/{}"},
		"DELETE /api/connections/{}/{}": {"DELETE /api/connections/username/{}"},
	}
	for _, r := range routes() {
		route := r.Method + " " + variable.ReplaceAllString(r.Path, "{}")
		names := apart[route]
		if names == nil {
			names = []string{route}
		}
		for _, name := range names {
			if _, is := d.operations[name]; !is {
				t.Errorf("%s is not described", name)
			}
		}
	}
	h := NewHandler(&serving{fake: newFake("/")}, users, zerolog.Nop())
	for operation, open := range d.operations {
		method, path, _ := strings.Cut(operation, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, strings.ReplaceAll(path, "{}", "x"), nil))
		if is := w.Code != http.StatusUnauthorized; is != open && path != "/api/login" || !served(h, method, strings.ReplaceAll(path, "{}", "x")) {
			t.Errorf("%s: %d, but %v", operation, w.Code, open)
		}
	}
	for path, parameters := range d.paths {
		for _, name := range variable.FindAllString(path, -1) {
			if !strings.Contains(parameters, "/"+strings.Trim(name, "{}")+"_in_path'") {
				t.Errorf("%s: %s is not described", path, name)
			}
		}
	}
	for _, name := range d.references {
		if _, is := d.components[name]; !is {
			t.Errorf("%s is not there", name)
		}
		d.components[name] = true
	}
	for name, used := range d.components {
		if !used {
			t.Errorf("nothing refers to %s", name)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/openapi.yaml", nil))
	if w.Code != 200 || w.Body.String() != string(document) || w.Header().Get("Content-Type") != "application/yaml" {
		t.Errorf("%d, %s", w.Code, w.Header())
	}
}

// Each figure of the table is in the description of a queue, and each of our own metrics of all queues in docs/metrics.md.
func TestFiguresAreDescribed(t *testing.T) {
	page, err := os.ReadFile("../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for i := range queuestats.Table {
		f := &queuestats.Table[i]
		with := regexp.MustCompile(`(?m)^            ` + f.Name + `: \{type: integer, description: '?` + f.Help + `'?\}$`)
		if plain := "\n        " + f.Name + ": {type: integer}\n"; !with.Match(document) && !strings.Contains(string(document), plain) {
			t.Errorf("openapi.yaml lacks %s: %s", f.Name, f.Help)
		}
		if strings.HasPrefix(f.Total, "candlemark_") && !strings.Contains(string(page), "`"+f.Total+"`") {
			t.Errorf("docs/metrics.md lacks %s", f.Total)
		}
	}
}
