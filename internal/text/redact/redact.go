package redact

import (
	"bytes"
	"encoding/json"
	"strings"

	"candlemark/internal/text/jsonencode"
)

// Mark stands in the place of what was removed.
const Mark = "***"

// parts of names whose values are secrets, and ends of such names; all lower case without "-" and "_".
var (
	secretParts = []string{"password", "passwd", "passphrase", "secret", "credential", "sharedaccess", "accesskey", "apikey", "privatekey", "authorization"}
	secretEnds  = []string{"token", "sas", "sig", "signature", "pwd"}
)

var withoutDashes = strings.NewReplacer("-", "", "_", "", ".", "")

// Secret reports whether a value of that name is a secret.
func Secret(name string) bool {
	name = withoutDashes.Replace(strings.ToLower(name))
	if strings.HasSuffix(name, "name") || strings.HasSuffix(name, "algorithm") { // SharedAccessKeyName is no secret
		return false
	}
	for _, part := range secretParts {
		if strings.Contains(name, part) {
			return true
		}
	}
	for _, end := range secretEnds {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return name == "pass"
}

// Address returns an address, or what should be one, without its user, password and settings. It also removes what
// follows an unescaped "/" or "?" of a password, and "@" in the settings hides the port.
func Address(address string) string { return hide(address, "", "") }

// hide is Address with texts in the place of a login and of settings.
func hide(address, login, settings string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		scheme, rest = "", address
	}
	query := ""
	if at := strings.IndexAny(rest, "?;"); at >= 0 {
		rest, query = rest[:at], rest[at+1:]
	}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		rest = login + rest[at+1:]
	} else if strings.Contains(query, "@") {
		rest, _, _ = strings.Cut(rest, "/")
		if at := strings.LastIndex(rest, ":"); at > strings.LastIndex(rest, "]") {
			rest = rest[:at]
		}
	}
	if query != "" {
		rest += settings
	}
	if ok {
		return scheme + "://" + rest
	}
	return rest
}

// Text returns a text without the secrets of the addresses in it, and of settings, which are name=value. It returns the
// same text if there are none.
func Text(text string) string {
	if !strings.Contains(text, "://") && !strings.Contains(text, "=") {
		return text
	}
	var out strings.Builder
	done := 0 // bytes of text already in out
	for at := 0; at < len(text); {
		if between(text[at]) {
			at++
			continue
		}
		end := at
		for end < len(text) && !between(text[end]) {
			end++
		}
		if word := text[at:end]; strings.ContainsAny(word, ":=") {
			if shown := wordOf(word); shown != word {
				out.WriteString(text[done:at])
				out.WriteString(shown)
				done = end
			}
		}
		at = end
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// between reports whether a byte separates the words of a text. Quotes and backslashes do, because the text may be JSON.
func between(c byte) bool {
	return c <= ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '`'
}

// wordOf returns a word without secrets.
func wordOf(word string) string {
	if strings.Contains(word, "://") {
		return hide(word, Mark+"@", "?"+Mark)
	}
	return settings(word)
}

// settings returns a word without the values of secret settings.
func settings(word string) string {
	for at := 0; at < len(word); {
		end := at + strings.IndexAny(word[at:]+"&", "?&;,{}()[]")
		equals := strings.IndexByte(word[at:end], '=')
		if equals > 0 && at+equals+1 < end && (Secret(word[at:at+equals]) || at > 0 && word[at:at+equals] == "key") {
			word = word[:at+equals+1] + Mark + word[end:]
			end = at + equals + 1 + len(Mark)
		}
		at = end + 1
	}
	return word
}

// JSON returns a JSON value without secrets: the secrets in its texts, the values with the names of secrets, and the
// logins of the addresses in members whose names end with "uri". It treats anything else as text.
func JSON(value []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return []byte(Text(string(value)))
	}
	return jsonencode.Marshal(Value("", v))
}

// Value returns the value of that name, "" for none, as JSON does; its maps and lists are changed.
func Value(name string, value any) any {
	switch v := value.(type) {
	case nil, bool:
		return v
	case map[string]any:
		if !Secret(name) {
			for key := range v {
				v[key] = Value(key, v[key])
			}
			return v
		}
	case []any:
		if !Secret(name) {
			for i := range v {
				v[i] = Value(name, v[i])
			}
			return v
		}
	case string:
		switch {
		case v == "":
			return v
		case Secret(name):
		case isAddress(name):
			return hide(v, Mark+"@", "?"+Mark)
		default:
			return Text(v)
		}
	default:
		if !Secret(name) {
			return v
		}
	}
	return Mark
}

func isAddress(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "uri") || strings.HasSuffix(name, "uris") || strings.HasSuffix(name, "url")
}
