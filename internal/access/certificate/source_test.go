package certificate

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
)

// shake runs a TLS handshake and returns the common name of the server's certificate.
func shake(t *testing.T, server, client *tls.Config) (name string, errServer, errClient error) {
	t.Helper()
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	done := make(chan error, 1)
	go func() {
		s := tls.Server(ours, server)
		err := s.Handshake()
		if err == nil { // with TLS 1.3 the client gets a refusal at its first read
			_, err = s.Write([]byte{1})
		}
		done <- err
	}()
	c := tls.Client(theirs, client)
	if errClient = c.Handshake(); errClient == nil {
		_, errClient = c.Read(make([]byte, 1))
	}
	if peers := c.ConnectionState().PeerCertificates; len(peers) > 0 {
		name = peers[0].Subject.CommonName
	}
	_ = theirs.Close()
	return name, <-done, errClient
}

// touch changes the modification times of files by ahead, so that they differ even if the file system's clock is coarse.
func touch(t *testing.T, ahead time.Duration, files ...string) {
	t.Helper()
	for _, f := range files {
		if err := os.Chtimes(f, time.Time{}, time.Now().Add(ahead)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCertificateFollowsItsFiles(t *testing.T) {
	a, folder := testkit.NewAuthority(t), t.TempDir()
	cert, key, _ := a.Write(folder, a.Issue(pkix.Name{CommonName: "first"}))
	var failures []string
	s, err := Open(Files{Cert: cert, Key: key, Failed: func(err error) { failures = append(failures, err.Error()) }})
	if err != nil {
		t.Fatal(err)
	}
	config, client := s.Config(), &tls.Config{RootCAs: a.Roots(), ServerName: "127.0.0.1"}
	want := func(name string) {
		t.Helper()
		if got, errServer, errClient := shake(t, config, client); got != name || errServer != nil || errClient != nil {
			t.Errorf("got %q, want %q; %v, %v", got, name, errServer, errClient)
		}
	}
	want("first")
	a.Write(folder, a.Issue(pkix.Name{CommonName: "second"}))
	touch(t, time.Minute, cert, key)
	want("second")

	if err := os.WriteFile(key, []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	touch(t, 2*time.Minute, key)
	want("second")
	want("second")
	if len(failures) != 1 || !strings.HasPrefix(failures[0], "TLS certificate: ") {
		t.Errorf("reported failures %q", failures)
	}
	if err := s.Reload(); err == nil {
		t.Error("rubbish was read")
	}
	a.Write(folder, a.Issue(pkix.Name{CommonName: "third"}))
	touch(t, 2*time.Minute, cert, key) // Reload needs no handshake to read them
	if err := s.Reload(); err != nil {
		t.Error(err)
	}
	want("third")
	if err := os.Remove(cert); err != nil {
		t.Fatal(err)
	}
	want("third")
}

// Either all of several sources are reloaded, or none.
func TestReloadIsAllOrNothing(t *testing.T) {
	a, one, two := testkit.NewAuthority(t), t.TempDir(), t.TempDir()
	open := func(folder string) *Source {
		cert, key, _ := a.Write(folder, a.Issue(pkix.Name{CommonName: "old"}))
		s, err := Open(Files{Cert: cert, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first, second := open(one), open(two)
	name := func(s *Source) string { return s.now.Load().config.Certificates[0].Leaf.Subject.CommonName }
	a.Write(one, a.Issue(pkix.Name{CommonName: "new"}))
	if err := os.WriteFile(filepath.Join(two, "key"), []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Reload(first, second); err == nil || name(first) != "old" || name(second) != "old" {
		t.Error(err, name(first), name(second))
	}
	a.Write(two, a.Issue(pkix.Name{CommonName: "new"}))
	if err := Reload(first, second); err != nil || name(first) != "new" || name(second) != "new" {
		t.Error(err, name(first), name(second))
	}
}

func TestPeersAreChecked(t *testing.T) {
	a, stranger := testkit.NewAuthority(t), testkit.NewAuthority(t)
	cert, key, ca := a.Write(t.TempDir(), a.Issue(pkix.Name{CommonName: "broker"}))
	for _, test := range []struct {
		name            string
		verify, require bool
		client          []tls.Certificate
		ok              bool
	}{
		{"nobody asks", false, false, nil, true},
		{"asked, none", true, false, nil, true},
		{"asked, good", true, false, []tls.Certificate{a.Issue(pkix.Name{CommonName: "app"})}, true},
		{"asked, bad", true, false, []tls.Certificate{stranger.Issue(pkix.Name{CommonName: "app"})}, false},
		{"needed, none", true, true, nil, false},
		{"needed, good", true, true, []tls.Certificate{a.Issue(pkix.Name{CommonName: "app"})}, true},
	} {
		s, err := Open(Files{Cert: cert, Key: key, CA: ca, VerifyPeer: test.verify, RequirePeer: test.require})
		if err != nil {
			t.Fatal(err)
		}
		client := &tls.Config{RootCAs: a.Roots(), ServerName: "127.0.0.1"}
		if test.client != nil {
			client.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &test.client[0], nil }
		}
		_, errServer, errClient := shake(t, s.Config(), client)
		if test.ok != (errServer == nil) || test.ok != (errClient == nil) {
			t.Errorf("%s: %v, %v", test.name, errServer, errClient)
		}
	}
	if _, errServer, _ := shake(t, mustOpen(t, cert, key).Config(), &tls.Config{RootCAs: a.Roots(), ServerName: "127.0.0.1", MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}); errServer == nil {
		t.Error("TLS 1.1 is taken")
	}
}

// Only the configured TLS versions are accepted.
func TestVersions(t *testing.T) {
	a := testkit.NewAuthority(t)
	cert, key, _ := a.Write(t.TempDir(), a.Issue(pkix.Name{CommonName: "x"}))
	for _, only := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		s, err := Open(Files{Cert: cert, Key: key, Versions: []uint16{only}})
		if err != nil {
			t.Fatal(err)
		}
		for _, spoken := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			client := &tls.Config{RootCAs: a.Roots(), ServerName: "127.0.0.1", MinVersion: spoken, MaxVersion: spoken}
			if _, err, _ := shake(t, s.Config(), client); (err == nil) != (spoken == only) {
				t.Errorf("%x with a client of %x: %v", only, spoken, err)
			}
		}
	}
}

func mustOpen(t *testing.T, cert, key string) *Source {
	t.Helper()
	s, err := Open(Files{Cert: cert, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	a := testkit.NewAuthority(t)
	cert, key, _ := a.Write(t.TempDir(), a.Issue(pkix.Name{CommonName: "x"}))
	for name, files := range map[string]Files{
		"no certificate": {Cert: filepath.Join(t.TempDir(), "none"), Key: key},
		"no key":         {Cert: cert, Key: cert},
		"no roots":       {Cert: cert, Key: key, CA: filepath.Join(t.TempDir(), "none")},
		"roots of none":  {Cert: cert, Key: key, CA: key},
	} {
		if _, err := Open(files); err == nil {
			t.Error(name)
		}
	}
}
