package policies

import "unique"

// Matched names the policies that apply to an object. Equal values share their memory if they are made unique.
type Matched struct {
	User, Operator *Policy // nil for none
	version        uint64
	doubtful       string
}

// MatchedBy returns the policies of e, from which Effective makes an equal value.
func MatchedBy(e Effective) unique.Handle[Matched] {
	return unique.Make(Matched{e.user, e.operator, e.Version, e.Doubtful})
}

// Effective returns the result of the policies.
func (m Matched) Effective() Effective {
	e := Effective{Version: m.version, Doubtful: m.doubtful, user: m.User, operator: m.Operator}
	if m.User != nil {
		e.Policy = m.User.Name
	}
	if m.Operator != nil {
		e.OperatorPolicy = m.Operator.Name
	}
	e.Definition = Merge(m.User, m.Operator)
	return e
}
