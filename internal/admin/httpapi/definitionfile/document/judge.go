package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/policies"
)

// section is a list of the document.
type section struct {
	name  string
	keys  string // of its items
	inOne bool   // it is imported into one virtual host, too
	judge func(j *judge, b *rest.Body, i *Item)
}

// sections are all sections, in the order in which they are imported: an item follows the items that it names, and
// queues and exchanges follow the items that apply to them.
var sections = []section{
	{"users", "name password password_hash hashing_algorithm tags administrator limits access_keys", false, (*judge).user},
	{"vhosts", "name description metadata tags default_queue_type tracing limits protected_from_deletion", false, (*judge).vhost},
	{"permissions", "user vhost configure write read", false, (*judge).permission},
	{"topic_permissions", "user vhost exchange write read", false, (*judge).topicPermission},
	{"parameters", "vhost component name value", true, (*judge).parameter},
	{globalParameters, "name value component", false, (*judge).global},
	{"policies", "vhost name pattern apply-to definition priority", true, (*judge).policy},
	{"exchanges", "name vhost type durable auto_delete internal arguments", true, (*judge).exchange},
	{"queues", "name vhost type durable auto_delete exclusive arguments", true, (*judge).queue},
	{"bindings", "source vhost destination destination_type routing_key arguments properties_key", true, (*judge).binding},
}

const globalParameters = "global_parameters"

func sectionNamed(name string) *section {
	for i := range sections {
		if sections[i].name == name {
			return &sections[i]
		}
	}
	return nil
}

// judge goes through a document.
type judge struct {
	Present
	version string
	ours    bool   // Candlemark wrote the document
	only    string // the virtual host that everything is for, "" if items say it themselves
	// Queues and exchanges that are not imported; nothing that leads to them is imported, either.
	noQueue, noExchange map[Name]bool
}

// Judge returns a verdict on each item of a document, for a broker with the objects in present; with a vhost all items
// are for that vhost.
func Judge(d *Document, present Present, vhost string) *Plan {
	j := &judge{Present: present, version: d.version, ours: d.ours, only: vhost, noQueue: map[Name]bool{}, noExchange: map[Name]bool{}}
	p := &Plan{Items: []Item{}, Warnings: slices.Clone(d.warnings)}
	for _, s := range sections {
		items, from := slices.Concat(d.sections[s.name], d.sections[ownPrefix+s.name]), len(p.Items)
		if vhost != "" && !s.inOne && len(items) > 0 {
			p.Warnings = append(p.Warnings, fmt.Sprintf("section %q is not imported into one virtual host", s.name))
			continue
		}
		strange := map[string]int{}
		for n, raw := range items {
			p.Items = append(p.Items, j.item(&s, n, raw, strange))
		}
		if d.sections[ownPrefix+s.name] != nil {
			p.Items = withoutReplaced(p.Items, from)
		}
		for _, key := range slices.Sorted(maps.Keys(strange)) {
			p.Warnings = append(p.Warnings, fmt.Sprintf("%s: unknown key %q is ignored (items: %d)", s.name, key, strange[key]))
		}
	}
	return p
}

// withoutReplaced returns the items without the ones, from an index on, that a later policy of the same name replaces.
func withoutReplaced(items []Item, from int) []Item {
	type name struct{ vhost, name string }
	last := map[name]int{}
	for n, i := range items[from:] {
		if _, policy := i.Value.(*policies.Policy); policy {
			last[name{i.VHost, i.Name}] = from + n
		}
	}
	kept := items[:from]
	for n, i := range items[from:] {
		if _, policy := i.Value.(*policies.Policy); !policy || last[name{i.VHost, i.Name}] == from+n {
			kept = append(kept, i)
		}
	}
	return kept
}

// item judges the n-th of a section, and counts its unknown keys.
func (j *judge) item(s *section, n int, raw json.RawMessage, strange map[string]int) Item {
	i := Item{Section: s.name, Verdict: Taken, Notes: []Note{}}
	b := &rest.Body{}
	if len(raw) > maxItem { // it might take many times that much when it is decoded
		i.Name = fmt.Sprintf("#%d", n+1)
		i.Refuse(fmt.Errorf("it has %d bytes, more than %d", len(raw), maxItem))
		return i
	}
	if json.Unmarshal(raw, &b.Fields) != nil || b.Fields == nil {
		i.Refuse(errNoObject)
		return i
	}
	known := strings.Fields(s.keys)
	for key := range b.Fields {
		if !slices.Contains(known, key) {
			strange[key]++
		}
		if !(s.name == globalParameters && j.ours) {
			b.Fields[key] = withObjects(b.Fields[key], objectLevels[key])
		}
	}
	s.judge(j, b, &i)
	if b.Err != nil {
		i.Refuse(b.Err)
	}
	if i.Name == "" {
		i.Name = fmt.Sprintf("#%d", n+1)
	}
	return i
}

var errNoObject = errors.New("it is not an object")

// maxName is how many bytes a name has at most: it is a short string of AMQP.
const maxName = 255

// name returns a text that must be there, and that AMQP can carry.
func name(b *rest.Body, key string) string {
	b.Need(key)
	text := b.Text(key)
	if len(text) > maxName {
		b.Fail(fmt.Errorf("the %s has %d bytes, more than %d", key, len(text), maxName))
	}
	return text
}

// in returns the virtual host of an item, which must be there.
func (j *judge) in(b *rest.Body) string {
	vhost := j.only
	if vhost == "" {
		vhost = b.Text("vhost")
	}
	switch _, there := j.VHosts[vhost]; {
	case vhost == "":
		b.Fail(rest.Complaint("Virtual host does not exist and is not specified in definitions file."))
	case !there:
		b.Fail(rest.Complaintf("Please create virtual host \"%s\" prior to importing definitions.", vhost))
	}
	return vhost
}

// isEmpty reports whether a value is absent, or has nothing in it.
func isEmpty(b *rest.Body, key string) bool {
	switch strings.Join(strings.Fields(string(b.Fields[key])), "") {
	case "", "null", "{}", "[]", `""`:
		return true
	}
	return false
}
