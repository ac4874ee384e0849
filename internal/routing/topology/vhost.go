package topology

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"weak"
)

// VHost is the handle of one virtual host, shared by all actors that route in it. Name, PID and DeadLetter are set
// before it is shared and never change.
type VHost struct {
	// Name as clients write it in connection.open, for example "/".
	Name string
	// PID is the vhost actor, which owns the names.
	PID Address
	// DeadLetter is the dead-letter actor of this vhost.
	DeadLetter Address

	defaultQueueType atomic.Pointer[string]
	tracing          atomic.Bool

	directory  atomic.Pointer[Directory]
	generation atomic.Uint64
	requesters requesters
	waiting    struct {
		sync.Mutex
		list []weak.Pointer[QueueStats] // of queues that have had expiring messages since the last query; some may be deleted
	}
	costs costs
	lane  chan struct{} // of long routes, full while one is computed
}

// costs counts what was not compared because it would have taken too many steps.
type costs struct {
	skipped, rules atomic.Uint64
}

// SkippedBindings returns how often Exchange.Skipped has counted a message, at all exchanges so far, also deleted ones.
func (v *VHost) SkippedBindings() uint64 { return v.costs.skipped.Load() }

// CostlyRules returns the sum of QueueStats.CostlyRules of all queues so far, also deleted ones.
func (v *VHost) CostlyRules() uint64 { return v.costs.rules.Load() }

// NewVHost returns the handle of a virtual host with an empty directory and generation 0.
func NewVHost(name string) *VHost {
	v := &VHost{Name: name, lane: make(chan struct{}, 1)}
	v.directory.Store(&Directory{})
	return v
}

// DefaultQueueType returns the type of queues declared without one: "classic", "quorum", or "" for the broker's
// default.
func (v *VHost) DefaultQueueType() string {
	if kind := v.defaultQueueType.Load(); kind != nil {
		return *kind
	}
	return ""
}

// SetDefaultQueueType takes effect with the next declare.
func (v *VHost) SetDefaultQueueType(kind string) { v.defaultQueueType.Store(&kind) }

// TraceExchange is the exchange that the firehose copies messages to.
const TraceExchange = "amq.rabbitmq.trace"

// Tracing reports whether publishes and deliveries are copied to TraceExchange. Hot paths call it once per batch.
func (v *VHost) Tracing() bool { return v.tracing.Load() }

// SetTracing switches the firehose for later messages.
func (v *VHost) SetTracing(on bool) { v.tracing.Store(on) }

// Directory returns the current snapshot of the names. Never nil.
func (v *VHost) Directory() *Directory { return v.directory.Load() }

// Publish makes d the current snapshot and bumps the generation. Only the vhost actor calls it.
func (v *VHost) Publish(d *Directory) {
	v.directory.Store(d)
	v.Bump()
}

// Generation grows with every directory or routing table published in this vhost. A route found after reading generation g is
// current as long as the generation is still g.
func (v *VHost) Generation() uint64 { return v.generation.Load() }

// Bump invalidates cached routes. An exchange actor calls it after Exchange.Publish, so that a reader of the new
// generation sees the new table as well.
func (v *VHost) Bump() { v.generation.Add(1) }

// VHosts are the virtual hosts that clients may use, by name. Any goroutine may read at any time, without a lock; one
// at a time may change them. The zero value has none.
type VHosts struct {
	all atomic.Pointer[map[string]*VHost]
}

func (v *VHosts) load() map[string]*VHost {
	if all := v.all.Load(); all != nil {
		return *all
	}
	return nil
}

// Find finds a virtual host.
func (v *VHosts) Find(name string) (*VHost, bool) {
	found, ok := v.load()[name]
	return found, ok
}

// List returns the virtual hosts of that name, all for "", sorted.
func (v *VHosts) List(name string) []*VHost {
	all := v.load()
	var list []*VHost
	for _, n := range slices.Sorted(maps.Keys(all)) {
		if name == "" || name == n {
			list = append(list, all[n])
		}
	}
	return list
}

// Add opens a virtual host to clients.
func (v *VHosts) Add(added *VHost) {
	all := maps.Clone(v.load())
	if all == nil {
		all = map[string]*VHost{}
	}
	all[added.Name] = added
	v.all.Store(&all)
}

// Remove closes a virtual host to new clients.
func (v *VHosts) Remove(name string) {
	all := maps.Clone(v.load())
	delete(all, name)
	v.all.Store(&all)
}
