// Package policy is the policy registry actor of the broker, a shell over package policies.
//
// Owns: the policies and operator policies of every virtual host, as one immutable policies.Set each, their recent
// changes (changes.Log), and which changes each virtual host has not confirmed yet. It does not know whether a
// virtual host exists: policies may be set before it starts, and outlive its actor.
//
// Takes: SetPolicy SetPolicies ClearPolicy UndoPolicyChange ListPolicies DescribePolicies ForgetVHost from
// administrators; VHostStarted ApplyPoliciesReply from virtual hosts. Sends: ApplyPolicies to virtual hosts,
// PolicyReply, PolicyList and PoliciesInfo as answers.
//
// A change is stored in internal/storage/definitions, then takes effect, then is answered, when the virtual host has brought it
// into force (PRO-15). If it cannot be stored, the answer is the error and nothing has changed. The actor does not wait
// for the disk: commands are queued until mail reports the result, and take effect in order of arrival. A command is
// evaluated when earlier commands have taken effect, so that it and the history see the current state. A command that
// changes nothing is not stored or published (POL-9), but its answer waits for changes under way. Changes are sent to
// the virtual host at once, each with its own version; the virtual host merges changes that arrive while one is under
// way.
//
// States of a virtual host in this actor:
//
//	absent ──VHostStarted──▶ running ──its actor ends──▶ absent
//
// While it is absent, changes are answered at once.
//
// Deadlines: none; senders limit their own wait.
//
// A restart of the broker loses no answered change. After a panic the supervisor resumes the registry with its current
// state (Resume); sets are immutable and replaced in one step, so a panic leaves no partial change. The command that
// panicked is answered with an error, though it may be stored: then it is in effect after the next start. Mail that was
// about to be sent is sent in the next turn.
package policy
