package main

import (
	"crypto/x509/pkix"
	"strings"
	"testing"

	"candlemark/integration/testkit"
	"candlemark/internal/admin/config"

	"github.com/rs/zerolog"
)

// The verbs print settings without secrets, the expiry of certificates, and a report of everything.
func TestReportVerbs(t *testing.T) {
	cfg := demoConfig(t.TempDir())
	a := testkit.NewAuthority(t)
	cfg.HTTPS = "127.0.0.1:0"
	cfg.TLS.Cert, cfg.TLS.Key, _ = a.Write(t.TempDir(), a.Issue(pkix.Name{CommonName: "localhost"}))
	b, err := startBroker(cfg, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.stop() }) // the test checks only the verbs
	url := "http://guest:guest@" + b.HTTP.String()
	each(t, url, [][2]string{
		{"environment", "Application environment of node http://127.0.0.1:* ...\n"},
		{"-q|federation_status", "Federation is not supported here; there are no upstreams\n"},
		{"federation_status|--only-down|--formatter|json", "[]\n"},
		{`-q|set_parameter|federation-upstream|far|{"uri":"amqp://far"}`, ""},
		{"-s|federation_status", b.node.API().NodeName() + "\t/\tfar\tnot_running\tfederation is not supported here\n"},
		{"federation_status|--only-down|--formatter|json", `[{"node":"` + b.node.API().NodeName() + `","vhost":"/","upstream":"far","status":"not_running","error":"federation is not supported here"}]` + "\n"},
		{"-q|check_certificate_expiration|--within|0|--unit|days", "No certificates are expiring within 0 days.\n"},
	})
	b.process.holds([]config.Value{{Name: "http", Text: ":0", From: "--http"}, {Name: "default-pass", Text: "s3cret", From: "default", Secret: true}})
	each(t, url, [][2]string{{"-q|environment", "name\tvalue\tfrom\nhttp\t:0\t--http\ndefault-pass\t(hidden)\tdefault\n"}})
	stdout, stderr, code := candlemark(url, "check_certificate_expiration", "--within", "200", "--unit", "years")
	if code != 69 || !strings.HasPrefix(stderr, "Interface: 127.0.0.1, port: ") || !strings.Contains(stderr, ", protocol: https, certificate expires on: [20") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
	if _, stderr, code := candlemark(url, "check_certificate_expiration", "--unit", "ages"); code != 69 || !strings.Contains(stderr, "Supported units: days, weeks, months, years") {
		t.Errorf("exit %d, %q", code, stderr)
	}
	if _, stderr, code := candlemark(url, "report", "--formatter", "json"); code != 64 || stderr != "Error:\nOnly report formatter is supported\n" {
		t.Errorf("exit %d, %q", code, stderr)
	}
	stdout, stderr, code = candlemark(url, "report")
	if code != 0 || stderr != "" {
		t.Errorf("exit %d, %q", code, stderr)
	}
	for _, part := range []string{
		"Reporting server status of node http://", "\nStatus of node ", "\nCluster status of node ", "\nApplication environment of node ", "\ndefault-pass\t(hidden)\t",
		"\nListing connections ...\n", "\nListing queues for vhost / ...\n", "\namq.topic\ttopic\ttrue\t", "\nguest\t.*\t.*\t.*\n", "\nfederation-upstream\tfar\t{\"uri\":\"amqp://far\"}\n",
	} {
		if !strings.Contains(stdout, part) {
			t.Errorf("a report without %q", part)
		}
	}
	if strings.Contains(stdout, "s3cret") {
		t.Error("a report with a secret")
	}
}
