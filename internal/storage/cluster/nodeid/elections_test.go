package nodeid

import "testing"

// TestElections_CLU32: a node remembers the last elections; of two leaders of one term, the last is right.
func TestElections_CLU32(t *testing.T) {
	var e Elections
	for term := range uint64(20) {
		e.Add(Of("n1", "life"), term)
		e.Add("", 0)
		e.Add(Of("n2", "life"), term)
	}
	list := e.All()
	if last := list[len(list)-1]; len(list) != MaxElections || last.Leader != "n2" || last.Term != 19 || list[0].Term != 4 {
		t.Errorf("%d elections, %+v to %+v", len(list), list[0], last)
	}
}
