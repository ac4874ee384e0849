package sas

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
)

// Keys are the two keys of a user whose clients log in with tokens of Azure Service Bus. They are equivalent, so that
// one can be replaced while clients use the other.
type Keys struct {
	Primary   string `json:"primary"`
	Secondary string `json:"secondary"`
}

// maxAccessKey is the maximum size of a key in bytes.
const maxAccessKey = 256

// NewKeys returns two random keys.
func NewKeys() Keys { return Keys{NewKey(), NewKey()} }

// NewKey returns a random key: 32 bytes in base64.
func NewKey() string {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	return base64.StdEncoding.EncodeToString(key[:])
}

// Has reports whether a text is one of the keys, in constant time.
func (k Keys) Has(key string) bool {
	return subtle.ConstantTimeCompare([]byte(key), []byte(k.Primary))|subtle.ConstantTimeCompare([]byte(key), []byte(k.Secondary)) != 0 && key != ""
}

// Validate checks a pair: neither key may be missing or too long.
func (k Keys) Validate() error {
	switch {
	case len(k.Primary) > maxAccessKey || len(k.Secondary) > maxAccessKey:
		return fmt.Errorf("an access key has more than %d bytes", maxAccessKey)
	case (k.Primary == "") != (k.Secondary == ""):
		return errors.New("access keys come in pairs, primary and secondary")
	}
	return nil
}

// Right is a right that an access key grants.
type Right string

// The rights.
const (
	Listen Right = "listen"
	Send   Right = "send"
	Manage Right = "manage" // includes the others
)

// everything is the expression that matches all names.
const everything = ".*"

// Permissions returns the expressions of the permissions that rights imply, "" for a permission that is not implied.
// Error: a right is unknown, or there are none.
func Permissions(rights []Right) (configure, write, read string, err error) {
	for _, right := range rights {
		if !slices.Contains([]Right{Listen, Send, Manage}, right) {
			return "", "", "", fmt.Errorf("%q is not a right: listen, send or manage", right)
		}
		if right == Manage {
			configure = everything
		}
		if right != Send {
			read = everything
		}
		if right != Listen {
			write = everything
		}
	}
	if len(rights) == 0 {
		return "", "", "", errors.New("an access key needs a right: listen, send or manage")
	}
	return configure, write, read, nil
}

// RightsOf returns the rights that imply permissions with these expressions.
func RightsOf(configure, write, read string) []Right {
	rights := []Right{}
	for _, one := range [...]struct {
		right Right
		by    string
	}{{Manage, configure}, {Send, write}, {Listen, read}} {
		if one.by == everything {
			rights = append(rights, one.right)
		}
	}
	return rights
}
