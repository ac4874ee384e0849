package commandline

import (
	"slices"
	"strings"
)

// verbs are all, by their names.
var verbs = slices.SortedFunc(slices.Values(slices.Concat(
	policyVerbs, effectVerbs, userVerbs, permissionVerbs, vhostVerbs, limitVerbs, listVerbs, objectVerbs, messageVerbs, alarmVerbs, statusVerbs,
	nodeVerbs, parameterVerbs, definitionVerbs, backupVerbs,
)), func(a, b verb) int { return strings.Compare(a.name, b.name) })

// verbNamed is nil for a name that no verb has.
func verbNamed(name string) *verb {
	i, found := slices.BinarySearchFunc(verbs, name, func(v verb, name string) int { return strings.Compare(v.name, name) })
	if !found {
		return nil
	}
	return &verbs[i]
}
