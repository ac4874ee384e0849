package wire

import "github.com/hashicorp/raft"

// piece is how many bytes raft's decoder reads at once, before it allocates more and copies what it has: its time and memory would grow with the square of the length
// of an entry (CLU-13).
const piece = 256 << 10

// Divide returns entries for a call with at most 256 KiB of data each. All pieces of an entry have its index (CLU-13).
func Divide(list []*raft.Log) []*raft.Log {
	var pieces []*raft.Log
	for _, e := range list {
		for rest := e.Data; ; rest = rest[piece:] {
			one := *e
			one.Data = rest[:min(piece, len(rest))]
			if pieces = append(pieces, &one); len(rest) <= piece {
				break
			}
		}
	}
	return pieces
}

// Unite makes entries of what Divide has returned, in the memory of the list.
func Unite(list []*raft.Log) []*raft.Log {
	whole := list[:0]
	for len(list) > 0 {
		e, n, size := list[0], 0, 0
		for ; n < len(list) && list[n].Index == e.Index; n++ {
			size += len(list[n].Data)
		}
		if n > 1 {
			data := make([]byte, 0, size)
			for _, one := range list[:n] {
				data = append(data, one.Data...)
			}
			e.Data = data
		}
		whole, list = append(whole, e), list[n:]
	}
	return whole
}
