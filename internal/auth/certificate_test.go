package auth

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"testing"
)

func certificate(t *testing.T, subject ...pkix.RelativeDistinguishedNameSET) *x509.Certificate {
	t.Helper()
	raw, err := asn1.Marshal(pkix.RDNSequence(subject))
	if err != nil {
		t.Fatal(err)
	}
	return &x509.Certificate{RawSubject: raw}
}

func rdn(kind []int, value string) pkix.RelativeDistinguishedNameSET {
	return pkix.RelativeDistinguishedNameSET{{Type: kind, Value: value}}
}

func TestExternal(t *testing.T) {
	cn, org, unit, domain := []int{2, 5, 4, 3}, []int{2, 5, 4, 10}, []int{2, 5, 4, 11}, []int{0, 9, 2342, 19200300, 100, 1, 25}
	both := pkix.RelativeDistinguishedNameSET{{Type: cn, Value: "a"}, {Type: unit, Value: "b"}}
	plain := certificate(t, rdn([]int{2, 5, 4, 6}, "AT"), rdn(org, "Candle, Mark"), rdn(cn, "app"))
	for _, test := range []struct {
		from       CertificateLogin
		peer       Peer
		name, fail string
	}{
		{DistinguishedName, Peer{TLS: true, Certificate: plain}, `CN=app,O=Candle\, Mark,C=AT`, ""},
		{CommonName, Peer{TLS: true, Certificate: plain}, "app", ""},
		{CommonName, Peer{TLS: true, Certificate: certificate(t, rdn(cn, "x"), rdn(cn, "y"))}, "x,y", ""},
		{CommonName, Peer{TLS: true, Certificate: certificate(t, rdn(org, "x"))}, "", "no name found"},
		{DistinguishedName, Peer{TLS: true, Certificate: certificate(t)}, "", "no name found"},
		{DistinguishedName, Peer{TLS: true, Certificate: certificate(t, both, rdn(domain, " #é~ "))}, `DC=\ #\C3\A9\7E\ ,CN=a+OU=b`, ""},
		{DistinguishedName, Peer{TLS: true, Certificate: certificate(t, rdn([]int{1, 2, 3}, "#<>"))}, `1.2.3=\#\<\>`, ""},
		{CommonName, Peer{TLS: true}, "", "connection peer presented no TLS (x.509) certificate"},
		{CommonName, Peer{}, "", "not a TLS-enabled connection"},
	} {
		u := NewUsers(Options{CertificateLogin: test.from})
		if test.name != "" {
			if _, err := u.Authenticate("EXTERNAL", nil, test.peer); err == nil || err.Error() != "user '"+test.name+"' - invalid credentials" {
				t.Errorf("%s: %v", test.name, err)
			}
			if _, err := u.PutAccount(Account{Name: test.name, Tags: []string{"t"}}); err != nil {
				t.Fatal(err)
			}
		}
		user, err := u.Authenticate("EXTERNAL", nil, test.peer)
		if test.fail == "" && (err != nil || user.Name != test.name || !user.HasTag("t")) || test.fail != "" && (err == nil || err.Error() != test.fail) {
			t.Errorf("%s %s: %+v %v", test.name, test.fail, user, err)
		}
	}
}

func TestMechanisms(t *testing.T) {
	u := NewGuest()
	if got := u.Mechanisms(Peer{}); len(got) != 2 {
		t.Error(got)
	}
	if got := u.Mechanisms(Peer{TLS: true}); len(got) != 3 || got[2] != "EXTERNAL" {
		t.Error(got)
	}
	for text, want := range map[string]CertificateLogin{"common_name": CommonName, "distinguished_name": DistinguishedName} {
		if got, err := ParseCertificateLogin(text); got != want || err != nil {
			t.Error(text, got, err)
		}
	}
	if _, err := ParseCertificateLogin("subject"); err == nil {
		t.Error("no error")
	}
}
