package definitions

import (
	"errors"
	"reflect"
	"testing"

	"candlemark/internal/access/auth"
)

// users returns the users after the next start.
func (k *keeper) users(t *testing.T) *auth.Users {
	t.Helper()
	u := auth.NewGuest()
	if err := KeepUsers(k, k.all(t), u); err != nil {
		t.Fatal(err)
	}
	return u
}

// Users, permissions and virtual hosts are unchanged after a restart; a deleted guest is not created again.
func TestUsersSurvive(t *testing.T) {
	both(t, func(t *testing.T, m *keeper) {
		u := m.users(t)
		if want := auth.NewGuest().Stored(); !reflect.DeepEqual(u.VHosts(), want.VHosts) || !reflect.DeepEqual(u.Grants("", ""), want.Grants) {
			t.Errorf("a new broker has %+v", u.Stored())
		}
		d := sample("v")
		_, err1 := u.PutVHost(d.VHosts[0])
		_, err2 := u.PutVHost(auth.VHost{Name: "w"})
		_, err3 := u.PutAccount(d.Accounts[0])
		_, err4 := u.PutAccount(auth.Account{Name: "bob", Tags: []string{}})
		_, err5 := u.PutGrant(d.Grants[0])
		_, err6 := u.PutGrant(auth.Grant{User: "bob", VHost: "w"})
		_, err7 := u.PutTopicGrant(d.TopicGrants[0])
		if err := errors.Join(err1, err2, err3, err4, err5, err6, err7, u.DeleteAccount("guest"), u.DeleteVHost("/")); err != nil {
			t.Fatal(err)
		}
		want := u.Stored()
		for range 2 {
			m = m.reopen(t)
			if u = m.users(t); !reflect.DeepEqual(u.Stored(), want) {
				t.Errorf("got  %+v\nwant %+v", u.Stored(), want)
			}
		}
		ann := auth.User{Name: "ann"}
		if u.VHostAccess(ann, "v") != nil || u.VHostAccess(ann, "/") == nil ||
			u.Check(ann, "v", auth.Resource{Name: "c<1"}, auth.Configure) != nil ||
			u.CheckTopic(ann, "v", "amq.topic", "other", auth.Write) == nil {
			t.Error("the permissions are others")
		}
		if err := u.DeleteVHost("v"); !errors.Is(err, auth.ErrProtected) {
			t.Error(err)
		}
		v, _ := u.VHost("v")
		v.Protected = false
		_, errOpen := u.PutVHost(v)
		if err := errors.Join(errOpen, u.DeleteGrant("bob", "w"), u.DeleteTopicGrants("ann", "v", "", true), u.DeleteVHost("v")); err != nil {
			t.Error(err)
		}
		if got := m.reopen(t).all(t); len(got.Grants)+len(got.TopicGrants) != 0 || len(got.VHosts) != 1 {
			t.Errorf("left %+v", got)
		}
	})
}

// A change that cannot be stored does not take effect.
func TestUsersRefuseWhatIsNotStored(t *testing.T) {
	m := NewMemory()
	u := memoryKeeper(t, m).users(t)
	before, generation := u.Stored(), u.Generation()
	m.Fail(errDisk)
	_, err1 := u.PutVHost(auth.VHost{Name: "v"})
	_, err2 := u.PutAccount(auth.Account{Name: "bob"})
	_, err3 := u.PutGrant(auth.Grant{User: "guest", VHost: "/"})
	for _, err := range []error{err1, err2, err3, u.DeleteVHost("/"), u.DeleteAccount("guest"), u.DeleteGrant("guest", "/")} {
		if !errors.Is(err, errDisk) {
			t.Errorf("got %v", err)
		}
	}
	if !reflect.DeepEqual(u.Stored(), before) || u.Generation() != generation {
		t.Errorf("got %+v", u.Stored())
	}
}

// If permissions have no user or no virtual host, or are invalid, loading fails and loads nothing.
func TestUsersThatDoNotFit(t *testing.T) {
	good := sample("v")
	for name, d := range map[string]*Definitions{
		"user":       {VHosts: good.VHosts, Grants: good.Grants},
		"vhost":      {Accounts: good.Accounts, TopicGrants: good.TopicGrants},
		"expression": {VHosts: good.VHosts, Accounts: good.Accounts, Grants: []auth.Grant{{User: "ann", VHost: "v", Read: "("}}},
	} {
		u := auth.NewGuest()
		d.Revision = 1
		if err := KeepUsers(NewMemory(), d, u); err == nil || len(u.Accounts()) != 1 {
			t.Errorf("%s: %v, %+v", name, err, u.Accounts())
		}
	}
}
