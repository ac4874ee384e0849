package parameters

import (
	"strings"
	"testing"
	"time"
)

func TestParseURI(t *testing.T) {
	for _, c := range []struct {
		address, shown, user, password, wrong string
	}{
		{address: "amqp://", shown: "amqp://"},
		{address: "amqp:///", shown: "amqp:///"},
		{address: "amqp:///%2f", shown: "amqp://"},
		{address: "amqp:///v", shown: "amqp:///v"},
		{address: "amqp://u@", shown: "amqp://", user: "u"},
		{address: "amqp://u:p@/v", shown: "amqp:///v", user: "u", password: "p"},
		{address: "AMQP://far", shown: "amqp://far", user: "guest", password: "guest"},
		{address: "amqp://a%40b:s%2Fc@far:1234/v%2Fw?heartbeat=7&connection_timeout=1500&channel_max=3", shown: "amqp://far:1234/v%2Fw", user: "a@b", password: "s/c"},
		{address: "amqps://far", shown: "amqps://far", user: "guest", password: "guest"},
		{address: "amqps://[::1]:5671/v?verify=verify_none", shown: "amqps://[::1]/v", user: "guest", password: "guest"},
		{address: "http://far", wrong: `{unexpected_uri_scheme,"http"}`},
		{address: "amqp:far", wrong: `{invalid_vhost,""}`},
		{address: "amqp://far/a/b", wrong: `{invalid_vhost,"a/b"}`},
		{address: "amqp://:1234", wrong: `port_requires_host`},
		{address: "amqp://far:0", wrong: `{port_out_of_range,0}`},
		{address: "amqp://far:70000", wrong: `{port_out_of_range,70000}`},
		{address: "amqp://u:secret@far:x", wrong: `unable_to_parse_uri`},
		{address: "amqp://far?heartbeat=often", wrong: `{invalid_amqp_params_parameter,heartbeat,"often"}`},
		{address: "amqps://far?verify=maybe", wrong: `{invalid_ssl_parameter,verify,"maybe"}`},
		{address: "amqp://far?channel_max=many", wrong: `{invalid_amqp_params_parameter,channel_max,"many"}`},
		{address: "amqp://far?frame_max=-1", wrong: `{invalid_amqp_params_parameter,frame_max,"-1"}`},
		{address: "amqp://far?username=u", wrong: `{invalid_amqp_params_parameter,username}: {parameter_unconfigurable_in_query,username}`},
		{address: "amqp://far?auth_mechanism=kerberos", wrong: `{unknown_mechanism,"kerberos"}`},
		{address: "amqp://far?auth_mechanism=external&auth_mechanism=plain&whatever=1&password=passed-over", shown: "amqp://far", user: "guest", password: "guest"},
		{address: "amqps://far?depth=2&fail_if_no_peer_cert=true&customize_hostname_check=https&frame_max=4096", shown: "amqps://far", user: "guest", password: "guest"},
		{address: "amqps://far?depth=deep", wrong: `{invalid_ssl_parameter,depth,"deep"}`},
		{address: "amqps://far?fail_if_no_peer_cert=perhaps", wrong: `{invalid_ssl_parameter,fail_if_no_peer_cert,"perhaps"}`},
		{address: "amqps://far?customize_hostname_check=mine", wrong: `{invalid_ssl_parameter,customize_hostname_check,"mine"}`},
		{address: "amqps://far?certfile=a", wrong: `{invalid_ssl_parameter,certfile}: certfile and keyfile require each other`},
		{address: "amqps://far?password=secret", wrong: `{invalid_ssl_parameter,password}: keys with a password are not supported`},
	} {
		u, err := ParseURI(c.address)
		if err != nil || c.wrong != "" {
			if err == nil || err.Error() != c.wrong {
				t.Errorf("%s: %v", c.address, err)
			}
			continue
		}
		if c.shown == "amqp:///" { // an empty name of a virtual host, as in RabbitMQ
			if u.VHost != "" {
				t.Errorf("%+v", u)
			}
			continue
		}
		if u.NoLogin != (!strings.Contains(c.address, "@") && u.HasPassword == !u.Local()) {
			t.Errorf("%s: %+v", c.address, u)
		}
		if u.String() != c.shown || u.User != c.user || u.Password != c.password || u.Local() != (u.Port == 0) {
			t.Errorf("%s: %s %+v", c.address, u, u)
		}
	}
	u, err := ParseURI("amqps://far:1/v?heartbeat=7&connection_timeout=1500&cacertfile=/ca&certfile=/c&keyfile=/k&server_name_indication=other")
	if err != nil || u.Heartbeat != 7*time.Second || u.Timeout != 1500*time.Millisecond ||
		*u.TLS != (TLS{CAFile: "/ca", CertFile: "/c", KeyFile: "/k", Verify: true, Name: "other"}) {
		t.Errorf("%+v %+v %v", u, u.TLS, err)
	}
}
