package topology

import (
	"maps"
	"slices"
	"sync/atomic"
)

// VHosts are the virtual hosts that clients may use, by name. Everybody may read at any time, without a lock; one at a time may change
// them. The zero value has none.
type VHosts struct {
	all atomic.Pointer[map[string]*VHost]
}

func (v *VHosts) load() map[string]*VHost {
	if all := v.all.Load(); all != nil {
		return *all
	}
	return nil
}

// Find finds a virtual host.
func (v *VHosts) Find(name string) (*VHost, bool) {
	found, ok := v.load()[name]
	return found, ok
}

// List returns the virtual hosts of that name, all for "", sorted.
func (v *VHosts) List(name string) []*VHost {
	all := v.load()
	var list []*VHost
	for _, n := range slices.Sorted(maps.Keys(all)) {
		if name == "" || name == n {
			list = append(list, all[n])
		}
	}
	return list
}

// Add lets clients into a virtual host.
func (v *VHosts) Add(added *VHost) {
	all := maps.Clone(v.load())
	if all == nil {
		all = map[string]*VHost{}
	}
	all[added.Name] = added
	v.all.Store(&all)
}

// Remove closes a virtual host to clients that come from now on.
func (v *VHosts) Remove(name string) {
	all := maps.Clone(v.load())
	delete(all, name)
	v.all.Store(&all)
}
