package auth

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"strings"
	"time"
)

// TLSInfo describes an encrypted connection in RabbitMQ's words. Subject and what follows it are empty for a client
// without a certificate.
type TLSInfo struct {
	Protocol        string // "tlsv1.3"
	KeyExchange     string // "ecdhe_rsa"; "any" since TLS 1.3
	Cipher          string // "aes_256_gcm"
	Hash            string // of records; "aead" if the cipher includes it
	Subject, Issuer string // as RFC 4514 writes them
	Validity        string // from - to
	Serial          string // in hexadecimal
}

// Info describes the encryption, or nil if there is none.
func (p Peer) Info() *TLSInfo {
	if !p.TLS {
		return nil
	}
	i := &TLSInfo{Protocol: strings.ToLower(strings.Replace(tls.VersionName(p.version), "TLS ", "tlsv", 1)), KeyExchange: "any", Hash: "aead"}
	suite := strings.ToLower(strings.TrimPrefix(tls.CipherSuiteName(p.suite), "TLS_"))
	if exchange, rest, before13 := strings.Cut(suite, "_with_"); before13 {
		i.KeyExchange, suite = exchange, rest
	}
	i.Cipher = suite
	if at := strings.LastIndexByte(suite, '_'); at >= 0 && strings.HasPrefix(suite[at:], "_sha") {
		i.Cipher = suite[:at]
		if !strings.HasSuffix(i.Cipher, "_gcm") && !strings.HasPrefix(i.Cipher, "chacha20") {
			i.Hash = suite[at+1:]
		}
	}
	if c := p.Certificate; c != nil {
		i.Subject, i.Issuer, i.Validity, i.Serial = nameOf(c.RawSubject), nameOf(c.RawIssuer), validity(c), strings.ToUpper(c.SerialNumber.Text(16))
	}
	return i
}

// nameOf returns a name of a certificate, "" if it cannot be read.
func nameOf(raw []byte) string {
	var name pkix.RDNSequence
	if _, err := asn1.Unmarshal(raw, &name); err != nil {
		return ""
	}
	return distinguishedName(name)
}

func validity(c *x509.Certificate) string {
	return c.NotBefore.UTC().Format(time.RFC3339) + " - " + c.NotAfter.UTC().Format(time.RFC3339)
}
