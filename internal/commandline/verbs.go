package commandline

import (
	"slices"
	"strings"

	"candlemark/internal/commandline/verb"
)

// verbs are all, by their names.
var verbs = slices.SortedFunc(slices.Values(slices.Concat(
	policyVerbs, effectVerbs, userVerbs, keyVerbs, permissionVerbs, vhostVerbs, limitVerbs, listVerbs, objectVerbs, messageVerbs, moveVerbs, waitingVerbs, alarmVerbs, statusVerbs,
	nodeVerbs, reportVerbs, parameterVerbs, definitionVerbs, backupVerbs,
)), func(a, b verb.Row) int { return strings.Compare(a.Name, b.Name) })

// verbNamed is nil for a name that no verb has.
func verbNamed(name string) *verb.Row {
	i, found := slices.BinarySearchFunc(verbs, name, func(v verb.Row, name string) int { return strings.Compare(v.Name, name) })
	if !found {
		return nil
	}
	return &verbs[i]
}
