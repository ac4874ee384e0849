package store

import "fmt"

// Name is the name of a queue, which unlike its number may be used again.
type Name struct{ VHost, Queue string }

// String returns the name as errors and logs write it.
func (n Name) String() string { return fmt.Sprintf("queue '%s' in vhost '%s'", n.Queue, n.VHost) }

// Path is VHOST/NAME, as a command line takes it. Other names may have the same.
func (n Name) Path() string { return n.VHost + "/" + n.Queue }

// Naming returns the record of a name.
func Naming(n Name) Record {
	return Record{Kind: Named, Exchange: []byte(n.VHost), RoutingKey: []byte(n.Queue)}
}

// Name returns the name in a record of kind Named.
func (r *Record) Name() Name { return Name{VHost: string(r.Exchange), Queue: string(r.RoutingKey)} }

// Title returns the text for a queue in errors and logs: its name if it was recorded, else its number.
func Title(id QueueID, names map[QueueID]Name) string {
	if n, ok := names[id]; ok {
		return fmt.Sprintf("%s (number %d)", n, id)
	}
	return fmt.Sprintf("queue number %d (name not recorded)", id)
}
