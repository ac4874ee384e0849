package broker

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/policies"
)

// policyNames returns the names of policies of a virtual host, of all if vhost is "".
func policyNames(b *testkit.Bubble, vhost string, operator bool) (names []string) {
	b.Helper()
	list, err := b.Node.API().ListPolicies(context.Background(), vhost, operator)
	if err != nil {
		b.Fatal(err)
	}
	for _, p := range list {
		names = append(names, p.VHost+":"+p.Name)
	}
	slices.Sort(names)
	return names
}

func setOperatorPolicy(b *testkit.Bubble, vhost, name, body string) {
	b.Helper()
	p, err := policies.Parse(vhost, name, true, []byte(body))
	if err == nil {
		_, err = b.Node.API().SetPolicy(context.Background(), p)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// Users, permissions, virtual hosts with their settings, policies and parameters are unchanged after a restart.
func TestUsersPoliciesParametersSurvive(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		makeVHost(b, auth.VHost{Name: "dev", Description: "d", Tags: []string{"x"}, DefaultQueueType: "quorum", Tracing: true})
		_, err1 := b.Users.PutAccount(auth.Account{Name: "ann", Tags: []string{"management"}, Hash: auth.HashPassword("a")})
		_, err2 := b.Users.PutGrant(auth.Grant{User: "ann", VHost: "dev", Configure: "^a", Write: ".*", Read: ".*"})
		_, err3 := b.Node.API().PutGlobal(t.Context(), "cluster_name", json.RawMessage(`"house"`))
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		b.SetPolicyIn("dev", "ttl", `{"pattern":"","definition":{"message-ttl":60000},"priority":2.5}`)
		setOperatorPolicy(b, "dev", "ttl", `{"pattern":"","definition":{"message-ttl":1000}}`)
		users, globals := b.Users.Stored(), b.Node.API().Globals()
		for range 2 {
			b.Restart(0)
			if got := b.Users.Stored(); !slices.EqualFunc(got.Accounts, users.Accounts, func(x, y auth.Account) bool { return x.Name == y.Name && slices.Equal(x.Hash, y.Hash) }) ||
				!slices.Equal(got.Grants, users.Grants) || len(got.VHosts) != 2 {
				t.Errorf("users are %+v", got)
			}
			if v, ok := b.Node.VHost("dev"); !ok || !v.Tracing() || v.DefaultQueueType() != "quorum" {
				t.Error("the virtual host is another one")
			}
			if got := b.Node.API().Globals(); len(got) != 2 || string(got["internal_cluster_id"]) != string(globals["internal_cluster_id"]) {
				t.Errorf("globals are %s", got)
			}
			if o, err := b.Node.API().Overview(context.Background()); err != nil || o.ClusterName != "house" {
				t.Errorf("%q, %v", o.ClusterName, err)
			}
			if !slices.Equal(policyNames(b, "", false), []string{"dev:ttl"}) || !slices.Equal(policyNames(b, "", true), []string{"dev:ttl"}) {
				t.Error("the policies are others")
			}
			conn, err := enter(b, "ann", "a", "dev")
			if err != nil {
				t.Fatal(err)
			}
			ch, err := conn.Channel()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ch.QueueDeclare("a1", true, false, false, false, nil); err != nil {
				t.Error(err)
			}
			if v, _ := b.Node.VHost("dev"); v.Directory().Queue([]byte("a1")).Type != "quorum" {
				t.Error("the queue is of another type")
			}
			if _, err := ch.QueueDeclare("b", true, false, false, false, nil); !isCode(err, 403, "ACCESS_REFUSED - configure access to queue 'b' in vhost 'dev' refused for user 'ann'") {
				t.Error(err)
			}
			_ = conn.Close()
		}
	})
}

// A deleted virtual host deletes its policies permanently, even if one by that name is created again.
func TestDeletedDefinitionsStayDeleted(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		makeVHost(b, auth.VHost{Name: "dev"})
		b.SetPolicyIn("dev", "p", `{"pattern":"","definition":{"message-ttl":60000}}`)
		setOperatorPolicy(b, "dev", "p", `{"pattern":"","definition":{"message-ttl":1000}}`)
		b.SetPolicy("stays", `{"pattern":"","definition":{"message-ttl":60000}}`)
		b.SetPolicy("gone", `{"pattern":"","definition":{"message-ttl":60000}}`)
		b.ClearPolicy("gone")
		removeVHost(b, "dev")
		makeVHost(b, auth.VHost{Name: "dev"})
		b.Restart(0)
		if got := policyNames(b, "", false); !slices.Equal(got, []string{"/:stays"}) {
			t.Errorf("policies are %v", got)
		}
		if got := policyNames(b, "", true); got != nil {
			t.Errorf("operator policies are %v", got)
		}
		removeVHost(b, "dev")
		b.Restart(0)
		if names, err := b.Node.API().VHosts(context.Background()); err != nil || !slices.Equal(names, []string{"/"}) {
			t.Errorf("%v, %v", names, err)
		}
	})
}

// A change that cannot be stored is refused and has no effect, also after a restart.
func TestDefinitionsNotStored(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		b.Log.Allow("policy could not be")
		b.SetPolicy("p", `{"pattern":"","definition":{"message-ttl":60000}}`)
		fault := errors.New("disk")
		b.Meta.Fail(fault)
		p, err := policies.Parse("/", "p", false, []byte(`{"pattern":"","definition":{"message-ttl":1}}`))
		if err != nil {
			t.Fatal(err)
		}
		_, errPolicy := b.Node.API().SetPolicy(context.Background(), p)
		_, errClear := b.Node.API().ClearPolicy(context.Background(), "/", "p", false)
		_, errVHost := b.Node.API().PutVHost(context.Background(), auth.VHost{Name: "dev"})
		_, errDelete := b.Node.API().DeleteVHost(context.Background(), "/")
		_, errUser := b.Node.API().DeleteUser(context.Background(), "guest")
		_, errGlobal := b.Node.API().PutGlobal(t.Context(), "g", json.RawMessage("1"))
		for i, err := range []error{errPolicy, errClear, errVHost, errDelete, errUser, errGlobal} {
			if !errors.Is(err, fault) {
				t.Errorf("%d: %v", i, err)
			}
		}
		for range 2 {
			if _, ok := b.Node.VHost("dev"); ok || len(b.Users.Accounts()) != 1 || len(b.Node.API().Globals()) != 1 {
				t.Error("something has happened")
			}
			list, err := b.Node.API().ListPolicies(context.Background(), "/", false)
			if err != nil || len(list) != 1 || list[0].Definition.String() != `{"message-ttl":60000}` {
				t.Errorf("%v, %v", list, err)
			}
			b.Restart(0)
		}
	})
}

// Changes that were confirmed survive a crash of the broker.
func TestAnsweredDefinitionsSurviveACrash(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		makeVHost(b, auth.VHost{Name: "dev"})
		b.SetPolicyIn("dev", "p", `{"pattern":"","definition":{"message-ttl":60000}}`)
		b.Crash(0)
		if got := policyNames(b, "dev", false); !slices.Equal(got, []string{"dev:p"}) {
			t.Errorf("policies are %v", got)
		}
	})
}
