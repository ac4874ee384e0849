package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"candlemark/internal/admin/httpapi/rest"
)

// Product is the name of the program in a document that it exports.
const Product = "Candlemark"

// ownPrefix begins the names of sections with items that RabbitMQ cannot import; they continue the section of the rest of the name (DEF-10).
const ownPrefix = "candlemark_"

// MaxItems is how many items all sections of a document may have together.
const MaxItems = 250_000

// maxItem is how many bytes an item may have: as many as the body of a request for one object.
const maxItem = 1 << 20

// Document is a document that was read.
type Document struct {
	version  string // of the RabbitMQ that wrote it, "" for none
	ours     bool   // a broker of this kind wrote it
	sections map[string][]json.RawMessage
	warnings []string
}

// origin are the keys of a document besides its sections: they say where the document is from. The metadata of a
// virtual host are not taken over, as in RabbitMQ.
var origin = []string{
	"rabbit_version", "rabbitmq_version", "product_name", "product_version", "rabbitmq_definition_format",
	"original_cluster_name", "original_vhost_name", "explanation", "metadata", "description", "default_queue_type", "limits",
}

// Read reads a document. Nothing at all is an empty one. Error: that it is no JSON object, or has too many items.
func Read(text []byte) (*Document, error) {
	d := &Document{sections: map[string][]json.RawMessage{}}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	if len(text) == 0 {
		return d, nil
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(text, &keys) != nil || keys == nil {
		return nil, rest.Complaint("failed_to_parse_json")
	}
	for _, key := range []string{"rabbit_version", "rabbitmq_version"} {
		var version string
		if json.Unmarshal(keys[key], &version) == nil {
			d.version = version
		}
	}
	var product string
	d.ours = json.Unmarshal(keys["product_name"], &product) == nil && product == Product
	count := 0
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		switch {
		case slices.Contains(origin, key):
		case sectionNamed(strings.TrimPrefix(key, ownPrefix)) == nil:
			d.warnings = append(d.warnings, fmt.Sprintf("unknown section %q is ignored", key))
		default:
			items, isList := list(keys[key], MaxItems-count+1)
			if !isList {
				d.warnings = append(d.warnings, fmt.Sprintf("section %q is ignored: it is not a list", key))
			}
			d.sections[key] = items
			if count += len(items); count > MaxItems {
				return nil, rest.Complaintf("the definitions have more than %d items", MaxItems)
			}
		}
	}
	return d, nil
}

// list returns the elements of a valid list, which are parts of raw, at most the given number; false if it is no list.
func list(raw json.RawMessage, most int) (elements []json.RawMessage, is bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if first, err := d.Token(); err != nil || first != json.Delim('[') {
		return nil, first == nil && err == nil // null
	}
	var one json.RawMessage
	for len(elements) < most && d.More() {
		if d.Decode(&one) != nil {
			return nil, false
		}
		end := d.InputOffset()
		elements = append(elements, raw[end-int64(len(one)):end:end])
	}
	return elements, true
}
