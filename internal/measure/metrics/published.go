package metrics

// sizes are the bounds of message sizes, in bytes, as in RabbitMQ, whose dashboard uses them by name.
var sizes = [...]int64{100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 50_000_000, 100_000_000}

// Published holds metrics of the messages published on a channel, other than their number. It belongs to the channel.
type Published struct {
	Confirm uint64 // messages to be confirmed
	Routed  uint64 // copies that went to queues
	bytes   uint64
	sizes   [len(sizes) + 1]uint64
}

// Count counts a message by the bytes of its body and the number of its queues.
func (p *Published) Count(bytes, queues int, confirm bool) {
	p.sizes[bucketOf(sizes[:], int64(bytes))]++
	p.bytes += uint64(bytes)
	p.Routed += uint64(queues)
	if confirm {
		p.Confirm++
	}
}

// Add adds o.
func (p *Published) Add(o *Published) {
	p.Confirm, p.Routed, p.bytes = p.Confirm+o.Confirm, p.Routed+o.Routed, p.bytes+o.bytes
	for i, n := range o.sizes {
		p.sizes[i] += n
	}
}

// AtLeast raises each count to at least its value in o.
func (p *Published) AtLeast(o *Published) {
	p.Confirm, p.Routed, p.bytes = max(p.Confirm, o.Confirm), max(p.Routed, o.Routed), max(p.bytes, o.bytes)
	for i, n := range o.sizes {
		p.sizes[i] = max(p.sizes[i], n)
	}
}

// Sizes returns the histogram of the sizes of bodies, in bytes.
func (p *Published) Sizes() Buckets {
	b := Buckets{Bounds: make([]float64, len(sizes)), Counts: p.sizes[:], Sum: float64(p.bytes)}
	for i, n := range sizes {
		b.Bounds[i] = float64(n)
	}
	return b
}
