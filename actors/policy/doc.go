// Package policy is the policy registry actor of the broker, a shell over
// package policies.
//
// Owns: the policies and operator policies of every virtual host, as one
// immutable policies.Set each, the last changes of them (changes.Log), and the knowledge of which changes have not yet
// been confirmed by the virtual host. Whether a virtual host exists is not known
// here: policies may be given before it starts, and outlive its actor.
//
// Takes: SetPolicy SetPolicies ClearPolicy UndoPolicyChange ListPolicies DescribePolicies ForgetVHost from administrators; VHostStarted
// ApplyPoliciesReply from virtual hosts. Sends: ApplyPolicies to virtual hosts,
// PolicyReply, PolicyList and PoliciesInfo to the askers.
//
// A change is stored in internal/definitions, then it takes effect, then it is answered,
// when the virtual host has put it in force (PRO-15). One that cannot be
// stored is answered with the error, and nothing has changed. Nobody waits for
// the disk: commands stand in line until the mail comes that says how it went,
// and take effect in the order in which they came. A command is looked at when those before it have taken effect, so that what
// it finds, and what the history has of it, is what there was. A command that changes nothing
// stores nothing and tells nobody (POL-9), but its answer waits for what is still
// under way. Changes in force are not held back for each other: every one goes
// out with its own version, and the virtual host joins those that meet there.
//
// States of a virtual host here:
//
//	absent ──VHostStarted──▶ running ──its actor ends──▶ absent
//
// While it is absent, changes are answered at once: there is nobody to obey.
//
// Deadlines: none; whoever asks bounds its own wait.
//
// A restart of the broker loses: nothing that was answered. After a panic the
// supervisor lets the registry go on with the state that it has (Resume); sets
// are immutable and replaced in one step, so no panic leaves one half changed.
// The command that panicked is answered with an error, though it may be stored:
// then the next start has it. What was about to be sent is sent in the next turn.
package policy
