package config

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

// check notes what is wrong; used: there is an address for TLS.
func (t TLS) check(used bool, wrong *problems) {
	if used && (t.Cert == "" || t.Key == "") {
		wrong.add("amqps", "tls-cert and tls-key are needed")
	}
	if t.VerifyPeer && t.CA == "" {
		wrong.add("tls-verify-peer", "tls-ca is needed")
	}
	if t.FailIfNoPeerCert && !t.VerifyPeer {
		wrong.add("tls-fail-if-no-peer-cert", "tls-verify-peer is needed")
	}
	switch t.LoginFrom {
	case "distinguished_name", "common_name", "subject_alternative_name", "subject_alt_name":
	default:
		wrong.add("tls-login-from", "%q is neither distinguished_name nor common_name nor subject_alternative_name", t.LoginFrom)
	}
	wrong.among("tls-login-san-type", t.SANType, "dns", "ip", "email", "uri", "other_name")
}
