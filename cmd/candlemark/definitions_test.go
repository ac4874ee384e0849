package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"candlemark/internal/admin/commandline"

	"github.com/rs/zerolog"
)

const definitionsOfOps = `{
	"users": [{"name":"ops","password":"s3cret","tags":"administrator"},{"name":"old","password_hash":"hJg8YBS12CmaI+GgPABo8vj/9w4=","hashing_algorithm":"rabbit_password_hashing_md5","tags":""}],
	"vhosts": [{"name":"prod"}], "permissions": [{"user":"ops","vhost":"prod","configure":".*","write":".*","read":".*"}],
	"queues": [{"name":"orders","vhost":"prod","durable":true,"arguments":{"x-queue-mode":"lazy"}}]
}`

// definitionsFile writes a definitions file and returns its path.
func definitionsFile(t *testing.T, text string) string {
	file := filepath.Join(t.TempDir(), "definitions.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A new broker that loads definitions has only their users. If loading fails, the broker does not start and keeps no
// users: its next start is a new broker's.
func TestLoadDefinitions(t *testing.T) {
	cfg := demoConfig(t.TempDir())
	for file, want := range map[string]string{
		filepath.Join(t.TempDir(), "nowhere.json"):                     "load-definitions: open ",
		definitionsFile(t, `{"queues":[`):                              "failed_to_parse_json",
		definitionsFile(t, `{"queues":[{"name":"q","vhost":"nope"}]}`): "Please create virtual host \"nope\"",
	} {
		cfg.LoadDefinitions = file
		if b, err := startBroker(cfg, zerolog.Nop()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
			if err == nil {
				_ = b.stop()
			}
		}
	}
	// The next start without definitions creates guest.
	cfg.LoadDefinitions = ""
	started(t, cfg.DataDir, "", func(url string) {
		expect(t, "http://guest:guest@"+url, 0, "/\n", "list_vhosts", "-s", "--no-table-headers")
	})

	cfg = demoConfig(t.TempDir())
	var log bytes.Buffer
	cfg.LoadDefinitions = definitionsFile(t, definitionsOfOps)
	for range 2 { // definitions are loaded at every start
		b, err := startBroker(cfg, zerolog.New(&log))
		if err != nil {
			t.Fatal(err)
		}
		url := "http://ops:s3cret@" + b.HTTP.String()
		expect(t, url, 0, "old\t[]\nops\t[administrator]\n", "list_users", "-s", "--no-table-headers")
		expect(t, url, 0, "orders\n", "list_queues", "-s", "--no-table-headers", "-p", "prod", "name")
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	}
	for _, want := range []string{"hashed with MD5", "x-queue-mode has no effect", `"items":5`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %q in %s", want, log.String())
		}
	}
}

// started runs a broker while it calls during.
func started(t *testing.T, dir, definitions string, during func(address string)) {
	t.Helper()
	cfg := demoConfig(dir)
	cfg.LoadDefinitions = definitions
	b, err := startBroker(cfg, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	during(b.HTTP.String())
	if err := b.stop(); err != nil {
		t.Error(err)
	}
}

func expect(t *testing.T, url string, code int, out string, args ...string) {
	t.Helper()
	if stdout, stderr, got := candlemark(url, args...); got != code || out != "-" && stdout != out {
		t.Errorf("%s: %d\n%s\n%s\nwant %d\n%s", strings.Join(args, " "), got, stdout, stderr, code, out)
	}
}

// Definitions exported from one broker by the command line can be imported into another.
func TestDefinitionVerbs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.json")
	var exported string
	started(t, t.TempDir(), definitionsFile(t, definitionsOfOps), func(address string) {
		url := "http://ops:s3cret@" + address
		expect(t, url, 0, "Exporting definitions in JSON to a file at \""+file+"\" ...\n", "export_definitions", file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		exported = string(text)
		expect(t, url, 0, exported, "export_definitions")
		expect(t, url, 0, exported, "export_definitions", "-")
		expect(t, url, commandline.ExitUnavailable, "-", "export_definitions", "-", "-p", "nope")
		expect(t, url, commandline.ExitSoftware, "-", "export_definitions", filepath.Join(file, "below"))
	})
	started(t, t.TempDir(), "", func(address string) {
		url := "http://guest:guest@" + address
		const notes = "risky\tusers\t\told\tthe password is hashed with MD5, which is weak: set the password again\n" +
			"approximated\tqueues\tprod\torders\tx-queue-mode has no effect: every queue pages its messages to the disk by itself\n"
		const counts = "taken 3, approximated 1, risky 1, ignored 0, refused 0\n"
		title := "Importing definitions in JSON from a file at \"" + file + "\" ...\n"
		expect(t, url, 0, title+notes+counts, "import_definitions", file, "--dry-run")
		expect(t, url, 0, "/\n", "list_vhosts", "-s", "--no-table-headers")
		expect(t, url, 0, title+notes+counts, "import_definitions", file)
		expect(t, url, 0, "-", "import_definitions", file, "--formatter", "json")

		bad := definitionsFile(t, `{"queues":[{"name":"a","durable":true},{"name":"b","arguments":{"x-expires":0}}],"news":[]}`)
		const wrong = "refused\tqueues\tprod\tb\tinvalid arg 'x-expires' for queue 'b' in vhost 'prod': {value_zero,0}\n" +
			"warning\tunknown section \"news\" is ignored\ntaken 1, approximated 0, risky 0, ignored 0, refused 1\n"
		expect(t, url, commandline.ExitData, wrong, "-q", "import_definitions", bad, "-p", "prod", "--strict")
		expect(t, "http://ops:s3cret@"+address, 0, "orders\n", "list_queues", "-s", "--no-table-headers", "-p", "prod", "name")
		expect(t, url, commandline.ExitData, wrong, "-q", "import_definitions", bad, "-p", "prod")
		expect(t, "http://ops:s3cret@"+address, 0, "a\norders\n", "list_queues", "-s", "--no-table-headers", "-p", "prod", "name")
		expect(t, url, commandline.ExitData, "-", "import_definitions", definitionsFile(t, "{"))
		expect(t, url, commandline.ExitData, "-", "import_definitions", filepath.Join(file, "below"))
	})
}
