package parameters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"candlemark/internal/servicebus/entity"
	"candlemark/internal/text/erlang"
	"candlemark/internal/text/redact"
	"candlemark/policies"
)

// NoFederation says why the parameters of Upstream and UpstreamSet have no effect.
const NoFederation = policies.NoFederation

// The components. The parameters of federation are kept without effect (NoFederation).
const (
	Shovel      = "shovel"
	Upstream    = "federation-upstream"
	UpstreamSet = "federation-upstream-set"
	Entity      = entity.Component // of Azure Service Bus
)

// Limits on parameters.
const (
	MaxValue      = 64 << 10 // bytes of a value
	MaxParameters = 256      // parameters of a component in a virtual host, but see MaxOf
)

// Parameter is a value of a component in a virtual host, known by the three names.
type Parameter struct {
	Component, VHost, Name string
	Value                  json.RawMessage
	Setter                 Setter
}

// Setter is who has set a parameter, with whose rights a shovel runs (ACC-1). The zero value: it is not known, as of
// parameters stored by versions that did not record it.
type Setter struct {
	User string `json:"user,omitempty"`
	// Operator: the settings of the broker have set it, no user.
	Operator bool `json:"operator,omitempty"`
}

// Known reports whether the broker keeps parameters of the component.
func Known(component string) bool {
	return component == Shovel || component == Upstream || component == UpstreamSet || Own(component)
}

// Own reports whether RabbitMQ has no such component.
func Own(component string) bool { return component == Entity || component == Schedule }

// MaxOf returns the maximum number of parameters of a component in a virtual host.
func MaxOf(component string) int {
	switch component {
	case Entity:
		return entity.MaxExtras
	case Schedule:
		return MaxSchedules
	}
	return MaxParameters
}

// Validate checks a parameter of a known component. enter returns an error if the user must not use an address of this
// broker (URI.Local); a nil enter permits all.
func Validate(component, name string, value json.RawMessage, enter func(*URI) error) error {
	v := validator{name: name, enter: enter}
	switch {
	case len(value) > MaxValue:
		v.complain("the value of %s has %d bytes, more than %d", name, len(value), MaxValue)
	case component == Shovel:
		v.shovel(value)
	case component == Upstream:
		v.object(value, append([]rule{{"uri", v.uris, true}}, shared...))
	case component == UpstreamSet:
		v.list(value)
	case component == Schedule:
		if _, err := ParseSchedule("", name, value); err != nil {
			v.complain("%v", err)
		}
	case component == Entity:
		if _, err := entity.ParseExtra(value); err != nil {
			v.complain("%s: %v", name, err)
		}
	}
	if v.complaints == nil {
		return nil
	}
	return refuse(v.complaints...)
}

// Refusal is the reason why a parameter is refused.
type Refusal string

// Error implements error.
func (r Refusal) Error() string { return string(r) }

func refuse(complaints ...string) error {
	return Refusal("Validation failed\n\n" + strings.Join(complaints, "\n") + "\n")
}

// NotFound is about a component that has no parameters.
func NotFound(component string) error { return refuse("component " + component + " not found") }

// Full is the refusal of a parameter of a component that has reached its limit in all virtual hosts.
func Full(component string, limit int) error {
	return refuse(fmt.Sprintf("component %s is limited to %d", component, limit))
}

// TooMany is the refusal of a parameter of a component that has the maximum number in a virtual host.
func TooMany(component, vhost string) error {
	if component == Schedule {
		return Refusal(fmt.Sprintf("limit on schedules (%d) in vhost '%s' is reached", MaxSchedules, vhost))
	}
	return refuse(fmt.Sprintf("component %s is limited to %d per virtual host", component, MaxOf(component)))
}

// validator collects errors, in RabbitMQ's order.
type validator struct {
	name       string
	enter      func(*URI) error
	complaints []string
}

func (v *validator) complain(format string, args ...any) {
	v.complaints = append(v.complaints, fmt.Sprintf(format, args...))
}

// rule is about a key of an object; check returns the error text for its value, "" for none.
type rule struct {
	key       string
	check     func(key string, value json.RawMessage) string
	mandatory bool
}

