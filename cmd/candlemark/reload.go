package main

import (
	"os"
	"os/signal"
	"strings"
	"syscall"

	"candlemark/internal/admin/config"

	"github.com/rs/zerolog"
)

// reloader reads the settings and the certificate of a broker again.
type reloader struct {
	broker  *broker        // nil on a node of a cluster that does not lead
	cfg     *config.Config // of the next broker of this node; nil for a broker alone
	running []config.Value // effective settings
	read    func() (*config.Settings, error)
	level   *logLevel
	log     zerolog.Logger
}

// reloads are the settings that can change while the broker runs, and what that does on a broker.
var reloads = map[string]struct {
	keep  func(to *config.Config, c config.Config)
	apply func(r *reloader, c config.Config)
}{
	"log-level":              {func(to *config.Config, c config.Config) { to.LogLevel = c.LogLevel }, nil},
	"loopback-users":         {func(to *config.Config, c config.Config) { to.LoopbackUsers = c.LoopbackUsers }, func(r *reloader, c config.Config) { r.broker.setLoopback(c, r.log) }},
	"memory-high-watermark":  {func(to *config.Config, c config.Config) { to.MemoryWatermark = c.MemoryWatermark }, func(r *reloader, c config.Config) { r.broker.node.API().SetMemoryWatermark(c.MemoryWatermark) }},
	"disk-free-limit":        {func(to *config.Config, c config.Config) { to.DiskFreeLimit = c.DiskFreeLimit }, func(r *reloader, c config.Config) { r.broker.node.API().SetDiskFreeLimit(c.DiskFreeLimit) }},
	"connection-max":         {func(to *config.Config, c config.Config) { to.Limits.Connections = c.Limits.Connections }, setLimits},
	"channel-max-per-node":   {func(to *config.Config, c config.Config) { to.Limits.NodeChannels = c.Limits.NodeChannels }, setLimits},
	"vhost-max":              {func(to *config.Config, c config.Config) { to.Limits.VHosts = c.Limits.VHosts }, setLimits},
	"cluster-queue-limit":    {func(to *config.Config, c config.Config) { to.Limits.Queues = c.Limits.Queues }, setLimits},
	"cluster-exchange-limit": {func(to *config.Config, c config.Config) { to.Limits.Exchanges = c.Limits.Exchanges }, setLimits},
}

// setLimits applies the limits that can change.
func setLimits(r *reloader, c config.Config) { r.broker.node.SetLimits(limitsFor(c.Limits)) }

// take makes a changed setting effective.
func (r *reloader) take(v config.Value, c config.Config) {
	one := reloads[v.Name]
	if one.apply == nil {
		_ = r.level.set(c.LogLevel) // checked before
	} else if r.broker != nil {
		one.apply(r, c)
	}
	if r.cfg != nil {
		one.keep(r.cfg, c)
	}
}

// hangups receives the SIGHUPs of the process, which no longer end it. All of them before the call of follow count as
// one.
type hangups chan os.Signal

func catchHangups() hangups {
	h := make(hangups, 1)
	signal.Notify(h, syscall.SIGHUP)
	return h
}

// follow calls reload for each, until end.
func (h hangups) follow(reload func()) {
	go func() {
		for range h {
			reload()
		}
	}()
}

func (h hangups) end() {
	signal.Stop(h)
	close(h)
}

// reload applies all changed settings that can change, or none if anything is wrong. Unchanged settings are not set
// again, so that changes made otherwise on the running broker stay.
func (r *reloader) reload() {
	next, err := r.read()
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			r.log.Error().Str("error", strings.TrimSuffix(line, "\n")).Msg("the settings are unchanged")
		}
		return
	}
	if r.broker != nil && len(r.broker.certificates) > 0 {
		if err := r.broker.reloadCertificates(); err != nil {
			r.log.Error().Err(err).Msg("the TLS certificate and the settings are unchanged")
			return
		}
		r.log.Info().Msg("TLS certificate reloaded")
	}
	logFiles(next, r.log)
	for i, v := range next.Values {
		switch {
		case v.Text == r.running[i].Text:
		case v.Reload:
			r.take(v, next.Config)
			r.running[i] = v
			r.log.Info().Str("setting", v.Name).Str("value", v.Text).Str("from", v.From).Msg("setting changed")
		default:
			r.log.Warn().Str("setting", v.Name).Str("from", v.From).Msg("a changed setting needs a restart")
		}
	}
}

// logFiles logs the files that were read and the settings in them without effect.
func logFiles(s *config.Settings, log zerolog.Logger) {
	if len(s.Files) > 0 {
		log.Info().Strs("files", s.Files).Msg("settings read")
	}
	for _, w := range s.Warnings {
		log.Warn().Msg(w)
	}
}
