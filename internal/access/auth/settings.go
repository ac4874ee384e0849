package auth

import "slices"

// Setting is a kind of setting that users change while the broker runs, named like RabbitMQ's component of parameters.
type Setting string

// The settings.
const (
	Policies         Setting = "policy"
	OperatorPolicies Setting = "operator_policy"
	VHostLimits      Setting = "vhost-limits"
	UserLimits       Setting = "user-limits"
	// GlobalParameters belong to no virtual host; the name of the cluster is one.
	GlobalParameters Setting = "global-parameters"
)

// changers lists, for each setting, the tags that allow a user to change it. It applies to every way of changing: a
// path of the HTTP API for the setting, a parameter there, or an admin command over AMQP.
var changers = map[Setting][]string{
	Policies:         {"administrator", "policymaker"},
	OperatorPolicies: {"administrator"},
	VHostLimits:      {"administrator"},
	UserLimits:       {"administrator"},
	GlobalParameters: {"administrator"},
}

// MayChange reports whether the user has a tag for changing the setting. A user with the tag that is not an
// administrator needs access to the virtual host too. It returns false for an unknown setting.
func (u User) MayChange(s Setting) bool { return slices.ContainsFunc(changers[s], u.HasTag) }
