package document

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/text/jsonencode"
	"candlemark/policies"
)

// gone matches settings of policies of older versions of RabbitMQ, which are left out.
var gone = regexp.MustCompile(`^(ha-.*|queue-master-locator)$`)

func (j *judge) policy(b *rest.Body, i *Item) {
	i.VHost, i.Name = j.in(b), b.Text("name")
	if i.Name == "" {
		b.Need("name")
		b.Fail(errors.New("policy name is empty"))
	}
	if b.Err == nil {
		judgePolicy(b.Fields, false, i)
	}
}

func (j *judge) parameter(b *rest.Body, i *Item) {
	vhost, component := j.in(b), b.Text("component")
	i.VHost, i.Name = vhost, b.Text("name")
	if !b.Has("value") {
		b.Fail(errNoValue)
	}
	if b.Err != nil {
		return
	}
	switch auth.Setting(component) {
	case auth.OperatorPolicies:
		var fields map[string]json.RawMessage
		if b.Decode("value", &fields, rest.TupleOf("not_a_map", "value")); b.Err == nil {
			judgePolicy(fields, true, i)
		}
	case auth.VHostLimits:
		limits, problems := auth.Limits{}, []error(nil)
		if !isEmpty(b, "value") {
			limits, problems = validLimits(b.Fields["value"], auth.ParseVHostLimits)
		}
		if limits == nil {
			b.Fail(problems[0])
			return
		}
		noteLimits(i, problems)
		i.Value = VHostLimits{vhost, limits}
	case auth.Policies:
		b.Fail(errors.New("policies may not be set using this method"))
	default:
		i.Name = component + "/" + i.Name
		judgeComponent(parameters.Parameter{Component: component, VHost: vhost, Name: b.Text("name"), Value: b.Fields["value"]}, i)
	}
}

// judgeComponent judges a parameter of a RabbitMQ plugin, or of a component of this broker alone.
func judgeComponent(p parameters.Parameter, i *Item) {
	if !parameters.Known(p.Component) {
		i.Note(Ignored, "the component "+p.Component+" is not supported here")
		return
	}
	if err := parameters.Validate(p.Component, p.Name, p.Value, nil); err != nil {
		i.Refuse(err)
		return
	}
	i.Value = p
	if p.Component == parameters.Schedule {
		i.Note(Taken, "it begins to publish now, perhaps as well as in the broker that the definitions come from")
	} else if parameters.Own(p.Component) {
		return
	} else if p.Component != parameters.Shovel {
		i.Note(Approximated, "it is kept without effect: "+parameters.NoFederation)
	} else if _, err := parameters.ParseShovel(p.VHost, p.Name, p.Value); err != nil {
		i.Note(Approximated, "it is kept without effect: "+err.Error())
	} else {
		i.Note(Taken, "it starts to move messages at once, perhaps as well as in the broker that the definitions come from")
	}
}

// judgePolicy judges a policy of these fields: an item of the policies, or the value of a parameter.
func judgePolicy(fields map[string]json.RawMessage, operator bool, i *Item) {
	var definition map[string]json.RawMessage
	if json.Unmarshal(fields["definition"], &definition) == nil {
		dropped := false
		for _, key := range slices.Sorted(maps.Keys(definition)) {
			if gone.MatchString(key) {
				delete(definition, key)
				dropped = true
				i.Note(Approximated, key+" is left out: "+policies.OneNode)
			}
		}
		if dropped && len(definition) == 0 {
			i.Note(Ignored, "it has no other keys")
			return
		}
		if dropped {
			fields = maps.Clone(fields)
			fields["definition"] = jsonencode.Marshal(definition)
		}
	}
	p, err := policies.Parse(i.VHost, i.Name, operator, jsonencode.Marshal(fields))
	if err != nil {
		i.Refuse(err)
		return
	}
	i.Value = p
	for _, entry := range p.Definition {
		if why := policies.Idle(entry.Key); why != "" {
			i.Note(Approximated, entry.Key+" has no effect: "+why)
		}
	}
	if p.ApplyTo == "streams" {
		i.Note(Approximated, "it applies to nothing: "+policies.NoStreams)
	}
	if p.ApplyTo == "exchanges" || anchored(p.Pattern) {
		return
	}
	for _, entry := range p.Definition {
		if policies.Destructive(entry.Key) {
			i.Note(Risky, "its pattern is not anchored with ^, and "+entry.Key+" can remove the messages of all queues that it matches")
		}
	}
}

// all matches the rest, after its ^, of a pattern that matches all names except some.
var all = regexp.MustCompile(`^(\(\?<?[!=][^()]*\))*(\.\*|\(\.\*\)|\.\+)?\$?$`)

// anchored reports whether every alternative of a pattern fixes the beginning of names.
func anchored(pattern string) bool {
	depth, start := 0, 0
	var alternatives []string
	for at := 0; at < len(pattern); at++ {
		switch pattern[at] {
		case '\\':
			at++
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '|':
			if depth == 0 {
				alternatives = append(alternatives, pattern[start:at])
				start = at + 1
			}
		}
	}
	for _, one := range append(alternatives, pattern[start:]) {
		rest, ok := strings.CutPrefix(one, "^")
		if !ok {
			rest, ok = strings.CutPrefix(one, `\A`)
		}
		if !ok || all.MatchString(rest) {
			return false
		}
	}
	return true
}
