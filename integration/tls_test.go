package integration

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/protocol"

	amqp "github.com/rabbitmq/amqp091-go"
)

// secured starts a broker that also listens with TLS, with a certificate from an authority, stored in folder.
func secured(t *testing.T, a *testkit.Authority, folder string, flags ...string) (b *broker, address string) {
	t.Helper()
	cert, key, ca := a.Write(folder, a.Issue(pkix.Name{CommonName: "broker"}))
	b = start(t, append([]string{"--amqps", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--tls-ca", ca}, flags...)...)
	return b, b.log.address("AMQP listener with TLS started")
}

// enter opens a TLS connection.
func (b *broker) enter(address string, a *testkit.Authority, login amqp.Authentication, own ...tls.Certificate) (*amqp.Connection, error) {
	b.Helper()
	return amqp.DialConfig("amqps://"+address+"/", amqp.Config{
		SASL: []amqp.Authentication{login}, TLSClientConfig: &tls.Config{RootCAs: a.Roots(), Certificates: own},
	})
}

// insist requests EXTERNAL although it may not be offered.
func (b *broker) insist(address string, a *testkit.Authority, own ...tls.Certificate) {
	b.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: a.Roots(), Certificates: own})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() }) // the broker may have closed it
	start := method(0, &protocol.ConnectionStartOk{Mechanism: "EXTERNAL", Locale: "en_US"})
	if _, err := conn.Write(append(protocol.ProtocolHeader[:], start...)); err != nil {
		b.Fatal(err)
	}
}

// A client with a certificate logs in without a password, as the user named in the certificate.
func TestExternalLogin(t *testing.T) {
	t.Parallel()
	a := testkit.NewAuthority(t)
	own := a.Issue(pkix.Name{CommonName: "app", Organization: []string{"Candle, Mark"}})
	for from, user := range map[string]string{"distinguished_name": `CN=app,O=Candle\, Mark`, "common_name": "app", "subject_alternative_name": "127.0.0.1"} {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			b, address := secured(t, a, t.TempDir(), "--tls-verify-peer", "--tls-login-from", from, "--tls-login-san-type", "ip")
			refused := func(err error, why string, own ...tls.Certificate) {
				t.Helper()
				if !errors.Is(err, amqp.ErrSASL) {
					t.Errorf("EXTERNAL was offered: %v", err)
				}
				b.insist(address, a, own...)
				eventually(t, why, func() bool { return strings.Contains(b.log.String(), why) })
			}
			_, err := b.enter(address, a, &amqp.ExternalAuth{}, own)
			refused(err, "user '", own)
			if log := b.log.String(); !strings.Contains(log, `"certificate_subject":"CN=app,O=Candle\\, Mark"`) || !strings.Contains(log, `"certificate_issuer":"`) {
				t.Errorf("the log does not name the certificate: %s", log)
			}
			name := url.PathEscape(user)
			b.request("PUT", "/api/users/"+name, `{"tags":""}`, http.StatusCreated)
			b.request("PUT", "/api/permissions/%2F/"+name, `{"configure":".*","write":".*","read":".*"}`, http.StatusCreated)
			_, err = b.enter(address, a, &amqp.ExternalAuth{})
			refused(err, "connection peer presented no TLS (x.509) certificate")
			conn, err := b.enter(address, a, &amqp.ExternalAuth{}, own)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			ch, err := conn.Channel()
			if err == nil {
				_, err = ch.QueueDeclare("q", false, false, false, false, nil)
			}
			if err != nil {
				t.Error(err)
			}
			var list []struct {
				User, Auth_mechanism, Ssl_protocol, Peer_cert_subject, Peer_cert_issuer string
				Ssl                                                                     bool
			}
			if err := json.Unmarshal([]byte(b.request("GET", "/api/connections", "", http.StatusOK)), &list); err != nil || len(list) != 1 {
				t.Fatalf("%+v %v", list, err)
			}
			if c := list[0]; c.User != user || c.Auth_mechanism != "EXTERNAL" || !c.Ssl || c.Ssl_protocol != "tlsv1.3" ||
				c.Peer_cert_subject != `CN=app,O=Candle\, Mark` || c.Peer_cert_issuer != "CN=authority" {
				t.Errorf("%+v", c)
			}
		})
	}
}

// Password logins work over TLS as well, and EXTERNAL is not offered without TLS.
func TestLoginOverTLS(t *testing.T) {
	t.Parallel()
	a := testkit.NewAuthority(t)
	folder := t.TempDir()
	b, address := secured(t, a, folder)
	guest := &amqp.PlainAuth{Username: "guest", Password: "guest"}
	conn, err := b.enter(address, a, guest)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err == nil {
		err = ch.Confirm(false)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := &client{T: t, Channel: ch, conn: conn}
	c.queue("q", nil)
	c.send("q", "one", "two")
	big := make([]byte, 4<<20)
	c.put("", "q", amqp.Publishing{Body: big})
	deliveries := c.consume("q", true)
	c.bodies(deliveries, "one", "two")
	if d := c.next(deliveries); len(d.Body) != len(big) {
		t.Errorf("%d bytes", len(d.Body))
	}
	if _, err := amqp.DialConfig("amqp://"+b.amqp+"/", amqp.Config{SASL: []amqp.Authentication{&amqp.ExternalAuth{}}}); !errors.Is(err, amqp.ErrSASL) {
		t.Errorf("EXTERNAL without TLS: %v", err)
	}

	// A renewed certificate is presented to new clients; existing connections stay open.
	cert, key, _ := a.Write(folder, a.Issue(pkix.Name{CommonName: "renewed"}))
	for _, f := range []string{cert, key} {
		if err := os.Chtimes(f, time.Time{}, time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]int{"22/days": 503, "0/days": 200} {
		text := b.request("GET", "/api/health/checks/certificate-expiration/"+path, "", want)
		if want == 503 && (!strings.Contains(text, `"reason":"Certificates expiring","expired":[{"node":"rabbit@`) || !strings.Contains(text, `,"protocol":"amqp/ssl","interface":"127.0.0.1"`)) {
			t.Error(text)
		}
	}
	b.request("GET", "/api/health/checks/protocol-listener/amqps", "", http.StatusOK)
	probe, err := tls.Dial("tcp", address, &tls.Config{RootCAs: a.Roots()})
	if err != nil {
		t.Fatal(err)
	}
	defer probe.Close()
	if got := probe.ConnectionState().PeerCertificates[0].Subject.CommonName; got != "renewed" {
		t.Errorf("served %q", got)
	}
	c.send("q", "still here")
	c.bodies(deliveries, "still here")
}

// Clients without a required certificate, or without TLS, are disconnected; others are unaffected.
func TestTLSRefused(t *testing.T) {
	t.Parallel()
	a := testkit.NewAuthority(t)
	b, address := secured(t, a, t.TempDir(), "--tls-verify-peer", "--tls-fail-if-no-peer-cert", "--handshake-timeout", "10s")
	guest := &amqp.PlainAuth{Username: "guest", Password: "guest"}
	if _, err := b.enter(address, a, guest); err == nil {
		t.Error("no certificate")
	}
	if _, err := b.enter(address, a, guest, testkit.NewAuthority(t).Issue(pkix.Name{CommonName: "x"})); err == nil {
		t.Error("somebody else's certificate")
	}
	if _, err := amqp.Dial("amqp://guest:guest@" + address + "/"); err == nil {
		t.Error("no TLS")
	}
	conn, err := b.enter(address, a, guest, a.Issue(pkix.Name{CommonName: "x"}))
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	b.dial()
}
