package main

import (
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/events"
	"candlemark/internal/transport/budget"
	"candlemark/policies"
	"candlemark/policies/changes"

	"github.com/rs/zerolog"
)

// fake is a broker that supports only policies, in the virtual hosts / and dev.
type fake struct {
	management.Broker
	sets map[string]*policies.Policies
}

func (f *fake) Unread() *budget.Unread { return nil }

// PreviewPolicy finds no objects: a change of a policy has no effects to warn of.
func (f *fake) PreviewPolicy(context.Context, *policies.Policy, bool) (*changes.Preview, bool, error) {
	return &changes.Preview{}, true, nil
}

func (f *fake) NodeName() string { return "candlemark@localhost" }

// Events returns nil: there are no listeners, and nothing is recorded.
func (f *fake) Events() *events.Hub { return nil }

func (f *fake) Clock() *clock.Clock { return clock.New() }

func (f *fake) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(parent, d)
}

func (f *fake) SetPolicy(_ context.Context, p *policies.Policy) (bool, error) {
	found := f.sets[p.VHost].Lookup(p.Operator, p.Name) != nil
	f.sets[p.VHost] = f.sets[p.VHost].With(p)
	return found, nil
}

func (f *fake) ClearPolicy(_ context.Context, vhost, name string, operator bool) (bool, error) {
	set := f.sets[vhost]
	if set == nil {
		return false, nil
	}
	f.sets[vhost] = set.Without(operator, name)
	return f.sets[vhost] != set, nil
}

func (f *fake) ListPolicies(_ context.Context, vhost string, operator bool) ([]*policies.Policy, error) {
	return f.sets[vhost].Policies(operator), nil
}

func (f *fake) VHosts(context.Context) ([]string, error) { return []string{"/", "dev"}, nil }

// serveFake starts the HTTP API over a fake broker and returns its address.
func serveFake(t *testing.T) string {
	f := &fake{sets: map[string]*policies.Policies{"/": policies.NewSet("/"), "dev": policies.NewSet("dev")}}
	s := httptest.NewServer(httpapi.NewHandler(f, auth.NewGuest(), zerolog.Nop()))
	t.Cleanup(s.Close)
	return s.URL
}

// candlemark runs a command line with the API's URL in its environment.
func candlemark(url string, args ...string) (stdout, stderr string, code int) {
	var out, complaints bytes.Buffer
	getenv := func(name string) string {
		if name == "CANDLEMARK_HTTP_URL" {
			return url
		}
		return ""
	}
	code = run(args, getenv, &out, &complaints)
	return out.String(), complaints.String(), code
}

const header = "vhost\tname\tpattern\tapply-to\tdefinition\tpriority\n"

// Runs one sequence of commands: each depends on the state left by the earlier ones.
func TestPolicyVerbs_POL16_POL17(t *testing.T) {
	url := serveFake(t)
	for _, step := range []struct{ line, stdout string }{
		{"list_policies", "Listing policies for vhost \"/\" ...\n"},
		{"list_policies|--formatter|json", "[]\n"},
		{
			`set_policy|TTL|^k|{"message-ttl":60000}|--priority|2|--apply-to|queues`,
			`Setting policy "TTL" for pattern "^k" to "{"message-ttl":60000}" with priority "2" for vhost "/" ...` + "\n",
		},
		{
			`set_policy|-p|/|--apply-to=exchanges|AE|.*<&>|{ "alternate-exchange" : "ae" }`,
			`Setting policy "AE" for pattern ".*<&>" to "{ "alternate-exchange" : "ae" }" with priority "0" for vhost "/" ...` + "\n",
		},
		{
			`--vhost|dev|set_operator_policy|op|q|{"expires":1,"max-length":2}`,
			`Setting operator policy override "op" for pattern "q" to "{"expires":1,"max-length":2}" with priority "0" for vhost "dev" ...` + "\n",
		},
		{`-q|set_policy|--priority|-1|--|-low|-x|{"expires":1}`, ""},
		{
			"list_policies",
			"Listing policies for vhost \"/\" ...\n" + header +
				"/\t-low\t-x\tall\t{\"expires\":1}\t-1\n" +
				"/\tAE\t.*<&>\texchanges\t{\"alternate-exchange\":\"ae\"}\t0\n" +
				"/\tTTL\t^k\tqueues\t{\"message-ttl\":60000}\t2\n",
		},
		{`-s|clear_policy|AE`, ""},
		{`clear_policy|-low`, ""},
		{"list_policies|-q", header + "/\tTTL\t^k\tqueues\t{\"message-ttl\":60000}\t2\n"},
		{"list_policies|--silent", "/\tTTL\t^k\tqueues\t{\"message-ttl\":60000}\t2\n"},
		{
			"list_policies|--no-table-headers",
			"Listing policies for vhost \"/\" ...\n/\tTTL\t^k\tqueues\t{\"message-ttl\":60000}\t2\n",
		},
		{
			"list_policies|--formatter|json",
			`[{"vhost":"/","name":"TTL","pattern":"^k","apply-to":"queues","definition":"{\"message-ttl\":60000}","priority":2}]` + "\n",
		},
		{
			"list_operator_policies|-p|dev",
			"Listing operator policy overrides for vhost \"dev\" ...\n" + header + "dev\top\tq\tall\t{\"expires\":1,\"max-length\":2}\t0\n",
		},
		{"clear_policy|TTL", "Clearing policy \"TTL\" on vhost \"/\" ...\n"},
		{"clear_operator_policy|op|--vhost|dev", "Clearing operator policy \"op\" on vhost \"dev\" ...\n"},
		{"list_operator_policies|-p|dev|-q", ""},
	} {
		args := strings.Split(step.line, "|")
		if step.line == "clear_policy|-low" {
			args = []string{"-q", "clear_policy", "--", "-low"}
		}
		stdout, stderr, code := candlemark(url, args...)
		if stdout != step.stdout || stderr != "" || code != 0 {
			t.Errorf("%s: exit %d, stderr %q\n got %q\nwant %q", args, code, stderr, stdout, step.stdout)
		}
	}
}

