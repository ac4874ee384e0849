package config

import (
	"fmt"
	"slices"

	"candlemark/internal/text/redact"
)

// foreign is a key of RabbitMQ for something that does not exist here.
type foreign struct {
	keys []string // patterns: see fits
	why  string
	// same are the values for this broker's fixed behaviour.
	same []string
	// refused: the setting is an error, since the operator relies on its effect. Other settings cause a warning.
	refused bool
}

// elsewhere are keys of RabbitMQ that have no effect here. The broker refuses keys without which it would be less safe
// than its file demands, or unreachable for its clients; the others only affect speed, logging, or how nodes find each
// other.
var elsewhere = []foreign{
	{keys: []string{"auth_backends.*", "auth_backends.*.authn", "auth_backends.*.authz", "http_dispatch.auth_backends.*", "http_dispatch.auth_backends.*.authn", "http_dispatch.auth_backends.*.authz"}, same: []string{"internal", "rabbit_auth_backend_internal"}, refused: true, why: "only the internal database of users and permissions is supported"},
	{keys: []string{"auth_ldap.**", "auth_http.**", "auth_oauth2.**", "auth_cache.**"}, why: "only the internal database of users and permissions is supported"},
	{
		keys: []string{
			"management.oauth_provider_url", "management.oauth_client_id", "management.oauth_client_secret", "management.oauth_response_type", "management.oauth_metadata_url",
			"management.oauth_scopes", "management.oauth_initiated_logon_type", "management.oauth_resource_servers.**", "management.oauth_authorization_endpoint_params.*",
			"management.oauth_token_endpoint_params.*",
		},
		why: "the HTTP API supports user and password only",
	},
	{keys: []string{"proxy_protocol"}, same: []string{"false"}, refused: true, why: "the PROXY protocol is not supported"},
	{keys: []string{"management.listener.ssl", "management.listener.ssl_opts", "management.listener.ssl_opts.**"}, same: []string{"false", "none"}, refused: true, why: "set management.ssl.port and the other management.ssl keys"},
	{keys: []string{"management.ssl.password"}, refused: true, why: "certificate and key must be PEM files, the key unencrypted"},
	{keys: []string{"management.path_prefix"}, same: []string{"/"}, refused: true, why: "the HTTP API is at /api"},
	{keys: []string{"management.disable_basic_auth", "management.oauth_enabled", "management.oauth_disable_basic_auth"}, same: []string{"false"}, refused: true, why: "the HTTP API supports user and password only"},
	{keys: []string{"ssl_options.password", "ssl_options.cert", "ssl_options.key.*", "ssl_options.cacerts.*", "ssl_options.psk_identity"}, refused: true, why: "certificate and key must be PEM files, the key unencrypted"},
	{keys: []string{"ssl_options.crl_check", "ssl_options.crl_sources.**"}, same: []string{"false"}, refused: true, why: "certificate revocation lists are not supported"},
	{
		keys: []string{
			"ssl_options.depth", "ssl_options.dh", "ssl_options.dhfile", "ssl_options.honor_cipher_order", "ssl_options.honor_ecc_order", "ssl_options.reuse_session",
			"ssl_options.reuse_sessions", "ssl_options.secure_renegotiate", "ssl_options.client_renegotiation", "ssl_options.log_alert", "ssl_options.log_level",
			"ssl_options.ciphers.*", "management.ssl.depth", "management.ssl.honor_cipher_order", "management.ssl.honor_ecc_order", "management.ssl.reuse_sessions",
			"management.ssl.secure_renegotiate", "management.ssl.client_renegotiation", "management.ssl.ciphers.*", "ssl_options.bypass_pem_cache", "ssl.bypass_pem_cache", "ssl_allow_poodle_attack", "ssl_handshake_timeout",
		},
		why: "not configurable: ciphers are those of Go's TLS, sessions are resumed, renegotiation is off",
	},
	{keys: []string{"credential_validator.**"}, same: []string{"none"}, refused: true, why: "password strength is not validated"},
	{keys: []string{"password_hashing_module"}, same: []string{"rabbit_password_hashing_sha256"}, why: "new passwords are hashed with SHA-256"},
	{keys: []string{"default_users.**"}, why: "users come from definitions"},
	{keys: []string{"default_policies.**", "default_limits.**"}, refused: true, why: "operator policies and limits are set on the running broker"},
	{keys: []string{"ranch_connection_max"}, same: []string{"infinity"}, refused: true, why: "this limit is not supported"},
	{keys: []string{"channel_tx_message_max"}, why: "uncommitted transactions are bounded by their memory"},
	{keys: []string{"consumer_timeout"}, same: []string{"undefined"}, why: "there is no consumer timeout unless an argument or a policy sets consumer-timeout"},

	{keys: []string{"cluster_formation.peer_discovery_backend"}, same: []string{"classic_config", "rabbit_peer_discovery_classic_config", "dns", "rabbit_peer_discovery_dns"}, why: "nodes are found by cluster_formation.classic_config.nodes, cluster.member or cluster_formation.dns.hostname"},
	{keys: []string{"cluster_formation.**", "cluster_partition_handling", "cluster_partition_handling.**", "cluster_keepalive_interval", "cluster_tags.*", "node_tags.*", "net_ticktime", "distribution.**", "kernel.**", "delegate_count", "mirroring_sync_batch_size", "mirroring_sync_max_throughput", "queue_master_locator", "queue_leader_locator", "prevent_startup_if_node_was_reset"}, why: "the settings of a cluster are cluster.node, cluster.member and cluster.secret"},
	{keys: []string{"quorum_queue.**", "raft.**", "ra.**", "aten.**", "metadata_store.**", "mnesia_table_loading_retry_timeout", "mnesia_table_loading_retry_limit", "classic_queue.**", "queue_index_embed_msgs_below", "message_store_shutdown_timeout"}, why: "the storage engine is different"},
	{keys: []string{"stream.**", "osiris.**", "mqtt.**", "web_mqtt.**", "stomp.**", "web_stomp.**", "amqp1_0.**", "amqp10_client.**", "amqp_client.**", "trust_store.**", "federation.**", "shovel.**", "event_exchange.protocol", "aws.**", "tracing.**"}, why: "this plugin does not exist here"},
	{keys: []string{"erlang.**", "vm_args.**", "hipe_compile", "background_gc_enabled", "background_gc_target_interval", "sysmon_handler.**", "default_worker_pool_size", "num_acceptors.**", "socket_writer.**", "tcp_listen_options.**", "credentials_obfuscation.**", "listeners.startup_delay", "memory_monitor_interval", "vm_memory_calculation_strategy"}, why: "it is specific to the Erlang VM"},
	{keys: []string{"vm_memory_high_watermark_paging_ratio"}, why: "queues page out above half of the watermark"},
	{keys: []string{"log.console"}, same: []string{"true"}, why: "the log is written to standard error"},
	{keys: []string{"log.console.stdio"}, same: []string{"stderr"}, why: "the log is written to standard error"},
	{keys: []string{"log.file", "log.exchange", "log.syslog", "log.journald"}, same: []string{"false"}, why: "the log is written to standard error"},
	{
		keys: []string{
			"log.dir", "log.summarize_process_state", "log.error_logger_format_depth", "log.console.use_colors", "log.console.color_esc_seqs.*", "log.console.formatter.**",
			"log.file.**", "log.exchange.**", "log.syslog.**", "log.journald.**", "log.default.rotation.*", "log.connection.**", "log.channel.**", "log.mirroring.**",
			"log.queue.**", "log.federation.**", "log.upgrade.**", "log.user.**", "log.ra.**", "syslog.**",
		},
		why: "there is one log, on standard error, with one level",
	},
	{
		keys: []string{
			"collect_statistics", "collect_statistics_interval", "management_agent.*", "management.rates_mode", "management.sample_retention_policies.*.*",
			"management.db_cache_multiplier", "management.disable_stats", "management.enable_queue_totals",
		},
		why: "statistics of the HTTP API work differently",
	},
	{
		keys: []string{
			"management.ssl.max_connections", "management.ssl.backlog", "management.ssl.compress", "management.ssl.idle_timeout", "management.ssl.inactivity_timeout",
			"management.ssl.request_timeout", "management.ssl.shutdown_timeout", "management.ssl.max_keepalive", "management.tcp.max_connections", "management.tcp.compress", "management.tcp.idle_timeout", "management.tcp.inactivity_timeout", "management.tcp.request_timeout",
			"management.tcp.shutdown_timeout", "management.tcp.max_keepalive", "management.listener.server.**", "management.http_log_dir", "http_dispatch.access_log_dir", "management.http.**",
			"management.delegate_count", "management.login_session_timeout", "management.cors.**", "management.csp.policy", "management.hsts.policy", "management.headers.*",
			"management.definitions.**", "management.credential_encryption_secret", "management.require_auth_for_api_reference",
		},
		why: "limits and headers of the HTTP server, and sessions of the web pages, are fixed",
	},
	{keys: []string{"management.restrictions.**"}, same: []string{"false"}, refused: true, why: "restrictions are not supported"},
	{keys: []string{"prometheus.path"}, same: []string{"/metrics"}, refused: true, why: "metrics are at /metrics"},
	{keys: []string{"prometheus.authentication.enabled"}, same: []string{"false"}, refused: true, why: "the metrics port has no login: scrape /metrics of the HTTP API"},
	{keys: []string{"prometheus.ssl.**"}, refused: true, why: "metrics are not served over TLS"},
	{
		keys: []string{
			"prometheus.tcp.listener", "prometheus.tcp.max_connections", "prometheus.tcp.compress", "prometheus.tcp.idle_timeout", "prometheus.tcp.inactivity_timeout", "prometheus.tcp.request_timeout",
			"prometheus.tcp.shutdown_timeout", "prometheus.tcp.max_keepalive", "prometheus.filter_aggregated_queue_metrics_pattern",
		},
		why: "limits of the metrics port are fixed",
	},
	{keys: []string{"definitions.import_backend"}, same: []string{"local_filesystem"}, refused: true, why: "definitions are loaded from a file"},
	{keys: []string{"definitions.skip_if_unchanged"}, same: []string{"false"}, why: "definitions are imported at every start"},
	{keys: []string{"definitions.**"}, refused: true, why: "definitions are loaded from a file"},
	{keys: []string{"initial_frame_max"}, why: "the initial maximum frame size is 4096 bytes"},
	{keys: []string{"product.version", "motd_file", "reverse_dns_lookups", "vhost_restart_strategy", "consumer_disconnected_timeout", "deprecated_features.**", "queue_types.**", "exchange_types.**", "channel_interceptor.**", "message_interceptors.**"}, why: "this feature does not exist here"},
}

