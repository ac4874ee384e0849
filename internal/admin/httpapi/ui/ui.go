package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed static
var static embed.FS

// policy allows the pages nothing but files and answers of this server: no script or style in markup, no markup made of
// text (Trusted Types), no frame around them.
const policy = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// types are the content types of the files, by the ends of their names.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// file is one of them, as it is sent.
type file struct {
	kind   string
	plain  []byte
	packed func() []byte // with gzip, on the first request: a broker without web users does not need it
	tag    string        // of the content, in hex
}

// all has the files by path. It is made once for a process.
var all = sync.OnceValue(func() map[string]*file {
	files := map[string]*file{}
	err := fs.WalkDir(static, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := static.ReadFile(name)
		if err != nil {
			return err
		}
		at := "/ui" + strings.TrimPrefix(name, "static")
		if at == "/ui/index.html" {
			at = "/{$}"
		}
		files[at] = newFile(types[path.Ext(name)], text)
		return nil
	})
	if err != nil {
		panic(err) // they are part of the program
	}
	return files
})

func newFile(kind string, text []byte) *file {
	sum := sha256.Sum256(text)
	return &file{kind, text, sync.OnceValue(func() []byte { return pack(text) }), hex.EncodeToString(sum[:12])}
}

func pack(text []byte) []byte {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is one
	_, _ = w.Write(text)                                       // to memory
	_ = w.Close()
	return packed.Bytes()
}

// Handlers returns who answers GET for each path, as patterns of http.ServeMux.
func Handlers() map[string]http.Handler {
	handlers := map[string]http.Handler{}
	for at, f := range all() {
		handlers[at] = f
	}
	return handlers
}

// ServeHTTP sends the file, or says that the browser has it already: it asks each time, as the next version of the broker
// has other files under the same names.
func (f *file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	text, tag := f.plain, f.tag
	if unpacks(r) {
		text, tag = f.packed(), tag+"-gzip"
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// unpacks reports whether the client accepts gzip.
func unpacks(r *http.Request) bool {
	return slices.ContainsFunc(strings.Split(r.Header.Get("Accept-Encoding"), ","), func(coding string) bool {
		name, quality, _ := strings.Cut(coding, ";")
		quality = strings.ReplaceAll(quality, " ", "")
		return strings.TrimSpace(name) == "gzip" && (!strings.HasPrefix(quality, "q=0") || strings.Trim(quality, "q=.0") != "")
	})
}
