// Package command is the AMQP interface of one virtual host: any client can change policies,
// and look into queues, on the connection that it already has (PRO-19).
//
// Owns: what the messages to the system exchange candlemark.admin mean, and the
// order of their answers. The actor stands behind that exchange like a queue.
//
//	routing key             body                                    answer
//	policy.set              {"name":…,"pattern":…,"definition":…,   {"ok":true,"replaced":false}
//	                         "priority":0,"apply-to":"all"}
//	policy.clear            {"name":…}                              {"ok":true}
//	policy.list             {} or nothing                           {"ok":true,"policies":[…]}
//	operator_policy.set, operator_policy.clear, operator_policy.list: likewise
//	policy.explain, policy.preview, policy.history, policy.undo: see internal/httpapi/effects
//	queue.…, lock.…, scheduled.…: about messages, see internal/httpapi/messages
//
// Bodies may carry "vhost", which must be the actor's own. A command that fails
// is answered {"error":…,"reason":…} with the words of the HTTP API (POL-12,
// POL-14). The answer goes to the queue that reply-to names, by the default
// exchange, with the correlation-id of the command; without reply-to, or when
// that queue is gone, there is none. It comes when the change is in force: what
// is published after it has arrived obeys (PRO-15).
//
// The channel lets only policymakers and administrators publish commands about
// policies, and tells who has published: only administrators change operator policies
// (POL-15). Commands about messages are for everybody who may publish here; who carries
// them out asks for permissions. So the actor obeys only what was published to it
// directly: what came along an exchange binding, an alternate exchange or as a dead
// letter nobody has checked.
//
// Takes: Enqueue from channels; PolicyReply PolicyList from the registry; carried from
// its jobs. Sends: EnqueueReply to channels; SetPolicy ClearPolicy ListPolicies to
// the registry; Enqueue, without numbers, to queues.
//
// States of a command: asked ──▶ answered ──▶ sent, in the order in which the
// commands came; an answer waits for those before it. Jobs, which are commands about messages and about what policies do, are
// carried out by a goroutine each, those of one channel one after the other.
//
// Deadlines: 30 s for the answer, of the time that the broker runs (ADR 33), then the command is answered with an error; it may
// still be carried out. One timer, for the oldest.
//
// A restart loses: the answers that are due. A panic refuses the batch that it
// came from.
package command
