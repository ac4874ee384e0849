// Package backlog keeps the messages of one queue in memory. It uses no clock and no actor.
//
// Owns: an entry of 48 bytes per message, its content in slab blocks, and which messages are ready, in what order.
// The queue's wheel links the entries through Links and Deadline.
//
// States: a message is ready or taken (delivered and unacked, or waiting among the dead letters).
//
//	Push ──► ready ──Take──► taken        Remove from either
//	         ready ◄─Return─ taken        at its original position
//
// Entries lie in segments of 64 and keep their handles; a segment has a bitmap of used and one of ready entries. A
// handle is segment*64+index and is reused after Remove. Each priority has a segment that is being filled and a list,
// in queue order, of the segments with ready messages, so the first ready message is found at once. A segment is
// released with its last message, wherever it is: an old message at the head keeps one segment, not the segments of
// later messages.
//
// Contents are appended to slab blocks (1 to 64 KiB, depending on the size of the backlog). Appended bytes are never
// overwritten, and blocks are not recycled: the slices that Get returns stay valid for ever. A block is left to the
// garbage collector with its last message; when less than a quarter of the blocks' bytes is still live, sparse blocks
// are merged. Large and shared contents stay outside the slab, by reference.
//
// A content may be paged out to a journal; its place there is stored beside the entries. A paged-out message takes 58
// bytes and allows everything but Get until its content is back. The times from its content stay in the entry
// (page.go).
//
// A message whose deadline was changed later also keeps the one from its entry, in an array of its segment (retimed.go),
// which takes 8 bytes for each of 64 messages.
//
// Entries and blocks hold no pointers, so a long queue costs the garbage collector next to nothing.
//
// A restart loses everything; the queue pushes the messages in the journal again, paged out.
package backlog
