package recurring

import "container/heap"

// Waits for permission to copy messages, in ms: each is twice as long as the one before.
const (
	holdFirst = 500
	holdLast  = 8000
)

// hold makes a schedule wait whose message may not be copied now. Others do not wait for it.
func (s *state) hold(x *schedule) {
	x.wait = min(max(2*x.wait, holdFirst), holdLast)
	x.heldUntil = s.now() + x.wait
}

// push adds a schedule to the heap, at its time or after its hold.
func (s *state) push(x *schedule) {
	x.at = max(x.due, x.heldUntil)
	heap.Push(&s.due, x)
}

// dueHeap has the schedules by the time at which they are looked at.
type dueHeap []*schedule

// Len implements heap.Interface.
func (h dueHeap) Len() int { return len(h) }

// Less implements heap.Interface.
func (h dueHeap) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].spec.Incarnation < h[j].spec.Incarnation
}

// Swap implements heap.Interface.
func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *dueHeap) Push(x any) {
	x.(*schedule).index = len(*h)
	*h = append(*h, x.(*schedule))
}

// Pop implements heap.Interface.
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last], *h = nil, (*h)[:last]
	x.index = -1
	return x
}

func (h *dueHeap) drop(x *schedule) {
	if x.index >= 0 {
		heap.Remove(h, x.index)
	}
}
