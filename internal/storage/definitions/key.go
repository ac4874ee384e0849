package definitions

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"candlemark/internal/access/auth"
	"candlemark/policies"
	"candlemark/policies/changes"
	"candlemark/protocol"
)

// table holds the objects of one kind.
type table string

// The tables. Keys of objects in a virtual host begin with its name.
const (
	vhosts      table = "vhosts"       // name
	accounts    table = "accounts"     // name
	globals     table = "globals"      // name
	grants      table = "grants"       // vhost, user
	topicGrants table = "topic-grants" // vhost, user, exchange
	exchanges   table = "exchanges"    // vhost, name
	queues      table = "queues"       // vhost, name
	bindings    table = "bindings"     // vhost, source, destination, routing key, arguments
	// leading has a line without content for each binding: vhost, destination,
	// source, routing key, arguments.
	leading table = "bindings-by-destination"
	rules   table = "policies"   // vhost, user or operator, name
	values  table = "parameters" // vhost, component, name
	broker  table = "broker"     // counts
	// history has changes of policies: vhost, number in 16 hexadecimal digits. It is not in files of format 1.
	history table = "policy-changes"
)

type tableList []table

func (l tableList) has(t table) bool { return slices.Contains(l, t) }

var (
	inVHosts  = tableList{grants, topicGrants, exchanges, queues, bindings, leading, rules, values, history}
	allTables = append(tableList{broker, vhosts, accounts, globals}, inVHosts...)
)

const maxKey = 32 << 10 // bytes; a limit of the file

// identify returns the place of v, and the virtual host that must exist for it, if any.
func identify(v any) (in table, key []byte, vhost string, err error) {
	switch v := v.(type) {
	case rawLine:
		in, key, vhost = v.In, v.Key, v.VHost
		if !slices.Contains(allTables, in) || in == broker || in == leading {
			return "", nil, "", fmt.Errorf("definitions: %q is not a kind of definition", in)
		}
	case auth.VHost:
		in, key = vhosts, join(v.Name)
	case auth.Account:
		in, key = accounts, join(v.Name)
	case Global:
		in, key = globals, join(v.Name)
	case auth.Grant:
		in, vhost, key = grants, v.VHost, join(v.VHost, v.User)
	case auth.TopicGrant:
		in, vhost, key = topicGrants, v.VHost, join(v.VHost, v.User, v.Exchange)
	case Exchange:
		in, vhost, key = exchanges, v.VHost, join(v.VHost, v.Name)
	case Queue:
		in, vhost, key = queues, v.VHost, join(v.VHost, v.Name)
	case *policies.Policy:
		in, vhost, key = rules, v.VHost, join(v.VHost, whose(v.Operator), v.Name)
	case *changes.Change:
		in, vhost, key = history, v.VHost, join(v.VHost, fmt.Sprintf("%016x", v.ID))
	case Parameter:
		in, vhost, key = values, v.VHost, join(v.VHost, v.Component, v.Name)
	case Binding:
		var digest string
		if digest, err = digestOf(v.Arguments); err != nil {
			return bindings, nil, "", err
		}
		in, vhost = bindings, v.VHost
		key = join(v.VHost, v.Source, destination(v.Destination, v.ToExchange), v.RoutingKey, digest)
	default:
		return "", nil, "", fmt.Errorf("definitions: %T is not a kind of definition", v)
	}
	if len(key) > maxKey {
		err = fmt.Errorf("definitions: a name in %s is too long", in)
	}
	return in, key, vhost, err
}

const operators = "operator"

func whose(operator bool) string {
	if operator {
		return operators
	}
	return "user"
}

// destination returns the name of a binding's destination in a key; queues and exchanges have different ones.
func destination(name string, exchange bool) string {
	if exchange {
		return "x" + name
	}
	return "q" + name
}

// digestOf represents arguments in a key, regardless of their order.
func digestOf(t protocol.Table) (string, error) {
	if len(t) == 0 {
		return "", nil
	}
	sorted := slices.Clone(t)
	slices.SortStableFunc(sorted, func(a, b protocol.Field) int { return strings.Compare(a.Key, b.Key) })
	encoded, err := protocol.AppendTable(nil, sorted)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(encoded)
	return string(sum[:]), nil
}

// turned converts the key of a binding in bindings to that in leading, and back.
func turned(key []byte) []byte {
	names := split(key)
	names[1], names[2] = names[2], names[1]
	return join(names...)
}

// join makes a key of names. Keys sort like their lists of names, and the key of some names is a prefix of the keys of
// longer lists that begin with them.
//
//	│ name, with 00 as 00 FF │ 00 01 │ name … │ 00 01 │
func join(names ...string) []byte {
	var key []byte
	for _, name := range names {
		for i := range len(name) {
			if key = append(key, name[i]); name[i] == 0 {
				key = append(key, 0xFF)
			}
		}
		key = append(key, 0, 1)
	}
	return key
}

// split undoes join.
func split(key []byte) []string {
	var names []string
	var name []byte
	for len(key) > 0 {
		i := bytes.IndexByte(key, 0)
		if i < 0 || i+1 == len(key) {
			return append(names, string(append(name, key...))) // damaged, as its checksum will show
		}
		name = append(name, key[:i]...)
		if key[i+1] == 1 {
			names, name = append(names, string(name)), nil
		} else {
			name = append(name, 0)
		}
		key = key[i+2:]
	}
	return names
}