func TestPolicyVerbsFail_POL18(t *testing.T) {
	url := serveFake(t)
	const ttl = `{"message-ttl":1}`
	for _, test := range []struct {
		args   []string
		code   int
		stderr string // prefix of the output
	}{
		{[]string{"set_policy", "p", "q"}, 64, "Error (argument validation): not enough arguments.\nArguments given:\n\tset_policy p q\n\nUsage\n\n" +
			"candlemark set_policy [-p <vhost>] [--priority <priority>] [--apply-to <apply-to>] <name> <pattern> <definition>\n"},
		{[]string{"clear_policy"}, 64, "Error (argument validation): not enough arguments.\n"},
		{[]string{"list_policies", "x"}, 64, "Error (argument validation): too many arguments.\n"},
		{[]string{"list_policies", "--priority", "1"}, 64, "Error (argument validation): Invalid options for this command:\n--priority : 1\n"},
		{[]string{"set_policy", "--priority", "high", "p", "q", ttl}, 64, "Error (argument validation): Invalid options for this command:\n"},
		{[]string{"list_policies", "--nonsense"}, 64, "Error (argument validation): Invalid options for this command:\n"},
		{[]string{"list_policies", "--formatter", "xml"}, 64, "Error (argument validation): Bad argument."},
		{[]string{"list_policies", "-t", "0"}, 64, "Error (argument validation): Bad argument."},
		{[]string{"list_policies", "--url", "127.0.0.1"}, 64, "Error:\nthe address of the HTTP API is not of the form http://user:password@host:port\n"},
		{[]string{"set_polic"}, 64, "\nCommand 'set_polic' not found. \n"},
		{[]string{"-q"}, 64, "No command given: candlemark help lists all\n"},
		{nil, 64, "No command given: candlemark serve runs the broker, candlemark help lists all commands\n"},
		{[]string{"set_policy", "p", "q", "{x"}, 69, "Error:\nCould not parse JSON document: {invalid_byte,120}\n"},
		{[]string{"set_policy", "p", "q", "{"}, 69, "Error:\nCould not parse JSON document: unexpected_end\n"},
		{[]string{"set_policy", "p", "q", `{"message-ttl":"x"}`}, 69, "Error:\nValidation failed\n\n<<\"x\">> is not a valid message TTL\n\n"},
		{[]string{"set_policy", "p", "(", ttl}, 69, "Error:\nValidation failed\n\npattern should be regular expression but is invalid: {\"missing )\",1}\n\n"},
		{[]string{"set_policy", "p", "q", "[]"}, 69, "Error:\nValidation failed\n"},
		{[]string{"set_operator_policy", "p", "q", `{"dead-letter-exchange":"x"}`}, 69, "Error:\nValidation failed\n"},
		{[]string{"clear_policy", "p"}, 69, "Error:\nParameter does not exist\n"},
		{[]string{"clear_operator_policy", "p", "-p", "nov"}, 69, "Error:\nParameter does not exist\n"},
		{[]string{"set_policy", "-p", "nov", "p", "q", ttl}, 65, "Virtual host 'nov' does not exist\n"},
		{[]string{"list_policies", "-p", "nov"}, 65, "Virtual host 'nov' does not exist\n"},
		{
			[]string{"list_policies", "--url", strings.Replace(url, "//", "//guest:wrong@", 1)},
			69,
			"Error:\nAccess refused by " + url + ": Not_Authorized\n",
		},
	} {
		_, stderr, code := candlemark(url, test.args...)
		if code != test.code || !strings.HasPrefix(stderr, test.stderr) {
			t.Errorf("%s: exit %d, want %d\n got %q\nwant %q", test.args, code, test.code, stderr, test.stderr)
		}
	}
}

