package document

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"candlemark/internal/access/sas"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/text/jsonencode"
	"candlemark/internal/text/redact"
	"candlemark/policies"
	"candlemark/policies/pattern"
)

func (j *judge) user(b *rest.Body, i *Item) {
	a := auth.Account{Name: b.Text("name"), Tags: b.Tags(), Algorithm: j.algorithm(b)}
	i.Name = a.Name
	if !b.Has("tags") {
		if !b.Has("administrator") {
			b.Fail(rest.Complaint("tags_not_present"))
		}
		if b.Flag("administrator") {
			a.Tags = []string{"administrator"}
		}
	}
	password, hash := b.Text("password"), b.Text("password_hash")
	if b.Err != nil {
		return
	}
	switch {
	case b.Has("password"):
		a.Hash, a.Algorithm = auth.HashPassword(password), auth.SHA256
	case hash != "":
		var err error
		if a.Hash, err = base64.StdEncoding.DecodeString(hash); err != nil {
			b.Fail(rest.TupleOf("not_base64", redact.Mark))
			return
		}
	}
	if !isEmpty(b, "limits") {
		limits, problems := validLimits(b.Fields["limits"], auth.ParseUserLimits)
		a.Limits = limits
		noteLimits(i, problems)
	}
	b.Decode("access_keys", &a.Keys, rest.TupleOf("not_a_map", "access_keys"))
	b.Fail(a.Validate())
	if b.Err != nil {
		return
	}
	i.Value = a
	j.Users[a.Name] = true
	if len(a.Hash) == 0 && a.Keys == (sas.Keys{}) {
		i.Note(Taken, "the user has no password: it can log in only with a certificate")
	}
	if a.Fits("guest") && a.Name == "guest" {
		i.Note(Risky, "guest has its default password: delete it, or give it another one")
	}
	if a.Algorithm == auth.MD5 && len(a.Hash) > 0 {
		i.Note(Risky, "the password is hashed with MD5, which is weak: set the password again")
	}
}

// algorithm returns how a password is hashed: as the item says, or else as the version did that wrote the document.
func (j *judge) algorithm(b *rest.Body) string {
	if named := b.Text("hashing_algorithm"); named != "" {
		return named
	}
	for _, old := range []string{"1.", "2.", "3.0.", "3.1.", "3.2.", "3.3.", "3.4.", "3.5."} {
		if strings.HasPrefix(j.version, old) {
			return auth.MD5
		}
	}
	return auth.SHA256
}

// described returns a virtual host and whether its queues are streams by default. Without a field that is not valid it is
// imported all the same, since the objects in it need it.
func (j *judge) described(b *rest.Body, i *Item) (v auth.VHost, stream bool) {
	before := j.VHosts[b.Text("name")]
	metadata := &rest.Body{}
	optional(b, i, "metadata", func(b *rest.Body) {
		b.Decode("metadata", &metadata.Fields, rest.TupleOf("not_a_map", "metadata"))
	})
	v = auth.VHost{Name: b.Text("name"), Tags: []string{}, DefaultQueueType: before.DefaultQueueType, Tracing: before.Tracing, Protected: before.Protected}
	either := func(key string, read func(*rest.Body)) {
		if b.Has(key) {
			optional(b, i, key, read)
		} else {
			optional(metadata, i, key, read)
		}
	}
	either("description", func(b *rest.Body) { v.Description = b.Text("description") })
	either("tags", func(b *rest.Body) { v.Tags = b.Tags() })
	either("default_queue_type", func(b *rest.Body) {
		switch kind := b.Text("default_queue_type"); kind {
		case "", "undefined":
		case "stream":
			stream = true
		default:
			b.Fail(auth.VHost{Name: "/", DefaultQueueType: kind}.Validate())
			if b.Err == nil {
				v.DefaultQueueType = kind
			}
		}
	})
	either("protected_from_deletion", func(b *rest.Body) { v.Protected = b.Flag("protected_from_deletion") })
	optional(b, i, "tracing", func(b *rest.Body) { v.Tracing = b.Flag("tracing") })
	if !isEmpty(b, "limits") {
		limits, problems := validLimits(b.Fields["limits"], auth.ParseVHostLimits)
		v.Limits = limits
		noteLimits(i, problems)
	}
	b.Fail(v.Validate())
	return v, stream
}

