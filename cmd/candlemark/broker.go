package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/httpapi"
	"candlemark/internal/admin/httpapi/site"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"
	"candlemark/internal/storage/cluster"
	"candlemark/internal/transport/forward"
	"candlemark/internal/transport/stream"
	"candlemark/supervision"
	"candlemark/supervision/resources"

	"github.com/rs/zerolog"
)

// version of the product, which a build may set (-ldflags "-X main.version=…"). It is unrelated to the RabbitMQ version
// that the broker follows.
var version = "0.1.0"

// broker is a node with its data and its HTTP server.
type broker struct {
	process      *process
	clock        chosenClock
	node         *supervision.Node
	users        *auth.Users
	data         *data
	http         []*http.Server
	certificates []openCertificate
	cluster      *cluster.Node // nil for a broker alone
	closeAudit   func() error
	portFile     string             // to be removed at the stop; "" for none
	others       management.Cluster // nil for a broker alone
	// listen opens a listener of a kind (internal/transport/forward).
	listen func(kind, address string) (net.Listener, error)
	// The actual addresses, or nil if there is none.
	AMQP, AMQPS []net.Addr
	HTTP, HTTPS net.Addr
	Metrics     net.Addr
	// The administration API of Azure Service Bus.
	ServiceBus, ServiceBusTLS net.Addr
}

// startBroker starts everything, or nothing.
func startBroker(cfg config.Config, log zerolog.Logger) (_ *broker, err error) {
	b := &broker{process: newProcess(), listen: func(_, address string) (net.Listener, error) { return stream.Listen(address) }}
	if b.users, err = usersFor(cfg, log); err != nil {
		return nil, err
	}
	drop := dropper(cfg.DataDir)
	if b.clock, err = clockFor(cfg); err != nil {
		return nil, remedied(err, "", "")
	}
	log = b.clock.loud(log)
	if b.data, err = openStores(cfg, b.clock.file, log); err != nil {
		return nil, remedied(err, "", "")
	}
	filled := b.data.definitions.Revision() > 0 // by another broker, between the look at the folder and its lock
	if err = b.start(cfg, &filled, log); err != nil && !filled {
		err = errors.Join(err, drop())
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// meter measures the disks of a cluster's nodes, too.
type meter struct {
	resources.System
	cluster *cluster.Node
}

// Disk implements resources.Meter.
func (m meter) Disk() (free int64, known bool) {
	free, known = m.System.Disk()
	if m.cluster == nil {
		return free, known
	}
	if others := m.cluster.FreeDisk(); !known || others < free {
		return others, true
	}
	return free, known
}

// alarmsFor returns the limits of memory and disk, also of the other nodes of a cluster.
func alarmsFor(cfg config.Config, others *cluster.Node) resources.Config {
	return resources.Config{
		Meter:     meter{resources.System{Directory: cfg.DataDir, Untouched: heapReserve, Most: int64(cfg.MemoryTotal)}, others},
		Watermark: cfg.MemoryWatermark, DiskFree: cfg.DiskFreeLimit,
	}
}

// start starts a broker that has its users, its clock and its data, and stops it after an error. filled is set when clients can store
// something.
func (b *broker) start(cfg config.Config, filled *bool, log zerolog.Logger) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, b.stop())
		}
	}()
	if err := b.clock.EnablePreciseTimers(); err != nil {
		log.Warn().Err(err).Msg("messages may expire a millisecond late on this system")
	}
	audit, closeAudit := auditLog(cfg, log)
	b.closeAudit = closeAudit
	if b.node, err = supervision.Start(supervision.Config{
		Users: b.users, Meta: b.data.definitions, Journal: b.data.messages, Backups: b.data.kept(), Product: cfg.ProductName, ProductVersion: version, Name: nodeName(cfg), Cluster: b.others, DataDirectory: cfg.DataDir, EventsIn: cfg.EventsIn, ShovelFiles: cfg.ShovelFiles, Process: b.process, Log: log, Audit: &audit,
		Handshake: cfg.Handshake, SendTimeout: cmp.Or(cfg.SendTimeout, -1), MaxMessage: uint64(cfg.Limits.Message), MaxEntityMessage: uint64(cfg.ServiceBusMessage), Limits: limitsFor(cfg.Limits), Clock: b.clock.Clock, ClockFile: b.clock.file, Speed: b.clock.speed,
		Alarms: alarmsFor(cfg, b.cluster),
	}); err != nil {
		return err
	}
	b.data.serves(b.node)
	if err := b.fill(cfg, log); err != nil {
		return err
	}
	*filled = true // from here on, clients can store something
	for _, serve := range []func(config.Config, zerolog.Logger) error{b.serveHTTP, b.serveServiceBus, b.serveTLS, b.serveAMQP} {
		if err := serve(cfg, log); err != nil {
			return err
		}
	}
	return b.ready(cfg.Testing, os.Stdout)
}