// family returns the entry of elsewhere for a line whose key is not in settings, nil if the value asks for what happens anyway. Error: the
// key is unknown, or the setting is refused.
func (l line) family() (*foreign, error) {
	for i := range elsewhere {
		f := &elsewhere[i]
		if !slices.ContainsFunc(f.keys, func(pattern string) bool { return fits(pattern, l.key) }) {
			continue
		}
		switch {
		case slices.Contains(f.same, l.value):
			return nil, nil
		case f.refused:
			return nil, fmt.Errorf("%s: %s = %s: %s", l.place, l.key, redact.Value(l.key, l.value), f.why)
		}
		return f, nil
	}
	return nil, fmt.Errorf("%s: unknown key %q%s", l.place, l.key, didYouMean(l.key, l.candidates()))
}

// warn adds one warning for each family of lines without effect, in the order of their first lines.
func (l *loader) warn(lines []line, families []*foreign) {
	for i, f := range families {
		if f == nil || slices.Contains(families[:i], f) {
			continue
		}
		more := 0
		for _, other := range families[i+1:] {
			if other == f {
				more++
			}
		}
		names, verb := lines[i].key, "has"
		if more > 0 {
			names, verb = fmt.Sprintf("%s and %d more", names, more), "have"
		}
		l.Warnings = append(l.Warnings, fmt.Sprintf("%s: %s %s no effect here: %s", lines[i].place, names, verb, f.why))
	}
}

// candidates returns all known keys, with the segments of the line for their stars.
func (l line) candidates() (names []string) {
	got := segments(l.key)
	add := func(pattern string) {
		name := ""
		for i, segment := range segments(pattern) {
			if segment == "*" && i < len(got) {
				segment = got[i]
			}
			if segment == "**" {
				return
			}
			if i > 0 {
				name += "."
			}
			name += segment
		}
		names = append(names, name)
	}
	for _, s := range settings {
		for _, k := range s.keys {
			add(k.name)
		}
	}
	for _, f := range elsewhere {
		for _, name := range f.keys {
			add(name)
		}
	}
	return names
}
