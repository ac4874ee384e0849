package testkit

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority issues certificates signed with its own.
type Authority struct {
	t           *testing.T
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	serial      int64
}

// NewAuthority returns a new Authority.
func NewAuthority(t *testing.T) *Authority {
	t.Helper()
	a := &Authority{t: t}
	a.certificate, a.key, _ = a.sign(pkix.Name{CommonName: "authority"}, true)
	return a
}

// sign issues a certificate for 127.0.0.1 that is valid for clients and servers.
func (a *Authority) sign(subject pkix.Name, root bool) (*x509.Certificate, *ecdsa.PrivateKey, []byte) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	a.serial++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.serial), Subject: subject, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: root,
	}
	parent, parentKey := a.certificate, a.key
	if root {
		template.KeyUsage |= x509.KeyUsageCertSign
		parent, parentKey = template, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		a.t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(raw)
	if err != nil {
		a.t.Fatal(err)
	}
	return certificate, key, raw
}

// Issue makes a certificate with its key.
func (a *Authority) Issue(subject pkix.Name) tls.Certificate {
	a.t.Helper()
	leaf, key, raw := a.sign(subject, false)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key, Leaf: leaf}
}

// Roots returns a pool with only the authority.
func (a *Authority) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// Write puts a certificate, its key and the authority into the files cert, key
// and ca of a folder, in PEM.
func (a *Authority) Write(folder string, c tls.Certificate) (cert, key, ca string) {
	a.t.Helper()
	private, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		a.t.Fatal(err)
	}
	write := func(name, kind string, raw []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600); err != nil {
			a.t.Fatal(err)
		}
		return path
	}
	return write("cert", "CERTIFICATE", c.Certificate[0]), write("key", "PRIVATE KEY", private), write("ca", "CERTIFICATE", a.certificate.Raw)
}
