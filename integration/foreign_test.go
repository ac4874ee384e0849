package integration

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// python is the interpreter for which Debian installs clients, as are ruby and php below.
const python = "/usr/bin/python3"

// foreign is a third-party client, with scripts that use its main functions. They get the port of a broker and fail if anything
// is wrong.
type foreign struct {
	name    string
	where   string   // the package that contains it
	probe   []string // fails if it is not installed
	run     []string
	scripts []string
	env     []string // in addition to the environment of the test
}

const npm = "integration/testdata/node/package.json lists it: npm install it anywhere and have NODE_PATH name node_modules"

var foreigners = []foreign{
	{
		name: "pika", where: "Debian's python3-pika",
		probe: []string{python, "-c", "import pika"},
		run:   []string{python, "-B"}, scripts: []string{"pika/basics.py", "pika/deadlines.py", "pika/topology.py"},
	}, {
		name: "celery", where: "Debian's celery",
		probe: []string{python, "-c", "import celery"},
		run:   []string{python, "-B"}, scripts: []string{"celery/run.py"},
	}, {
		name: "amqplib", where: npm,
		probe: []string{"node", "-e", "require('amqplib')"},
		run:   []string{"node"}, scripts: []string{"node/amqplib.js"},
	}, {
		name: "rhea", where: npm,
		probe: []string{"node", "-e", "require('rhea')"},
		run:   []string{"node"}, scripts: []string{"node/rhea.js"},
	}, {
		name: "proton", where: "Debian's python3-qpid-proton",
		probe: []string{python, "-c", "import proton"},
		run:   []string{python, "-B"}, scripts: []string{"proton/basics.py", "proton/transactions.py"},
	}, {
		name: "nest", where: npm,
		probe: []string{"node", "-e", "require('@nestjs/microservices'); require('amqp-connection-manager')"},
		run:   []string{"node"}, scripts: []string{"nest/rpc.js"},
	}, {
		name: "bunny", where: "Debian's ruby-bunny",
		probe: []string{"/usr/bin/ruby", "-e", "require 'bunny'"},
		run:   []string{"/usr/bin/ruby"}, scripts: []string{"ruby/bunny.rb"},
	}, {
		name: "php-amqp", where: "Debian's php-amqp, with php-cli",
		probe: []string{"/usr/bin/php", "-r", "new AMQPConnection();"},
		run:   []string{"/usr/bin/php"}, scripts: []string{"php/basics.php"},
	},
}

func TestForeignClients(t *testing.T) {
	t.Parallel()
	for _, f := range foreigners {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			f.want(t)
			b := start(t)
			_, port, err := net.SplitHostPort(b.amqp)
			if err != nil {
				t.Fatal(err)
			}
			for _, script := range f.scripts {
				t.Run(path.Base(script), func(t *testing.T) {
					t.Parallel()
					f.do(t, script, port)
				})
			}
		})
	}
}

// want skips or fails the test if the client is not installed.
func (f *foreign) want(t *testing.T) {
	t.Helper()
	probe, _ := probes.LoadOrStore(strings.Join(f.probe, " "), sync.OnceValue(func() error {
		out, err := exec.Command(f.probe[0], f.probe[1:]...).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w %s", err, out)
		}
		return err
	}))
	if err := probe.(func() error)(); err != nil {
		missing := t.Skipf
		if os.Getenv("CANDLEMARK_REQUIRE_CLIENTS") == "1" {
			missing = t.Fatalf
		}
		missing("no %s (%s): %v", f.name, f.where, err)
	}
}

// probes caches the results of probes by command line: many tests need the same client, and starting one is slow.
var probes sync.Map // of func() error

// do runs a script. The test does not wait for processes that the script leaves running.
func (f *foreign) do(t *testing.T, script string, given ...string) {
	t.Helper()
	args := append(append(slices.Clone(f.run[1:]), "testdata/"+script), given...)
	cmd := exec.CommandContext(t.Context(), f.run[0], args...)
	cmd.Env = append(os.Environ(), f.env...)
	cmd.WaitDelay = 5 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
}
