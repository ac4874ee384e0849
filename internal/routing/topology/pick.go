package topology

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"candlemark/internal/routing/topology/canonical"
	"candlemark/protocol"
)

// The types of exchange that route each message to one of their destinations; plugins of RabbitMQ provide them
// (DEC-16).
const (
	// ConsistentHashType routes equal keys to one destination, and keeps most of that mapping when bindings come and
	// go. Binding keys are weights.
	ConsistentHashType = "x-consistent-hash"
	// ModulusHashType routes equal keys to one destination as long as the bindings stay the same.
	ModulusHashType = "x-modulus-hash"
	// RandomType and LocalRandomType route each message to a random destination.
	RandomType      = "x-random"
	LocalRandomType = "x-local-random"
)

// The arguments of a consistent-hash exchange that name the header or property to hash instead of the routing key.
const (
	hashHeader   = "hash-header"
	hashProperty = "hash-property"
)

// picker is the matcher of those types: it picks one binding for a publish.
type picker struct {
	list []choice // by the identities of their bindings
	pick func(r *Router, list []choice) int
}

// choice is a binding that may be picked.
type choice struct {
	*bound
	hash   uint64 // of the identity
	weight float64
}

// newPicker returns the matcher for one of those types, nil for another type.
func newPicker(kind string, args protocol.Table) matcher {
	switch kind {
	case ConsistentHashType:
		header, _ := args.Get(hashHeader)
		property, _ := args.Get(hashProperty)
		return &picker{pick: func(r *Router, list []choice) int { return heaviest(list, r.hashBy(header, property)) }}
	case ModulusHashType:
		return &picker{pick: func(r *Router, list []choice) int { return int(hashOf(r.keys[0]) % uint64(len(list))) }}
	case RandomType, LocalRandomType:
		return &picker{pick: func(r *Router, list []choice) int { return int(mix(r.drawn()^list[0].hash) % uint64(len(list))) }}
	}
	return nil
}

func (m *picker) place(id string) (int, bool) {
	return slices.BinarySearchFunc(m.list, id, func(c choice, id string) int { return strings.Compare(c.id, id) })
}

// with costs O(n), so that a publish finds its destination without searching a tree.
func (m *picker) with(b *bound) matcher {
	i, _ := m.place(b.id)
	weight, err := strconv.ParseFloat(b.RoutingKey, 64)
	if err != nil {
		weight = 1
	}
	return &picker{list: slices.Insert(slices.Clone(m.list), i, choice{b, hashOf([]byte(b.id)), weight}), pick: m.pick}
}

func (m *picker) without(b *bound) matcher {
	list := slices.Clone(m.list)
	if i, found := m.place(b.id); found {
		list = slices.Delete(list, i, i+1)
	}
	return &picker{list: list, pick: m.pick}
}

func (m *picker) match(r *Router) {
	if len(m.list) > 0 && r.compare(1+len(m.list)) {
		r.add(m.list[m.pick(r, m.list)].target)
	}
}

func (m *picker) loads() []load {
	return []load{{len(m.list), maxKeySteps, "the number of its bindings"}}
}

// heaviest implements weighted rendezvous hashing: each binding gets a score from the message's hash and its own; the
// highest score wins. A new binding takes messages from all others according to its weight, and returns them when it
// goes; nothing else moves.
func heaviest(list []choice, key uint64) (best int) {
	highest := math.Inf(-1)
	for i := range list {
		lot := (float64(mix(key^list[i].hash)>>11) + 0.5) / (1 << 53) // between 0 and 1
		if score := math.Log(lot) / list[i].weight; score > highest {
			best, highest = i, score
		}
	}
	return best
}

// hashBy returns the hash of the header or property of that name, or of the routing key if neither is set. All messages
// without the header or property have the same hash.
func (r *Router) hashBy(header, property any) uint64 {
	if name, by := header.(string); by {
		v, found := r.table().Get(name)
		if !found {
			return 0
		}
		return hashOf(canonical.Value(nil, v))
	}
	if name, by := property.(string); by {
		r.varies = true
		if r.Properties == nil {
			return 0
		}
		p, _, _ := r.Properties()
		return hashOf([]byte(hashProperties[name](&p)))
	}
	return hashOf(r.keys[0])
}

// hashProperties are the properties that a message may be hashed by.
var hashProperties = map[string]func(*protocol.Properties) string{
	"message_id":     func(p *protocol.Properties) string { return p.MessageID },
	"correlation_id": func(p *protocol.Properties) string { return p.CorrelationID },
	"timestamp":      func(p *protocol.Properties) string { return strconv.FormatUint(uint64(p.Timestamp), 10) },
}

// drawn returns a random number, the same for all exchanges on the route of one publish.
func (r *Router) drawn() uint64 {
	if !r.random {
		r.random, r.draw = true, rand.Uint64()
	}
	return r.draw
}

// hashOf returns a hash that is the same in every process.
func hashOf(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b) // never fails
	return mix(h.Sum64())
}

// mix spreads the differences between numbers over all bits.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// ValidateExchange checks the arguments of a new exchange that routes by a type: nil if they are valid, else a 406
// channel error. For a consistent-hash exchange hash-header and hash-property are strings, only one of them is present,
// and the latter is message_id, correlation_id or timestamp. For a recent-history exchange the length is a positive
// integer.
func ValidateExchange(kind string, args protocol.Table) *protocol.ChannelError {
	switch kind {
	case RecentHistoryType:
		return validateHistory(args)
	case ConsistentHashType:
		return validateHashed(args)
	}
	return nil
}

func validateHashed(args protocol.Table) *protocol.ChannelError {
	header, byHeader := args.Get(hashHeader)
	property, byProperty := args.Get(hashProperty)
	for name, v := range map[string]any{hashHeader: header, hashProperty: property} {
		if _, text := v.(string); v != nil && !text {
			return protocol.ChannelErrorf(protocol.PreconditionFailed, "invalid type '%s' for arg '%s'", protocol.TypeName(v), name)
		}
	}
	switch {
	case byHeader && byProperty:
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "hash-header and hash-property are mutually exclusive")
	case byProperty && hashProperties[property.(string)] == nil:
		return protocol.ChannelErrorf(protocol.PreconditionFailed, "Unsupported property: %s", property)
	}
	return nil
}
