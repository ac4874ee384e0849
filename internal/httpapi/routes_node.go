package httpapi

import "candlemark/internal/config"

// nodeRoutes are about the broker as a whole, its machine and its health.
var nodeRoutes = []route{
	get("/api/overview", anybody, overview),
	get("/api/whoami", anybody, whoAmI),
	get("/api/nodes", monitor, nodes.list),
	get("/api/nodes/{name}", monitor, nodes.one),
	get("/api/version", anybody, always(rabbitVersion)),
	get("/api/extensions", anybody, always([]struct{}{})),
	get("/api/feature-flags", anybody, featureFlags.list),
	get("/api/deprecated-features", anybody, deprecatedFeatures.list),
	get("/api/deprecated-features/used", anybody, always([]deprecated{})),
	get("/api/x/dead-letters", monitor, deadLetters),

	get("/api/memory-high-watermark", monitor, ofMachine(watermark)),
	put("/api/memory-high-watermark", administrator, setLimit("relative", config.ParseWatermark, Broker.SetMemoryWatermark)),
	get("/api/disk-free-limit", monitor, ofMachine(diskFreeLimit)),
	put("/api/disk-free-limit", administrator, setLimit("mem_relative", multipleOfMemory, Broker.SetDiskFreeLimit)),

	get("/api/aliveness-test/{vhost}", in(visitor), always(healthy)),
	get(checksPath+"/virtual-hosts", anybody, always(healthy)),
	get(checksPath+"/node-is-quorum-critical", anybody, always(health{Status: "ok", Reason: "single node cluster"})),
	get(checksPath+"/port-listener/{port}", anybody, portListens),
	get(checksPath+"/protocol-listener/{protocol}", anybody, protocolListens),
	get(checksPath+"/certificate-expiration/{within}/{unit}", anybody, certificatesLast),
	get(checksPath+"/alarms", anybody, noAlarms("There are alarms in effect in the cluster")),
	get(checksPath+"/local-alarms", anybody, noAlarms("There are alarms in effect on the node")),
}

const checksPath = "/api/health/checks"
