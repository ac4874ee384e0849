package policy

import (
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/storage/definitions"
	"candlemark/policies"
)

// Policies set together are one change: the virtual host is notified once, and they are stored together.
func TestSetPolicies(t *testing.T) {
	inStore(t, func(b *bubble, m *definitions.Memory) {
		asker, vhost := b.probe(), b.probe()
		vhost.starts("/")
		all := []*policies.Policy{
			b.policy("/", "a", `{"pattern":"^a","definition":{"expires":1}}`, false),
			b.policy("/", "b", `{"pattern":"^b","definition":{"expires":2}}`, false),
			b.policy("/", "c", `{"pattern":"^c","definition":{"expires":3}}`, true),
		}
		set := func(id uint64) {
			b.send(&mail.SetPolicies{Request: asker.request(id), VHost: "/", Policies: all})
		}
		set(1)
		change := next[*mail.ApplyPolicies](vhost)
		if users, operators := change.Set.Policies(false), change.Set.Policies(true); len(users) != 2 || len(operators) != 1 {
			t.Errorf("%v, %v", users, operators)
		}
		vhost.quiet()
		asker.quiet() // not before they are in force
		b.send(&mail.ApplyPoliciesReply{Reply: change.Done(nil)})
		if r := next[*mail.PolicyReply](asker); r.ID != 1 || r.Err != nil || r.Revision == 0 {
			t.Errorf("%+v", r)
		}
		set(2) // the same again changes nothing (POL-9)
		if r := next[*mail.PolicyReply](asker); r.ID != 2 || r.Err != nil || r.Revision != 0 {
			t.Errorf("%+v", r)
		}
		vhost.quiet()
		b.stop(b.registry)
		b.begin(m)
		asker.lists(false, "/:a", "/:b")
		asker.lists(true, "/:c")

		b.send(&mail.SetPolicies{Request: asker.request(3), VHost: "b", Policies: []*policies.Policy{b.policy("b", "d", `{"pattern":"","definition":{"expires":1}}`, false)}})
		b.send(&mail.ForgetVHost{Request: asker.request(4), Name: "b"}) // including policies not stored yet
		for id := range uint64(2) {
			if r := next[*mail.PolicyReply](asker); r.ID != 3+id || r.Err != nil {
				t.Errorf("%+v", r)
			}
		}
		b.stop(b.registry)
		b.begin(m)
		asker.lists(false, "/:a", "/:b")
	})
}
