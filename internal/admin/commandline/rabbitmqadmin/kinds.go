package rabbitmqadmin

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// listing is a kind of objects that list or show shows.
type listing struct {
	name    string
	byVHost bool   // only of the virtual host that is named
	columns string // of tables, if none is named; "" for all
	json    string // columns with objects, shown as JSON
}

var listable = []listing{
	{"connections", false, "name user channels", ""},
	{"channels", false, "name user", ""},
	{"consumers", true, "", ""},
	{"exchanges", true, "name type", ""},
	{"queues", true, "name messages", ""},
	{"bindings", true, "source destination routing_key", ""},
	{"users", false, "", ""},
	{"vhosts", false, "name messages", ""},
	{"permissions", false, "", ""},
	{"nodes", false, "name type mem_used", ""},
	{"parameters", false, "", "value"},
	{"policies", false, "", "definition"},
	{"operator_policies", false, "", "definition"},
	{"vhost_limits", false, "", "value"},
}

var showable = []listing{{"overview", false, "rabbitmq_version cluster_name queue_totals.messages object_totals.queues", ""}}

// kind is something that is declared, deleted and so on by arguments of the form name=value.
type kind struct {
	name      string
	mandatory string // names; one of several with | between them is enough
	optional  string // names, with a default after =
	json      string // names whose values are JSON
	path      string // below /api, with {names}
}

var declarable = []kind{
	{"exchange", "name type", "auto_delete=false durable=true internal=false arguments={}", "arguments", "exchanges/{vhost}/{name}"},
	{"queue", "name", "auto_delete=false durable=true arguments={} node queue_type", "arguments", "queues/{vhost}/{name}"},
	{"binding", "source destination", "destination_type=queue routing_key= arguments={}", "arguments", "bindings/{vhost}/e/{source}/{destination_char}/{destination}"},
	{"vhost", "name", "tracing", "", "vhosts/{name}"},
	{"user", "name password|password_hash tags", "hashing_algorithm", "", "users/{name}"},
	{"permission", "vhost user configure write read", "", "", "permissions/{vhost}/{user}"},
	{"parameter", "component name value", "", "value", "parameters/{component}/{vhost}/{name}"},
	{"policy", "name pattern definition", "priority=0 apply-to", "definition priority", "policies/{vhost}/{name}"},
	{"operator_policy", "name pattern definition", "priority=0 apply-to", "definition priority", "operator-policies/{vhost}/{name}"},
	{"vhost_limit", "vhost name value", "", "value", "vhost-limits/{vhost}/{name}"},
}

var deletable = []kind{
	{"exchange", "name", "", "", "exchanges/{vhost}/{name}"},
	{"queue", "name", "", "", "queues/{vhost}/{name}"},
	{"binding", "source destination_type destination", "properties_key=~", "", "bindings/{vhost}/e/{source}/{destination_char}/{destination}/{properties_key}"},
	{"vhost", "name", "", "", "vhosts/{name}"},
	{"user", "name", "", "", "users/{name}"},
	{"permission", "vhost user", "", "", "permissions/{vhost}/{user}"},
	{"parameter", "component name", "", "", "parameters/{component}/{vhost}/{name}"},
	{"policy", "name", "", "", "policies/{vhost}/{name}"},
	{"operator_policy", "name", "", "", "operator-policies/{vhost}/{name}"},
	{"vhost_limit", "vhost name", "", "", "vhost-limits/{vhost}/{name}"},
}

var (
	closable = []kind{{"connection", "name", "", "", "connections/{name}"}}
	purgable = []kind{{"queue", "name", "", "", "queues/{vhost}/{name}/contents"}}
	publish  = kind{"publish", "routing_key", "payload properties={} exchange=amq.default payload_encoding=string", "properties", "exchanges/{vhost}/{exchange}/publish"}
	get      = kind{"get", "queue", "count=1 ackmode=ack_requeue_true payload_file encoding=auto", "", "queues/{vhost}/{queue}/get"}
)

// usage returns a line about what follows the name of a kind.
func (k *kind) usage() string {
	var words, optional []string
	for name := range strings.FieldsSeq(k.mandatory) {
		words = append(words, strings.ReplaceAll(name, "|", "=... OR ")+"=...")
	}
	for name := range strings.FieldsSeq(k.optional) {
		name, _, _ = strings.Cut(name, "=")
		optional = append(optional, name+"=...")
	}
	if optional != nil {
		words = append(words, "["+strings.Join(optional, " ")+"]")
	}
	return strings.Join(append([]string{k.name}, words...), " ")
}

// read returns the body of the request and its path. The virtual host is an argument, or else taken from the options.
func (k *kind) read(args []string, vhost string) (body map[string]any, path []string, err error) {
	body = map[string]any{}
	known := strings.FieldsFunc(k.mandatory, func(r rune) bool { return r == ' ' || r == '|' })
	put := func(name, value string) error {
		body[name] = value
		if slices.Contains(strings.Fields(k.json), name) {
			if !json.Valid([]byte(value)) {
				return errors.New("ERROR: Could not parse JSON:\n  " + value)
			}
			body[name] = json.RawMessage(value)
		}
		return nil
	}
	for name := range strings.FieldsSeq(k.optional) {
		name, value, some := strings.Cut(name, "=")
		known = append(known, name)
		if some {
			if err := put(name, value); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, arg := range args {
		name, value, some := strings.Cut(arg, "=")
		switch {
		case !some:
			return nil, nil, usage(fmt.Sprintf("Argument \"%s\" not in the name=value format", arg))
		case !slices.Contains(known, name):
			return nil, nil, usage(fmt.Sprintf("Argument \"%s\" is not recognised", name))
		}
		if err := put(name, value); err != nil {
			return nil, nil, err
		}
	}
	for names := range strings.FieldsSeq(k.mandatory) {
		switch is := slices.ContainsFunc(strings.Split(names, "|"), func(name string) bool { return body[name] != nil }); {
		case is:
		case strings.Contains(names, "|"):
			return nil, nil, usage("one of mandatory arguments \"['" + strings.ReplaceAll(names, "|", "', '") + "']\" is required")
		default:
			return nil, nil, usage("mandatory argument \"" + names + "\" is required")
		}
	}
	if body["vhost"] == nil {
		body["vhost"] = vhost
	}
	return body, k.pathOf(body), nil
}

// pathOf puts values in place of {names}.
func (k *kind) pathOf(body map[string]any) []string {
	path := strings.Split(k.path, "/")
	for i, part := range path {
		name, is := strings.CutPrefix(part, "{")
		if name = strings.TrimSuffix(name, "}"); !is {
			continue
		}
		if name == "destination_char" {
			to, _ := body["destination_type"].(string)
			path[i] = to[:min(1, len(to))]
			continue
		}
		path[i], _ = body[name].(string)
	}
	return path
}
