package vhost

import (
	"net/url"
	"strconv"
	"strings"

	"candlemark/protocol"
)

var withoutBreaks = strings.NewReplacer("\r", "", "\n", "")

// plain removes CR and LF from a name (DEC-8).
func plain(name string) string { return withoutBreaks.Replace(name) }

// childName returns the last part of a PID: kind/name/incarnation.
func childName(kind, name string, incarnation uint64) string {
	return kind + "/" + url.PathEscape(name) + "/" + strconv.FormatUint(incarnation, 10)
}

// alike returns args or, if equal, the arguments of the last queue created: many queues have the same arguments, and so
// share the memory.
func (qs *queues) alike(args protocol.Table) protocol.Table {
	if !args.Equal(qs.arguments) {
		qs.arguments = args
	}
	return qs.arguments
}
