package main

// heapReserve is how many bytes of garbage may gather, at least, before the
// collector runs. Go's default starts it at 4 MB, which a busy broker fills
// hundreds of times a second although next to nothing of it lives.
const heapReserve = 64 << 20

// reserveHeap makes the collector count heapReserve bytes as alive, which it then
// doubles before it runs. They are never touched, so they take no memory; the
// garbage that gathers meanwhile does, up to as much. Measured with confirms,
// same generator, taking turns: a fifth less CPU per 100 B message, a third less
// at 1 KiB.
func reserveHeap() []byte { return make([]byte, heapReserve) }
