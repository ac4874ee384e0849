// Package command is the AMQP interface of one virtual host for administration: clients can change policies, and
// examine queues, on their existing connection (PRO-19).
//
// Owns: the commands sent as messages to the system exchange candlemark.admin, and the order of their answers. The
// actor is bound to that exchange like a queue.
//
//	routing key             body                                    answer
//	policy.set              {"name":…,"pattern":…,"definition":…,   {"ok":true,"replaced":false}, with "warning" if the
//	                         "priority":0,"apply-to":"all"}         policy applies to none of the objects it matches
//	policy.clear            {"name":…}                              {"ok":true}
//	policy.list             {} or nothing                           {"ok":true,"policies":[…]}
//	operator_policy.set, operator_policy.clear, operator_policy.list: as without operator_
//	policy.explain, policy.preview, policy.history, policy.undo: see internal/admin/httpapi/effects
//	queue.…, lock.…, scheduled.…: about messages, see internal/admin/httpapi/messages
//
// Bodies may have "vhost", which must be the actor's own. The answer to a command that fails is {"error":…,"reason":…}
// with the words of the HTTP API (POL-12, POL-14). Answers go to the queue in reply-to, through the default exchange,
// with the correlation-id of the command; without reply-to, or if that queue does not exist, there is no answer. The
// answer is sent when the change is in force: messages published after the answer has arrived are subject to the change
// (PRO-15).
//
// The channel lets only policymakers and administrators publish commands about policies, and passes on who published
// them: only administrators change operator policies (POL-15). Commands about messages are open to all users who may
// publish here; their handlers check permissions. The actor therefore accepts only commands that were published to the
// exchange directly: messages from an exchange binding, an alternate exchange or dead-lettering have not been checked.
//
// Takes: Enqueue from channels; PolicyReply PolicyList from the registry; carried from its jobs. Sends: EnqueueReply
// to channels; SetPolicy ClearPolicy ListPolicies to the registry; Enqueue, without numbers, to queues.
//
// States of a command: asked ──▶ answered ──▶ sent, in the order of arrival; an answer waits for earlier answers. Jobs,
// which are commands about messages and about the effects of policies, run on a goroutine each; jobs of one channel run
// one after the other. When a policy is set, a preview runs as a job, for the warning: its answer waits for that, and goes
// without a warning if the preview fails or takes too long.
//
// Deadlines: 30 s for the answer, not counting time while the machine sleeps (ADR 33); then the command is answered
// with an error; it may still be executed. One timer, for the oldest command.
//
// A restart loses: unsent answers. A panic refuses the batch that caused it.
package command
