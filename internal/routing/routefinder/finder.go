package routefinder

import (
	"bytes"

	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// Finder finds the routes of messages, one at a time, and remembers the last route. It belongs to one goroutine. The zero value is
// ready; it must not be copied after the first use.
type Finder struct {
	topology.Router // its methods describe the last route
	content         Content
	headers         func() protocol.Table // method value, created once
	keys            [][]byte
	queues          []*topology.Queue
	remembered      bool // queues are the route of key
	key             []byte
}

// Find returns the route of a message with a key and more keys, of its carbon copies; see topology.Router.RouteAll. Headers and
// properties are decoded only if an exchange needs them.
func (f *Finder) Find(d *topology.Directory, x *topology.Exchange, c Content, key []byte, more [][]byte) []*topology.Queue {
	if f.headers == nil {
		f.headers, f.Properties = f.content.table, f.content.properties
	}
	f.content, f.remembered = c, false
	if len(more) == 0 {
		f.queues = f.Route(d, x, key, f.headers)
		f.remembered = f.Steady() && !f.Over() && f.Refusal() == nil
		f.key = append(f.key[:0], key...)
	} else {
		f.keys = append(append(f.keys[:0], key), more...)
		f.queues = f.RouteAll(d, x, f.keys, f.headers)
		clear(f.keys)
	}
	f.content = Content{}
	return f.queues
}

// Remembers reports whether the last route is also the route of a message with key alone, to the same exchange. After changes of the
// topology, callers call Forget.
func (f *Finder) Remembers(key []byte) bool { return f.remembered && bytes.Equal(f.key, key) }

// Queues returns the queues of the last route.
func (f *Finder) Queues() []*topology.Queue { return f.queues }

// Forget makes Remembers return false until the next Find.
func (f *Finder) Forget() { f.queues, f.remembered = nil, false }

// Long returns a search for the route of Find that does not end in one turn. The message must be kept until the search ends.
func Long(v *topology.VHost, x *topology.Exchange, c Content, key []byte, more [][]byte) *topology.Long {
	return v.Long(x, append([][]byte{key}, more...), c.table, c.properties)
}

// Content is the part of a message that exchanges may compare, besides keys. The zero value has neither headers nor properties.
type Content struct {
	Header  []byte           // raw property list of the publisher; valid
	Overlay *message.Overlay // adds to Header; may be nil
	Headers []byte           // raw headers if they are known and Overlay is nil, otherwise nil
}

// table returns the headers.
func (c *Content) table() protocol.Table {
	var p protocol.Properties
	switch {
	case c.Headers != nil:
		t, _ := protocol.DecodeTable(c.Headers)
		return t
	case c.Overlay == nil:
		p, _ = protocol.SelectProperties(c.Header, protocol.FlagHeaders, nil)
	default:
		p, _, _ = c.properties()
	}
	return p.Headers
}

// properties implements Router.Properties.
func (c *Content) properties() (p protocol.Properties, original []byte, size int) {
	return c.Overlay.Decode(c.Header)
}
