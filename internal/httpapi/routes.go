package httpapi

import (
	"slices"

	"candlemark/internal/auth"
	"candlemark/internal/config"
)

// route says what a method of a path does, and for whom.
type route struct {
	method, path string
	allowed      rule
	handle       handler
}

// routes are all that the API has.
func (a *api) routes() []route {
	return slices.Concat(
		a.accountRoutes(), a.parameterRoutes(), a.limitRoutes(), a.queueRoutes(), a.topologyRoutes(),
		a.messageRoutes(), a.clientRoutes(), a.nodeRoutes(), a.healthRoutes(),
		a.policyRoutes("/api/policies", false, changer(auth.Policies)),
		a.policyRoutes("/api/operator-policies", true, changer(auth.OperatorPolicies)),
	)
}

func (a *api) accountRoutes() []route {
	accounts, without := a.accounts(nil), a.accounts(a.hasNoGrants)
	grants, topics, vhosts := a.grants(), a.topicGrants(), a.vhosts()
	return []route{
		{"GET", "/api/users", administrator, accounts.list},
		{"GET", "/api/users/without-permissions", administrator, without.list},
		{"POST", "/api/users/bulk-delete", administrator, a.deleteAccounts},
		{"GET", "/api/users/{name}", administrator, accounts.one},
		{"PUT", "/api/users/{name}", administrator, puts(a.putAccount)},
		{"DELETE", "/api/users/{name}", administrator, deletes(a.deleteAccount)},
		{"GET", "/api/auth/hash_password/{name}", administrator, hashPassword},

		{"GET", "/api/permissions", administrator, grants.list},
		{"GET", "/api/users/{name}/permissions", ofUser, grants.list},
		{"GET", "/api/vhosts/{vhost}/permissions", in(administrator), grants.list},
		{"GET", "/api/permissions/{vhost}/{name}", administrator, grants.one},
		{"PUT", "/api/permissions/{vhost}/{name}", administrator, puts(a.putGrant)},
		{"DELETE", "/api/permissions/{vhost}/{name}", administrator, deletes(a.deleteGrant)},

		{"GET", "/api/topic-permissions", administrator, topics.list},
		{"GET", "/api/users/{name}/topic-permissions", ofUser, topics.list},
		{"GET", "/api/vhosts/{vhost}/topic-permissions", in(administrator), topics.list},
		{"GET", "/api/topic-permissions/{vhost}/{name}", administrator, topics.some},
		{"PUT", "/api/topic-permissions/{vhost}/{name}", administrator, puts(a.putTopicGrant)},
		{"DELETE", "/api/topic-permissions/{vhost}/{name}", administrator, deletes(a.deleteTopicGrants)},
		{"GET", "/api/topic-permissions/{vhost}/{name}/{exchange}", administrator, topics.some},
		{"PUT", "/api/topic-permissions/{vhost}/{name}/{exchange}", administrator, puts(a.putTopicGrant)},
		{"DELETE", "/api/topic-permissions/{vhost}/{name}/{exchange}", administrator, deletes(a.deleteTopicGrants)},

		{"GET", "/api/vhosts", anybody, vhosts.list},
		{"GET", "/api/vhosts/{vhost}", in(administrator), vhosts.one},
		{"PUT", "/api/vhosts/{vhost}", administrator, puts(a.putVHost)},
		{"DELETE", "/api/vhosts/{vhost}", administrator, deletes(a.deleteVHost)},
	}
}

func (a *api) parameterRoutes() []route {
	parameters, globals, global := a.parameters(), a.globals(), changer(auth.GlobalParameters)
	return []route{
		{"GET", "/api/parameters", policymaker, parameters.list},
		{"GET", "/api/parameters/{component}", policymaker, parameters.list},
		{"GET", "/api/parameters/{component}/{vhost}", in(policymaker), parameters.list},
		{"GET", "/api/parameters/{component}/{vhost}/{name}", policymaker, parameters.one},
		{"PUT", "/api/parameters/{component}/{vhost}/{name}", into(parameterChanger), puts(a.putParameter)},
		{"DELETE", "/api/parameters/{component}/{vhost}/{name}", parameterChanger, deletes(a.deleteParameter)},

		{"GET", "/api/global-parameters", policymaker, globals.list},
		{"GET", "/api/global-parameters/{name}", policymaker, globals.one},
		{"PUT", "/api/global-parameters/{name}", global, puts(a.putGlobal)},
		{"DELETE", "/api/global-parameters/{name}", global, deletes(a.deleteGlobal)},
		{"GET", "/api/cluster-name", anybody, a.clusterName},
		{"PUT", "/api/cluster-name", global, a.putClusterName},
	}
}

