package ui

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"candlemark/integration/testkit/sandbox"
)

func TestMain(m *testing.M) { os.Exit(sandbox.Of(m).Run()) }

// The tests of the JavaScript modules pass in Node's test runner.
func TestComputing(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("CANDLEMARK_REQUIRE_CLIENTS") == "1" {
			t.Fatal(err)
		}
		t.Skip("no node (nodejs.org, 20.19 or newer)")
	}
	modules, err := filepath.Abs("static")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "node", "--test", "testdata/computing.test.mjs")
	c.Env = append(c.Environ(), "CANDLEMARK_TEST_UI="+modules)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func get(f http.Handler, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

// A file is sent plain or compressed, each with its own ETag, and is not sent again to clients that have it.
func TestFiles(t *testing.T) {
	page := Handlers()["/{$}"]
	plain, packed := get(page), get(page, "Accept-Encoding", "br;q=1, gzip;q=0.5")
	unpack, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpack)
	if want, _ := static.ReadFile("static/index.html"); err != nil || !bytes.Equal(text, want) || plain.Body.String() != string(want) {
		t.Errorf("%v: %s", err, text)
	}
	if get(page, "Accept-Encoding", "gzip; q=0.0, br").Header().Get("Content-Encoding") != "" {
		t.Error("packed for who does not unpack")
	}
	tags := map[string]bool{}
	for _, w := range []*httptest.ResponseRecorder{plain, packed} {
		tag := w.Header().Get("ETag")
		tags[tag] = true
		again := get(page, "If-None-Match", tag, "Accept-Encoding", map[bool]string{true: "gzip"}[w == packed])
		if again.Code != http.StatusNotModified || again.Body.Len() > 0 || get(page, "If-None-Match", `"other"`).Code != 200 {
			t.Errorf("%s: %d", tag, again.Code)
		}
		for name, want := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff",
			"Referrer-Policy": "no-referrer", "Vary": "Accept-Encoding", "Content-Security-Policy": policy,
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
	if len(tags) != 2 {
		t.Error(tags)
	}
}

// maxBytes is the maximum size of all files together: what a browser loads at once, compressed to a third of that.
const maxBytes = 290 << 10

// No file loads anything from other hosts, and no markup contains scripts, styles or handlers, which the
// Content-Security-Policy would block. Names and payloads are inserted as text: no markup is made from strings.
func TestWhatFilesMayHave(t *testing.T) {
	forbidden := map[string]*regexp.Regexp{
		"an address elsewhere":  regexp.MustCompile(`(?:https?:)?//[\w.]+\.\w+/`),
		"markup made of text":   regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|setHTMLUnsafe|srcdoc`),
		"code made of text":     regexp.MustCompile(`\beval\(|new Function|set(?:Timeout|Interval)\(\s*['"` + "`]"),
		"a style as text":       regexp.MustCompile(`cssText|setAttribute\(\s*['"]style`),
		"what reads like a tag": regexp.MustCompile(`(?i)<script[^>]*>\s*\S|<style|\sstyle=|\son\w+=["']|javascript:`),
	}
	spaces := strings.NewReplacer("http://www.w3.org/2000/svg", "", "http://www.w3.org/1999/xhtml", "")
	index, _ := static.ReadFile("static/index.html")
	total := 0
	err := fs.WalkDir(static, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := static.ReadFile(name)
		total += len(text)
		for what, pattern := range forbidden {
			body := spaces.Replace(string(text))
			if path.Ext(name) == ".html" {
				body = strings.ReplaceAll(body, `<script type="module" src="ui/app.js"></script>`, "")
			}
			if found := pattern.FindString(body); found != "" {
				t.Errorf("%s has %s: %q", name, what, found)
			}
		}
		if strings.Contains(spaces.Replace(string(text)), "://") {
			t.Errorf("%s names an address", name)
		}
		if types[path.Ext(name)] == "" {
			t.Errorf("%s has no type", name)
		}
		if at := `"ui` + strings.TrimPrefix(name, "static") + `"`; path.Ext(name) == ".js" && !strings.Contains(string(index), at) {
			t.Errorf("index.html does not have the browser load %s at once", at)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d bytes", total); total > maxBytes {
		t.Errorf("all files together have %d bytes, at most %d", total, maxBytes)
	}
}

// Dark mode changes only colours: therefore the other tests of the pages use light mode only.
func TestColours(t *testing.T) {
	css, _ := static.ReadFile("static/app.css")
	_, rest, found := strings.Cut(string(css), "@media (prefers-color-scheme: dark) {\n  :root {\n")
	dark, rest, ended := strings.Cut(rest, "\n  }\n}\n")
	if !found || !ended || strings.Contains(rest, "prefers-color-scheme") {
		t.Fatal("the stylesheet has no block of dark colours, or another one")
	}
	for declaration := range strings.SplitSeq(dark, ";") {
		if d := strings.TrimSpace(declaration); d != "" && d != "color-scheme: dark" && !regexp.MustCompile(`^--\w+(-\w+)*: #[0-9a-f]{3,6}$`).MatchString(d) {
			t.Errorf("%q", d)
		}
	}
	scripts, _ := fs.Glob(static, "static/*.js")
	pages, _ := fs.Glob(static, "static/pages/*.js")
	for _, name := range append(scripts, pages...) {
		if text, _ := static.ReadFile(name); strings.Contains(string(text), "matchMedia") {
			t.Errorf("%s asks what the system prefers", name)
		}
	}
}
