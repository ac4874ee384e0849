package mail

import (
	"candlemark/policies"
	"candlemark/policies/changes"
)

// SetPolicy stores a policy (or, with Operator, an operator policy) and then
// applies it. From a virtual host's command actor to the registry; PolicyReply comes back when it is in
// force (PRO-15).
type SetPolicy struct {
	Request
	Policy   *policies.Policy
	Operator bool
}

// Answer implements Answerable.
func (s *SetPolicy) Answer(f Fate) (Address, any) { return s.policyAnswer() }

// SetPolicies is SetPolicy for many, operator policies among them, in one change: the
// virtual host looks at its queues once. From an import of definitions.
type SetPolicies struct {
	Request
	VHost    string
	Policies []*policies.Policy // all of the virtual host, none twice
}

// Answer implements Answerable.
func (s *SetPolicies) Answer(f Fate) (Address, any) { return s.policyAnswer() }

// ClearPolicy removes one. PolicyReply comes back; Found tells whether there
// was one.
type ClearPolicy struct {
	Request
	VHost, Name string
	Operator    bool
}

// Answer implements Answerable.
func (c *ClearPolicy) Answer(f Fate) (Address, any) { return c.policyAnswer() }

// UndoPolicyChange takes back a change that the history of a virtual host has. From the administrator; PolicyReply comes back
// when that is in force, with an error of changes.Log.Undo if it cannot be.
type UndoPolicyChange struct {
	Request
	VHost     string
	Change    uint64 // its number
	Operators bool   // operator policies may change, too
}

// Answer implements Answerable.
func (u *UndoPolicyChange) Answer(Fate) (Address, any) { return u.policyAnswer() }

// ListPolicies asks for PolicyList. VHost "" asks for all.
type ListPolicies struct {
	Request
	VHost    string
	Operator bool
}

// Answer implements Answerable.
func (l *ListPolicies) Answer(f Fate) (Address, any) {
	return l.ReplyTo, &PolicyList{Reply: l.Done(errRegistry)}
}

// DescribePolicies asks for PoliciesInfo. From the administrator.
type DescribePolicies struct {
	Request
	VHost string
}

// Answer implements Answerable.
func (d *DescribePolicies) Answer(f Fate) (Address, any) {
	return d.ReplyTo, &PoliciesInfo{Reply: d.Done(errRegistry)}
}

// PoliciesInfo answers DescribePolicies.
type PoliciesInfo struct {
	Reply
	Set     *policies.Set // those of the virtual host, which need not be there
	History changes.Log
}

// ForgetVHost drops all policies of a virtual host that is deleted, and their history. From the
// administrator; PolicyReply comes back.
type ForgetVHost struct {
	Request
	Name string
}

// Answer implements Answerable.
func (f *ForgetVHost) Answer(Fate) (Address, any) { return f.policyAnswer() }

// PolicyReply answers SetPolicy, SetPolicies, ClearPolicy, UndoPolicyChange and ForgetVHost. With an error
// nothing was stored, and nothing has changed.
type PolicyReply struct {
	Reply
	Found bool // there was one of that name before
	// Revision is that of the definitions with the change in them; 0 when there
	// was nothing to store.
	Revision uint64
	Change   uint64 // its number in the history, 0 when nothing has changed
}

// PolicyList answers ListPolicies, sorted as POL-13 says.
type PolicyList struct {
	Reply
	Policies []*policies.Policy
}

// VHostStarted asks the registry for a vhost's policies; ApplyPolicies goes to
// it. From the vhost, when it (re)starts.
type VHostStarted struct {
	Name string
	PID  Address
}

func (r Request) policyAnswer() (Address, any) {
	return r.ReplyTo, &PolicyReply{Reply: r.Done(errRegistry)}
}
