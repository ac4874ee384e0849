package sas

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Scheme is the word that a token begins with.
const Scheme = "SharedAccessSignature"

// MaxToken is the maximum size of a token in bytes.
const MaxToken = 8 << 10

// Errors of Parse and Verify.
var (
	ErrMalformed = errors.New("the token is not a shared access signature")
	ErrExpired   = errors.New("the token has expired")
	ErrSignature = errors.New("the token is not signed with this key")
)

// Token is a shared access signature that is not verified yet.
type Token struct {
	KeyName string
	Expires time.Time
	path    string // of the resource, in lower case, without slashes at its ends

	signed    string
	signature []byte
}

// Parse reads a token. The error wraps ErrMalformed. Its text does not contain the token.
func Parse(text string) (t Token, err error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), Scheme)
	if !ok || len(text) > MaxToken || rest == "" || rest[0] != ' ' {
		return t, ErrMalformed
	}
	fields := map[string]string{}
	for pair := range strings.SplitSeq(strings.TrimSpace(rest), "&") {
		key, value, _ := strings.Cut(pair, "=")
		key = strings.ToLower(key)
		if _, twice := fields[key]; twice {
			return t, fmt.Errorf("%w: %.20q is given twice", ErrMalformed, key)
		}
		fields[key] = value
	}
	for _, key := range [...]string{"sr", "sig", "se", "skn"} {
		if fields[key] == "" {
			return t, fmt.Errorf("%w: %s is missing", ErrMalformed, key)
		}
	}
	seconds, err := strconv.ParseInt(fields["se"], 10, 64)
	if err != nil || seconds < 0 || seconds > 1<<40 {
		return t, fmt.Errorf("%w: se is not a time", ErrMalformed)
	}
	signature, errSignature := unescape(fields["sig"])
	name, errName := unescape(fields["skn"])
	resource, errResource := unescape(fields["sr"])
	if err := errors.Join(errSignature, errName, errResource); err != nil {
		return t, ErrMalformed
	}
	t = Token{KeyName: name, Expires: time.Unix(seconds, 0), signed: fields["sr"] + "\n" + fields["se"], path: pathOf(resource)}
	if t.signature, err = base64.StdEncoding.DecodeString(signature); err != nil {
		return t, fmt.Errorf("%w: sig is not base64", ErrMalformed)
	}
	return t, nil
}

// unescape does not change +, which clients escape.
func unescape(s string) (string, error) { return url.PathUnescape(s) }

// Verify checks a token: it has not expired, and is signed with one of the keys, where empty keys are ignored. Errors:
// ErrExpired, ErrSignature. The time it takes does not depend on which key it is.
func (t *Token) Verify(now time.Time, keys ...string) error {
	fits := 0
	for _, key := range keys {
		if key != "" {
			fits |= subtle.ConstantTimeCompare(sign(t.signed, key), t.signature)
		}
	}
	switch {
	case fits == 0:
		return ErrSignature
	case !now.Before(t.Expires):
		return ErrExpired
	}
	return nil
}

func sign(text, key string) []byte {
	h := hmac.New(sha256.New, []byte(key))
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum(nil)
}

// Covers reports whether a token is for an entity, or for all of them: its resource is the entity or a parent of it.
// The entity is a path or an address such as sb://host/queue/$management; hosts are ignored.
func (t *Token) Covers(entity string) bool {
	of := Path(entity)
	return t.path == "" || of == t.path || strings.HasPrefix(of, t.path+"/")
}

// pathOf returns the path of a token's resource, which begins with the host even without a scheme: some clients sign
// the bare name of a namespace.
func pathOf(resource string) string {
	if !strings.Contains(resource, "://") {
		resource = "sb://" + resource
	}
	return Path(resource)
}

// maxOwnPath is the maximum length of a path with its own keys, in bytes.
const maxOwnPath = 300

// Users yields the names of the users whose key may have signed the token: the keys of its resource and of the
// resource's parents, innermost first (SBT-5), and then a key for everything.
func (t *Token) Users() iter.Seq[string] {
	return func(yield func(string) bool) {
		path := t.path
		if len(path) > maxOwnPath {
			path = ""
		}
		for ; path != ""; path = path[:max(strings.LastIndexByte(path, '/'), 0)] {
			if !yield(UserOf(path, t.KeyName)) {
				return
			}
		}
		yield(t.KeyName)
	}
}

// UserOf returns the name of the user of an entity's key.
func UserOf(entity, key string) string { return Path(entity) + "/" + key }

// Path returns the path of an address, in lower case and without slashes at its ends. A path may be passed too.
func Path(address string) string {
	if _, rest, found := strings.Cut(address, "://"); found {
		_, address, _ = strings.Cut(rest, "/")
	}
	address, _, _ = strings.Cut(address, "?")
	return strings.ToLower(strings.Trim(address, "/"))
}

// New returns a token that is valid until expires.
func New(resource, keyName, key string, expires time.Time) string {
	escaped, until := url.QueryEscape(resource), strconv.FormatInt(expires.Unix(), 10)
	signature := base64.StdEncoding.EncodeToString(sign(escaped+"\n"+until, key))
	return Scheme + " sr=" + escaped + "&sig=" + url.QueryEscape(signature) + "&se=" + until + "&skn=" + url.QueryEscape(keyName)
}
