package definitions

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strconv"

	"candlemark/internal/access/sas"

	"candlemark/internal/access/auth"
	"candlemark/internal/storage/parameters"
	"candlemark/policies"
	"candlemark/policies/changes"
	"candlemark/protocol"
)

// A record is the value of a key:
//
//	│ version 1 │ CRC-32C of table, key and content 4 │ content … │
//
// The content is JSON without the parts of the key; the content of a parameter has a second text (parameterContent).
const (
	recordVersion = 1
	recordHead    = 1 + 4 // bytes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrDamaged: a stored record differs from the written one.
var ErrDamaged = errors.New("stored definition is damaged")

// ErrNewer: a later version of Candlemark wrote it.
var ErrNewer = errors.New("stored definition is of a newer version")

// The contents. Their conversions compile only while they have every field of the converted type.
type (
	vhostRecord struct {
		Name             string      `json:"-"`
		Description      string      `json:"description,omitempty"`
		Tags             []string    `json:"tags,omitempty"`
		DefaultQueueType string      `json:"default_queue_type,omitempty"`
		Tracing          bool        `json:"tracing,omitempty"`
		Protected        bool        `json:"protected_from_deletion,omitempty"`
		Limits           auth.Limits `json:"limits,omitempty"`
	}
	accountRecord struct {
		Name      string      `json:"-"`
		Tags      []string    `json:"tags,omitempty"`
		Hash      []byte      `json:"hash,omitempty"`
		Algorithm string      `json:"algorithm"`
		Limits    auth.Limits `json:"limits,omitempty"`

		Keys sas.Keys `json:"access_keys,omitzero"`
	}
	grantRecord struct {
		User      string `json:"-"`
		VHost     string `json:"-"`
		Configure string `json:"configure"`
		Write     string `json:"write"`
		Read      string `json:"read"`
	}
	topicGrantRecord struct {
		User     string `json:"-"`
		VHost    string `json:"-"`
		Exchange string `json:"-"`
		Write    string `json:"write"`
		Read     string `json:"read"`
	}
	exchangeRecord struct {
		Type       string `json:"type"`
		AutoDelete bool   `json:"auto_delete,omitempty"`
		Internal   bool   `json:"internal,omitempty"`
		Arguments  wire   `json:"arguments,omitempty"`
		User       string `json:"user,omitempty"` // earlier versions ignore it
	}
	queueRecord struct {
		Type        string `json:"type"`
		Incarnation uint64 `json:"incarnation"`
		AutoDelete  bool   `json:"auto_delete,omitempty"`
		Arguments   wire   `json:"arguments,omitempty"`
		Ending      string `json:"ending,omitempty"` // earlier versions ignore it
		User        string `json:"user,omitempty"`   // the same
	}
	bindingRecord struct {
		Arguments wire   `json:"arguments,omitempty"`
		User      string `json:"user,omitempty"` // earlier versions ignore it
	}
)

// wire is a table as clients send it: JSON would lose the types of its values.
type wire protocol.Table

// MarshalJSON implements json.Marshaler.
func (w wire) MarshalJSON() ([]byte, error) {
	encoded, err := protocol.AppendTable(nil, protocol.Table(w))
	if err != nil {
		return nil, err
	}
	return json.Marshal(encoded)
}

// UnmarshalJSON implements json.Unmarshaler.
func (w *wire) UnmarshalJSON(text []byte) error {
	var encoded []byte
	if err := json.Unmarshal(text, &encoded); err != nil {
		return err
	}
	t, err := protocol.DecodeTable(encoded)
	*w = wire(t)
	return err
}

// content encodes v.
func content(v any) ([]byte, error) {
	switch x := v.(type) {
	case rawLine:
		return x.Content, nil
	case auth.VHost:
		v = vhostRecord(x)
	case auth.Account:
		v = accountRecord(x)
	case auth.Grant:
		v = grantRecord(x)
	case auth.TopicGrant:
		v = topicGrantRecord(x)
	case Exchange:
		v = exchangeRecord{x.Type, x.AutoDelete, x.Internal, wire(x.Arguments), x.User}
	case Queue:
		v = queueRecord{x.Type, x.Incarnation, x.AutoDelete, wire(x.Arguments), x.Ending, x.User}
	case Binding:
		v = bindingRecord{wire(x.Arguments), x.User}
	case Parameter:
		return parameterContent(x)
	case Global:
		return valid(x.Value)
	}
	return json.Marshal(v)
}

func valid(value json.RawMessage) ([]byte, error) {
	if !json.Valid(value) {
		return nil, errors.New("the value of a parameter is not JSON")
	}
	return value, nil
}

// parameterContent encodes a parameter: its value and, if that is known, who has set it, as two texts of JSON. Files of
// formats before 3 have the value only.
func parameterContent(p Parameter) ([]byte, error) {
	encoded, err := valid(p.Value)
	if err != nil || p.Setter == (parameters.Setter{}) {
		return encoded, err
	}
	setter, err := json.Marshal(p.Setter)
	return slices.Concat(encoded, []byte("\n"), setter), err
}

// readParameter undoes parameterContent.
func readParameter(content []byte, p *Parameter) error {
	d := json.NewDecoder(bytes.NewReader(content))
	if err := d.Decode(&p.Value); err != nil {
		return err
	}
	if err := d.Decode(&p.Setter); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// seal makes the record of a content.
func seal(in table, key, content []byte) []byte {
	record := make([]byte, recordHead, recordHead+len(content))
	record[0] = recordVersion
	binary.BigEndian.PutUint32(record[1:], checksum(in, key, content))
	return append(record, content...)
}

// unseal returns the content of a record. A later version of Candlemark that writes other records says so in those of the broker, which are read first: any other
// record with another version is damaged.
func unseal(in table, key, record []byte) ([]byte, error) {
	if len(record) < recordHead {
		return nil, ErrDamaged
	}
	content := record[recordHead:]
	if binary.BigEndian.Uint32(record[1:]) != checksum(in, key, content) {
		return nil, ErrDamaged
	}
	switch {
	case record[0] > recordVersion && in == broker:
		return nil, ErrNewer
	case record[0] != recordVersion:
		return nil, ErrDamaged
	}
	return content, nil
}

func checksum(in table, key, content []byte) uint32 {
	sum := crc32.Checksum([]byte(in), castagnoli)
	sum = crc32.Update(sum, castagnoli, key)
	return crc32.Update(sum, castagnoli, content)
}

// read adds a value of a table to d. The names are from its key.
func (d *Definitions) read(in table, names []string, content []byte) error {
	switch in {
	case vhosts:
		return readInto(content, &d.VHosts, func(r vhostRecord) auth.VHost { r.Name = names[0]; return auth.VHost(r) })
	case accounts:
		return readInto(content, &d.Accounts, func(r accountRecord) auth.Account { r.Name = names[0]; return auth.Account(r) })
	case grants:
		return readInto(content, &d.Grants, func(r grantRecord) auth.Grant {
			r.VHost, r.User = names[0], names[1]
			return auth.Grant(r)
		})
	case topicGrants:
		return readInto(content, &d.TopicGrants, func(r topicGrantRecord) auth.TopicGrant {
			r.VHost, r.User, r.Exchange = names[0], names[1], names[2]
			return auth.TopicGrant(r)
		})
	case exchanges:
		return readInto(content, &d.Exchanges, func(r exchangeRecord) Exchange {
			return Exchange{names[0], names[1], r.Type, r.AutoDelete, r.Internal, protocol.Table(r.Arguments), r.User}
		})
	case queues:
		return readInto(content, &d.Queues, func(r queueRecord) Queue {
			return Queue{names[0], names[1], r.Type, r.Incarnation, r.AutoDelete, protocol.Table(r.Arguments), r.Ending, r.User}
		})
	case bindings:
		return readInto(content, &d.Bindings, func(r bindingRecord) Binding {
			return Binding{names[0], names[1], names[2][1:], names[2][0] == 'x', names[3], protocol.Table(r.Arguments), r.User}
		})
	case values:
		p := Parameter{Component: names[1], VHost: names[0], Name: names[2]}
		err := readParameter(content, &p)
		d.Parameters = append(d.Parameters, p)
		return err
	case globals:
		d.Globals = append(d.Globals, Global{names[0], bytes.Clone(content)})
	case rules:
		p, err := policies.Restore(names[0], names[2], names[1] == operators, content)
		d.Policies = append(d.Policies, p)
		return err
	case history:
		id, err := strconv.ParseUint(names[1], 16, 64)
		if err != nil {
			return err
		}
		c, err := changes.Restore(names[0], id, content)
		d.History = append(d.History, c)
		return err
	case leading, broker: // contain nothing new
	}
	return nil
}

func readInto[R, T any](content []byte, list *[]T, finish func(R) T) error {
	var r R
	if err := json.Unmarshal(content, &r); err != nil {
		return err
	}
	*list = append(*list, finish(r))
	return nil
}