// nodeName returns the name of the node that clients see.
func nodeName(cfg config.Config) string {
	if name := cfg.Cluster.Node; name != "" {
		return fullName(name)
	}
	return cfg.FullNode()
}

// fill stores what the settings define.
func (b *broker) fill(cfg config.Config, log zerolog.Logger) error {
	if err := b.data.claim(); err != nil {
		return err
	}
	if err := b.loadDefinitions(cfg, log); err != nil {
		return err
	}
	b.setLoopback(cfg, log)
	if err := b.setClusterName(cfg.ClusterName); err != nil {
		return err
	}
	return b.loadEntities(cfg, log)
}

// serveAMQP serves AMQP without TLS.
func (b *broker) serveAMQP(cfg config.Config, log zerolog.Logger) error {
	for _, address := range cfg.AMQP {
		l, err := b.listen(forward.AMQP, address)
		if err == nil {
			err = b.node.Serve(l)
		}
		if err != nil {
			if optional(address, len(b.AMQP)) {
				log.Warn().Err(err).Msg("no IPv6 on this machine")
				continue
			}
			return fmt.Errorf("amqp: %w", remedied(err, "amqp", address))
		}
		b.AMQP = append(b.AMQP, l.Addr())
		log.Info().Stringer("address", l.Addr()).Msg("AMQP listener started")
	}
	return nil
}

// optional reports whether an address for AMQP may be missing, behind others: that of IPv6 on this machine.
func optional(address string, others int) bool {
	host, _, _ := net.SplitHostPort(address)
	return host == "::1" && others > 0
}

// setClusterName sets the name of the cluster, unless it is empty.
func (b *broker) setClusterName(name string) error {
	if name == "" {
		return nil
	}
	text, err := json.Marshal(name)
	if err == nil {
		ctx := events.WithOrigin(context.Background(), &events.Origin{Interface: events.Settings})
		_, err = b.node.API().PutGlobal(ctx, management.ClusterName, text)
	}
	return err
}

// serveHTTP serves the API, and the metrics on a separate port.
func (b *broker) serveHTTP(cfg config.Config, log zerolog.Logger) (err error) {
	samples, err := cfg.SampleSpans()
	if err != nil {
		return err
	}
	server := httpapi.NewServer(b.node.API(), b.users, sitesOf(cfg, b.node.API()), resources.HTTPSockets(), samples, log) // with the same limits for both listeners together
	if cfg.HTTP != "" {
		if b.HTTP, err = b.listenHTTP(forward.HTTP, cfg.HTTP, nil, server, log); err != nil {
			return err
		}
	}
	if cfg.HTTPS != "" {
		source, err := b.certificateFor(cfg.WebCertificate(), log)
		if err != nil {
			return err
		}
		if b.HTTPS, err = b.listenHTTP(forward.HTTPS, cfg.HTTPS, source.Config(), server, log); err != nil {
			return err
		}
	}
	if cfg.Metrics != "" {
		server := httpapi.NewMetricsServer(b.node.API(), sitesOf(cfg, b.node.API()), metricsSockets, cfg.MetricsPerObject)
		b.Metrics, err = b.listenHTTP(forward.Metrics, cfg.Metrics, nil, server, log)
	}
	return err
}

