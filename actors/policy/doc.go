// Package policy is the policy registry actor of the broker, a shell over
// package policies.
//
// Owns: the policies and operator policies of every virtual host, as one
// immutable policies.Set each, and the knowledge of which changes have not yet
// been confirmed by the virtual host. Whether a virtual host exists is not known
// here: policies may be given before it starts, and outlive its actor.
//
// Takes: SetPolicy ClearPolicy ListPolicies ForgetVHost from administrators; VHostStarted
// ApplyPoliciesReply from virtual hosts. Sends: ApplyPolicies to virtual hosts,
// PolicyReply and PolicyList to the askers.
//
// A change is stored at once, so that the command behind it builds on it, and
// answered when the virtual host has put it in force (DESIGN §5a.15). Changes
// are not held back for each other: every one goes out with its own version, and
// the virtual host joins those that meet there. A command that changes nothing
// tells nobody (POL-9), but its answer waits for what is still under way.
//
// States of a virtual host here:
//
//	absent ──VHostStarted──▶ running ──its actor ends──▶ absent
//
// While it is absent, changes are answered at once: there is nobody to obey.
//
// Deadlines: none; whoever asks bounds its own wait.
//
// A restart loses: everything, as long as nothing stores policies. So its
// supervisor lets it go on with the state that it has (Resume); sets are
// immutable and replaced in one step, so no panic leaves one half changed. The
// command that panicked is answered with an error.
package policy
