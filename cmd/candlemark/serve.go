package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"candlemark/internal/admin/config"
	"candlemark/internal/admin/flaghelp"
	"candlemark/internal/admin/systemd"

	"github.com/rs/zerolog"
)

// serve runs a broker until SIGINT or SIGTERM and returns the exit code. The broker stops by itself when nothing more
// can be stored (ADR 14).
func serve(args []string) int {
	defer runtime.KeepAlive(reserveHeap())
	flags := flaghelp.New("candlemark serve")
	settings, err := config.Load(flags, args, os.Environ())
	if settings == nil {
		return flaghelp.Exit(err, flags, "candlemark serve [<flags>]\n\nRuns the broker until SIGINT or SIGTERM.\n\n", os.Stdout, os.Stderr)
	}
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintln(os.Stderr, "candlemark serve:", strings.TrimSuffix(line, "\n"))
		}
		return 64
	}
	log, level, err := logger(os.Stderr, settings.Config)
	if err != nil {
		fmt.Fprintln(os.Stderr, "candlemark serve:", err)
		return 64
	}
	settings.Config = withAuditLog(settings.Config, onTerminal(os.Stderr))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	hangups := catchHangups()
	defer hangups.end()
	logStart(settings, log)
	r := &reloader{running: settings.Values, level: level, log: log, read: func() (*config.Settings, error) {
		return config.Load(flaghelp.New("candlemark serve"), args, os.Environ())
	}}
	if settings.Cluster.Node != "" {
		return serveMember(ctx, settings, r, hangups)
	}
	b, err := startBroker(settings.Config, log)
	if err != nil {
		log.Error().Err(err).Msg("start failed")
		return 1
	}
	log = b.clock.loud(log)
	b.process.holds(settings.Values)
	r.broker, r.log = b, log
	manager := systemd.New(os.Getenv)
	notify := func(what string) {
		if err := manager.Notify(what); err != nil {
			log.Warn().Err(err).Str("state", what).Msg("notifying the service manager failed")
		}
	}
	hangups.follow(func() {
		notify(systemd.Reloading)
		r.reload()
		b.process.holds(r.running)
		notify(systemd.Ready)
	})
	b.logReady(settings.First, log)
	notify(systemd.Ready)
	defer manager.Watch(b.works)()
	return b.run(withInput(ctx, settings.Testing, stdin), func() {
		stop()
		notify(systemd.Stopping)
	}, log)
}

// works returns an error if no actor answers.
func (b *broker) works(ctx context.Context) error {
	_, err := b.node.API().ListPolicies(ctx, "", false)
	return err
}

// logStart logs the start and the limits.
func logStart(s *config.Settings, log zerolog.Logger) {
	c := s.Config
	logFiles(s, log)
	log.Info().Str("version", version).Str("go", runtime.Version()).Str("node", c.FullNode()).Str("data_dir", c.DataDir).
		Int("connection_max", c.Limits.Connections).Uint("channel_max", c.Limits.Channels).
		Uint("frame_max_bytes", c.Limits.Frame).Uint("max_message_size_bytes", c.Limits.Message).Uint("heartbeat_s", c.Limits.Heartbeat).
		Stringer("memory_high_watermark", c.MemoryWatermark).Stringer("disk_free_limit", c.DiskFreeLimit).
		Int("processors", runtime.GOMAXPROCS(0)).Str("audit_log", cmp.Or(c.AuditLog, "log")).Msg("Candlemark starts")
}

// logReady logs that clients are served, at which addresses, and the login if it is the default one.
func (b *broker) logReady(first config.FirstUser, log zerolog.Logger) {
	line, login := log.Info(), ""
	if first.Name == "guest" && first.Password == "guest" && b.users.HasPassword("guest", "guest") {
		login = " (guest/guest)"
	}
	if b.HTTP != nil {
		line, login = line.Str("web", "http://"+b.HTTP.String()+"/"+login), ""
	}
	if len(b.AMQP) > 0 {
		line = line.Str("amqp", "amqp://"+b.AMQP[0].String()+login)
	}
	line.Msg("Server startup complete")
}

// run waits for the end of a broker and returns the exit code. stop is called
// when ctx has ended.
func (b *broker) run(ctx context.Context, stop func(), log zerolog.Logger) int {
	code := 0
	select {
	case <-ctx.Done():
		stop() // a second signal ends the process at once
		log.Info().Msg("stopping")
	case <-b.process.asked:
		log.Info().Msg("stopping at the request of an administrator")
	case err := <-b.data.failed:
		log.Error().Err(err).Msg("the journal failed: its content is safe, but nothing can be added; stopping")
		code = 1
	case err := <-b.data.lost():
		log.Error().Err(err).Msg("storing definitions failed: confirmed changes are safe, but nothing can be added; stopping")
		code = 1
	}
	if err := b.stop(); err != nil {
		log.Error().Err(err).Msg("the broker did not stop cleanly")
		return 1
	}
	log.Info().Msg("stopped")
	return code
}
