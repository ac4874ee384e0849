package vhost

import (
	"crypto/rand"
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"

	"candlemark/actors/vhost/refusal"
)

var withoutBreaks = strings.NewReplacer("\r", "", "\n", "")

// plain is a name without CR and LF (DEC-8).
func plain(name string) string {
	if strings.ContainsAny(name, "\r\n") {
		return withoutBreaks.Replace(name)
	}
	return name
}

// serverName makes the name of a queue that was declared without one (DEC-9).
func serverName() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return refusal.Reserved + "gen-" + base64.RawURLEncoding.EncodeToString(random[:])
}

// childName is the last part of a PID: kind/name/incarnation.
func childName(kind, name string, incarnation uint64) string {
	return kind + "/" + url.PathEscape(name) + "/" + strconv.FormatUint(incarnation, 10)
}
