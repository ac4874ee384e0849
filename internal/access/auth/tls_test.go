package auth

import (
	"crypto/tls"
	"math/big"
	"testing"
	"time"
)

func TestTLSInfo(t *testing.T) {
	c := certificate(t, rdn([]int{2, 5, 4, 3}, "app"))
	c.RawIssuer = certificate(t, rdn([]int{2, 5, 4, 3}, "authority")).RawSubject
	c.SerialNumber = big.NewInt(0x1a2b)
	c.NotBefore, c.NotAfter = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		peer Peer
		want *TLSInfo
	}{
		{Peer{}, nil},
		{
			Peer{TLS: true, version: tls.VersionTLS13, suite: tls.TLS_AES_256_GCM_SHA384, Certificate: c},
			&TLSInfo{"tlsv1.3", "any", "aes_256_gcm", "aead", "CN=app", "CN=authority", "2026-01-02T03:04:05Z - 2027-01-02T03:04:05Z", "1A2B"},
		},
		{
			Peer{TLS: true, version: tls.VersionTLS13, suite: tls.TLS_CHACHA20_POLY1305_SHA256},
			&TLSInfo{Protocol: "tlsv1.3", KeyExchange: "any", Cipher: "chacha20_poly1305", Hash: "aead"},
		},
		{
			Peer{TLS: true, version: tls.VersionTLS12, suite: tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256},
			&TLSInfo{Protocol: "tlsv1.2", KeyExchange: "ecdhe_rsa", Cipher: "aes_128_gcm", Hash: "aead"},
		},
		{
			Peer{TLS: true, version: tls.VersionTLS12, suite: tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA},
			&TLSInfo{Protocol: "tlsv1.2", KeyExchange: "ecdhe_ecdsa", Cipher: "aes_256_cbc", Hash: "sha"},
		},
	} {
		got := test.peer.Info()
		if (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
			t.Errorf("\n got %+v\nwant %+v", got, test.want)
		}
	}
	if got := nameOf([]byte("garbage")); got != "" {
		t.Error(got)
	}
}
