package config

import (
	"errors"
	"flag"
	"fmt"
	"slices"
)

// TLS is how AMQP over TLS is served. The files are in PEM, and may be replaced
// while the broker runs.
type TLS struct {
	// Cert holds the certificate of the broker, Key its private key, CA the
	// roots of clients' certificates.
	Cert, Key, CA string
	// VerifyPeer asks clients for a certificate and checks it.
	VerifyPeer bool
	// FailIfNoPeerCert refuses clients without one.
	FailIfNoPeerCert bool
	// LoginFrom is where the mechanism EXTERNAL finds the name of the user:
	// distinguished_name, common_name or subject_alternative_name.
	LoginFrom string
	// SANType is the kind of alternative name, dns, ip, email, uri or other_name;
	// SANIndex which of them, from 0.
	SANType  string
	SANIndex uint
}

func (t *TLS) define(flags *flag.FlagSet) {
	flags.StringVar(&t.Cert, "tls-cert", "", "`file` with the certificate for AMQP over TLS, PEM")
	flags.StringVar(&t.Key, "tls-key", "", "`file` with its private key, PEM")
	flags.StringVar(&t.CA, "tls-ca", "", "`file` with the roots of clients' certificates, PEM")
	flags.BoolVar(&t.VerifyPeer, "tls-verify-peer", false, "ask clients for a certificate and check it")
	flags.BoolVar(&t.FailIfNoPeerCert, "tls-fail-if-no-peer-cert", false, "refuse clients without a certificate")
	flags.StringVar(&t.LoginFrom, "tls-login-from", t.LoginFrom,
		"where EXTERNAL finds the `name` of the user: distinguished_name, common_name or subject_alternative_name")
	flags.StringVar(&t.SANType, "tls-login-san-type", t.SANType, "`kind` of the alternative name: dns, ip, email, uri or other_name")
	flags.UintVar(&t.SANIndex, "tls-login-san-index", 0, "which alternative name of that kind, from 0")
}

// validate tells all that is wrong; used: there is an address for TLS.
func (t TLS) validate(used bool) error {
	var failed error
	wrong := func(is bool, what string) {
		if is {
			failed = errors.Join(failed, errors.New(what))
		}
	}
	wrong(used && (t.Cert == "" || t.Key == ""), "amqps: tls-cert and tls-key are needed")
	wrong(t.VerifyPeer && t.CA == "", "tls-verify-peer: tls-ca is needed")
	wrong(t.FailIfNoPeerCert && !t.VerifyPeer, "tls-fail-if-no-peer-cert: tls-verify-peer is needed")
	switch t.LoginFrom {
	case "distinguished_name", "common_name", "subject_alternative_name", "subject_alt_name":
	default:
		failed = errors.Join(failed, fmt.Errorf("tls-login-from: %q is neither distinguished_name nor common_name nor subject_alternative_name", t.LoginFrom))
	}
	if !slices.Contains([]string{"dns", "ip", "email", "uri", "other_name"}, t.SANType) {
		failed = errors.Join(failed, fmt.Errorf("tls-login-san-type: %q is none of dns, ip, email, uri, other_name", t.SANType))
	}
	return failed
}
