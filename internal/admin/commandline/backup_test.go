package commandline

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

// TestBackupElsewhere_CLU34: the command backup asks again when an answer is lost, and fails when another leader, or another process, knows nothing of its backup.
func TestBackupElsewhere_CLU34(t *testing.T) {
	const begun = `"node":"rabbit@n1","path":"/b","taken_at":"2026-11-28T23:00:00Z"`
	for answer, want := range map[string]string{
		`{"state":"finished",` + begun + `}`:                                                       "",
		`{"state":"none","node":"rabbit@n2"}`:                                                      "rabbit@n2 leads now",
		`{"state":"none","node":"rabbit@n1"}`:                                                      "no backup was made",
		`{"state":"finished","node":"rabbit@n1","path":"/b","taken_at":"2026-11-28T23:00:05Z"}`:    "no backup was made",
		`{"state":"running","node":"rabbit@n2","path":"/other","taken_at":"2026-11-28T23:00:05Z"}`: "no backup was made",
	} {
		lost := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodPost:
				fmt.Fprint(w, `{"state":"running",`+begun+`}`)
			case lost < 2:
				lost++
				panic(http.ErrAbortHandler)
			case lost == 2:
				lost++
				w.WriteHeader(http.StatusServiceUnavailable)
				fmt.Fprint(w, `{"error":"no_leader","reason":"no node leads the cluster at the moment"}`)
			default:
				fmt.Fprint(w, answer)
			}
		}))
		broker, err := client.New(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		v := named(verbs, "backup")
		c := verb.NewCall(v, verb.NewOptions(func(string) string { return "" }), server.URL, []string{"/b"})
		var out bytes.Buffer
		c.Out, c.Err = &out, &out
		err = v.Run(t.Context(), broker, c)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", answer, err)
		}
		server.Close()
	}
}
