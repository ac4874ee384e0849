package effects

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/protocol"
)

// operation is a request about policies, over HTTP or AMQP.
type operation func(ctx context.Context, b management.PolicyEffects, a *asked) (any, error)

// asked is a request and its origin.
type asked struct {
	by       auth.User
	vhost    string
	operator bool // it is about operator policies
	// body is the JSON object of the request, fields are the fields of the object and of the path.
	body   []byte
	fields map[string]json.RawMessage
}

// text returns a field, "" if it is absent.
func (a *asked) text(name string) string { return rest.BareValue(a.fields[name]) }

// operations by the second word of their AMQP routing keys.
var operations = map[string]operation{"explain": explain, "preview": preview, "history": history, "undo": undo}

// Command executes an admin command that came over AMQP with a routing key. The result writes the reply as JSON
// (rest.ForAMQP).
func Command(ctx context.Context, b management.PolicyEffects, by auth.User, vhost, key string, body []byte) func() []byte {
	v, err := command(ctx, b, &asked{by: by, vhost: vhost, body: body}, key)
	return rest.ForAMQP(v, declined(err))
}

func command(ctx context.Context, b management.PolicyEffects, a *asked, key string) (any, error) {
	subject, verb, _ := strings.Cut(key, ".")
	a.operator = subject == "operator_policy"
	do := operations[verb]
	if do == nil {
		return nil, rest.Nonexistent("unknown command '" + key + "'")
	}
	if a.body = bytes.TrimSpace(a.body); len(a.body) == 0 {
		a.body = []byte("{}")
	}
	if json.Unmarshal(a.body, &a.fields) != nil {
		return nil, rest.Complaint("not_json")
	}
	if vhost := a.text("vhost"); a.fields["vhost"] != nil && vhost != a.vhost {
		return nil, rest.Unauthorised("this exchange accepts only commands about the policies of vhost '" + a.vhost + "'")
	}
	return do(ctx, b, a)
}

// declined turns an error for a missing object into a refusal with its name.
func declined(err error) error {
	if code, text := rest.ProtocolError(err); code == protocol.NotFound {
		return rest.Nonexistent(text)
	}
	return err
}
