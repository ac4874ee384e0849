package integration

import (
	"bufio"
	"crypto/tls"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/sas"
)

// web is a client of the HTTP API over TLS.
type web struct {
	*testing.T
	address string
	http    *http.Client
}

// browse returns a client of a broker that trusts an authority, with a client certificate or none.
func browse(t *testing.T, b *broker, a *testkit.Authority, own ...tls.Certificate) *web {
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.Roots(), Certificates: own}, DisableKeepAlives: true}
	return &web{t, b.log.address("HTTP listener with TLS started"), &http.Client{Transport: transport, Timeout: patience}}
}

// get sends a request as guest with a password. err: the connection could not be used.
func (w *web) get(path, password string) (status int, text string, err error) {
	r, err := http.NewRequestWithContext(w.Context(), http.MethodGet, "https://"+w.address+path, nil)
	if err != nil {
		return 0, "", err
	}
	r.SetBasicAuth("guest", password)
	answer, err := w.http.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body), err
}

func (w *web) expect(path, password string, want int, texts ...string) {
	w.Helper()
	status, text, err := w.get(path, password)
	if err != nil || status != want {
		w.Errorf("%s: %d %s %v, want %d", path, status, text, err, want)
	}
	for _, part := range texts {
		if !strings.Contains(text, part) {
			w.Errorf("%s: no %s in %s", path, part, text)
		}
	}
}

