package rabbitmqadmin

import (
	"bytes"
	"encoding/pem"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"candlemark/integration/testkit/sandbox"
)

func TestMain(m *testing.M) { os.Exit(sandbox.Of(m).Run()) }

// run runs a command line in an environment.
func run(env map[string]string, args ...string) (stdout, stderr string, code int) {
	var out, complaints bytes.Buffer
	p := Program{Version: "1", Getenv: func(name string) string { return env[name] }, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &complaints}
	code = p.Run(args)
	return out.String(), complaints.String(), code
}

func TestParse(t *testing.T) {
	given, rest, err := parse([]string{"list", "-qk", "-P80", "-H", "h", "--vhost=a=b", "queues", "--format", "tsv", "--", "-x"})
	want := settings{"quiet": "True", "ssl_insecure": "True", "port": "80", "hostname": "h", "vhost": "a=b", "format": "tsv"}
	if err != nil || !maps.Equal(given, want) || strings.Join(rest, " ") != "list queues -x" {
		t.Errorf("%v %q %v", given, rest, err)
	}
	for _, args := range [][]string{{"-x"}, {"--nonsense"}, {"-P"}, {"--port"}, {"--quiet=yes"}, {"-qx"}} {
		if _, _, err := parse(args); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}

// A flag overrides the file, the file the environment, and a URL all of them.
func TestWhereItConnects(t *testing.T) {
	file := filepath.Join(t.TempDir(), "conf")
	const content = "# comment\n[default]\nhostname = one\n\n[far]\nHostname: two\nport=81\nusername = ops\nverbose = False\nssl = True\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"RABBITMQ_DEFAULT_USER": "app", "RABBITMQ_DEFAULT_PASS": "pw"}
	for line, want := range map[string]string{
		"":                                   "127.0.0.1 15672 app pw  ",
		"-c FILE":                            "one 15672 guest guest  ",
		"-H localhost -P 80":                 "localhost 80 app pw  ",
		"-H ::1":                             "::1 15672 app pw  ",
		"-c FILE -N far":                     "two 81 ops guest True True",
		"-c FILE -N far -H three":            "three 81 ops guest True True",
		"-U http://u:p@four:82/ -H three":    "four 82 u p  ",
		"--base-uri https://four/path -uroo": "four 15672 roo guest True ",
	} {
		s, _, err := parse(strings.Fields(strings.ReplaceAll(line, "FILE", file)))
		if err != nil {
			t.Fatal(err)
		}
		warning, err := s.complete(func(name string) string { return env[name] })
		got := strings.Join([]string{s["hostname"], s["port"], s["username"], s["password"], s["ssl"], s["quiet"]}, " ")
		if err != nil || got != want || (warning != "") != strings.Contains(line, "/path") {
			t.Errorf("%s: %q, not %q; %v, %s", line, got, want, err, warning)
		}
	}
	for _, line := range []string{"-c /none list queues", "-N none -c " + file + " list queues", "-U nonsense list queues", "-t soon list queues", "-f odd list queues", "", "help me"} {
		if _, stderr, code := run(nil, strings.Fields(line)...); code != 1 || !strings.Contains(stderr, "ERROR: ") {
			t.Errorf("%s: exit %d, %q", line, code, stderr)
		}
	}
}

// api answers known paths, for guest only.
func api(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	answers := map[string]string{
		"/under/api/queues": `[{"b":{"x":1,"y":{"z":2}},"a":["1","2"],"name":"q","type":null,"n":1.50,"l":[1,"é\u003c"],"t":true}]`,
		"/under/api/nodes":  `[]`, "/under/api/users": `nonsense`,
		"/under/api/parameters": `[{"name":"p","value":{"k":"é😀\n","j":[1,{"i":null}]}}]`,
	}
	switch answer, known := answers[r.URL.Path]; {
	case user != "guest" || password != "guest":
		w.WriteHeader(http.StatusUnauthorized)
	case !known:
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("short and stout"))
	default:
		_, _ = w.Write([]byte(answer))
	}
}

