package vhost

import (
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"candlemark/protocol"
)

var withoutBreaks = strings.NewReplacer("\r", "", "\n", "")

// plain is a name without CR and LF (DEC-8).
func plain(name string) string { return withoutBreaks.Replace(name) }

// childName is the last part of a PID: kind/name/incarnation.
func childName(kind, name string, incarnation uint64) string {
	return kind + "/" + url.PathEscape(name) + "/" + strconv.FormatUint(incarnation, 10)
}

// alike returns args, or those of the queue that was made before if they are equal: many queues have the same.
func (qs *queues) alike(args protocol.Table) protocol.Table {
	if !reflect.DeepEqual(args, qs.arguments) {
		qs.arguments = args
	}
	return qs.arguments
}
