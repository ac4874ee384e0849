package commandline

import (
	"slices"
	"strings"

	"candlemark/internal/admin/commandline/verb"
)

// group has the verbs about one subject.
type group struct {
	title string
	verbs []verb.Row
}

// groups are all verbs, as the help lists them.
var groups = []group{
	{"Status and health", slices.Concat(statusVerbs, alarmVerbs, reportVerbs)},
	{"Node", slices.Concat(nodeVerbs, clusterVerbs)},
	{"Lists", listVerbs},
	{"Time", slices.Concat(waitingVerbs, clockVerbs)},
	{"Messages", slices.Concat(messageVerbs, moveVerbs)},
	{"Queues and connections", objectVerbs},
	{"Policies", slices.Concat(policyVerbs, effectVerbs)},
	{"Users and permissions", slices.Concat(userVerbs, permissionVerbs)},
	{"Virtual hosts and limits", slices.Concat(vhostVerbs, limitVerbs)},
	{"Azure Service Bus", keyVerbs},
	{"Schedules", scheduleVerbs},
	{"Parameters and shovels", parameterVerbs},
	{"Definitions and backups", slices.Concat(definitionVerbs, backupVerbs)},
}

// verbs are all, by their names.
var verbs = byName(groups)

func byName(groups []group) (rows []verb.Row) {
	for _, g := range groups {
		rows = append(rows, g.verbs...)
	}
	slices.SortFunc(rows, func(a, b verb.Row) int { return strings.Compare(a.Name, b.Name) })
	return rows
}

// named returns the row with that name, nil if there is none.
func named(rows []verb.Row, name string) *verb.Row {
	if i := slices.IndexFunc(rows, func(v verb.Row) bool { return v.Name == name }); i >= 0 {
		return &rows[i]
	}
	return nil
}