func TestNoBroker(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	url := s.URL
	s.Close()
	_, stderr, code := candlemark(url, "list_policies")
	if code != 69 || !strings.HasPrefix(stderr, "Error: no broker answers at "+url+". Is it running? ") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

// A missing object is not a missing virtual host.
func TestMissingObject(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/vhosts/here" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte("{}"))
	}))
	defer s.Close()
	for vhost, want := range map[string]string{"here": "Error:\nNot found: nobody\n", "elsewhere": "Virtual host 'elsewhere' does not exist\n"} {
		if _, stderr, code := candlemark(s.URL, "delete_access_key", "nobody", "-p", vhost); code != 65 || stderr != want {
			t.Errorf("exit %d, %q", code, stderr)
		}
	}
}

// An address of another protocol gets an error that says so.
func TestOtherProtocol(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			_, _ = c.Read(make([]byte, 4096)) // as a broker does: it speaks second
			_, _ = c.Write([]byte("AMQP\x00\x00\x09\x01"))
			_ = c.Close()
		}
	}()
	if _, stderr, code := candlemark("http://"+l.Addr().String(), "list_policies"); code != 69 || !strings.HasSuffix(stderr, " is not the broker's HTTP API, whose port is 15672 by default. --url names another address\n") {
		t.Errorf("exit %d, %q", code, stderr)
	}
	_ = l.Close()
	<-done
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	if _, stderr, code := candlemark(strings.Replace(s.URL, "http:", "https:", 1), "list_policies"); code != 69 || !strings.HasSuffix(stderr, " does not use TLS: its address begins with http://\n") {
		t.Errorf("exit %d, %q", code, stderr)
	}
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	for url, want := range map[string]string{
		secure.URL: " is not trusted: x509: certificate signed by unknown authority. SSL_CERT_FILE names a file with its CA certificate\n",
		strings.Replace(secure.URL, "https:", "http:", 1): " uses TLS: its address begins with https://\n",
	} {
		if _, stderr, code := candlemark(url, "list_policies"); code != 69 || !strings.HasSuffix(stderr, want) {
			t.Errorf("exit %d, %q", code, stderr)
		}
	}
}

// An HTTP server that is not a broker causes an error message, not a crash.
func TestStrangeAnswers(t *testing.T) {
	for _, test := range []struct {
		status int
		body   string
		stderr string
	}{
		{200, "<html>", "Error: unable to perform an operation on the broker at "},
		{502, "<html>", "Error:\nBad Gateway\n"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(test.status)
			_, _ = w.Write([]byte(test.body))
		}))
		if _, stderr, code := candlemark(s.URL, "list_policies"); code != 69 || !strings.HasPrefix(stderr, test.stderr) {
			t.Errorf("%d %s: exit %d, %q", test.status, test.body, code, stderr)
		}
		s.Close()
	}
}

func TestSlowBroker(t *testing.T) {
	done := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	defer s.Close()
	defer close(done)
	if _, stderr, code := candlemark(s.URL, "list_policies", "-t", "1"); code != 75 || !strings.HasSuffix(stderr, "did not answer in time\n") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"--help"}, {"-h"}} {
		stdout, _, code := candlemark("", args...)
		if code != 0 || !strings.HasPrefix(stdout, "Usage\n") || !strings.Contains(stdout, "\n  list_operator_policies ") {
			t.Errorf("%s: exit %d, %q", args, code, stdout)
		}
	}
	for _, args := range [][]string{{"help", "set_policy"}, {"set_policy", "-h"}, {"--help", "set_policy"}, {"set_policy", "a", "--help"}} {
		stdout, _, code := candlemark("", args...)
		if code != 0 || !strings.HasPrefix(stdout, "Usage\n\ncandlemark set_policy [-p <vhost>]") ||
			!strings.Contains(stdout, "\nSets or replaces a policy.\n") || !strings.Contains(stdout, "\n-p, --vhost <name>      name of the virtual host, default /\n--priority <number>     the policy with") {
			t.Errorf("%s: exit %d, %q", args, code, stdout)
		}
	}
	for _, args := range [][]string{{"help", "lst_queues"}, {"lst_queues", "name"}} {
		if _, stderr, code := candlemark("", args...); code != 64 || stderr != "\nCommand 'lst_queues' not found. \nDid you mean 'list_queues'? \n" {
			t.Errorf("%s: exit %d, %q", args, code, stderr)
		}
	}
	for _, arg := range []string{"version", "--version"} {
		if stdout, _, code := candlemark("", arg); code != 0 || stdout != version+"\n" {
			t.Errorf("%s: exit %d, %q", arg, code, stdout)
		}
	}
}

func (*fake) ClusterState() management.ClusterState { return management.ClusterState{} }
