package config

import (
	"flag"
	"strings"
	"time"
)

// setting is one thing that an operator can set. To add one, add its row to settings, its
// field to Config and its default to Default.
type setting struct {
	// name of the flag; the variable is CANDLEMARK_ and the name in upper case.
	name string
	help string
	// define makes a flag of the field.
	define define
	// keys in the file, in the order in which they are applied: the last one given counts.
	keys []key
	// also names further variables, which count if the variable of the name is not set.
	also []string
	// noFlag: passwords are not flags, because all users of the machine see the command line of a process.
	noFlag bool
	// secret values are not shown.
	secret bool
	// reload: SIGHUP changes it on the running broker.
	reload bool
}

// key is a name in the file, of segments between dots; * stands for any one segment.
type key struct {
	name string
	// read converts a value of rabbitmq.conf to one of the flag, whose value so far is before; last is the last segment
	// of the name in the file. nil keeps the value unchanged.
	read func(value, last, before string) (string, error)
}

// settings are all settings, in the order in which they are shown.
var settings = []setting{
	{name: "config", define: text(func(c *Config) *string { return &c.File }), help: "`file` with settings; none for no file"},
	{
		name: "amqp", define: texts(func(c *Config) *[]string { return &c.AMQP }),
		keys: []key{{"listeners.tcp.*", address}, {"listeners.tcp", none}}, help: "`address` to listen on for AMQP, host:port; may be repeated",
	},
	{
		name: "amqps", define: texts(func(c *Config) *[]string { return &c.AMQPS }),
		keys: []key{{"listeners.ssl.*", address}, {"listeners.ssl", none}}, help: "`address` to listen on for AMQP over TLS, host:port; may be repeated",
	},
	{
		name: "tls-cert", define: text(func(c *Config) *string { return &c.TLS.Cert }),
		keys: plain("ssl_options.certfile"), help: "`file` with the certificate for AMQP over TLS, PEM",
	},
	{
		name: "tls-key", define: text(func(c *Config) *string { return &c.TLS.Key }),
		keys: plain("ssl_options.keyfile"), help: "`file` with the private key for AMQP over TLS, PEM",
	},
	{
		name: "tls-ca", define: text(func(c *Config) *string { return &c.TLS.CA }),
		keys: plain("ssl_options.cacertfile"), help: "`file` with the CA certificates for client certificates, PEM",
	},
	{
		name: "tls-verify-peer", define: truth(func(c *Config) *bool { return &c.TLS.VerifyPeer }),
		keys: []key{{"ssl_options.verify", verification}}, help: "request and verify client certificates",
	},
	{
		name: "tls-fail-if-no-peer-cert", define: truth(func(c *Config) *bool { return &c.TLS.FailIfNoPeerCert }),
		keys: plain("ssl_options.fail_if_no_peer_cert"), help: "refuse clients without a certificate",
	},
	{
		name: "tls-login-from", define: text(func(c *Config) *string { return &c.TLS.LoginFrom }), keys: plain("ssl_cert_login_from"),
		help: "`part` of the certificate with the user name for EXTERNAL: distinguished_name, common_name or subject_alternative_name",
	},
	{
		name: "tls-login-san-type", define: text(func(c *Config) *string { return &c.TLS.SANType }),
		keys: plain("ssl_cert_login_san_type"), help: "`type` of the subject alternative name: dns, ip, email, uri or other_name",
	},
	{
		name: "tls-login-san-index", define: natural(func(c *Config) *uint { return &c.TLS.SANIndex }),
		keys: plain("ssl_cert_login_san_index"), help: "index of the alternative name among those of that type, from 0",
	},
	{
		name: "tls-versions", define: texts(func(c *Config) *[]string { return &c.TLS.Versions }),
		keys: []key{{"ssl_options.versions.*", tlsVersion}}, help: "accepted TLS `version`, 1.2 or 1.3; may be repeated",
	},
	{
		name: "auth-mechanisms", define: texts(func(c *Config) *[]string { return &c.Mechanisms }),
		keys: []key{{"auth_mechanisms.*", choice("PLAIN", "PLAIN", "AMQPLAIN", "AMQPLAIN", "EXTERNAL", "EXTERNAL", "ANONYMOUS", "ANONYMOUS")}},
		help: "accepted SASL `mechanism`: PLAIN, AMQPLAIN, EXTERNAL (verified client certificates) or ANONYMOUS (AMQP 1.0 only); may be repeated",
	},
	{
		name: "anonymous-login-user", define: text(func(c *Config) *string { return &c.AnonymousUser }), keys: plain("anonymous_login_user"),
		help: "`user` for logins with ANONYMOUS; none to disable",
	},
	{
		name: "anonymous-login-pass", noFlag: true, secret: true, define: text(func(c *Config) *string { return &c.AnonymousPassword }),
		keys: []key{{"anonymous_login_pass", password}}, help: "password of the user for logins with ANONYMOUS; if it does not match, these logins fail",
	},
	{
		name: "loopback-users", reload: true, define: texts(func(c *Config) *[]string { return &c.LoopbackUsers }),
		keys: []key{{"loopback_users.*", member}, {"loopback_users", none}}, help: "`user` that can log in from this machine only; may be repeated, none for no user",
	},
	{
		name: "default-user", noFlag: true, also: []string{"RABBITMQ_DEFAULT_USER"}, define: text(func(c *Config) *string { return &c.First.Name }),
		keys: plain("default_user"), help: "name of the first user of a new data folder",
	},
	{
		name: "default-pass", noFlag: true, secret: true, also: []string{"RABBITMQ_DEFAULT_PASS"}, define: text(func(c *Config) *string { return &c.First.Password }),
		keys: []key{{"default_pass", password}}, help: "password of the first user",
	},
	{
		name: "default-vhost", noFlag: true, also: []string{"RABBITMQ_DEFAULT_VHOST"}, define: text(func(c *Config) *string { return &c.First.VHost }),
		keys: plain("default_vhost"), help: "the first virtual host of a new data folder",
	},
	{
		name: "default-user-tags", noFlag: true, define: texts(func(c *Config) *[]string { return &c.First.Tags }),
		keys: []key{{"default_user_tags.*", member}}, help: "tags of the first user; none for no tag",
	},
	{
		name: "default-permissions-configure", noFlag: true, define: text(func(c *Config) *string { return &c.First.Configure }),
		keys: plain("default_permissions.configure"), help: "configure permission of the first user in the first virtual host, a regular expression",
	},
	{
		name: "default-permissions-write", noFlag: true, define: text(func(c *Config) *string { return &c.First.Write }),
		keys: plain("default_permissions.write"), help: "write permission of the first user there, a regular expression",
	},
	{
		name: "default-permissions-read", noFlag: true, define: text(func(c *Config) *string { return &c.First.Read }),
		keys: plain("default_permissions.read"), help: "read permission of the first user there, a regular expression",
	},
	{
		name: "default-queue-type", noFlag: true, define: text(func(c *Config) *string { return &c.DefaultQueueType }),
		keys: []key{{"default_queue_type", queueType}}, help: "default queue type of virtual hosts that do not set one: classic or quorum",
	},
	{
		name: "node-name", also: []string{"RABBITMQ_NODENAME"}, define: text(func(c *Config) *string { return &c.Node }), keys: plain("node_name"),
		help: "`name` of the node, such as rabbit@host, by which tools address it; without @ the machine's short host name is added; if not set, rabbit@ and that host name",
	},
	{name: "cluster-node", define: text(func(c *Config) *string { return &c.Cluster.Node }), keys: plain("cluster.node"), help: "`name` of this node among the members of a cluster; empty for a broker alone"},
	{
		name: "cluster-member", define: texts(func(c *Config) *[]string { return &c.Cluster.Members }), keys: []key{{name: "cluster.member.*"}, {"cluster_formation.classic_config.nodes.*", classicNode}}, help: "`node` of the cluster, name=host:port; repeated for each with which this one forms a cluster, or one of which it joins, and for itself",
	},
	{name: "cluster-dns", define: text(func(c *Config) *string { return &c.Cluster.Hostname }), keys: plain("cluster_formation.dns.hostname"), help: "`name` in the DNS with the addresses of all nodes of the cluster, instead of a list of members"},
	{name: "cluster-size", define: natural(func(c *Config) *uint { return &c.Cluster.Size }), keys: plain("cluster_formation.target_cluster_size_hint"), help: "number of nodes that form the cluster, needed with cluster-dns; by default the number of members"},
	{name: "cluster-listen", define: text(func(c *Config) *string { return &c.Cluster.Listen }), keys: plain("cluster.listen"), help: "`address` to listen on for the other nodes, host:port; by default this member's"},
	{
		name: "cluster-secret", also: []string{"RABBITMQ_ERLANG_COOKIE"}, noFlag: true, secret: true, define: text(func(c *Config) *string { return &c.Cluster.Secret }), keys: []key{{"cluster.secret", password}},
		help: "secret that all nodes of the cluster share; not needed with certificates",
	},
	{name: "cluster-copy-rate", define: size(func(c *Config) *Amount { return &c.Cluster.CopyRate }, parseRate, ""), keys: []key{{"cluster.copy_rate", bytes}}, help: "`bytes` in a second that this node sends of copies of its data to nodes that lack much, such as 64MiB, at least 1MiB; 0 for no limit"},
	{name: "cluster-tls-cert", define: text(func(c *Config) *string { return &c.Cluster.TLS.Cert }), keys: plain("cluster.tls.certfile"), help: "`file` with the certificate of this node for the other nodes, PEM"},
	{name: "cluster-tls-key", define: text(func(c *Config) *string { return &c.Cluster.TLS.Key }), keys: plain("cluster.tls.keyfile"), help: "`file` with the private key of this node for the other nodes, PEM"},
	{name: "cluster-tls-ca", define: text(func(c *Config) *string { return &c.Cluster.TLS.CA }), keys: plain("cluster.tls.cacertfile"), help: "`file` with the CA certificates of the other nodes, PEM"},
	{
		name: "cluster-name", noFlag: true, define: text(func(c *Config) *string { return &c.ClusterName }),
		keys: plain("cluster_name"), help: "cluster name, set at each start; empty to keep the current name",
	},
	{
		name: "product-name", define: text(func(c *Config) *string { return &c.ProductName }),
		keys: plain("product.name"), help: "product `name` in the server properties; 1 to 255 bytes",
	},
	{
		name: "http", define: text(func(c *Config) *string { return &c.HTTP }),
		keys: []key{{"management.listener.port", port}, {"management.listener.ip", host("15672")}, {"management.tcp.port", port}, {"management.tcp.ip", host("15672")}}, help: "`address` of the HTTP API; empty for none",
	},
	{
		name: "https", define: text(func(c *Config) *string { return &c.HTTPS }),
		keys: []key{{"management.ssl.port", port}, {"management.ssl.ip", host("15671")}}, help: "`address` of the HTTP API over TLS; empty for none",
	},
	{
		name: "http-allowed-hosts", define: texts(func(c *Config) *[]string { return &c.HTTPHosts }), keys: []key{{name: "management.allowed_hosts.*"}},
		help: "host `name` at which browsers may use the HTTP API, besides localhost, IP addresses and the machine's host name; *.example.com for all below, * for any name; may be repeated",
	},
	{
		name: "http-behind-proxy", define: truth(func(c *Config) *bool { return &c.HTTPProxied }), keys: plain("management.behind_proxy"),
		help: "a proxy on this machine forwards HTTP requests: no request is treated as local, so loopback users cannot use the HTTP API",
	},
	{
		name: "https-cert", define: text(func(c *Config) *string { return &c.HTTPSOwn.Cert }),
		keys: plain("management.ssl.certfile"), help: "`file` with the certificate for HTTPS, PEM; if not set, HTTPS uses all TLS settings of AMQP",
	},
	{
		name: "https-key", define: text(func(c *Config) *string { return &c.HTTPSOwn.Key }),
		keys: plain("management.ssl.keyfile"), help: "`file` with the private key for HTTPS, PEM",
	},
	{
		name: "https-ca", define: text(func(c *Config) *string { return &c.HTTPSOwn.CA }),
		keys: plain("management.ssl.cacertfile"), help: "`file` with the CA certificates for client certificates of HTTPS, PEM",
	},
	{
		name: "https-verify-peer", define: truth(func(c *Config) *bool { return &c.HTTPSOwn.VerifyPeer }),
		keys: []key{{"management.ssl.verify", verification}}, help: "request and verify client certificates for HTTPS",
	},
	{
		name: "https-fail-if-no-peer-cert", define: truth(func(c *Config) *bool { return &c.HTTPSOwn.FailIfNoPeerCert }),
		keys: plain("management.ssl.fail_if_no_peer_cert"), help: "refuse HTTPS clients without a certificate",
	},
	{
		name: "https-versions", define: texts(func(c *Config) *[]string { return &c.HTTPSOwn.Versions }),
		keys: []key{{"management.ssl.versions.*", tlsVersion}}, help: "accepted TLS `version` for HTTPS, 1.2 or 1.3; may be repeated",
	},
	{
		name: "metrics", define: text(func(c *Config) *string { return &c.Metrics }),
		keys: []key{{"prometheus.tcp.port", port}, {"prometheus.tcp.ip", host("15692")}}, help: "`address` of a metrics endpoint without login, for Prometheus; empty for none",
	},
	{
		name: "metrics-per-object", define: truth(func(c *Config) *bool { return &c.MetricsPerObject }), keys: plain("prometheus.return_per_object_metrics"),
		help: "/metrics of that endpoint includes metrics per queue, connection and channel, like /metrics/per-object",
	},
	{
		name: "samples-overview", define: texts(func(c *Config) *[]string { return &c.SamplesOverview }),
		keys: []key{{"management.sample_retention_policies.global.*", retention}},
		help: "retention `span` of the HTTP API's samples of the whole broker, as length/interval in seconds; sampling starts with the first request; may be repeated, none for no samples",
	},
	{
		name: "samples-objects", define: texts(func(c *Config) *[]string { return &c.SamplesObjects }),
		keys: []key{{"management.sample_retention_policies.basic.*", retention}},
		help: "retention `span` of samples of queues, exchanges, connections, channels and virtual hosts, as length/interval in seconds; may be repeated, none for no samples",
	},
	{
		name: "data-dir", define: text(func(c *Config) *string { return &c.DataDir }),
		keys: plain("data_dir"), help: "data `folder` of the broker",
	},
	{
		name: "in-memory", define: truth(func(c *Config) *bool { return &c.InMemory }),
		help: "keep everything in memory: there is no data folder, and nothing is left after a stop",
	},
	{
		name: "test-clock", define: testClock(func(c *Config) *string { return &c.Testing.Clock }),
		help: "the broker has a clock for tests, which stands still until it is moved; begin at the machine's time, or at that of --test-clock=`time`, such as 2027-01-01T00:00:00Z",
	},
	{
		name: "ready-json", define: truth(func(c *Config) *bool { return &c.Testing.ReadyJSON }),
		help: "print a line of JSON with the addresses to standard output when clients can connect",
	},
	{
		name: "port-file", define: text(func(c *Config) *string { return &c.Testing.PortFile }),
		help: "write the line of --ready-json to this `file`, which is removed at the stop",
	},
	{
		name: "stop-with-stdin", define: truth(func(c *Config) *bool { return &c.Testing.StopWithStdin }),
		help: "stop when standard input ends, so that no broker outlives the test that started it",
	},
	{
		name: "segment-size", define: natural(func(c *Config) *uint { return &c.SegmentSize }),
		keys: plain("segment_size"), help: "size of a file of the journal in bytes, 4194304 to 1073741824",
	},
	{
		name: "load-definitions", define: text(func(c *Config) *string { return &c.LoadDefinitions }),
		keys: []key{{name: "definitions.local.path"}, {name: "management.load_definitions"}, {name: "load_definitions"}},
		help: "definitions `file`, imported at each start; a new broker has only the users in it",
	},
	{
		name: "shovel-files", define: text(func(c *Config) *string { return &c.ShovelFiles }), keys: plain("shovel.files"),
		help: "`folder` with the certificates and keys that addresses of shovels may name; empty for none",
	},
	{
		name: "servicebus-config", define: text(func(c *Config) *string { return &c.ServiceBusConfig }), keys: plain("servicebus.config"),
		help: "`file` with queues, topics and subscriptions in the format of the Azure Service Bus emulator, applied at each start",
	},
	{
		name: "servicebus-http", define: text(func(c *Config) *string { return &c.ServiceBusHTTP }), keys: plain("servicebus.http"),
		help: "`address` of the administration API of Azure Service Bus; empty for none",
	},
	{
		name: "servicebus-https", define: text(func(c *Config) *string { return &c.ServiceBusHTTPS }), keys: plain("servicebus.https"),
		help: "`address` of the administration API of Azure Service Bus over TLS, with the certificate for HTTPS; empty for none",
	},
	{
		name: "servicebus-max-message-size", define: natural(func(c *Config) *uint { return &c.ServiceBusMessage }), keys: plain("servicebus.max_message_size"),
		help: "maximum size in bytes of a message or batch to an entity of Azure Service Bus that sets no MaxMessageSizeInKilobytes, 1024 to 104857600: 262144 as in the Standard tier, more as in Premium",
	},
	{
		name: "servicebus-emulator", define: truth(func(c *Config) *bool { return &c.ServiceBusEmulator }), keys: plain("servicebus.emulator"),
		help: "accept any Azure Service Bus token from this machine and grant it all rights; for development only",
	},
	{
		name: "handshake-timeout", define: duration(func(c *Config) *time.Duration { return &c.Handshake }),
		keys: []key{{"handshake_timeout", milliseconds}}, help: "time limit for a client to open its connection",
	},
	{
		name: "send-timeout", define: duration(func(c *Config) *time.Duration { return &c.SendTimeout }),
		keys: []key{{"send_timeout", milliseconds}}, help: "disconnect a client that does not read for this long; 0 for no limit",
	},
	{
		name: "memory-total", define: natural(func(c *Config) *uint { return &c.MemoryTotal }), keys: []key{{"total_memory_available_override_value", bytes}},
		help: "memory in bytes to which relative limits refer; 0 for the memory of the machine or container",
	},
	{
		name: "memory-high-watermark", reload: true, define: size(func(c *Config) *Amount { return &c.MemoryWatermark }, ParseWatermark, ""),
		keys: []key{{"vm_memory_high_watermark.relative", share}, {"vm_memory_high_watermark.absolute", bytes}},
		help: "block publishers above this memory usage: a `share` of the machine's or container's memory, 0 to 1, or a size such as 2GB",
	},
	{
		name: "disk-free-limit", reload: true, define: size(func(c *Config) *Amount { return &c.DiskFreeLimit }, ParseDiskLimit, memRelative),
		keys: []key{{"disk_free_limit.relative", multiple}, {"disk_free_limit.absolute", bytes}},
		help: "block publishers below this free disk space: a `size` such as 50MB, or mem_relative and a multiple of the memory",
	},
	{
		name: "connection-max", reload: true, define: number(func(c *Config) *int { return &c.Limits.Connections }),
		keys: []key{{"connection_max", orInfinity}, {"max_connections", orInfinity}}, help: "maximum number of open connections; 0 for no limit",
	},
	{
		name: "channel-max", define: natural(func(c *Config) *uint { return &c.Limits.Channels }),
		keys: []key{{"channel_max", orMax(maxShort)}, {"max_channels_per_connection", orMax(maxShort)}},
		help: "maximum number of channels of a connection, 1 to 65535",
	},
	{
		name: "channel-max-per-node", reload: true, define: number(func(c *Config) *int { return &c.Limits.NodeChannels }),
		keys: []key{{"channel_max_per_node", orInfinity}}, help: "maximum number of channels and AMQP 1.0 sessions of all connections; 0 for no limit",
	},
	{
		name: "consumer-max-per-channel", define: number(func(c *Config) *int { return &c.Limits.Consumers }),
		keys: []key{{"consumer_max_per_channel", orInfinity}}, help: "maximum number of consumers of a channel; 0 for no limit",
	},
	{
		name: "session-max-per-connection", define: natural(func(c *Config) *uint { return &c.Limits.Sessions }),
		keys: plain("session_max_per_connection"), help: "maximum number of AMQP 1.0 sessions of a connection, 1 to 65535; for logins with ANONYMOUS or MSSBCBS, which Azure Service Bus's SDKs use, channel-max if that is higher",
	},
	{
		name: "link-max-per-session", define: natural(func(c *Config) *uint { return &c.Limits.Links }),
		keys: plain("link_max_per_session"), help: "maximum number of AMQP 1.0 links of a session, 1 to 4294967295",
	},
	{
		name: "vhost-max", reload: true, define: number(func(c *Config) *int { return &c.Limits.VHosts }),
		keys: []key{{"vhost_max", orInfinity}}, help: "maximum number of virtual hosts; 0 for no limit",
	},
	{
		name: "cluster-queue-limit", reload: true, define: number(func(c *Config) *int { return &c.Limits.Queues }),
		keys: []key{{"cluster_queue_limit", orInfinity}}, help: "maximum number of queues in all virtual hosts; 0 for no limit",
	},
	{
		name: "cluster-exchange-limit", reload: true, define: number(func(c *Config) *int { return &c.Limits.Exchanges }),
		keys: []key{{"cluster_exchange_limit", orInfinity}}, help: "maximum number of exchanges in all virtual hosts, including predefined ones; 0 for no limit",
	},
	{
		name: "parameter-limits", define: texts(func(c *Config) *[]string { return &c.Limits.Parameters }),
		keys: []key{{"runtime_parameters.limits.*", ofComponent}},
		help: "maximum number of parameters of a `component` in all virtual hosts, as component=number; policy and operator_policy are components, too; may be repeated",
	},
	{
		name: "frame-max", define: natural(func(c *Config) *uint { return &c.Limits.Frame }),
		keys: []key{{"frame_max", orMax(maxFrame)}}, help: "maximum frame size in bytes, 4096 to 16777216",
	},
	{
		name: "heartbeat", define: natural(func(c *Config) *uint { return &c.Limits.Heartbeat }),
		keys: plain("heartbeat"), help: "heartbeat interval proposed to clients, in `seconds`; 0 for none",
	},
	{
		name: "max-message-size", define: natural(func(c *Config) *uint { return &c.Limits.Message }),
		keys: plain("max_message_size"), help: "maximum message body size in bytes, 1 to 536870912",
	},
	{
		name: "events-vhost", define: text(func(c *Config) *string { return &c.EventsIn }), keys: plain("event_exchange.vhost"),
		help: "`virtual host` with the exchange amq.rabbitmq.event, to which events are published; empty for none",
	},
	{
		name: "log-level", reload: true, define: text(func(c *Config) *string { return &c.LogLevel }),
		keys: []key{{"log.default.level", level}, {"log.level", level}, {"log.console.level", level}}, help: "log level: trace, debug, info, warning, error, critical or none",
	},
	{
		name: "log-format", define: text(func(c *Config) *string { return &c.LogFormat }),
		keys: []key{{"log.console.formatter", choice("plaintext", "console", "json", "json")}}, help: "log format: console or json",
	},
	{
		name: "audit-log", define: text(func(c *Config) *string { return &c.AuditLog }), keys: plain("audit_log"),
		help: "`file` for the audit log, or log for lines of the log; if empty, the log, or audit.log in the data folder if the log goes to a terminal",
	},
}

