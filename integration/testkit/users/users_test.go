package users

import (
	"errors"
	"testing"

	"candlemark/internal/access/auth"
)

func TestFixed(t *testing.T) {
	secret := auth.Resource{Kind: auth.Exchange, Name: "secret"}
	f := &Fixed{
		Passwords: map[string]string{"lim": "s"}, Tags: map[string][]string{"lim": {"policymaker"}},
		NoVHost: map[string][]string{"lim": {"prod"}},
		Refused: []Refusal{{"lim", secret, auth.Write}, {"lim", auth.Resource{Kind: auth.Exchange, Name: ""}, auth.Read}},
	}
	u, err := f.Authenticate("PLAIN", []byte("\x00lim\x00s"), auth.Peer{})
	if err != nil || !u.HasTag("policymaker") || u.HasTag("administrator") {
		t.Errorf("%+v %v", u, err)
	}
	if _, err := f.Authenticate("PLAIN", []byte("\x00lim\x00"), auth.Peer{}); !errors.Is(err, auth.ErrRefused) {
		t.Error(err)
	}
	for want, err := range map[string]error{
		"connection error 530: NOT_ALLOWED - access to vhost 'prod' refused for user 'lim'":                             f.VHostAccess(u, "prod"),
		"channel error 403: ACCESS_REFUSED - write access to exchange 'secret' in vhost '/' refused for user 'lim'":     f.Check(u, "/", secret, auth.Write),
		"channel error 403: ACCESS_REFUSED - read access to exchange 'amq.default' in vhost '/' refused for user 'lim'": f.Check(u, "/", auth.Resource{Kind: auth.Exchange, Name: ""}, auth.Read),
		"channel error 403: ACCESS_REFUSED - configure access to queue 'q' in vhost '/' refused for user 'lim'":         auth.Refuse(u, "/", auth.Resource{Kind: auth.Queue, Name: "q"}, auth.Configure),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("\n got %v\nwant %s", err, want)
		}
	}
	if f.VHostAccess(u, "/") != nil || f.Check(u, "/", secret, auth.Read) != nil {
		t.Error("something is refused that should be allowed")
	}
}
