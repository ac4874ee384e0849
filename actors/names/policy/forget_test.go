package policy

import (
	"testing"

	"candlemark/actors/system/mail"
)

// The policies of a deleted virtual host are deleted, and waiting requests are answered.
func TestForgetVHost(t *testing.T) {
	inBubble(t, func(b *bubble) {
		asker, vhost := b.probe(), b.probe()
		vhost.starts("dev")
		b.send(&mail.SetPolicy{Request: asker.request(1), Policy: b.policy("dev", "p", `{"pattern":"","definition":{"expires":1}}`, false)})
		next[*mail.ApplyPolicies](vhost)
		asker.quiet()
		b.send(&mail.ForgetVHost{Request: asker.request(2), Name: "dev"})
		if r := next[*mail.PolicyReply](asker); r.ID != 1 || r.Err != nil {
			t.Errorf("%+v", r)
		}
		if r := next[*mail.PolicyReply](asker); r.ID != 2 || r.Err != nil {
			t.Errorf("%+v", r)
		}
		b.send(&mail.ListPolicies{Request: asker.request(3)})
		if l := next[*mail.PolicyList](asker); len(l.Policies) != 0 {
			t.Errorf("%+v", l.Policies)
		}
		successor := b.probe()
		b.send(&mail.VHostStarted{Name: "dev", PID: successor.pid})
		if a := next[*mail.ApplyPolicies](successor); len(a.Set.Policies(false)) != 0 {
			t.Errorf("%+v", a.Set)
		}
		b.send(&mail.ForgetVHost{Request: asker.request(4), Name: "nowhere"})
		if r := next[*mail.PolicyReply](asker); r.ID != 4 || r.Err != nil {
			t.Errorf("%+v", r)
		}
	})
}
