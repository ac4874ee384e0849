package management

import (
	"context"
	"errors"
)

// Limits on moves.
const (
	MaxMoves       = 16   // that run
	MaxMovesOfUser = 4    // of them of one user
	MaxMovesEnded  = 100  // ended moves to remember
	MaxMovedIDs    = 1000 // messages named by number
)

// ErrBusy: the user has as many queries of this kind waiting as it may.
var ErrBusy = errors.New("too many such requests of this user are waiting")

// Moves is the part of the broker that moves messages of a queue to other places (ADR 64).
type Moves interface {
	// Move begins a move; the user needs the permissions to read the queue and to publish to the target. A dry run ends
	// before Move returns, or when it takes too long.
	Move(ctx context.Context, by Asker, at Place, how Move) (MoveStatus, error)
	// ListMoves returns the user's moves, or all with the tag monitoring or administrator: running ones, and the last
	// finished ones.
	ListMoves(by Asker) []MoveStatus
	// StopMove ends a move after its current batch. A move of another user is not found, unless by is an
	// administrator.
	StopMove(ctx context.Context, by Asker, id string) (found bool)
}

// Move has the parameters of a move.
type Move struct {
	// Queue, Exchange with Key, or Origin say where to; without HasKey each message keeps its key.
	Queue, Exchange, Key string
	HasKey, Origin       bool
	IDs                  []uint64 // numbers of messages, nil for all ready messages
	Rate                 float64  // messages a second at most, 0 for as fast as it goes
	DryRun               bool
}

// MoveStatus is how far a move is.
type MoveStatus struct {
	ID, VHost, Queue, User string
	How                    Move
	State, Reason          string // running, finished, stopped, failed and why
	Moved                  int64
	Targets, Kept          map[string]int64 // moved messages by queue; kept messages by reason
	Started, Ended         int64            // wall ms, 0 for not yet
}
