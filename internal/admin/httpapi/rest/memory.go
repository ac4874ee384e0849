package rest

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// Bounds on the memory for bodies of requests, in bytes. While a body is read it counts once; before it is decoded, with
// its decoded form.
const (
	memoryForBodies = 128 << 20 // of all requests together
	memoryOfOne     = 96 << 20  // of the requests of one user
	firstRead       = 4 << 10
	valueMemory     = 80 // of a decoded value, and of a key, besides its text
)

// decoded returns the memory of a text of JSON of which there are so many copies, with the values to which it is decoded: a list
// of empty lists takes 15 times its text, and more while it grows.
func decoded(text []byte, copies int64) int64 {
	values, quoted, escaped := int64(1), false, false
	for _, c := range text {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == ',' || c == ':' || c == '[' || c == '{':
			values++
		}
	}
	return copies*int64(len(text)) + values*valueMemory
}

// The memory of bodies of requests.
var (
	decodedForm     = func(text []byte) int64 { return int64(len(text)) }
	decodedJSON     = func(text []byte) int64 { return decoded(text, 2) }
	decodedText     = func(text []byte) int64 { return decoded(text, 3) }     // a message: its text, the body, the frames
	decodedDocument = func(text []byte) int64 { return 4 * int64(len(text)) } // definitions: their text, its copy from a form, its items, which are decoded one at a time, the definitions
)

// memory is memory that requests share. One user cannot take all of it.
type memory struct {
	mu   sync.Mutex
	used int64
	by   map[string]int64
}

// take takes n more bytes; false if there is no room.
func (m *memory) take(user string, n int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used+n > memoryForBodies || m.by[user]+n > memoryOfOne {
		return false
	}
	if m.by == nil {
		m.by = map[string]int64{}
	}
	m.used += n
	m.by[user] += n
	return true
}

// give returns n bytes.
func (m *memory) give(user string, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n == 0 {
		return
	}
	m.used -= n
	if m.by[user] -= n; m.by[user] <= 0 {
		delete(m.by, user)
	}
}

var errNoMemory = errors.New("too many request bodies at a time")

// hold raises the memory of the request to n bytes. It is returned when the request is answered.
func (r *Request) hold(n int64) error {
	if n <= r.held {
		return nil
	}
	if r.held == 0 {
		r.holder = r.User.Name
	}
	if !r.memory.take(r.holder, n-r.held) {
		return errNoMemory
	}
	r.held = n
	return nil
}

// text reads the body of a request, of at most limit bytes; memory returns what it takes when it is decoded. Memory is
// reserved as bytes arrive, so that slow senders hold little.
func (r *Request) text(limit int64, memory func(text []byte) int64) ([]byte, error) {
	b, err := r.read(limit)
	if err == nil {
		err = r.hold(memory(b))
	}
	switch {
	case err == nil:
		return b, nil
	case errors.Is(err, errNoMemory):
		r.W.Header().Set("Retry-After", "1")
		return nil, Refuse(http.StatusServiceUnavailable, "service_unavailable", err.Error())
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, Complaint("Exceeded HTTP request body size limit")
	}
	return nil, Complaint("the request body could not be read")
}

func (r *Request) read(limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		r.W.Header().Set("Connection", "close")
		return nil, &http.MaxBytesError{Limit: limit}
	}
	body := http.MaxBytesReader(r.W, r.Body, limit)
	var b []byte
	for {
		if len(b) == cap(b) {
			size := int64(max(2*cap(b), firstRead))
			if whole := r.ContentLength + 1; r.ContentLength >= 0 { // one more, to detect the end
				size = min(size, whole)
			}
			if err := r.hold(size); err != nil {
				return nil, err
			}
			b = append(make([]byte, 0, size), b...)
		}
		n, err := body.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
