package rest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"candlemark/internal/transport/budget"
)

// TestPacked_ACC12: an answer of 8 MB of metrics is a fraction of that in memory, for clients that take gzip and for others, who get
// the same text; nothing stays counted.
func TestPacked_ACC12(t *testing.T) {
	row := []byte(`rabbitmq_queue_messages_ready{vhost="/",queue="orders",number="`)
	for _, accepts := range []string{"gzip, deflate", ""} {
		unread := budget.NewUnread()
		w := httptest.NewRecorder()
		q := httptest.NewRequest(http.MethodGet, "/", nil)
		q.Header.Set("Accept-Encoding", accepts)
		r := &Request{Request: q, W: w, out: NewOutput(w, unread, "u")}
		p, want := NewPacked(w.Header(), q), new(bytes.Buffer)
		for n := 0; p.length < 8<<20; n++ {
			text := fmt.Appendf(nil, "%s%d\"} %d\n", row, n, n*n)
			want.Write(text)
			_, _ = p.Write(text)
		}
		if p.Close(); p.size > p.length/5 || len(p.chunks) > p.size/piece+1 {
			t.Errorf("%d bytes in %d pieces for %d", p.size, len(p.chunks), p.length)
		}
		p.sendTo(w, false, r.out, r.collected)
		if w.Header().Get("Content-Length") != strconv.Itoa(w.Body.Len()) {
			t.Errorf("%s announced, %d sent", w.Header().Get("Content-Length"), w.Body.Len())
		}
		body := io.Reader(w.Body)
		if accepts != "" {
			body, _ = gzip.NewReader(body)
		}
		if got, err := io.ReadAll(body); err != nil || !bytes.Equal(got, want.Bytes()) || len(p.chunks) > 0 {
			t.Errorf("accepts %q: %d bytes of %d, %v", accepts, len(got), want.Len(), err)
		}
		if used := unread.Used(); used != 0 {
			t.Errorf("%d bytes stay counted", used)
		}
	}
}
