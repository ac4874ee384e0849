package topology

import (
	"strings"
	"sync"
)

// ReplyName is the pseudo-queue of direct reply-to: its consumer gets the replies to requests that name it in reply-to.
const ReplyName = "amq.rabbitmq.reply-to"

// replyPrefix begins the name that replaces ReplyName in a request; the rest of the name cannot be guessed.
const replyPrefix = ReplyName + "."

// requesters are the channels that wait for replies, by the name that replies go to. Unlike queues they are not in the
// directory: they change too often to invalidate all cached routes.
type requesters struct {
	mu     sync.RWMutex
	byName map[string]*Queue
}

// AddRequester makes a channel reachable through the default exchange under ReplyName and secret, until
// RemoveRequester. The PID of the result is a pointer of its own, which distinguishes mail for it from mail for an
// earlier requester on the same channel.
func (v *VHost) AddRequester(secret string, channel Address) *Queue {
	q := &Queue{Name: replyPrefix + secret, PID: &Alias{channel}, Requester: true}
	r := &v.requesters
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byName == nil {
		r.byName = map[string]*Queue{}
	}
	r.byName[q.Name] = q
	return q
}

// RemoveRequester makes replies to q unroutable.
func (v *VHost) RemoveRequester(q *Queue) {
	r := &v.requesters
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byName, q.Name)
}

// IsReplyName reports whether a publish to the default exchange with that key is a reply.
func IsReplyName(key []byte) bool {
	return len(key) > len(replyPrefix) && string(key[:len(replyPrefix)]) == replyPrefix
}

// IsReserved reports whether a queue of that name cannot be declared because the name means direct reply-to.
func IsReserved(queue string) bool { return strings.HasPrefix(queue, ReplyName) }

// Requester returns the channel that waits for replies to that name, nil if there is none.
func (v *VHost) Requester(name []byte) *Queue {
	if !IsReplyName(name) {
		return nil
	}
	r := &v.requesters
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byName[string(name)]
}
