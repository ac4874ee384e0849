package main

import (
	"crypto/sha256"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"candlemark/protocol"
)

// describe writes a method with its nonzero arguments.
func describe(m protocol.Method) string {
	v := reflect.ValueOf(m).Elem()
	words := []string{m.Key().String()}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() || v.Field(i).IsZero() {
			continue
		}
		words = append(words, field.Name+"="+describeValue(v.Field(i).Interface()))
	}
	return strings.Join(words, " ")
}

// describeProperties writes the properties present, with any values.
func describeProperties(p protocol.Properties) string {
	v := reflect.ValueOf(p)
	var words []string
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		present := uint16(1) << (15 - i) // the fields are in the order of their flags
		if name == "Flags" || p.Flags&present == 0 {
			continue
		}
		words = append(words, name+"="+describeValue(v.Field(i).Interface()))
	}
	return strings.Join(words, " ")
}

// describeValue writes a value so that its wire type shows; the fields of tables are sorted.
func describeValue(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%q", v)
	case []byte:
		return fmt.Sprintf("bytes %q", v)
	case protocol.Table:
		fields := make([]string, len(v))
		for i, f := range v {
			fields[i] = f.Key + ":" + describeField(f)
		}
		slices.Sort(fields)
		return "{" + strings.Join(fields, " ") + "}"
	case protocol.Array:
		items := make([]string, len(v))
		for i := range v {
			items[i] = describeTyped(v[i])
		}
		return "[" + strings.Join(items, " ") + "]"
	}
	return fmt.Sprint(v)
}

// describeField makes the time of a death the same everywhere.
func describeField(f protocol.Field) string {
	if _, ok := f.Value.(protocol.Timestamp); ok && f.Key == "time" {
		return "timestamp(now)"
	}
	return describeTyped(f.Value)
}

func describeTyped(v any) string {
	switch v.(type) {
	case string, protocol.Table, protocol.Array:
		return describeValue(v)
	case nil:
		return "void"
	}
	return protocol.TypeName(v) + "(" + describeValue(v) + ")"
}

// shorten writes a body; a long one by length and digest.
func shorten[T string | []byte](body T) string {
	if len(body) <= 64 {
		return fmt.Sprintf("%q", body)
	}
	return fmt.Sprintf("%d bytes, sha256 %.8x", len(body), sha256.Sum256([]byte(body)))
}

// invented are names that a server made up, and processes in its texts.
var invented = regexp.MustCompile(`(amq\.(?:gen|ctag))-[A-Za-z0-9_-]{22}|<\d+\.\d+\.\d+>`)

// normalise removes parts of a text that cannot be equal.
func normalise(text, token string) string {
	text = strings.ReplaceAll(text, token, "~")
	return invented.ReplaceAllStringFunc(text, func(found string) string {
		if prefix, _, ok := strings.Cut(found, "-"); ok {
			return prefix + "-*"
		}
		return "<pid>"
	})
}

// describeStart returns the parts of connection.start that clients may rely on: capabilities, and the names of other
// server properties, without the product's name.
func describeStart(m *protocol.ConnectionStart) (capable, rest string) {
	able, _ := m.ServerProperties.Get("capabilities")
	shown := *m
	shown.ServerProperties = slices.Clone(m.ServerProperties.Delete("capabilities"))
	for i := range shown.ServerProperties {
		if f := &shown.ServerProperties[i]; protocol.TypeName(f.Value) == "longstr" {
			f.Value = "*"
		}
	}
	return "capabilities " + describeValue(able), describe(&shown)
}

// rename puts the token into every name of a value; the result shares no changed parts with v.
func rename(v any, token string) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "~", token)
	case protocol.Table:
		t := slices.Clone(v)
		for i := range t {
			t[i].Value = rename(t[i].Value, token)
		}
		return t
	case protocol.Array:
		a := slices.Clone(v)
		for i := range a {
			a[i] = rename(a[i], token)
		}
		return a
	}
	return v
}

// renameFields is rename for all fields of a struct, in place.
func renameFields(v reflect.Value, token string) {
	for i := range v.NumField() {
		f := v.Field(i)
		if !f.CanSet() || f.Kind() == reflect.Slice && f.IsNil() {
			continue
		}
		f.Set(reflect.ValueOf(rename(f.Interface(), token)))
	}
}

// maxInt64 is the end of the range of integers, for scripts.
const maxInt64 = int64(math.MaxInt64)
