package auth

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"net"
	"slices"
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
		from       CertificateName
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
		u := NewUsers(Options{CertificateLogin: CertificateLogin{From: test.from}})
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
	if got := u.Mechanisms(Peer{TLS: true}); len(got) != 2 {
		t.Error(got)
	}
	subject, err := asn1.Marshal(pkix.Name{CommonName: "app"}.ToRDNSequence())
	if err != nil {
		t.Fatal(err)
	}
	verified := Peer{TLS: true, Certificate: &x509.Certificate{RawSubject: subject}}
	if got := u.Mechanisms(verified); len(got) != 2 {
		t.Error("offered to nobody:", got)
	}
	if _, err := u.PutAccount(Account{Name: "CN=app"}); err != nil {
		t.Fatal(err)
	}
	if got := u.Mechanisms(verified); len(got) != 3 || got[2] != "EXTERNAL" {
		t.Error(got)
	}
	for text, want := range map[string]CertificateLogin{
		"common_name": {From: CommonName}, "distinguished_name": {From: DistinguishedName},
		"subject_alternative_name": {From: AlternativeName, Kind: IP, Index: 2}, "subject_alt_name": {From: AlternativeName, Kind: IP, Index: 2},
	} {
		if got, err := ParseCertificateLogin(text, "ip", 2); got != want || err != nil {
			t.Error(text, got, err)
		}
	}
	for from, kind := range map[string]string{"subject": "dns", "subject_alternative_name": "x400"} {
		if _, err := ParseCertificateLogin(from, kind, 0); err == nil {
			t.Error("no error")
		}
	}
}

// ANONYMOUS, under both of its names, is offered to clients of AMQP 1.0 if it lets them in: its user exists, has the
// configured password and may log in from the client's address.
func TestAnonymous(t *testing.T) {
	far := Peer{AMQP10: true, Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}}
	for name, test := range map[string]struct {
		options Options
		peer    Peer
		want    bool
	}{
		"local":             {Options{AnonymousUser: "guest", AnonymousPassword: "guest", Loopback: []string{"guest"}}, Peer{AMQP10: true}, true},
		"remote":            {Options{AnonymousUser: "guest", AnonymousPassword: "guest", Loopback: []string{"guest"}}, far, false},
		"remote allowed":    {Options{AnonymousUser: "guest", AnonymousPassword: "guest"}, far, true},
		"0-9-1":             {Options{AnonymousUser: "guest", AnonymousPassword: "guest"}, Peer{}, false},
		"another password":  {Options{AnonymousUser: "guest", AnonymousPassword: "other"}, Peer{AMQP10: true}, false},
		"no such user":      {Options{AnonymousUser: "nobody", AnonymousPassword: "guest"}, Peer{AMQP10: true}, false},
		"nobody":            {Options{}, Peer{AMQP10: true}, false},
		"no such mechanism": {Options{AnonymousUser: "guest", AnonymousPassword: "guest", Mechanisms: []string{"PLAIN"}}, Peer{AMQP10: true}, false},
	} {
		u := NewUsers(test.options)
		if err := u.Found(Founder{Name: "guest", Password: "guest", VHost: "/"}); err != nil {
			t.Fatal(err)
		}
		for _, mechanism := range []string{"ANONYMOUS", "MSSBCBS"} {
			user, err := u.Authenticate(mechanism, []byte("anybody"), test.peer)
			if offered := slices.Contains(u.Mechanisms(test.peer), mechanism); offered != test.want || (err == nil) != test.want {
				t.Errorf("%s, %s: offered %t, %v", name, mechanism, offered, err)
			}
			if err == nil && user.Name != "guest" {
				t.Errorf("%s, %s: %+v", name, mechanism, user)
			}
		}
	}
}

func TestExternalByAlternativeName(t *testing.T) {
	name := func(kind AlternativeKind, value string) asn1.RawValue {
		return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: int(kind), IsCompound: kind == OtherName, Bytes: []byte(value)}
	}
	kind, _ := asn1.Marshal(asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 20, 2, 3})
	value, _ := asn1.MarshalWithParams("app@realm", "utf8,explicit,tag:0")
	extension, err := asn1.Marshal([]asn1.RawValue{
		name(Email, "app@example.com"), name(DNS, "one.example.com"), name(IP, "\x0a\x00\x00\x07"), name(DNS, "two.example.com"), name(IP, "odd"),
		name(URI, "urn:app"), name(OtherName, string(kind)+string(value)), name(OtherName, "?"), name(IP, string(net.IPv6loopback)), name(OtherName, string(kind)),
	})
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{Extensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 19}}, {Id: alternativeNames, Value: extension}}}
	broken := &x509.Certificate{Extensions: []pkix.Extension{{Id: alternativeNames, Value: []byte{1}}}}
	for _, test := range []struct {
		kind  string
		index uint
		c     *x509.Certificate
		want  string
	}{
		{"dns", 0, c, "one.example.com"},
		{"dns", 1, c, "two.example.com"},
		{"dns", 2, c, ""},
		{"email", 0, c, "app@example.com"},
		{"uri", 0, c, "urn:app"},
		{"ip", 0, c, "10.0.0.7"},
		{"ip", 1, c, ""},
		{"ip", 2, c, "::1"},
		{"other_name", 0, c, "app@realm"},
		{"other_name", 1, c, ""},
		{"other_name", 2, c, ""},
		{"dns", 0, broken, ""},
		{"dns", 0, &x509.Certificate{}, ""},
	} {
		l, err := ParseCertificateLogin("subject_alternative_name", test.kind, test.index)
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.name(Peer{TLS: true, Certificate: test.c})
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s %d: %q %v, want %q", test.kind, test.index, got, err, test.want)
		}
	}
}
