package main

import (
	"crypto/tls"
	"fmt"
	"reflect"
	"slices"

	"candlemark/internal/access/auth"
	"candlemark/internal/access/certificate"
	"candlemark/internal/admin/config"
	"candlemark/internal/transport/forward"

	"github.com/rs/zerolog"
)

// usersFor returns the users of a new broker.
func usersFor(cfg config.Config, log zerolog.Logger) (*auth.Users, error) {
	from, err := auth.ParseCertificateLogin(cfg.TLS.LoginFrom, cfg.TLS.SANType, cfg.TLS.SANIndex)
	if err != nil {
		return nil, fmt.Errorf("tls-login-from: %w", err)
	}
	anonymous := cfg.AnonymousUser
	if anonymous == "none" {
		anonymous = ""
	}
	users := auth.NewUsers(auth.Options{
		AnonymousUser: anonymous, AnonymousPassword: cfg.AnonymousPassword,
		Loopback: cfg.LoopbackUsers, CertificateLogin: from, Mechanisms: cfg.Mechanisms, DefaultQueueType: cfg.DefaultQueueType,
		Throttled: func(source string, refused int) {
			log.Warn().Str("source", source).Int("refused", refused).Msg("too many failed logins: further ones are refused without checking the password")
		},
	})
	if cfg.LoadDefinitions != "" {
		return users, nil // the file contains them
	}
	if err := users.Found(auth.Founder(cfg.First)); err != nil {
		return nil, fmt.Errorf("default user: %w", err)
	}
	return users, nil
}

// setLoopback sets the users that may connect only from this machine. An existing user with the well-known default
// password is not opened to other machines by a password that was meant for a new data folder.
func (b *broker) setLoopback(cfg config.Config, log zerolog.Logger) {
	names, known := cfg.LoopbackUsers, auth.Guest().Password
	if cfg.OpenFirst && cfg.First.Password != known && b.users.HasPassword(cfg.First.Name, known) {
		names = append(slices.Clone(names), cfg.First.Name)
		log.Warn().Str("user", cfg.First.Name).Msg("the data folder is not new: the user keeps the well-known default password and can log in only from this machine")
	}
	b.users.SetLoopback(names)
}

// tlsVersions are the numbers of versions of TLS.
var tlsVersions = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

// certificateFor opens the files of a certificate; listeners with the same ones share them.
func (b *broker) certificateFor(files config.Certificate, log zerolog.Logger) (*certificate.Source, error) {
	for _, open := range b.certificates {
		if reflect.DeepEqual(open.files, files) {
			return open.Source, nil
		}
	}
	var versions []uint16
	for _, v := range files.Versions {
		versions = append(versions, tlsVersions[v])
	}
	source, err := certificate.Open(certificate.Files{
		Versions: versions,
		Cert:     files.Cert, Key: files.Key, CA: files.CA, VerifyPeer: files.VerifyPeer, RequirePeer: files.FailIfNoPeerCert,
		Failed: func(err error) { log.Error().Err(err).Msg("the new TLS certificate cannot be used") },
	})
	if err == nil {
		b.certificates = append(b.certificates, openCertificate{files, source})
	}
	return source, err
}

// openCertificate is a certificate in use by listeners.
type openCertificate struct {
	files config.Certificate
	*certificate.Source
}

// reloadCertificates reads the files of all of them again, and uses the new ones if all are valid.
func (b *broker) reloadCertificates() error {
	var all []*certificate.Source
	for _, c := range b.certificates {
		all = append(all, c.Source)
	}
	return certificate.Reload(all...)
}

// serveTLS opens the listeners for AMQP over TLS, if any are configured.
func (b *broker) serveTLS(cfg config.Config, log zerolog.Logger) (err error) {
	if len(cfg.AMQPS) == 0 {
		return nil
	}
	source, err := b.certificateFor(cfg.TLS.Certificate, log)
	if err != nil {
		return err
	}
	for _, address := range cfg.AMQPS {
		l, err := b.listen(forward.AMQPS, address)
		if err == nil {
			err = b.node.Serve(b.node.Secure(l, source.Config()))
		}
		if err != nil {
			return fmt.Errorf("amqps: %w", remedied(err, "amqps", address))
		}
		b.AMQPS = append(b.AMQPS, l.Addr())
		log.Info().Stringer("address", l.Addr()).Msg("AMQP listener with TLS started")
	}
	return nil
}
