package rest

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Packed is a text of any length that is compressed while it is written, so that an answer of hundreds of MB is never in memory.
// Close it when it is complete; then it can be sent once, to a client that takes gzip or to another one.
type Packed struct {
	chunks [][]byte
	size   int // bytes in chunks
	length int // of the text, bytes
	plain  bool
	gzip   *gzip.Writer
}

// NewPacked returns an empty Packed for the answer to a request, and sets the header that says whether it is sent compressed.
func NewPacked(h http.Header, r *http.Request) *Packed {
	p := &Packed{plain: !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")}
	if !p.plain {
		h.Set("Content-Encoding", "gzip")
	}
	p.gzip, _ = gzip.NewWriterLevel((*chunks)(p), gzip.BestSpeed) // a valid level
	return p
}

// Write adds a part of the text. There is no error.
func (p *Packed) Write(b []byte) (int, error) {
	p.length += len(b)
	return p.gzip.Write(b)
}

// Close ends the text.
func (p *Packed) Close() { _ = p.gzip.Close() } // chunks return no errors

// sent returns the number of bytes that the client gets.
func (p *Packed) sent() int {
	if p.plain {
		return p.length
	}
	return p.size
}

// writeTo writes the text, and calls gone with the number of bytes that it no longer keeps.
func (p *Packed) writeTo(w io.Writer, gone func(n int64)) error {
	from := &reading{p: p, gone: gone}
	if !p.plain {
		_, err := io.Copy(w, from)
		return err
	}
	text, err := gzip.NewReader(from)
	if err == nil {
		_, err = io.CopyBuffer(w, text, make([]byte, piece))
	}
	return err
}

// WritePacked writes a whole answer, as Write does.
func (o *Output) WritePacked(p *Packed, charged func()) {
	left := int64(p.size)
	o.part.Take(left)
	charged()
	defer func() { o.part.Return(left) }()
	deadline(o.w, p.sent())
	if o.gone.Load() {
		return
	}
	_ = p.writeTo(o.w, func(n int64) { // the client may have gone
		left -= n
		o.part.Return(n)
	})
}

// sendTo sends the text, or only the headers. Output is nil for a small text.
func (p *Packed) sendTo(w http.ResponseWriter, headersOnly bool, o *Output, charged func()) {
	w.Header().Set("Content-Length", strconv.Itoa(p.sent()))
	if headersOnly {
		*p = Packed{}
	}
	if o != nil {
		o.WritePacked(p, charged)
		return
	}
	charged()
	deadline(w, p.sent())
	_ = p.writeTo(w, func(int64) {}) // the client may have gone
}

// chunks is a Packed that takes compressed bytes.
type chunks Packed

func (c *chunks) Write(b []byte) (int, error) {
	n := len(b)
	c.size += n
	for len(b) > 0 {
		last := len(c.chunks) - 1
		if last < 0 || len(c.chunks[last]) == cap(c.chunks[last]) {
			c.chunks = append(c.chunks, make([]byte, 0, piece))
			last++
		}
		part := min(len(b), cap(c.chunks[last])-len(c.chunks[last]))
		c.chunks[last] = append(c.chunks[last], b[:part]...)
		b = b[part:]
	}
	return n, nil
}

// reading reads the compressed bytes of a Packed, which then has no more than what is left.
type reading struct {
	p    *Packed
	gone func(n int64)
	done int // of the first chunk
}

func (r *reading) Read(b []byte) (n int, err error) {
	if len(r.p.chunks) == 0 {
		return 0, io.EOF
	}
	first := r.p.chunks[0]
	n = copy(b, first[r.done:])
	if r.done += n; r.done == len(first) {
		r.p.chunks[0], r.p.chunks, r.done = nil, r.p.chunks[1:], 0
		r.gone(int64(len(first)))
	}
	return n, nil
}
