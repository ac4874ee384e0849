package config

// Certificate has the certificate of a TLS listener, and the requirements for clients. The files are in PEM, and may
// be replaced while the broker runs.
type Certificate struct {
	// Cert holds the certificate of the broker, Key its private key, CA the
	// roots of clients' certificates.
	Cert, Key, CA string
	// VerifyPeer asks clients for a certificate and checks it.
	VerifyPeer bool
	// FailIfNoPeerCert refuses clients without one.
	FailIfNoPeerCert bool
	// Versions of TLS are spoken: 1.2, 1.3.
	Versions []string
}

// TLS has the settings of AMQP over TLS.
type TLS struct {
	Certificate
	// LoginFrom is the part of a certificate with the user's name for the mechanism EXTERNAL: distinguished_name,
	// common_name or subject_alternative_name.
	LoginFrom string
	// SANType is the kind of alternative name, dns, ip, email, uri or other_name;
	// SANIndex which of them, from 0.
	SANType  string
	SANIndex uint
}

// check records errors; used means that there is an address for TLS.
func (t TLS) check(used bool, wrong *problems) {
	t.Certificate.check("amqps", "tls", used, wrong)
	switch t.LoginFrom {
	case "distinguished_name", "common_name", "subject_alternative_name", "subject_alt_name":
	default:
		wrong.add("tls-login-from", "%q is neither distinguished_name nor common_name nor subject_alternative_name", t.LoginFrom)
	}
	wrong.among("tls-login-san-type", t.SANType, "dns", "ip", "email", "uri", "other_name")
}

// check records errors in the settings of that name, for that listener; used means that the listener is configured.
func (c Certificate) check(listener, name string, used bool, wrong *problems) {
	if used && (c.Cert == "" || c.Key == "") {
		wrong.add(listener, "%s-cert and %s-key are required", name, name)
	}
	if c.VerifyPeer && c.CA == "" {
		wrong.add(name+"-verify-peer", "%s-ca is required", name)
	}
	if c.FailIfNoPeerCert && !c.VerifyPeer {
		wrong.add(name+"-fail-if-no-peer-cert", "%s-verify-peer is required", name)
	}
	if len(c.Versions) == 0 {
		wrong.add(name+"-versions", "at least one version is required")
	}
	for _, v := range c.Versions {
		wrong.among(name+"-versions", v, "1.2", "1.3")
	}
}

// WebCertificate returns the certificate for HTTPS: its own, or that for AMQP.
func (c Config) WebCertificate() Certificate {
	if c.HTTPSOwn.Cert == "" && c.HTTPSOwn.Key == "" {
		return c.TLS.Certificate
	}
	return c.HTTPSOwn
}

// checkWeb records errors in the settings of HTTPS. Settings for its own certificate would have no effect without
// one, even strict ones.
func (c Config) checkWeb(wrong *problems) {
	own := c.HTTPSOwn
	if own.Cert != "" || own.Key != "" {
		own.check("https", "https", true, wrong)
		return
	}
	for setting, set := range map[string]bool{"https-ca": own.CA != "", "https-verify-peer": own.VerifyPeer, "https-fail-if-no-peer-cert": own.FailIfNoPeerCert} {
		if set {
			wrong.add(setting, "https-cert and https-key are required: without them HTTPS uses all TLS settings of AMQP")
		}
	}
	for setting, address := range map[string]string{"https": c.HTTPS, "servicebus-https": c.ServiceBusHTTPS} {
		if address != "" && (c.TLS.Cert == "" || c.TLS.Key == "") {
			wrong.add(setting, "https-cert and https-key are required, or tls-cert and tls-key")
		}
	}
}
