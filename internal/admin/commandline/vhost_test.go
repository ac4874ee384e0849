package commandline

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

// Usage shows -p for the verbs whose requests name the virtual host, and for no others.
func TestVHostOption(t *testing.T) {
	var mu sync.Mutex
	var asked strings.Builder
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		asked.WriteString(r.RequestURI + string(body) + "\n")
		switch {
		case r.Method != http.MethodGet:
			w.WriteHeader(http.StatusNoContent)
		case strings.HasSuffix(r.URL.Path, "/overview"):
			_, _ = io.WriteString(w, `{"node":"n@h"}`)
		case strings.Contains(r.URL.Path, "/nodes/"), strings.Contains(r.URL.Path, "/users/"), strings.Contains(r.URL.Path, "/x/messages"):
			_, _ = io.WriteString(w, `{}`)
		default:
			_, _ = io.WriteString(w, `[]`)
		}
	}))
	defer server.Close()
	broker, err := client.New(strings.Replace(server.URL, "//", "//guest:guest@", 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for i := range verbs {
		v := &verbs[i]
		names, least, _ := v.Parameters()
		if slices.Contains(names, "vhost") || slices.Contains([]string{"await_startup", "wait", "stop", "shutdown", "list_parameters"}, v.Name) { // the last one selects from all
			continue
		}
		o := verb.NewOptions(os.Getenv)
		if _, err := o.Take([]string{"-p", "MARK"}); err != nil {
			t.Fatal(err)
		}
		if v.Name == "cancel_scheduled" || v.Name == "reschedule" {
			least = len(names)
		}
		arguments := slices.Repeat([]string{"1"}, least)
		for n, name := range names[:least] {
			if name == "definition" || name == "value" {
				arguments[n] = "{}"
			}
		}
		if v.Name == "import_definitions" || v.Name == "export_definitions" {
			arguments = []string{"-"}
		}
		c := verb.NewCall(v, o, "here", arguments)
		c.In, c.Out, c.Err = strings.NewReader("{}"), io.Discard, io.Discard
		_ = v.Run(context.Background(), broker, c) // answers without content are errors for many
		mu.Lock()
		if uses, shows := strings.Contains(asked.String(), "MARK"), slices.Contains(strings.Fields(v.Options), "vhost"); uses != shows {
			t.Errorf("%s: asks with a virtual host %v, shows -p %v:\n%s", v.Name, uses, shows, &asked)
		}
		asked.Reset()
		mu.Unlock()
	}
}
