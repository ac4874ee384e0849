package commandline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

// TestLostAnswers_CLU22: commands that make another node lead succeed although the node that was asked loses its connections by that.
func TestLostAnswers_CLU22(t *testing.T) {
	for _, name := range []string{"transfer_leadership", "drain"} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			puts, lose := 0, 0 // one of them has changed the leader; connections that are lost before another answer
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if r.Method == http.MethodPut {
					if puts++; puts == 1 {
						lose = 2
					}
				}
				if lose > 0 {
					lose--
					panic(http.ErrAbortHandler)
				}
				fmt.Fprintf(w, `{"node":"rabbit@n1","leader":"rabbit@n%d","members":[{"name":"rabbit@n1"},{"name":"rabbit@n2"}]}`, 1+min(puts, 1))
			}))
			defer server.Close()
			broker, err := client.New(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			for i := range verbs {
				if v := &verbs[i]; v.Name == name {
					c := verb.NewCall(v, &verb.Options{}, server.URL, nil)
					c.Out, c.Err = &out, &out
					err = v.Run(t.Context(), broker, c)
				}
			}
			if err != nil || !strings.HasPrefix(out.String(), "Node rabbit@n") {
				t.Errorf("%v, %q", err, out.String())
			}
		})
	}
}

// TestRefusedAfterLoss_CLU22: a drain whose answer was lost, and that is refused when it is asked for again, fails.
func TestRefusedAfterLoss_CLU22(t *testing.T) {
	var puts atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut {
			fmt.Fprint(w, `{"node":"rabbit@n1","leader":"rabbit@n1","members":[{"name":"rabbit@n1"},{"name":"rabbit@n2"}]}`)
			return
		}
		if puts.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	broker, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := verb.NewCall(&verb.Row{Name: "drain", Arguments: "[<node>]"}, &verb.Options{}, server.URL, []string{"rabbit@n2"})
	c.Out, c.Err = io.Discard, io.Discard
	var refused *client.Error
	if err := drain(t.Context(), broker, c); !errors.As(err, &refused) || refused.Status != http.StatusForbidden {
		t.Errorf("%v", err)
	}
}
