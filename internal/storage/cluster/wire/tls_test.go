package wire_test

import (
	"crypto/x509/pkix"
	"io"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/certificate"
	"candlemark/internal/storage/cluster/wire"

	"github.com/rs/zerolog"
)

// secured opens a port with a certificate of an authority, nil for none, and without a secret. It dials the address that to returns.
func secured(t *testing.T, a *testkit.Authority, to func() string, log io.Writer) *wire.Port {
	t.Helper()
	c := wire.Config{
		Judge: welcome, Log: zerolog.New(log), Lost: func(string) {},
		Hello:     func() wire.Hello { return wire.Hello{From: "n1/1", Cluster: "c"} },
		Addresses: func(string) []string { return []string{to()} },
	}
	if a != nil {
		files := certificate.Files{VerifyPeer: true, RequirePeer: true}
		files.Cert, files.Key, files.CA = a.Write(t.TempDir(), a.Issue(pkix.Name{CommonName: "node"}))
		source, err := certificate.Open(files)
		if err != nil {
			t.Fatal(err)
		}
		c.TLS = source
	}
	p, err := wire.Listen("127.0.0.1:0", c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// TestTLS_CLU15: nodes with certificates of one authority connect, without a secret; others are refused, and both sides say why.
func TestTLS_CLU15(t *testing.T) {
	ours, theirs := testkit.NewAuthority(t), testkit.NewAuthority(t)
	acceptor := safe{make(chan string, 10)}
	p := secured(t, ours, nil, acceptor)
	at := func() string { return p.Addr().String() }
	good := secured(t, ours, at, io.Discard)
	conn, err := good.Dial("n2/2", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	other, err := p.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 3)
	if _, err := io.ReadFull(other, b); err != nil || string(b) != "abc" {
		t.Errorf("got %q, %v", b, err)
	}
	_, _ = conn.Close(), other.Close()
	for name, row := range map[string]struct {
		authority       *testkit.Authority
		dials, accepted string
	}{
		"of another authority": {theirs, "certificate", "certificate"},
		"without TLS":          {nil, "only one of the two uses TLS", "TLS"},
	} {
		p := secured(t, ours, nil, acceptor) // the log of a port is silent for a minute
		dialer := safe{make(chan string, 10)}
		bad := secured(t, row.authority, func() string { return p.Addr().String() }, dialer)
		if _, err := bad.Dial("n2/2", time.Minute); err == nil {
			t.Fatalf("%s: connected", name)
		}
		if s := <-dialer.got; !strings.Contains(s, row.dials) {
			t.Errorf("%s: the caller says %s", name, s)
		}
		if s := <-acceptor.got; !strings.Contains(s, row.accepted) {
			t.Errorf("%s: the other node says %s", name, s)
		}
	}
	plain := secured(t, nil, nil, acceptor)
	bad := secured(t, ours, func() string { return plain.Addr().String() }, io.Discard)
	if _, err := bad.Dial("n2/2", time.Minute); err == nil {
		t.Error("connected with a node that does not use TLS")
	}
	if s := <-acceptor.got; !strings.Contains(s, "only one of the two uses TLS") {
		t.Errorf("a node without TLS says %s", s)
	}
}
