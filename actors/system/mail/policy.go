package mail

import (
	"candlemark/policies"
	"candlemark/policies/changes"
)

// SetPolicy stores a policy (with Operator, an operator policy) and then applies it. From a virtual host's command
// actor to the registry; PolicyReply comes back when it is in force (PRO-15).
type SetPolicy struct {
	Request
	Policy   *policies.Policy
	Operator bool
}

// Answer implements Answerable.
func (s *SetPolicy) Answer(f Cause) (Address, any) { return s.policyAnswer() }

// SetPolicies sets several policies and operator policies in one change, so that the virtual host examines its queues
// once. From an import of definitions.
type SetPolicies struct {
	Request
	VHost    string
	Policies []*policies.Policy // all of one virtual host, without repetition
}

// Answer implements Answerable.
func (s *SetPolicies) Answer(f Cause) (Address, any) { return s.policyAnswer() }

// ClearPolicy removes a policy. PolicyReply comes back; Found reports whether there was one.
type ClearPolicy struct {
	Request
	VHost, Name string
	Operator    bool
}

// Answer implements Answerable.
func (c *ClearPolicy) Answer(f Cause) (Address, any) { return c.policyAnswer() }

// UndoPolicyChange reverts a change in the history of a virtual host. From the administrator; PolicyReply comes back
// when that is in force, with an error of changes.Log.Undo if it is impossible.
type UndoPolicyChange struct {
	Request
	VHost     string
	Change    uint64 // number of the change
	Operators bool   // operator policies may also be changed
}

// Answer implements Answerable.
func (u *UndoPolicyChange) Answer(Cause) (Address, any) { return u.policyAnswer() }

// ListPolicies asks for PolicyList; VHost "" means all virtual hosts.
type ListPolicies struct {
	Request
	VHost    string
	Operator bool
}

// Answer implements Answerable.
func (l *ListPolicies) Answer(f Cause) (Address, any) {
	return l.ReplyTo, &PolicyList{Reply: l.Done(errRegistry)}
}

// DescribePolicies asks for PoliciesInfo. From the administrator.
type DescribePolicies struct {
	Request
	VHost string
}

// Answer implements Answerable.
func (d *DescribePolicies) Answer(f Cause) (Address, any) {
	return d.ReplyTo, &PoliciesInfo{Reply: d.Done(errRegistry)}
}

// PoliciesInfo answers DescribePolicies.
type PoliciesInfo struct {
	Reply
	Set     *policies.Policies // policies of the virtual host, which need not exist
	History changes.Log
}

// ForgetVHost drops all policies of a deleted virtual host, and their history. From the administrator; PolicyReply
// comes back.
type ForgetVHost struct {
	Request
	Name string
}

// Answer implements Answerable.
func (f *ForgetVHost) Answer(Cause) (Address, any) { return f.policyAnswer() }

// PolicyReply answers SetPolicy, SetPolicies, ClearPolicy, UndoPolicyChange and ForgetVHost. With an error, nothing
// has changed.
type PolicyReply struct {
	Reply
	Found bool // there was a policy of that name
	// Revision is the revision of the stored definitions with the change; 0 if there was nothing to store.
	Revision uint64
	Change   uint64 // number of the change in the history, 0 if nothing has changed
}

// PolicyList answers ListPolicies, in the order of POL-13.
type PolicyList struct {
	Reply
	Policies []*policies.Policy
}

// VHostStarted asks the registry for a vhost's policies; ApplyPolicies is sent to it. From the vhost, when it starts
// or restarts.
type VHostStarted struct {
	Name string
	PID  Address
}

func (r Request) policyAnswer() (Address, any) {
	return r.ReplyTo, &PolicyReply{Reply: r.Done(errRegistry)}
}
