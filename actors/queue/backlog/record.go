package backlog

import (
	"candlemark/actors/queue/wheel"
	"candlemark/internal/message"
)

// Handle names a message in one Backlog; 0 is none. It is used again after Remove.
type Handle = uint32

// NoTTL is Record.TTL of a message without an expiration of its own.
const NoTTL = message.NoTTL

// Record is the backlog's record of a message.
type Record struct {
	// Exchange and RoutingKey are those it was published with.
	Exchange, RoutingKey []byte
	// Header is the raw property flags and list, Body the whole body (below 4 GiB).
	Header, Body []byte
	// Overlay is added to the header by the broker, nil for nothing.
	Overlay *message.Overlay
	// Deadline is the wall ms at which it expires in this queue, math.MaxInt64 for never (TTL-9).
	Deadline int64
	// TTL is the message's own, in ms, NoTTL without one (TTL-5).
	TTL int64
	// Enqueued is the wall ms at which the queue took it (TTL-25).
	Enqueued int64
	// Seq is the queue's number for it, which the journal knows it by.
	Seq uint64
	// DeliveryCount is how often it came back after a delivery.
	DeliveryCount uint32
	// Priority is that of its place in this queue, 0 in a queue without priorities.
	Priority uint8
	// Redelivered and Persistent are the caller's; the latter is changed by SetPersistent.
	Redelivered, Persistent bool
	// Released is set by Get for a message that is marked so; Push does not look at it.
	Released bool
	// Shared says that the slices are immutable and not pooled: Push may keep them instead of copying (PRO-11).
	Shared bool
	// Share counts the memory of a large content; Push makes one if there is none.
	Share *message.Share
}

// Entry is the fixed part of a stored message. What is exported may be changed in place, Deadline only while the entry is
// off the wheel. A pointer to it is good until the next Push or Remove.
type Entry struct {
	// Deadline is the wall ms at which the message expires, math.MaxInt64 for never.
	Deadline int64
	// Links belongs to the wheel.
	Links wheel.Links
	// Seq is the queue's number for the message.
	Seq uint64
	// DeliveryCount is how often the message came back after a delivery.
	DeliveryCount uint32
	// Redelivered and Persistent are the caller's.
	Redelivered, Persistent bool
	// Marks are the caller's too.
	Marks Marks

	// flags tell where the rest of the message is.
	flags uint8
	// body is the length of the body.
	body uint32
	// block is the slab block of the content, or its index among the kept ones.
	block uint32
	// offset and size delimit the content in the block; 0 if it is kept.
	offset, size uint16
	// more holds, besides block, offset and size, the times of a message that is paged out (page.go).
	more uint32
}

// Marks hold the caller's notes about a message in a journal.
type Marks uint8

const (
	// Stored: the journal has it, or will have it.
	Stored Marks = 1 << iota
	// Loading: it is being read back.
	Loading
	// Damaged: it cannot be read back.
	Damaged
	// Released: it was scheduled before.
	Released
	// Deferred: it is delivered only to who asks for it.
	Deferred
)

const (
	flagKept    = 1 << iota // content is in Backlog.kept, not in the slab
	flagOverlay             // odd.overlays has something
)
