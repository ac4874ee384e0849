package auth

import (
	"crypto/x509"
	"encoding/asn1"
	"net"
)

// AlternativeKind is a kind of subject alternative name: its tag among the
// general names [RFC 5280 4.2.1.6].
type AlternativeKind int

// The kinds of names that can identify a user.
const (
	OtherName AlternativeKind = 0
	Email     AlternativeKind = 1
	DNS       AlternativeKind = 2
	URI       AlternativeKind = 6
	IP        AlternativeKind = 7
)

// alternativeKinds maps the values of ssl_cert_login_san_type.
var alternativeKinds = map[string]AlternativeKind{"dns": DNS, "ip": IP, "email": Email, "uri": URI, "other_name": OtherName}

var alternativeNames = asn1.ObjectIdentifier{2, 5, 29, 17}

// alternativeName returns the name of that kind with that index in the certificate, or "" if there is none.
func alternativeName(c *x509.Certificate, kind AlternativeKind, index uint) string {
	for _, extension := range c.Extensions {
		if !extension.Id.Equal(alternativeNames) {
			continue
		}
		var names []asn1.RawValue
		if _, err := asn1.Unmarshal(extension.Value, &names); err != nil {
			return ""
		}
		for _, name := range names {
			if name.Class != asn1.ClassContextSpecific || name.Tag != int(kind) {
				continue
			}
			if index == 0 {
				return kind.text(name.Bytes)
			}
			index--
		}
	}
	return ""
}

// text returns a readable name: an IP address is written with dots or colons.
func (k AlternativeKind) text(raw []byte) string {
	switch k {
	case IP:
		if len(raw) != net.IPv4len && len(raw) != net.IPv6len {
			return ""
		}
		return net.IP(raw).String()
	case OtherName: // a type, and a value of any kind; only strings are read
		var kind asn1.ObjectIdentifier
		rest, err := asn1.Unmarshal(raw, &kind)
		if err != nil {
			return ""
		}
		var value string
		if _, err := asn1.UnmarshalWithParams(rest, &value, "explicit,tag:0"); err != nil {
			return ""
		}
		return value
	default:
		return string(raw)
	}
}
