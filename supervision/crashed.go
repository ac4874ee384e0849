package supervision

import (
	"candlemark/actors/system/mail"

	lru "github.com/hashicorp/golang-lru/v2"
)

// maxCrashed is the number of failed queues to remember. Mail for a failed queue can arrive only briefly, until its
// virtual host has removed the name.
const maxCrashed = 4096

// crashedQueues remembers the queues that ended after a panic: mail sent to them after they closed their mailbox is
// refused, while a queue that ended normally has accepted it (PRO-2).
type crashedQueues struct{ ids *lru.Cache[string, struct{}] }

func newCrashedQueues() crashedQueues {
	ids, _ := lru.New[string, struct{}](maxCrashed) // fails only for sizes below 1
	return crashedQueues{ids}
}

func (c crashedQueues) add(queue mail.Address) { c.ids.Add(queue.GetId(), struct{}{}) }

// has reports whether a queue, which may be nil, has crashed.
func (c crashedQueues) has(queue mail.Address) bool {
	return queue != nil && c.ids.Contains(queue.GetId())
}