// variables returns the environment variables that set it; the first one set counts.
func (s *setting) variables() []string {
	return append([]string{prefix + strings.ToUpper(strings.ReplaceAll(s.name, "-", "_"))}, s.also...)
}

// define adds a flag whose default is the value in the Config.
type define func(f *flag.FlagSet, c *Config, name, help string)

func text(of func(*Config) *string) define {
	return func(f *flag.FlagSet, c *Config, name, help string) { f.StringVar(of(c), name, *of(c), help) }
}

func truth(of func(*Config) *bool) define {
	return func(f *flag.FlagSet, c *Config, name, help string) { f.BoolVar(of(c), name, *of(c), help) }
}

func number(of func(*Config) *int) define {
	return func(f *flag.FlagSet, c *Config, name, help string) { f.IntVar(of(c), name, *of(c), help) }
}

func natural(of func(*Config) *uint) define {
	return func(f *flag.FlagSet, c *Config, name, help string) { f.UintVar(of(c), name, *of(c), help) }
}

func duration(of func(*Config) *time.Duration) define {
	return func(f *flag.FlagSet, c *Config, name, help string) { f.DurationVar(of(c), name, *of(c), help) }
}

func texts(of func(*Config) *[]string) define {
	return func(f *flag.FlagSet, c *Config, name, help string) { f.Var(&list{values: of(c)}, name, help) }
}
