package httpapi

import (
	"slices"

	"candlemark/internal/auth"
)

// definitionRoutes are about what definitions consist of, but for queues, exchanges and bindings.
var definitionRoutes = slices.Concat(
	accountRoutes, parameterRoutes, limitRoutes,
	policyRoutes("/api/policies", false, changer(auth.Policies)),
	policyRoutes("/api/operator-policies", true, changer(auth.OperatorPolicies)),
)

var accountRoutes = []route{
	get("/api/users", administrator, accounts.list),
	get("/api/users/without-permissions", administrator, without.list),
	post("/api/users/bulk-delete", administrator, deleteAccounts),
	get("/api/users/{name}", administrator, accounts.one),
	put("/api/users/{name}", administrator, created(putAccount)),
	remove("/api/users/{name}", administrator, found(deleteAccount)),
	get("/api/auth/hash_password/{name}", administrator, hashPassword),

	get("/api/permissions", administrator, grants.list),
	get("/api/users/{name}/permissions", ofUser, grants.list),
	get("/api/vhosts/{vhost}/permissions", in(administrator), grants.list),
	get("/api/permissions/{vhost}/{name}", administrator, grants.one),
	put("/api/permissions/{vhost}/{name}", administrator, created(putGrant)),
	remove("/api/permissions/{vhost}/{name}", administrator, found(deleteGrant)),

	get("/api/topic-permissions", administrator, topicGrants.list),
	get("/api/users/{name}/topic-permissions", ofUser, topicGrants.list),
	get("/api/vhosts/{vhost}/topic-permissions", in(administrator), topicGrants.list),
	get("/api/topic-permissions/{vhost}/{name}", administrator, topicGrants.some),
	put("/api/topic-permissions/{vhost}/{name}", administrator, created(putTopicGrant)),
	remove("/api/topic-permissions/{vhost}/{name}", administrator, found(deleteTopicGrants)),
	get("/api/topic-permissions/{vhost}/{name}/{exchange}", administrator, topicGrants.some),
	put("/api/topic-permissions/{vhost}/{name}/{exchange}", administrator, created(putTopicGrant)),
	remove("/api/topic-permissions/{vhost}/{name}/{exchange}", administrator, found(deleteTopicGrants)),

	get("/api/vhosts", anybody, vhosts.list),
	get("/api/vhosts/{vhost}", in(administrator), vhosts.one),
	put("/api/vhosts/{vhost}", administrator, created(putVHost)),
	remove("/api/vhosts/{vhost}", administrator, found(deleteVHost)),
}

var parameterRoutes = []route{
	get("/api/parameters", policymaker, parameters.list),
	get("/api/parameters/{component}", policymaker, parameters.list),
	get("/api/parameters/{component}/{vhost}", in(policymaker), parameters.list),
	get("/api/parameters/{component}/{vhost}/{name}", policymaker, parameters.one),
	put("/api/parameters/{component}/{vhost}/{name}", into(parameterChanger), created(putParameter)),
	remove("/api/parameters/{component}/{vhost}/{name}", parameterChanger, found(deleteParameter)),

	get("/api/global-parameters", policymaker, globals.list),
	get("/api/global-parameters/{name}", policymaker, globals.one),
	put("/api/global-parameters/{name}", changer(auth.GlobalParameters), created(putGlobal)),
	remove("/api/global-parameters/{name}", changer(auth.GlobalParameters), found(deleteGlobal)),
	get("/api/cluster-name", anybody, clusterName),
	put("/api/cluster-name", changer(auth.GlobalParameters), putClusterName),
}

var limitRoutes = []route{
	get("/api/vhost-limits", anybody, limitsOfVHosts.list),
	get("/api/vhost-limits/{vhost}", in(visitor), limitsOfVHosts.list),
	put("/api/vhost-limits/{vhost}/{name}", changer(auth.VHostLimits), putLimit(setVHostLimits, auth.ParseVHostLimits)),
	remove("/api/vhost-limits/{vhost}/{name}", changer(auth.VHostLimits), deleteLimit(setVHostLimits)),
	get("/api/user-limits", anybody, limitsOfUsers.list),
	get("/api/user-limits/{user}", himself, limitsOfUsers.list),
	put("/api/user-limits/{user}/{name}", changer(auth.UserLimits), putLimit(setUserLimits, auth.ParseUserLimits)),
	remove("/api/user-limits/{user}/{name}", changer(auth.UserLimits), deleteLimit(setUserLimits)),
}

func policyRoutes(path string, operator bool, maker rule) []route {
	policies := policiesOf(operator)
	return []route{
		get(path, anybody, policies.list),
		get(path+"/{vhost}", in(visitor), policies.list),
		get(path+"/{vhost}/{name}", maker, policies.one),
		put(path+"/{vhost}/{name}", into(maker), created(setPolicy(operator))),
		remove(path+"/{vhost}/{name}", maker, found(clearPolicy(operator))),
	}
}
