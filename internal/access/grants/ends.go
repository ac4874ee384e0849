package grants

import "slices"

// end is when the grant of a path ends.
type end struct {
	path  string
	at    int64
	index int // in the heap, -1 for none
}

// ends is a heap with the earliest end first.
type ends []*end

func (h ends) Len() int           { return len(h) }
func (h ends) Less(i, j int) bool { return h[i].at < h[j].at }

func (h ends) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *ends) Push(x any) {
	e := x.(*end)
	e.index = len(*h)
	*h = append(*h, e)
}

// Pop implements heap.Interface.
func (h *ends) Pop() any {
	n := len(*h) - 1
	e := (*h)[n]
	*h = slices.Delete(*h, n, n+1)
	e.index = -1
	return e
}
