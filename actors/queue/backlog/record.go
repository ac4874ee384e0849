package backlog

import (
	"candlemark/actors/queue/wheel"
	"candlemark/internal/routing/message"
)

// Handle identifies a message in one Backlog; 0 identifies none. It is reused after Remove.
type Handle = uint32

// NoTTL is Record.TTL of a message without an expiration of its own.
const NoTTL = message.NoTTL

// Record is the backlog's record of a message.
type Record struct {
	// Exchange and RoutingKey are the publish's.
	Exchange, RoutingKey []byte
	// Header is the raw property flags and list, Body the whole body (below 4 GiB).
	Header, Body []byte
	// Overlay is added to the header by the broker, nil for nothing.
	Overlay *message.Overlay
	// Deadline is the time, in wall ms, at which it expires in this queue, math.MaxInt64 for never (TTL-9, TTL-25).
	Deadline int64
	// TTL is the message's own, in ms, NoTTL for none (TTL-5).
	TTL int64
	// Enqueued is the time, in wall ms, at which the queue accepted it (TTL-25).
	Enqueued int64
	// Seq is the queue's number of the message, also in the journal.
	Seq uint64
	// Returns counts the deliveries that came back.
	Returns message.Returns
	// Priority is its effective priority, 0 in a queue without priorities.
	Priority uint8
	// Spread is message.Message.Spread; it is lost when the message is paged out, unless its overlay contains it.
	Spread uint8
	// Redelivered and Stored are set by the caller; Stored, for a message that survives a restart, is changed by SetStored.
	Redelivered, Stored bool
	// Released is set by Get for a message with the mark Released; Push ignores it.
	Released bool
	// Shared: the slices are immutable and not pooled, so Push may keep them without copying (PRO-11).
	Shared bool
	// Share counts the memory of a large content; Push creates one if it is nil.
	Share *message.Share
}

// Entry is the fixed part of a stored message. Exported fields may be changed in place, Deadline only while the entry
// is off the wheel, and with Retime where Entered is needed. A pointer to it is valid until the next Push or Remove.
type Entry struct {
	// Deadline is the time, in wall ms, at which the message expires, math.MaxInt64 for never.
	Deadline int64
	// Links belongs to the wheel.
	Links wheel.Links
	// Seq is the queue's number of the message.
	Seq uint64
	// Returns counts the deliveries that came back.
	Returns message.Returns
	// Redelivered and Stored are set by the caller.
	Redelivered, Stored bool
	// Marks are set by the caller.
	Marks Marks

	// flags tell where the rest of the message is; the upper bits are its Spread.
	flags uint8
	// body is the length of the body.
	body uint32
	// block is the slab block of the content, or its index in Backlog.kept.
	block uint32
	// offset and size delimit the content in the block; 0 if the content is not in the slab.
	offset, size uint16
	// more holds, with block, offset and size, the times of a paged-out message (page.go).
	more uint32
}

// Marks hold the caller's flags of a message in a journal.
type Marks uint8

const (
	// Written: the journal has it, or is about to.
	Written Marks = 1 << iota
	// Loading: it is being read back.
	Loading
	// Damaged: it cannot be read back.
	Damaged
	// Released: it was a scheduled message.
	Released
	// Deferred: it is delivered only by number.
	Deferred
	// Failed: it was rejected, so that its last delivery counts.
	Failed
	// Ended: it has expired, was rejected or dropped, and waits for its dead-letter exchange, or it is being forwarded.
	Ended
)

const (
	flagKept    = 1 << iota // content is in Backlog.kept, not in the slab
	flagOverlay             // rareParts.overlays has an overlay

	spreadShift = iota
)