// served returns the name in the certificate that the broker presents to a new client.
func (w *web) served(a *testkit.Authority) string {
	w.Helper()
	conn, err := tls.Dial("tcp", w.address, &tls.Config{RootCAs: a.Roots()})
	if err != nil {
		w.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
}

// The API is served over TLS with AMQP's certificate, which can be replaced; logins, limits and health checks are the same as
// without TLS.
func TestHTTPS(t *testing.T) {
	t.Parallel()
	a, folder := testkit.NewAuthority(t), t.TempDir()
	b, _ := secured(t, a, folder, "--https", "127.0.0.1:0")
	w := browse(t, b, a)
	w.expect("/api/whoami", "guest", 200, `"guest"`)
	w.expect("/healthz", "", 200)
	w.expect("/metrics", "guest", 200, "rabbitmq_identity_info")
	w.expect("/api/overview", "guest", 200, `"protocol":"https"`)
	w.expect("/api/health/checks/protocol-listener/https", "guest", 200)
	w.expect("/api/health/checks/certificate-expiration/22/days", "guest", 503, `"protocol":"https","interface":"127.0.0.1"`)

	t.Run("in clear", func(t *testing.T) {
		answer, err := http.Get("http://" + w.address + "/api/whoami")
		if err != nil || answer.StatusCode != http.StatusBadRequest {
			t.Error(answer, err)
		}
	})
	t.Run("idle connections keep nobody out", func(t *testing.T) {
		for range 600 { // above the limit; none of them starts a handshake
			conn, err := net.Dial("tcp", w.address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
		}
		w.expect("/api/whoami", "guest", 200)
		b.request("GET", "/api/whoami", "", 200)
	})
	t.Run("command line", func(t *testing.T) {
		path, err := binary()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(path, "list_vhosts", "--url", "https://guest:guest@"+w.address)
		cmd.Env = append(cmd.Environ(), "SSL_CERT_FILE="+filepath.Join(folder, "ca"))
		if text, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(text), "/") {
			t.Errorf("%v %s", err, text)
		}
	})
	t.Run("renewed", func(t *testing.T) { browse(t, b, a).renewed(b, a, folder) })
	t.Run("throttled", func(t *testing.T) { browse(t, b, a).throttled() }) // last: later logins are refused
}

// renewed replaces the certificate.
func (w *web) renewed(b *broker, a *testkit.Authority, folder string) {
	name := func(name string, mend func(cert, key string)) {
		cert, key, _ := a.Write(folder, a.Issue(pkix.Name{CommonName: name}))
		mend(cert, key)
	}
	name("renewed", func(cert, key string) {
		later(w.T, time.Minute, cert, key)
		if got := w.served(a); got != "renewed" {
			w.Errorf("served %q", got)
		}
	})
	name("by SIGHUP", func(cert, key string) {
		later(w.T, time.Minute, cert, key)
		w.hangUp(b, "TLS certificate reloaded")
	})
	if got := w.served(a); got != "by SIGHUP" {
		w.Errorf("served %q", got)
	}
	name("half", func(_, key string) {
		if err := os.Remove(key); err != nil {
			w.Fatal(err)
		}
		w.hangUp(b, "the TLS certificate and the settings are unchanged")
	})
	if got := w.served(a); got != "by SIGHUP" {
		w.Errorf("served %q", got)
	}
}

// checked returns how many guesses at one user's password are looked at in a time, at most.
func checked(d time.Duration) int32 { return 17 + int32(d/time.Second) }

// throttled guesses passwords until guesses are refused without a check.
func (w *web) throttled() {
	var guesses sync.WaitGroup
	var refused atomic.Int32
	began := time.Now()
	for range 80 {
		guesses.Go(func() {
			if status, _, _ := w.get("/api/whoami", "wrong"); status == http.StatusTooManyRequests {
				refused.Add(1)
			}
		})
	}
	guesses.Wait()
	if n := 80 - refused.Load(); n > checked(time.Since(began)) {
		w.Errorf("%d of 80 guesses were looked at", n)
	}
}

// hangUp sends SIGHUP and waits for a line of the log.
func (w *web) hangUp(b *broker, want string) {
	w.Helper()
	before := strings.Count(b.log.String(), want)
	b.signal(syscall.SIGHUP)
	eventually(w.T, want, func() bool { return strings.Count(b.log.String(), want) > before })
}

// later sets the files' modification times, so that they look changed.
func later(t *testing.T, ahead time.Duration, files ...string) {
	t.Helper()
	for _, f := range files {
		if err := os.Chtimes(f, time.Time{}, time.Now().Add(ahead)); err != nil {
			t.Fatal(err)
		}
	}
}

// Configured with rabbitmq.conf's keys, the HTTPS listener has its own certificate and requires client certificates.
func TestHTTPSFromFile(t *testing.T) {
	t.Parallel()
	a, folder := testkit.NewAuthority(t), t.TempDir()
	cert, key, ca := a.Write(folder, a.Issue(pkix.Name{CommonName: "web"}))
	conf := filepath.Join(folder, "candlemark.conf")
	text := fmt.Sprintf("management.ssl.port = 0\nmanagement.ssl.ip = 127.0.0.1\nmanagement.ssl.certfile = %s\nmanagement.ssl.keyfile = %s\nmanagement.ssl.cacertfile = %s\n"+
		"management.ssl.verify = verify_peer\nmanagement.ssl.fail_if_no_peer_cert = true\nmanagement.ssl.versions.1 = tlsv1.3\n", cert, key, ca)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b := start(t, "--config", conf)
	browse(t, b, a, a.Issue(pkix.Name{CommonName: "client"})).expect("/api/whoami", "guest", 200)
	if _, _, err := browse(t, b, a).get("/api/whoami", "guest"); err == nil {
		t.Error("no certificate")
	}
	old := browse(t, b, a, a.Issue(pkix.Name{CommonName: "client"}))
	old.http.Transport.(*http.Transport).TLSClientConfig.MaxVersion = tls.VersionTLS12
	if _, _, err := old.get("/api/whoami", "guest"); err == nil {
		t.Error("TLS 1.2")
	}
	conn, err := net.Dial("tcp", old.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "rubbish\r\n\r\n")
	if _, err := io.Copy(io.Discard, bufio.NewReader(conn)); err != nil {
		t.Error(err)
	}
	browse(t, b, a, a.Issue(pkix.Name{CommonName: "client"})).expect("/api/whoami", "guest", 200)
}

// The administration API of Azure Service Bus is served over TLS, with the certificate for HTTPS, and names itself so.
func TestServiceBusHTTPS(t *testing.T) {
	t.Parallel()
	a := testkit.NewAuthority(t)
	cert, key, _ := a.Write(t.TempDir(), a.Issue(pkix.Name{CommonName: "web"}))
	b := start(t, "--https-cert", cert, "--https-key", key, "--servicebus-https", "127.0.0.1:0", "--servicebus-http", "127.0.0.1:0", "--servicebus-emulator")
	address := b.log.address("Service Bus listener with TLS started")
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.Roots()}, DisableKeepAlives: true}, Timeout: patience}
	if status, text := b.atom("PUT", "q", described("QueueDescription", ""), false); status != http.StatusCreated {
		t.Fatal(text)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/q", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", sas.New("https://localhost/", "RootManageSharedAccessKey", "SAS_KEY_VALUE", time.Now().Add(time.Hour)))
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(text), `<id>https://`+address+`/q</id>`) {
		t.Errorf("%d %s %v", answer.StatusCode, text, err)
	}
}