func TestForms(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(api))
	defer s.Close()
	dashes := strings.Repeat("-", 80)
	for line, want := range map[string]string{
		"-f raw_json list nodes":          "[]\n",
		"-f pretty_json list nodes":       "[]\n",
		"list nodes":                      "No items\n",
		"-q list nodes":                   "",
		"-f tsv list queues b.y.z name t": "b.y.z\tname\tt\n2\tq\tTrue\n",
		"-f tsv -d 2 -q list queues":      "q\t\t1 2\t1\t[1, \"\\u00e9<\"]\t1.50\tTrue\n",
		"-f kvp list queues name n":       "name=\"q\" n=\"1.50\"\n",
		"-f bash list queues name":        "q\n",
		"-f bash list queues n":           "",
		"-f long list queues name type":   "\n" + dashes + "\n\nname: q\ntype: \n\n" + dashes + "\n\n",
		"-f tsv -q list parameters":       "p\t{\"k\": \"\\u00e9\\ud83d\\ude00\\n\", \"j\": [1, {\"i\": null}]}\n",
		"-f table list queues name b.x":   "+------+-----+\n| name | b.x |\n+------+-----+\n| q    | 1   |\n+------+-----+\n",
	} {
		stdout, stderr, code := run(nil, append([]string{"-U", s.URL, "--path-prefix", "/under"}, strings.Fields(line)...)...)
		if stdout != want || stderr != "" || code != 0 {
			t.Errorf("%s: exit %d, %s\n got %q\nwant %q", line, code, stderr, stdout, want)
		}
	}
	for line, want := range map[string]string{
		"list users":                        "*** unexpected answer: ",
		"list vhosts":                       "*** Received response 418 I'm a teapot for path /under/api/vhosts?columns=name,messages\nshort and stout",
		"-p wrong list user":                "\nERROR: Don't know how to list user\n",
		"-p wrong -S name -R list policies": "*** Access refused: /under/api/policies?sort=name&sort_reverse=true\n",
		"import /none":                      "*** open /none: ",
		"import":                            "\nERROR: Exactly one argument required\n",
		"list":                              "\nERROR: Type not specified\n",
		"queues list":                       "\nERROR: Action queues not understood; did you mean 'list queues'?\n",
	} {
		if _, stderr, code := run(nil, append([]string{"-U", s.URL, "--path-prefix", "/under"}, strings.Fields(line)...)...); code != 1 || !strings.HasPrefix(stderr, want) {
			t.Errorf("%s: exit %d, %q", line, code, stderr)
		}
	}
	s.Close()
	if _, stderr, code := run(nil, "-U", s.URL, "list", "queues"); code != 1 || !strings.HasPrefix(stderr, "*** Could not connect: ") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

// A certificate is trusted only if it is signed by the given CA and valid for the given host, unless options disable these checks.
func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(api))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // discards messages about refused handshakes
	s.StartTLS()
	defer s.Close()
	own := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(own, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	if s.Certificate().VerifyHostname("localhost") == nil {
		t.Fatal("the certificate is for localhost")
	}
	for line, want := range map[string]int{
		"-H 127.0.0.1": 1, "-H 127.0.0.1 -k": 0, "-H 127.0.0.1 --ssl-ca-cert-file CA": 0,
		"-H localhost --ssl-ca-cert-file CA": 1, "-H localhost --ssl-ca-cert-file CA --ssl-disable-hostname-verification": 0,
		"-H localhost --ssl-disable-hostname-verification": 1, "-H localhost --ssl-ca-cert-file /none": 1,
		"-H localhost -k --ssl-key-file /none --ssl-cert-file /none": 1,
	} {
		line = strings.ReplaceAll(line, "CA", own) + " -s --path-prefix /under -P " + u.Port() + " list nodes"
		if _, stderr, code := run(nil, strings.Fields(line)...); code != want {
			t.Errorf("%s: exit %d, %s", line, code, stderr)
		}
	}
}

func TestHelp(t *testing.T) {
	for line, want := range map[string]string{
		"--help": "--ssl-insecure, -k ", "help": "rabbitmqadmin help config", "help config": "[default]",
		"help subcommands": "  declare user name=... password=... OR password_hash=... tags=... [hashing_algorithm=...]\n", "--version": "rabbitmqadmin 1\n",
	} {
		if stdout, _, code := run(nil, strings.Fields(line)...); code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit %d, %s", line, code, stdout)
		}
	}
}

// Bash takes the script and completes with it.
func TestCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	script, _, _ := run(nil, "--bash-completion")
	script += "COMP_WORDS=(rabbitmqadmin declare vh); COMP_CWORD=2; _rabbitmqadmin; echo ${COMPREPLY[*]}\n" +
		"COMP_WORDS=(rabbitmqadmin pu); COMP_CWORD=1; _rabbitmqadmin; echo ${COMPREPLY[*]}\n"
	cmd := exec.Command(bash, "--norc", "--noprofile")
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "vhost vhost_limit\npurge publish\n" {
		t.Errorf("%v, %q", err, out)
	}
}
