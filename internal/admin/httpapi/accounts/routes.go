package accounts

import (
	"slices"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
)

// Routes are about all definitions except queues, exchanges and bindings.
var Routes = slices.Concat(
	accountRoutes, accessKeyRoutes, parameterRoutes, limitRoutes,
	policyRoutes("/api/policies", false, rest.Changer(auth.Policies)),
	policyRoutes("/api/operator-policies", true, rest.Changer(auth.OperatorPolicies)),
)

var accountRoutes = []rest.Route{
	rest.Get("/api/users", rest.Administrator, accounts.List).Large(),
	rest.Get("/api/users/without-permissions", rest.Administrator, without.List),
	rest.Post("/api/users/bulk-delete", rest.Administrator, deleteAccounts),
	rest.Get("/api/users/{name}", rest.Administrator, accounts.One),
	rest.Put("/api/users/{name}", rest.Administrator, rest.Created(putAccount)),
	rest.Delete("/api/users/{name}", rest.Administrator, deleteAccount),
	rest.Get("/api/auth/hash_password/{name}", rest.Administrator, hashPassword),

	rest.Get("/api/permissions", rest.Administrator, grants.List).Large(),
	rest.Get("/api/users/{name}/permissions", ofUser, grants.List),
	rest.Get("/api/vhosts/{vhost}/permissions", rest.InVHost(rest.Administrator), grants.List),
	rest.Get("/api/permissions/{vhost}/{name}", rest.Administrator, grants.One),
	rest.Put("/api/permissions/{vhost}/{name}", rest.Administrator, rest.Created(putGrant)),
	rest.Delete("/api/permissions/{vhost}/{name}", rest.Administrator, rest.Found(deleteGrant)),

	rest.Get("/api/topic-permissions", rest.Administrator, topicGrants.List).Large(),
	rest.Get("/api/users/{name}/topic-permissions", ofUser, topicGrants.List),
	rest.Get("/api/vhosts/{vhost}/topic-permissions", rest.InVHost(rest.Administrator), topicGrants.List),
	rest.Get("/api/topic-permissions/{vhost}/{name}", rest.Administrator, topicGrants.Some),
	rest.Put("/api/topic-permissions/{vhost}/{name}", rest.Administrator, rest.Created(putTopicGrant)),
	rest.Delete("/api/topic-permissions/{vhost}/{name}", rest.Administrator, rest.Found(deleteTopicGrants)),
	rest.Get("/api/topic-permissions/{vhost}/{name}/{exchange}", rest.Administrator, topicGrants.Some),
	rest.Put("/api/topic-permissions/{vhost}/{name}/{exchange}", rest.Administrator, rest.Created(putTopicGrant)),
	rest.Delete("/api/topic-permissions/{vhost}/{name}/{exchange}", rest.Administrator, rest.Found(deleteTopicGrants)),

	rest.Get("/api/vhosts", rest.Anybody, vhosts.List).Large(),
	rest.Get("/api/vhosts/{vhost}", rest.InVHost(rest.Administrator), vhosts.One).Large(),
	rest.Put("/api/vhosts/{vhost}", rest.Administrator, rest.Created(putVHost)),
	rest.Delete("/api/vhosts/{vhost}", rest.Administrator, rest.Found(deleteVHost)),
	rest.Post("/api/vhosts/{vhost}/deletion/protection", rest.InVHost(rest.Administrator), protect(true)),
	rest.Delete("/api/vhosts/{vhost}/deletion/protection", rest.InVHost(rest.Administrator), protect(false)),
	rest.Post("/api/vhosts/{vhost}/start/{name}", rest.InVHost(rest.Administrator), startVHost),
}

var parameterRoutes = []rest.Route{
	rest.Get("/api/parameters", rest.Policymaker, listed.List).Large(),
	rest.Get("/api/parameters/{component}", rest.Policymaker, listed.List).Large(),
	rest.Get("/api/parameters/{component}/{vhost}", rest.InVHost(rest.Policymaker), listed.List).Large(),
	rest.Get("/api/parameters/{component}/{vhost}/{name}", rest.Policymaker, listed.One),
	rest.Put("/api/parameters/{component}/{vhost}/{name}", rest.ChangesVHost(parameterChanger), rest.Created(putParameter)),
	rest.Delete("/api/parameters/{component}/{vhost}/{name}", parameterChanger, rest.Found(deleteParameter)),

	rest.Get("/api/global-parameters", rest.Policymaker, globals.List).Large(),
	rest.Get("/api/global-parameters/{name}", rest.Policymaker, globals.One),
	rest.Put("/api/global-parameters/{name}", rest.Changer(auth.GlobalParameters), rest.Created(putGlobal)),
	rest.Delete("/api/global-parameters/{name}", rest.Changer(auth.GlobalParameters), rest.Found(deleteGlobal)),
	rest.Get("/api/cluster-name", rest.Anybody, clusterName),
	rest.Put("/api/cluster-name", rest.Changer(auth.GlobalParameters), putClusterName),
}

var limitRoutes = []rest.Route{
	rest.Get("/api/vhost-limits", rest.Anybody, limitsOfVHosts.List),
	rest.Get("/api/vhost-limits/{vhost}", rest.InVHost(rest.Visitor), limitsOfVHosts.List),
	rest.Put("/api/vhost-limits/{vhost}/{name}", rest.Changer(auth.VHostLimits), putLimit(setVHostLimits, auth.ParseVHostLimits)),
	rest.Delete("/api/vhost-limits/{vhost}/{name}", rest.Changer(auth.VHostLimits), deleteLimit(setVHostLimits)),
	rest.Get("/api/user-limits", rest.Anybody, limitsOfUsers.List),
	rest.Get("/api/user-limits/{user}", limitsUser, limitsOfUsers.List),
	rest.Put("/api/user-limits/{user}/{name}", rest.Changer(auth.UserLimits), putLimit(setUserLimits, auth.ParseUserLimits)),
	rest.Delete("/api/user-limits/{user}/{name}", rest.Changer(auth.UserLimits), deleteLimit(setUserLimits)),
}

func policyRoutes(path string, operator bool, maker rest.Rule) []rest.Route {
	policies := policiesOf(operator)
	return []rest.Route{
		rest.Get(path, rest.Anybody, policies.List).Large(),
		rest.Get(path+"/{vhost}", rest.InVHost(rest.Visitor), policies.List).Large(),
		rest.Get(path+"/{vhost}/{name}", maker, policies.One),
		rest.Put(path+"/{vhost}/{name}", rest.ChangesVHost(maker), rest.Created(setPolicy(operator))),
		rest.Delete(path+"/{vhost}/{name}", maker, rest.Found(clearPolicy(operator))),
	}
}
