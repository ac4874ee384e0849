package supervision

import (
	"candlemark/actors/mail"

	lru "github.com/hashicorp/golang-lru/v2"
)

// maxCrashed is how many queues that failed are remembered. Mail for one can be
// on its way for a moment only: until its virtual host has forgotten the name.
const maxCrashed = 4096

// crashedQueues remembers the queues that ended by a panic: mail to them after they closed their mailbox is refused,
// while a queue that ended in order has accepted it (PRO-2).
type crashedQueues struct{ ids *lru.Cache[string, struct{}] }

func newCrashedQueues() crashedQueues {
	ids, _ := lru.New[string, struct{}](maxCrashed) // fails for a size below 1 only
	return crashedQueues{ids}
}

func (c crashedQueues) add(queue mail.Address) { c.ids.Add(queue.GetId(), struct{}{}) }

// has reports whether a queue, which may be nil, is one of them.
func (c crashedQueues) has(queue mail.Address) bool {
	return queue != nil && c.ids.Contains(queue.GetId())
}
