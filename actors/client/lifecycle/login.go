package lifecycle

import (
	"candlemark/internal/access/auth"

	"github.com/rs/zerolog"
)

// LogRefusal logs a refused login, with the certificate of a client that has one: EXTERNAL takes the user from it.
func LogRefusal(log *zerolog.Logger, mechanism string, peer auth.Peer, err error) {
	line := log.Error().Err(err).Str("mechanism", Cut(mechanism))
	if c := peer.Certificate; c != nil {
		line = line.Str("certificate_subject", Cut(c.Subject.String())).Str("certificate_issuer", Cut(c.Issuer.String())).Str("certificate_serial", Cut(c.SerialNumber.Text(16)))
	}
	line.Msg("login refused")
}
