package auth

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"strings"
)

// CertificateLogin selects the name in a client's certificate that identifies the user, like RabbitMQ's
// ssl_cert_login_from.
type CertificateLogin struct {
	From CertificateName
	// For AlternativeName: the kind of name, and the index among names of that kind, from 0.
	Kind  AlternativeKind
	Index uint
}

// CertificateName is the place of a name in a certificate.
type CertificateName uint8

const (
	// DistinguishedName is the whole subject, as RFC 4514 writes it.
	DistinguishedName CertificateName = iota
	// CommonName is the CN of the subject; several are joined by commas.
	CommonName
	// AlternativeName is one of the subject alternative names.
	AlternativeName
)

// ParseCertificateLogin reads distinguished_name, common_name or
// subject_alternative_name, and for the latter the kind of RabbitMQ's
// ssl_cert_login_san_type and its index.
func ParseCertificateLogin(from, kind string, index uint) (CertificateLogin, error) {
	switch from {
	case "distinguished_name":
		return CertificateLogin{From: DistinguishedName}, nil
	case "common_name":
		return CertificateLogin{From: CommonName}, nil
	case "subject_alternative_name", "subject_alt_name":
		k, known := alternativeKinds[kind]
		if !known {
			return CertificateLogin{}, fmt.Errorf("%q is not a type of subject alternative name", kind)
		}
		return CertificateLogin{From: AlternativeName, Kind: k, Index: index}, nil
	}
	return CertificateLogin{}, fmt.Errorf("%q is neither distinguished_name nor common_name nor subject_alternative_name", from)
}

// name returns the user named in the peer's certificate. Error: *LoginError.
func (l CertificateLogin) name(peer Peer) (string, error) {
	switch {
	case !peer.TLS:
		return "", refuseLogin("not a TLS-enabled connection")
	case peer.Certificate == nil:
		return "", refuseLogin("connection peer presented no TLS (x.509) certificate")
	}
	var name string
	if l.From == AlternativeName {
		name = alternativeName(peer.Certificate, l.Kind, l.Index)
	} else {
		var subject pkix.RDNSequence
		if _, err := asn1.Unmarshal(peer.Certificate.RawSubject, &subject); err != nil {
			return "", refuseLogin("the subject of the certificate cannot be read: %s", err)
		}
		if name = distinguishedName(subject); l.From == CommonName {
			name = commonNames(subject)
		}
	}
	if name == "" {
		return "", refuseLogin("no name found")
	}
	return name, nil
}

const commonName = "2.5.4.3"

func commonNames(subject pkix.RDNSequence) string {
	var names []string
	for _, rdn := range subject {
		for _, attribute := range rdn {
			if attribute.Type.String() == commonName {
				names = append(names, fmt.Sprint(attribute.Value))
			}
		}
	}
	return strings.Join(names, ",")
}

// attributes are the short names of attribute types; others show their number.
var attributes = map[string]string{
	"2.5.4.4": "SN", "2.5.4.42": "GIVENNAME", "2.5.4.43": "INITIALS", "2.5.4.44": "GENERATIONQUALIFIER",
	commonName: "CN", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.10": "O", "2.5.4.11": "OU", "2.5.4.12": "TITLE",
	"2.5.4.6": "C", "2.5.4.5": "SERIALNUMBER", "2.5.4.65": "PSEUDONYM", "0.9.2342.19200300.100.1.25": "DC",
	"1.2.840.113549.1.9.1": "EMAILADDRESS", "2.5.4.9": "STREET", "0.9.2342.19200300.100.1.1": "UID",
}

// distinguishedName formats a subject according to RFC 4514: the last part first.
func distinguishedName(subject pkix.RDNSequence) string {
	parts := make([]string, len(subject))
	for i, rdn := range subject {
		var pairs []string
		for _, attribute := range rdn {
			kind := attribute.Type.String()
			if short := attributes[kind]; short != "" {
				kind = short
			}
			pairs = append(pairs, kind+"="+escaped(fmt.Sprint(attribute.Value)))
		}
		parts[len(parts)-1-i] = strings.Join(pairs, "+")
	}
	return strings.Join(parts, ",")
}

// escaped returns a value with the escapes of RFC 4514, and RabbitMQ's escapes for characters outside printable ASCII.
func escaped(value string) string {
	var b strings.Builder
	for i := range len(value) {
		c := value[i]
		switch {
		case i == 0 && (c == ' ' || c == '#'), i == len(value)-1 && c == ' ', strings.IndexByte(`"+,;<>\`, c) >= 0:
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 32 || c >= 126:
			fmt.Fprintf(&b, `\%02X`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
