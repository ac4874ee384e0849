package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"candlemark/internal/auth"
	"candlemark/internal/certificate"
	"candlemark/internal/config"

	"github.com/rs/zerolog"
)

// usersFor are those of a new broker.
func usersFor(cfg config.Config, log zerolog.Logger) (*auth.Users, error) {
	from, err := auth.ParseCertificateLogin(cfg.TLS.LoginFrom, cfg.TLS.SANType, cfg.TLS.SANIndex)
	if err != nil {
		return nil, fmt.Errorf("tls-login-from: %w", err)
	}
	users := auth.NewUsers(auth.Options{
		Loopback: cfg.LoopbackUsers, CertificateLogin: from,
		Throttled: func(source string, refused int) {
			log.Warn().Str("source", source).Int("refused", refused).Msg("too many failed logins: more are refused, their passwords are not looked at")
		},
	})
	users.Found()
	return users, nil
}

// serveTLS opens the listeners for AMQP over TLS, if there are to be any.
func (b *broker) serveTLS(cfg config.Config, log zerolog.Logger) (err error) {
	if len(cfg.AMQPS) == 0 {
		return nil
	}
	if b.certificate, err = certificate.Open(certificate.Files{
		Cert: cfg.TLS.Cert, Key: cfg.TLS.Key, CA: cfg.TLS.CA, VerifyPeer: cfg.TLS.VerifyPeer, RequirePeer: cfg.TLS.FailIfNoPeerCert,
		Failed: func(err error) { log.Error().Err(err).Msg("the new TLS certificate cannot be used") },
	}); err != nil {
		return err
	}
	for _, address := range cfg.AMQPS {
		at, err := b.node.ListenTLS(address, b.certificate.Config())
		if err != nil {
			return fmt.Errorf("amqps: %w", err)
		}
		b.AMQPS = append(b.AMQPS, at)
		log.Info().Stringer("address", at).Msg("AMQP listener with TLS started")
	}
	return nil
}

// followHangups reads the certificate again whenever the process gets SIGHUP;
// call the result to end that.
func (b *broker) followHangups(log zerolog.Logger) (end func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			b.reload(log)
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
	}
}

func (b *broker) reload(log zerolog.Logger) {
	if b.certificate == nil {
		return
	}
	if err := b.certificate.Reload(); err != nil {
		log.Error().Err(err).Msg("the TLS certificate stays as it was")
		return
	}
	log.Info().Msg("TLS certificate read again")
}