// object checks the keys of an object. RabbitMQ reports the last key first.
func (v *validator) object(value json.RawMessage, rules []rule) {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(value, &fields) != nil || fields == nil {
		v.complain("%s not a list %s", v.name, term("", value))
		return
	}
	var wrong []string
	for _, r := range rules {
		given, there := fields[r.key]
		delete(fields, r.key)
		switch {
		case there:
			if text := r.check(r.key, given); text != "" {
				wrong = append(wrong, text)
			}
		case r.mandatory:
			wrong = append(wrong, fmt.Sprintf("Key %q not found in %s", r.key, v.name))
		}
	}
	if len(fields) > 0 {
		var strange []string
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			strange = append(strange, "{"+erlang.Binary(key)+","+term(key, fields[key])+"}")
		}
		v.complain("Unrecognised terms [%s] in %s", strings.Join(strange, ","), v.name)
	}
	slices.Reverse(wrong)
	v.complaints = append(v.complaints, wrong...)
}

// list checks an upstream set.
func (v *validator) list(value json.RawMessage) {
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil || items == nil {
		v.complain("%s should be list, actually was %s", v.name, term("", value))
		return
	}
	for _, item := range items {
		v.object(item, append([]rule{{"upstream", binary, true}}, shared...))
	}
}

// uris checks one address, or a list of them.
func (v *validator) uris(key string, value json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		return v.uri(key, value)
	}
	for _, one := range list {
		if text := v.uri(key, one); text != "" {
			return text
		}
	}
	if list == nil {
		return fmt.Sprintf("%s should be list, actually was %s", key, term(key, value))
	}
	return ""
}

func (v *validator) uri(key string, value json.RawMessage) string {
	if text := binary(key, value); text != "" {
		return strings.Replace(text, "should be binary", "should be list", 1)
	}
	u, err := ParseURI(text(value))
	if err != nil {
		return fmt.Sprintf("%q not a valid URI: %s", redact.Address(text(value)), err)
	}
	if u.Local() && v.enter != nil {
		if err := v.enter(u); err != nil {
			return err.Error()
		}
	}
	return ""
}

func binary(key string, value json.RawMessage) string { return ofKind(key, value, '"', "binary") }

func flag(key string, value json.RawMessage) string {
	if s := string(bytes.TrimSpace(value)); s != "true" && s != "false" {
		return fmt.Sprintf("%s should be boolean, actually was %s", key, term(key, value))
	}
	return ""
}

func number(key string, value json.RawMessage) string {
	var n json.Number
	if json.Unmarshal(value, &n) != nil || kindOf(value) == '"' || n == "" {
		return fmt.Sprintf("%s should be a number, actually was %s", key, term(key, value))
	}
	return ""
}

func object(key string, value json.RawMessage) string { return ofKind(key, value, '{', "a map") }

func queueName(key string, value json.RawMessage) string {
	if wrong := binary(key, value); wrong != "" {
		return wrong
	}
	if n := len(text(value)); n > 255 {
		return fmt.Sprintf("%s should be less than 255 bytes, actually was %d", key, n)
	}
	return ""
}

func oneOf(words ...string) func(string, json.RawMessage) string {
	return func(key string, value json.RawMessage) string {
		if wrong := binary(key, value); wrong != "" || slices.Contains(words, text(value)) {
			return wrong
		}
		quoted := make([]string, len(words))
		for i, word := range words {
			quoted[i] = erlang.Binary(word)
		}
		return fmt.Sprintf("%s should be one of [%s], actually was %s", key, strings.Join(quoted, ","), term(key, value))
	}
}

func ofKind(key string, value json.RawMessage, begins byte, called string) string {
	if kindOf(value) != begins {
		return fmt.Sprintf("%s should be %s, actually was %s", key, called, term(key, value))
	}
	return ""
}

// kindOf returns the first character of a JSON value, which determines its kind; numbers have many.
func kindOf(value json.RawMessage) byte {
	if trimmed := bytes.TrimSpace(value); len(trimmed) > 0 {
		return trimmed[0]
	}
	return 0
}

func text(value json.RawMessage) (s string) {
	_ = json.Unmarshal(value, &s) // "" if it is no text
	return s
}

// term returns the JSON value of a key as Erlang shows it, without secrets.
func term(key string, value json.RawMessage) string {
	if redact.Secret(key) {
		return redact.Mark
	}
	switch kindOf(value) {
	case '"':
		return erlang.Binary(redact.Value(key, text(value)).(string))
	case '{':
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(value, &fields) // it is part of a document that was read
		items := []string{}
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			items = append(items, erlang.Binary(key)+" => "+term(key, fields[key]))
		}
		return "#{" + strings.Join(items, ",") + "}"
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal(value, &list) // as above
		items := make([]string, len(list))
		for i := range list {
			items[i] = term(key, list[i])
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return string(bytes.TrimSpace(value))
}