func (a *api) policyRoutes(path string, operator bool, maker rule) []route {
	policies := a.policies(operator)
	return []route{
		{"GET", path, anybody, policies.list},
		{"GET", path + "/{vhost}", in(visitor), policies.list},
		{"GET", path + "/{vhost}/{name}", maker, policies.one},
		{"PUT", path + "/{vhost}/{name}", into(maker), puts(a.setPolicy(operator))},
		{"DELETE", path + "/{vhost}/{name}", maker, deletes(a.clearPolicy(operator))},
	}
}

func (a *api) limitRoutes() []route {
	vhosts, users := a.vhostLimits(), a.userLimits()
	changesVHost, changesUser := changer(auth.VHostLimits), changer(auth.UserLimits)
	return []route{
		{"GET", "/api/vhost-limits", anybody, vhosts.list},
		{"GET", "/api/vhost-limits/{vhost}", in(visitor), vhosts.list},
		{"PUT", "/api/vhost-limits/{vhost}/{name}", changesVHost, putLimit(a.setVHostLimits, auth.ParseVHostLimits)},
		{"DELETE", "/api/vhost-limits/{vhost}/{name}", changesVHost, deleteLimit(a.setVHostLimits)},
		{"GET", "/api/user-limits", anybody, users.list},
		{"GET", "/api/user-limits/{user}", himself, users.list},
		{"PUT", "/api/user-limits/{user}/{name}", changesUser, putLimit(a.setUserLimits, auth.ParseUserLimits)},
		{"DELETE", "/api/user-limits/{user}/{name}", changesUser, deleteLimit(a.setUserLimits)},

		{"GET", "/api/memory-high-watermark", monitor, a.ofMachine(watermark)},
		{"PUT", "/api/memory-high-watermark", administrator, setLimit("relative", config.ParseWatermark, a.broker.SetMemoryWatermark)},
		{"GET", "/api/disk-free-limit", monitor, a.ofMachine(diskFreeLimit)},
		{"PUT", "/api/disk-free-limit", administrator, setLimit("mem_relative", multipleOfMemory, a.broker.SetDiskFreeLimit)},
	}
}

func (a *api) queueRoutes() []route {
	const queue = "/api/queues/{vhost}/{name}"
	return []route{
		{"GET", "/api/queues", anybody, a.queues},
		{"GET", "/api/queues/detailed", anybody, a.queues},
		{"GET", "/api/queues/{vhost}", in(visitor), a.queues},
		{"GET", queue, visitor, a.queue},
		{"PUT", queue, into(visitor), a.putQueue},
		{"DELETE", queue, visitor, a.deleteQueue},
		{"GET", queue + "/bindings", visitor, a.queueBindings},
		{"DELETE", queue + "/contents", visitor, a.purgeQueue},
		{"POST", queue + "/get", visitor, a.getMessages},
	}
}

func (a *api) topologyRoutes() []route {
	const exchange = "/api/exchanges/{vhost}/{name}"
	const between = "/api/bindings/{vhost}/e/{name}/{kind}/{destination}"
	return []route{
		{"GET", "/api/exchanges", anybody, a.exchanges},
		{"GET", "/api/exchanges/{vhost}", in(visitor), a.exchanges},
		{"GET", exchange, visitor, a.exchange},
		{"PUT", exchange, into(visitor), a.putExchange},
		{"DELETE", exchange, visitor, a.deleteExchange},
		{"GET", exchange + "/bindings/source", visitor, a.bindingsFrom},
		{"GET", exchange + "/bindings/destination", visitor, a.bindingsTo},
		{"POST", exchange + "/publish", visitor, a.publish},

		{"GET", "/api/bindings", anybody, a.bindings},
		{"GET", "/api/bindings/{vhost}", in(visitor), a.bindings},
		{"GET", between, in(visitor), a.bindingsBetween},
		{"POST", between, visitor, a.bind},
		{"GET", between + "/{properties}", visitor, a.binding},
		{"DELETE", between + "/{properties}", visitor, a.unbind},
	}
}

