package document

import (
	"bytes"
	"encoding/json"
)

// objectLevels are the keys of items whose values are objects, and down to which level these contain others. rabbitmqctl
// export_definitions writes some of these objects as lists of pairs: [["max-queues",50]] (RabbitMQ 3.10).
var objectLevels = map[string]int{"limits": 1, "metadata": 1, "arguments": 1, "definition": 1, "value": 3}

// withObjects returns a JSON value with an object in place of each list of pairs on the first levels; the same value
// if there is none. An empty list stays a list.
func withObjects(raw json.RawMessage, levels int) json.RawMessage {
	if levels == 0 || !bytes.ContainsRune(raw, '[') {
		return raw
	}
	if object, ok := pairs(raw, levels); ok {
		return object
	}
	var list []json.RawMessage
	var object map[string]json.RawMessage
	var value any = &list
	if json.Unmarshal(raw, &list) != nil {
		if json.Unmarshal(raw, &object) != nil {
			return raw
		}
		value = object
	}
	changed := false
	inner := func(part json.RawMessage) json.RawMessage {
		with := withObjects(part, levels-1)
		changed = changed || len(with) != len(part) || !bytes.Equal(with, part)
		return with
	}
	for i := range list {
		list[i] = inner(list[i])
	}
	for key := range object {
		object[key] = inner(object[key])
	}
	if !changed {
		return raw
	}
	text, err := json.Marshal(value)
	if err != nil { // no part of a JSON value is invalid
		return raw
	}
	return text
}

// pairs returns a list of pairs as an object with the keys in the same order; false for any other value.
func pairs(raw json.RawMessage, levels int) (json.RawMessage, bool) {
	var list [][]json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return nil, false
	}
	var object bytes.Buffer
	for i, pair := range list {
		var key string
		if len(pair) != 2 || json.Unmarshal(pair[0], &key) != nil {
			return nil, false
		}
		object.WriteByte("{,"[min(i, 1)])
		object.Write(pair[0])
		object.WriteByte(':')
		object.Write(withObjects(pair[1], levels-1))
	}
	object.WriteByte('}')
	return object.Bytes(), true
}
