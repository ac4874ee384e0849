// Package backlog keeps the messages of one queue in memory, without a clock and without an actor.
//
// What it owns: an entry of 48 bytes per message, its content in slab blocks, and which messages are ready, in what order.
// The queue's wheel links the entries through Links and Deadline.
//
// Its states: a message is ready or taken (delivered and unacknowledged, or on its way to the dead letters).
//
//	Push ──► ready ──Take──► taken        Remove from either
//	         ready ◄─Return─ taken        at its original position
//
// Entries lie in segments of 64 and never move to another handle; a segment has a bitmap of used and one of ready entries. A
// handle is segment*64+index and is used again after Remove. Each priority has a segment that is being filled and a list, in
// queue order, of the segments with something ready, so the first ready message is found at once. A segment is given up with
// its last message, wherever it stands: an old message at the head keeps one segment, not those that passed behind it.
//
// Contents are appended to slab blocks (1 to 64 KiB, as large as what is waiting). Blocks are never written again once
// appended to, nor recycled: what Get returns stays valid for ever. A block goes to the garbage collector with its last
// message; when less than a quarter of what the blocks hold is still live, sparse blocks are copied together. Large and
// shared contents stay outside the slab, by reference.
//
// A content may be paged out to a journal, whose place for it is noted beside the entries: with that a message takes 58 bytes,
// and only Get is barred until its content is back. What the content told of time stays in the entry (page.go).
//
// Entries and blocks hold no pointers, so a long queue costs the garbage collector next to nothing.
//
// What a restart loses: everything; the journal knows what survives, and the queue pushes it again, paged out.
package backlog