// optional reads a field, if present, of an item that is imported without it if it is not valid.
func optional(b *rest.Body, i *Item, key string, read func(*rest.Body)) {
	if !b.Has(key) {
		return
	}
	one := &rest.Body{Fields: b.Fields}
	if read(one); one.Err != nil {
		i.Note(Approximated, key+" is left out: "+oneLine(one.Err))
	}
}

// noteLimits notes the omitted limits.
func noteLimits(i *Item, problems []error) {
	for _, problem := range problems {
		i.Note(Approximated, "a limit is left out: "+oneLine(problem))
	}
}

// validLimits returns the valid limits of an object, nil for none, and the errors of the others.
func validLimits(raw json.RawMessage, parse func([]byte) (auth.Limits, error)) (limits auth.Limits, problems []error) {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		_, err := parse(raw)
		return nil, []error{err}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch one, err := parse(jsonencode.Marshal(map[string]json.RawMessage{name: given[name]})); {
		case err != nil:
			problems = append(problems, err)
		case limits == nil:
			limits = one
		default:
			maps.Copy(limits, one)
		}
	}
	return limits, problems
}

func (j *judge) vhost(b *rest.Body, i *Item) {
	v, stream := j.described(b, i)
	i.Name = v.Name
	if b.Err != nil {
		return
	}
	i.Value = v
	if _, there := j.VHosts[v.Name]; !there {
		for name, kind := range builtIn {
			j.Exchanges[Name{v.Name, name}] = policies.ExchangeDeclaration{Type: kind, Durable: true}
		}
	}
	j.VHosts[v.Name] = v
	if stream {
		i.Note(Approximated, "there are no streams: queues that are declared without a type are classic")
	}
}

// holder returns the user and the virtual host that a permission is for.
func (j *judge) holder(b *rest.Body, i *Item) (user, vhost string) {
	user, vhost = b.Text("user"), j.in(b)
	i.Name, i.VHost = user, vhost
	if !j.Users[user] {
		b.Fail(fmt.Errorf("there is no user '%s'", user))
	}
	return user, vhost
}

// expression returns one of a permission.
func expression(b *rest.Body, key string) string {
	b.Need(key)
	text := b.Text(key)
	if _, err := pattern.Compile(text); err != nil {
		b.Fail(fmt.Errorf("%s: %w", key, err))
	}
	return text
}

func (j *judge) permission(b *rest.Body, i *Item) {
	user, vhost := j.holder(b, i)
	g := auth.Grant{User: user, VHost: vhost, Configure: expression(b, "configure"), Write: expression(b, "write"), Read: expression(b, "read")}
	if b.Err == nil {
		i.Value = g
	}
}

func (j *judge) topicPermission(b *rest.Body, i *Item) {
	user, vhost := j.holder(b, i)
	b.Need("exchange")
	i.Name = user + " at " + b.Text("exchange")
	g := auth.TopicGrant{User: user, VHost: vhost, Exchange: b.Text("exchange"), Write: expression(b, "write"), Read: expression(b, "read")}
	if b.Err == nil {
		i.Value = g
	}
}

var errNoValue = errors.New("[{key_missing,value}]")

func (j *judge) global(b *rest.Body, i *Item) {
	i.Name = b.Text("name")
	switch {
	case !b.Has("value"):
		b.Fail(errNoValue)
	case i.Name == "":
		b.Need("name")
	case strings.HasPrefix(i.Name, "internal"):
		i.Note(Ignored, "it belongs to the broker that the definitions come from")
	}
	if b.Err == nil && i.Verdict != Ignored {
		i.Value = Global{i.Name, b.Fields["value"]}
	}
}
