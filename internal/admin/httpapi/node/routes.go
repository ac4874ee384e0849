package node

import (
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/protocol"
)

// Routes are about the broker as a whole, its machine and its health.
var Routes = []rest.Route{
	rest.Get("/api/overview", rest.Anybody, overview).Large(),
	rest.Get("/api/whoami", rest.Anybody, whoAmI),
	rest.Get("/api/nodes", rest.Monitor, nodes.List),
	rest.Get("/api/nodes/{name}", rest.Monitor, nodes.One),
	rest.Get("/api/nodes/{name}/memory", here(rest.Monitor), memory),
	rest.Get("/api/nodes/{name}/memory/relative", here(rest.Monitor), memoryShares),
	rest.Get("/api/nodes/{name}/memory/ets", here(rest.Monitor), noTables),
	rest.Get("/api/nodes/{name}/memory/ets/{filter}", here(rest.Monitor), noTables), // also: relative
	rest.Get("/api/nodes/{name}/memory/ets/{filter}/relative", here(rest.Monitor), noTables),
	rest.Open("/api/auth", rest.Always(map[string]bool{"oauth_enabled": false})),
	rest.OpenPost("/api/login", logIn),
	rest.Open(sessionPath, shownSession),
	rest.OpenPost(sessionPath, beginSession),
	rest.OpenDelete(sessionPath, endSession),
	rest.Get("/api/auth/attempts/{name}", here(rest.Monitor), logins),
	rest.Delete("/api/auth/attempts/{name}", here(rest.Administrator), forgetLogins),
	rest.Get("/api/auth/attempts/{name}/source", here(rest.Monitor), loginsBySource),
	rest.Delete("/api/auth/attempts/{name}/source", here(rest.Administrator), forgetLogins),
	rest.Delete("/api/reset", rest.Administrator, forgetRates),
	rest.Delete("/api/reset/{name}", here(rest.Administrator), forgetRates),
	rest.Post("/api/rebalance/queues", rest.Administrator, rest.Always(nil)),
	rest.Open("/cli/rabbitmqadmin", handOut),
	rest.Get("/api/version", rest.Anybody, rest.Always(protocol.RabbitMQVersion)),
	rest.Get("/api/extensions", rest.Anybody, rest.Always([]struct{}{})),
	rest.Get("/api/feature-flags", rest.Anybody, featureFlags.List),
	rest.Put("/api/feature-flags/{name}/enable", rest.Administrator, enableFeature),
	rest.Get("/api/deprecated-features", rest.Anybody, deprecatedFeatures.List),
	rest.Get("/api/deprecated-features/used", rest.Anybody, rest.Always([]deprecated{})),
	rest.Get("/api/x/events", rest.Anybody, listen),
	rest.Get("/api/x/log-level", rest.Monitor, logLevel),
	rest.Put("/api/x/log-level", rest.Administrator, setLogLevel),
	rest.Get("/api/x/log", rest.Monitor, logLines).Large(),
	rest.Get("/api/x/settings", rest.Administrator, settings),
	rest.Post("/api/x/shutdown", rest.Administrator, shutdown),
	rest.Get("/api/x/dead-letters", rest.Monitor, deadLetters),
	rest.Get("/api/x/health/cluster-clocks", rest.Anybody, clocksAgree),
	rest.Get("/api/x/health/oldest-message", rest.Anybody, noOldMessages).Large(),
	rest.Get("/api/x/lateness", rest.Monitor, lateness),
	rest.Get("/api/x/cluster", rest.Monitor, cluster),
	rest.Put("/api/x/cluster/leader", rest.Administrator, transferLeadership),
	rest.Put("/api/x/cluster/drained/{name}", rest.Administrator, drain),
	rest.Delete("/api/x/cluster/drained/{name}", rest.Administrator, revive),
	rest.Delete("/api/x/cluster/members/{name}", rest.Administrator, forget),
	rest.Put("/api/x/cluster/reset/{name}", rest.Administrator, reset),
	rest.Put("/api/x/cluster/joined", rest.Administrator, join),
	rest.Get("/api/x/clock", rest.Anybody, clockNow),
	rest.Post("/api/x/clock", rest.Administrator, changeClock).Slow(),
	rest.Get("/api/x/backup", rest.Administrator, shownBackup),
	rest.Post("/api/x/backup", rest.Administrator, startBackup),
	rest.Delete("/api/x/backup", rest.Administrator, rest.Found(cancelBackup)),

	rest.Get("/api/memory-high-watermark", rest.Monitor, ofMachine(watermark)),
	rest.Put("/api/memory-high-watermark", rest.Administrator, setLimit(memoryLimit, "relative", config.ParseWatermark, management.Broker.SetMemoryWatermark)),
	rest.Get("/api/disk-free-limit", rest.Monitor, ofMachine(diskFreeLimit)),
	rest.Put("/api/disk-free-limit", rest.Administrator, setLimit(diskLimit, "mem_relative", multipleOfMemory, management.Broker.SetDiskFreeLimit)),

	rest.Get("/api/aliveness-test/{vhost}", rest.InVHost(rest.Visitor), rest.Always(healthy)),
	rest.Get("/api/healthchecks/node", rest.Anybody, nodeHealth),
	rest.Get("/api/healthchecks/node/{name}", here(rest.Anybody), nodeHealth),
	rest.Open("/healthz", alive),
	rest.Open(checksPath+"/is-in-service", inService),
	rest.Open(checksPath+"/ready-to-serve-clients", readyToServe),
	rest.Get(checksPath+"/below-node-connection-limit", rest.Anybody, belowConnectionLimit),
	rest.Get(checksPath+"/metadata-store/initialized", rest.Anybody, rest.Always(healthy)),
	rest.Get(checksPath+"/metadata-store/initialized/with-data", rest.Anybody, rest.Always(healthy)),
	rest.Get(checksPath+"/virtual-hosts", rest.Anybody, rest.Always(healthy)),
	rest.Get(checksPath+"/node-is-quorum-critical", rest.Anybody, notCritical),
	rest.Get(checksPath+"/node-is-mirror-sync-critical", rest.Anybody, rest.Always(health{Status: "ok", Reason: "single node cluster"})),
	rest.Get(checksPath+"/reached-target-cluster-size", rest.Anybody, rest.Always(healthy)),
	rest.Get(checksPath+"/quorum-queues-without-elected-leaders/all-vhosts", rest.Anybody, quorumQueuesServe).Large(),
	rest.Get(checksPath+"/quorum-queues-without-elected-leaders/all-vhosts/pattern/{pattern}", rest.Anybody, quorumQueuesServe).Large(),
	rest.Get(checksPath+"/quorum-queues-without-elected-leaders/vhost/{vhost}", rest.InVHost(rest.Visitor), quorumQueuesServe).Large(),
	rest.Get(checksPath+"/quorum-queues-without-elected-leaders/vhost/{vhost}/pattern/{pattern}", rest.InVHost(rest.Visitor), quorumQueuesServe).Large(),
	rest.Get(checksPath+"/port-listener/{port}", rest.Anybody, portListens),
	rest.Get(checksPath+"/protocol-listener/{protocol}", rest.Anybody, protocolListens),
	rest.Get(checksPath+"/certificate-expiration/{within}/{unit}", rest.Anybody, certificatesLast),
	rest.Get(checksPath+"/alarms", rest.Anybody, ofMachine(noAlarms)),
	rest.Get(checksPath+"/local-alarms", rest.Anybody, ofMachine(noLocalAlarms)),
}

const (
	checksPath  = "/api/health/checks"
	sessionPath = "/api/x/session"
)