// sitesOf returns the rules for requests from pages of other sites. Browsers reach a leader also by the names of the other nodes.
func sitesOf(cfg config.Config, nodes interface {
	ClusterState() management.ClusterState
},
) *site.Rules {
	return site.New(site.Config{Hosts: cfg.HTTPHosts, Proxied: cfg.HTTPProxied, Nodes: func() (hosts []string) {
		for _, m := range nodes.ClusterState().Members {
			if host, _, err := net.SplitHostPort(m.Address); err == nil {
				hosts = append(hosts, host)
			}
		}
		return hosts
	}})
}

// metricsSockets is the maximum number of connections of the port for metrics.
const metricsSockets = 16

// listenHTTP serves at an address, over TLS if there is a configuration for it.
func (b *broker) listenHTTP(name, address string, secure *tls.Config, server *http.Server, log zerolog.Logger) (net.Addr, error) {
	l, err := b.listen(name, address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, remedied(err, settingOf(name), address))
	}
	b.node.Announce(name, l.Addr(), secure)
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	if !slices.Contains(b.http, server) {
		b.http = append(b.http, server)
	}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error().Err(err).Str("listener", name).Msg("HTTP server failed")
		}
	}()
	log.Info().Stringer("address", l.Addr()).Str("listener", name).Msg(startedAt[name])
	return l.Addr(), nil
}

// startedAt has the message of the log about a new listener, by its kind.
var startedAt = map[string]string{
	forward.AMQP: "AMQP listener started", forward.AMQPS: "AMQP listener with TLS started", forward.HTTP: "HTTP listener started", forward.Metrics: "HTTP listener started",
	forward.HTTPS: "HTTP listener with TLS started", forward.ServiceBus: "Service Bus listener started", forward.ServiceBusTLS: "Service Bus listener with TLS started",
}

// settingOf returns the setting with the address of a kind of listeners.
func settingOf(kind string) string {
	named := map[string]string{forward.Metrics: "metrics", forward.ServiceBus: "servicebus-http", forward.ServiceBusTLS: "servicebus-https"}
	return cmp.Or(named[kind], kind)
}

// How long a stop waits for HTTP requests, and for everything except the journal, which must write all pending records.
const (
	stopHTTP = 3 * time.Second
	stopAll  = 20 * time.Second
)

// stop stops everything, in the opposite order of the start.
func (b *broker) stop() error {
	ctx, cancel := b.clock.WithTimeout(context.Background(), stopAll)
	defer cancel()
	var err error
	for _, server := range b.http {
		err = errors.Join(err, b.leaveHTTP(ctx, server))
	}
	if b.node != nil {
		err = errors.Join(err, b.node.Stop(ctx))
	}
	b.clock.Close()
	if b.portFile != "" {
		err = errors.Join(err, os.Remove(b.portFile))
	}
	if b.closeAudit != nil {
		err = errors.Join(err, b.closeAudit())
	}
	return errors.Join(err, b.data.close())
}

// leaveHTTP shuts a server down and lets running requests finish, within a limit.
func (b *broker) leaveHTTP(ctx context.Context, server *http.Server) error {
	ctx, cancel := b.clock.WithTimeout(ctx, stopHTTP)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	}
	return err
}

// limitsFor returns the limits of a node.
func limitsFor(l config.Limits) supervision.Limits {
	components, _ := l.ParameterLimits() // checked before
	return supervision.Limits{
		Connections: l.Connections, Channels: uint16(l.Channels), Frame: uint32(l.Frame),
		Heartbeat: uint16(l.Heartbeat), NoHeartbeat: l.Heartbeat == 0,
		NodeChannels: l.NodeChannels, Consumers: l.Consumers, Sessions: uint16(l.Sessions), Links: uint32(l.Links),
		VHosts: l.VHosts, Queues: l.Queues, Exchanges: l.Exchanges, Parameters: components,
	}
}