// messageRoutes are our own: other brokers do not have them.
func (a *api) messageRoutes() []route {
	const queue = "/api/x/queues/{vhost}/{name}"
	routes := []route{
		{"GET", "/api/x/dead-letters", monitor, a.deadLetters},
		{"GET", queue + "/messages", visitor, a.does(peek, false)},
		{"GET", queue + "/unacked", visitor, a.does(unacked, false)},
		{"POST", queue + "/unacked/{id}/renew", visitor, a.does(renew, false)},
	}
	for path, isExchange := range map[string]bool{queue: false, "/api/x/exchanges/{vhost}/{name}": true} {
		routes = append(
			routes,
			route{"GET", path + "/scheduled", visitor, a.does(listScheduled, isExchange)},
			route{"PUT", path + "/scheduled", visitor, a.does(reschedule, isExchange)},
			route{"DELETE", path + "/scheduled", visitor, a.does(cancelScheduled, isExchange)},
			route{"GET", path + "/scheduled/counts", visitor, a.does(countScheduled, isExchange)},
			route{"PUT", path + "/scheduled/{id}", visitor, a.does(reschedule, isExchange)},
			route{"DELETE", path + "/scheduled/{id}", visitor, a.does(cancelScheduled, isExchange)},
		)
	}
	return routes
}

func (a *api) clientRoutes() []route {
	return []route{
		{"GET", "/api/connections", anybody, a.connections},
		{"GET", "/api/vhosts/{vhost}/connections", in(visitor), a.connections},
		{"GET", "/api/connections/{name}", anybody, a.connection},
		{"DELETE", "/api/connections/{name}", anybody, a.closeConnection},
		{"GET", "/api/connections/{name}/channels", anybody, a.connectionChannels},
		{"GET", "/api/channels", anybody, a.channels},
		{"GET", "/api/vhosts/{vhost}/channels", in(visitor), a.channels},
		{"GET", "/api/channels/{name}", anybody, a.channel},
		{"GET", "/api/consumers", anybody, a.consumers},
		{"GET", "/api/consumers/{vhost}", in(visitor), a.consumers},
	}
}

func (a *api) nodeRoutes() []route {
	nodes := a.nodes()
	return []route{
		{"GET", "/api/overview", anybody, a.overview},
		{"GET", "/api/whoami", anybody, whoAmI},
		{"GET", "/api/nodes", monitor, nodes.list},
		{"GET", "/api/nodes/{name}", monitor, nodes.one},
		{"GET", "/api/version", anybody, always(rabbitVersion)},
		{"GET", "/api/extensions", anybody, always([]struct{}{})},
		{"GET", "/api/feature-flags", anybody, featureFlags.list},
		{"GET", "/api/deprecated-features", anybody, deprecatedFeatures.list},
		{"GET", "/api/deprecated-features/used", anybody, always([]deprecated{})},
	}
}

func (a *api) healthRoutes() []route {
	const checks = "/api/health/checks"
	return []route{
		{"GET", "/api/aliveness-test/{vhost}", in(visitor), always(healthy)},
		{"GET", checks + "/virtual-hosts", anybody, always(healthy)},
		{"GET", checks + "/node-is-quorum-critical", anybody, always(health{Status: "ok", Reason: "single node cluster"})},
		{"GET", checks + "/port-listener/{port}", anybody, a.portListens},
		{"GET", checks + "/protocol-listener/{protocol}", anybody, a.protocolListens},
		{"GET", checks + "/certificate-expiration/{within}/{unit}", anybody, a.certificatesLast},
		{"GET", checks + "/alarms", anybody, a.noAlarms("There are alarms in effect in the cluster")},
		{"GET", checks + "/local-alarms", anybody, a.noAlarms("There are alarms in effect on the node")},
	}
}
