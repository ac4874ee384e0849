package integration

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"candlemark/integration/testkit/sandbox"
)

// notRun are the blocks, and the commands of blocks, that do not run, by page and by how they begin, with the reason.
var notRun = map[string]map[string]string{
	"ARCHITECTURE.md": {"broker  ": "a diagram", "reader → ": "a diagram"},
	"BENCHMARKS.md":   {"candlemark-bench table ": "takes minutes"},
	"three-nodes.md": {
		"candlemark serve --cluster-try": "TestClusterTry runs it", "CANDLEMARK_CLUSTER_SECRET=": "addresses of other machines", "candlemark drain": "needs a cluster; TestThroughFollower_Operation runs it", "candlemark serve --data-dir": "addresses of other machines",
		"candlemark forget_cluster_node": "needs a cluster; TestClusterMembers and TestClusterForced run it", "cluster_formation.": "a file; TestClusterDNS has these lines",
	},
	"CONTRIBUTING.md": {"go tool ": "developers run it all day", "actors/queue: ": "a commit message", "The reason, ": "likewise"},
	"README.md": {
		"publish ──": "a diagram", "git clone": "the address is the reader's",
		"go run ./cmd/candlemark demo": "has a test of its own", "go run ./cmd/candlemark serve --cluster-try": "TestClusterTry runs it", "package main": "TestReadme runs it", "go install": "writes to the reader's folder of programs", "go test": "takes minutes",
	},
	"age.md": {"max by (queue)": "a query of Prometheus", "apiVersion: keda": "a manifest for Kubernetes"},
	"audit-and-events.md": {
		"INF on record": "a line of a log", "curl -Nu": "does not end", "event: queue": "an answer",
	},
	"bench.md": {
		"candlemark-bench ": "another program, for seconds or minutes; its own tests run each profile",
	},
	"command-line.md":         {"rabbitmqadmin ": "a program of RabbitMQ, in a test of its own"},
	"clients-and-failover.md": {"var factory = ": "there is no .NET here, as the page says"},
	"configuration.md": {
		"/etc/candlemark/candlemark.conf:3": "errors", "kill -HUP": "another program may have that name", "docker run": "needs a container",
	},
	"durability.md": {
		"candlemark journal adopt": "refuses unless messages of undefined queues are there", "candlemark journal drop": "likewise",
	},
	"deploy/README.md": {
		"CGO_ENABLED=0 go build": "builds take minutes; .ci/weekly runs .ci/deploy, which builds as the Dockerfile does",
		"docker ":                "needs Docker", "kubectl ": "needs Kubernetes", "useradd ": "changes the machine", "systemctl ": "needs systemd as the first process",
	},
	"direct-reply-to.md": {`{"error":`: "the body of an answer"},
	"delayed-retries.md": {"await receiver": "a line of a program; testdata/node/servicebus.js has it"},
	"expirations.md":     {"candlemark_messages_due": "a query of Prometheus"},
	"http-api.md":        {"proxy_pass": "settings of nginx"},
	"metrics.md":         {"scrape_configs": "settings of Prometheus", "# or on the API's": "likewise", "histogram_quantile": "a query of Prometheus"},
	"moves.md":           {`{"id": "1"`: "an answer"},
	"peek-and-locks.md":  {`{"messages": `: "an answer", `{"deliveries": `: "an answer"},
	"security.md":        {"go test": "takes minutes"},
	"testing.md":         {"candlemark serve": "the programs of the page start it"},
	"web-pages.md":       {"http://": "an address for a browser"},
}

// foldersOf are folders of the machine to which commands of pages write.
var foldersOf = map[string][]string{"deploy/README.md": {"usr/bin", "etc/systemd/system"}}

// saved are blocks that are files: they are in the folder before the first command runs.
var saved = map[string]map[string]string{
	"clients-and-failover.md": {"package main": "main.go", "import os": "orders.py", "import amqp": "orders.mjs", "import com.": "Orders.java"}, // TestClientsAndFailover runs them
	"configuration.md":        {"# taken unchanged": "new.conf"},
	"servicebus.md":           {"{\n  \"UserConfig\"": "Config.json"},
	"testing.md":              {"import base64": "test_orders.py", "import { spawn }": "orders.test.mjs"},
}

// flagsOf are flags of the brokers of pages.
var flagsOf = map[string][]string{"testing.md": {"--test-clock"}}

// Each command and program of the README and of a docs page runs, in the order of the page, in an empty folder against a new broker.
func TestDocs(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	pages = append(pages, "../README.md", "../docs/deploy/README.md")
	known := map[string]bool{}
	for _, file := range pages {
		name := strings.TrimPrefix(strings.TrimPrefix(file, "../"), "docs/")
		known[name] = true
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		blocks := codeBlocks(string(text))
		if len(blocks) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newPageRun(t, name).all(blocks)
		})
	}
	for name := range notRun {
		if !known[name] {
			t.Errorf("notRun has %s, which does not exist", name)
		}
	}
}

// codeBlock is an indented or fenced block of a page.
type codeBlock struct {
	line int // of its first line, from 1
	text string
}

var item = regexp.MustCompile(`^ *([-*]|\d+\.) `)

// codeBlocks returns the blocks of a page. An indented block follows an empty line, and not a list.
func codeBlocks(page string) []codeBlock {
	var all []codeBlock
	fenced, list, empty, open := false, false, true, false
	for i, line := range strings.Split(page, "\n") {
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			fenced, open = !fenced, false
			if fenced {
				all, open = append(all, codeBlock{line: i + 2}), true
			}
			continue
		case fenced:
			code = line
		case line == "":
			empty = true
			if open {
				all[len(all)-1].text += "\n"
			}
			continue
		case !indented || list:
			list = item.MatchString(line) || list && strings.HasPrefix(line, " ")
			empty, open = false, false
			continue
		case !open && empty:
			all, open = append(all, codeBlock{line: i + 1}), true
		}
		empty = false
		if open {
			all[len(all)-1].text += code + "\n"
		}
	}
	return all
}

// pageRun runs the blocks of one page.
type pageRun struct {
	*testing.T
	dir     string            // the folder in which commands run
	root    string            // of the repository
	broker  *broker           // nil before the first command
	unused  map[string]string // rows of notRun that have not matched yet
	exports string            // assignments of variables so far
	python  *pythonRun        // nil before the first Python block
}

func newPageRun(t *testing.T, name string) *pageRun {
	(&foreign{name: "curl", where: "Debian's curl", probe: []string{"curl", "--version"}}).want(t)
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	p := &pageRun{T: t, dir: t.TempDir(), root: root, unused: map[string]string{}}
	for begin, reason := range notRun[name] {
		p.unused[begin] = reason
	}
	for _, folder := range foldersOf[name] {
		if err := os.MkdirAll(filepath.Join(p.dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range []string{"candlemark", "rabbitmqctl", "rabbitmq-plugins"} {
		if err := os.Symlink(path, filepath.Join(p.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	curl := "#!/bin/sh\nexec /usr/bin/curl --silent --show-error --fail \"$@\"\n" // a refusal fails
	if err := os.WriteFile(filepath.Join(p.dir, "curl"), []byte(curl), 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

// skip reports whether notRun has a block or command.
func (p *pageRun) skip(name, text string) bool {
	for begin := range notRun[name] {
		if strings.HasPrefix(text, begin) {
			delete(p.unused, begin)
			return true
		}
	}
	return false
}

var (
	shellLine    = regexp.MustCompile(`^(candlemark|rabbitmq[a-z-]*|curl|printf|echo|for|openssl|install|source|export|mkdir|python3 -m|node --test|[a-z]+=\$\(\w+|[A-Z_]+=\S+) `)
	pythonLine   = regexp.MustCompile(`^(import \w+(, \w+)*$|from \S+ import|ch\.|[\w, ]+ = ch\.)`)
	adminLine    = regexp.MustCompile(`^([a-z_]+\.[a-z_]+) +(\{.*)`)
	variableLine = regexp.MustCompile(`^([a-z]+)=\$\(`)
	serveLine    = regexp.MustCompile(`^((?:[A-Z_]+=\S+ )*)candlemark serve ?(.*)$`)
	comment      = regexp.MustCompile(`  +(#|//) .*`)
	someAddress  = regexp.MustCompile(`(127\.0\.0\.1|0\.0\.0\.0):\d+`)
)

func (p *pageRun) all(blocks []codeBlock) {
	page := strings.TrimPrefix(p.Name(), "TestDocs/")
	p.save(page, blocks)
	for _, b := range blocks {
		switch {
		case p.isFile(page, b.text) != "":
		case strings.HasPrefix(b.text, "package main"):
			if !p.skip(page, b.text) {
				p.goProgram(b)
			}
		case strings.HasPrefix(b.text, "package "):
			p.goTest(b)
		case strings.HasPrefix(b.text, "import com."):
			p.java(b)
		case strings.HasPrefix(b.text, "import {"):
			p.node(b)
		case pythonLine.MatchString(firstLine(b.text)):
			p.runPython(b)
		default:
			for part := range strings.SplitSeq(b.text, "\n\n") {
				if p.skip(page, part) {
					continue
				}
				for _, command := range commands(part) {
					if !p.skip(page, command) {
						p.command(b.line, command)
					}
				}
			}
		}
		if p.Failed() {
			return
		}
	}
	for begin, reason := range p.unused {
		p.Errorf("notRun has %q (%s), which the page does not contain", begin, reason)
	}
}

// isFile returns the name of the file that a block is, "" for others.
func (p *pageRun) isFile(page, text string) string {
	for begin, name := range saved[page] {
		if strings.HasPrefix(text, begin) {
			return name
		}
	}
	return ""
}

// save writes the blocks that are files.
func (p *pageRun) save(page string, blocks []codeBlock) {
	count := 0
	for _, b := range blocks {
		if name := p.isFile(page, b.text); name != "" {
			count++
			if err := os.WriteFile(filepath.Join(p.dir, name), []byte(b.text), 0o600); err != nil {
				p.Fatal(err)
			}
			if filepath.Ext(name) == ".mjs" {
				p.packages()
			}
		}
	}
	if count != len(saved[page]) {
		p.Errorf("%d blocks are files, not %d", count, len(saved[page]))
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// commands returns the commands of a block without their comments. A command continues after a backslash and inside quotes.
func commands(block string) []string {
	var all []string
	text := ""
	for line := range strings.Lines(block) {
		text += comment.ReplaceAllString(strings.TrimSuffix(line, "\n"), "")
		if strings.HasSuffix(text, `\`) || strings.Count(text, "'")%2 == 1 {
			text += "\n"
			continue
		}
		if strings.TrimSpace(text) != "" && !strings.HasPrefix(text, "#") {
			all = append(all, text)
		}
		text = ""
	}
	if text != "" {
		all = append(all, text)
	}
	return all
}

// here replaces the addresses and folders of a page by those of the test. The first call starts the broker.
func (p *pageRun) here(text string) string {
	p.Helper()
	if p.broker == nil {
		p.broker = startIn(p.T, filepath.Join(p.dir, "data"), flagsOf[strings.TrimPrefix(p.Name(), "TestDocs/")]...)
	}
	return strings.NewReplacer(
		"127.0.0.1:15672", p.broker.http, "127.0.0.1:5672", p.broker.amqp,
		"127.0.0.1:15671", p.broker.log.address("HTTP listener with TLS started"),
		"/var/lib/candlemark", filepath.Join(p.dir, "data"), "/var/backups", filepath.Join(p.dir, "backups"),
		"/etc/candlemark", filepath.Join(p.dir, "etc"), "/etc/systemd", filepath.Join(p.dir, "etc/systemd"),
		" /usr/bin/", " "+filepath.Join(p.dir, "usr/bin")+"/", " docs/deploy/", " "+p.root+"/docs/deploy/",
	).Replace(text)
}

// command runs one command. A command that runs a broker replaces the page's broker, over the same data.
func (p *pageRun) command(line int, command string) {
	p.Helper()
	if m := serveLine.FindStringSubmatch(command); m != nil {
		flags := strings.Fields(p.here(someAddress.ReplaceAllString(m[2], "127.0.0.1:0")))
		p.broker.stop()
		p.broker = startWith(p.T, "cd '"+p.dir+"' && "+m[1], filepath.Join(p.dir, "data"), flags...)
		return
	}
	if m := adminLine.FindStringSubmatch(command); m != nil {
		p.admin(line, m[1], m[2])
		return
	}
	if !shellLine.MatchString(command) {
		p.Errorf("line %d is neither a command nor in notRun: %s", line, command)
		return
	}
	command = p.here(command)
	if strings.HasPrefix(command, "export ") {
		p.exports += command + "\n"
		return
	}
	variable := variableLine.FindStringSubmatch(command)
	if variable != nil {
		command += `; printf %s "$` + variable[1] + `"`
	}
	cmd := exec.CommandContext(p.Context(), "bash", "-ec", p.exports+command)
	cmd.Dir = p.dir
	cmd.Env = append(cmd.Environ(), "PATH="+p.dir+":"+os.Getenv("PATH"), "CANDLEMARK_HTTP_URL=http://"+p.broker.http)
	out, err := cmd.CombinedOutput()
	if err != nil || variable != nil && len(out) == 0 {
		p.Errorf("block at line %d: %s: %v\n%s", line, command, err, out)
	}
	if variable != nil {
		p.exports += variable[1] + "='" + string(out) + "'\n"
	}
	if command == "candlemark stop" {
		p.broker.ended()
	}
}

// admin sends a command over AMQP, which must succeed.
func (p *pageRun) admin(line int, key, rest string) {
	p.Helper()
	var body json.RawMessage
	if err := json.NewDecoder(strings.NewReader(rest)).Decode(&body); err != nil {
		p.Errorf("block at line %d: %s: %v", line, rest, err)
		return
	}
	p.runPython(codeBlock{line: line, text: `import json, pika
with pika.BlockingConnection(pika.URLParameters("amqp://127.0.0.1:5672")) as connection:
    commands = connection.channel()
    answers = commands.consume("amq.rabbitmq.reply-to", auto_ack=True, inactivity_timeout=60)
    next(commands.consume("amq.rabbitmq.reply-to", auto_ack=True, inactivity_timeout=0.001))
    commands.basic_publish("candlemark.admin", ` + strconv.Quote(key) + `, ` + strconv.Quote(string(body)) + `,
                           pika.BasicProperties(reply_to="amq.rabbitmq.reply-to"))
    _, _, answer = next(commands.consume("amq.rabbitmq.reply-to", auto_ack=True, inactivity_timeout=60))
    assert "error" not in json.loads(answer), answer
`})
}

// pythonRun is a Python interpreter that runs the blocks of a page.
type pythonRun struct {
	in  io.Writer
	out *bufio.Reader
}

const pythonDriver = `
import json, sys, traceback
out, sys.stdout, names = sys.stdout, sys.stderr, {}
for line in sys.stdin:
    try:
        exec(json.loads(line), names)
        result = ""
    except BaseException:
        result = traceback.format_exc()
    print(json.dumps(result), file=out, flush=True)
`

// runPython runs a block in the page's interpreter, which keeps variables and connections.
func (p *pageRun) runPython(b codeBlock) {
	p.Helper()
	if line := firstLine(b.text); strings.Contains(line, "import ") {
		(&foreign{name: "library for Python", where: "Debian's python3-pika, python3-qpid-proton, python3-azure", probe: []string{python, "-c", line}}).want(p.T)
	}
	if p.python == nil {
		cmd := exec.CommandContext(p.Context(), python, "-B", "-c", pythonDriver)
		cmd.Dir = p.dir
		in, err := cmd.StdinPipe()
		if err != nil {
			p.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			p.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			p.Fatal(err)
		}
		p.Cleanup(func() {
			_ = in.Close()
			_ = cmd.Wait()
		})
		p.python = &pythonRun{in, bufio.NewReader(out)}
	}
	text, _ := json.Marshal(p.here(b.text)) // a string
	_, _ = p.python.in.Write(append(text, '\n'))
	line, err := p.python.out.ReadBytes('\n')
	var result string
	if err == nil {
		err = json.Unmarshal(line, &result)
	}
	if err != nil || result != "" {
		p.Errorf("block at line %d: %v\n%s", b.line, err, result)
	}
}

// goProgram runs a program in a folder inside the module, for its dependencies.
func (p *pageRun) goProgram(b codeBlock) {
	dir, err := os.MkdirTemp("testdata", "docs-")
	if err != nil {
		p.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, []byte(p.here(b.text)), 0o600); err != nil {
		p.Fatal(err)
	}
	cmd := exec.CommandContext(p.Context(), "go", "run", file)
	cmd.Env = sandbox.Outside()
	if out, err := cmd.CombinedOutput(); err != nil {
		p.Errorf("block at line %d: %v\n%s", b.line, err, out)
	}
}

// packages makes the packages of NODE_PATH those of the page's folder: modules do not read NODE_PATH themselves.
func (p *pageRun) packages() {
	(&foreign{name: "amqplib", where: npm, probe: []string{"node", "-e", "require('amqplib')"}}).want(p.T)
	if err := os.Symlink(os.Getenv("NODE_PATH"), filepath.Join(p.dir, "node_modules")); err != nil {
		p.Fatal(err)
	}
}

// path is the environment for programs that start candlemark.
func (p *pageRun) path() string { return "PATH=" + p.dir + ":" + os.Getenv("PATH") }

// goTest runs a file of tests in a folder inside the module.
func (p *pageRun) goTest(b codeBlock) {
	dir, err := os.MkdirTemp("testdata", "docs-")
	if err != nil {
		p.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "docs_test.go"), []byte(b.text), 0o600); err != nil {
		p.Fatal(err)
	}
	cmd := exec.CommandContext(p.Context(), "go", "test", "./"+dir)
	cmd.Env = append(sandbox.Outside(), p.path())
	if out, err := cmd.CombinedOutput(); err != nil {
		p.Errorf("block at line %d: %v\n%s", b.line, err, out)
	}
}

// jars are the libraries of a JUnit test, below /usr/share/java.
var jars = strings.Fields("amqp-client slf4j-api slf4j-nop junit-jupiter-api junit-jupiter-engine junit-platform-commons junit-platform-console " +
	"junit-platform-engine junit-platform-launcher junit-platform-reporting opentest4j apiguardian-api picocli")

// java compiles a class with tests and runs them.
func (p *pageRun) java(b codeBlock) {
	path := p.dir
	for _, jar := range jars {
		path += ":/usr/share/java/" + jar + ".jar"
	}
	(&foreign{name: "Java", where: "Debian's default-jdk-headless, librabbitmq-client-java, junit5", probe: []string{"javap", "-cp", path, "com.rabbitmq.client.Channel", "org.junit.jupiter.api.Test", "org.junit.platform.console.ConsoleLauncher"}}).want(p.T)
	name := regexp.MustCompile(`class (\w+)`).FindStringSubmatch(b.text)[1]
	if err := os.WriteFile(filepath.Join(p.dir, name+".java"), []byte(b.text), 0o600); err != nil {
		p.Fatal(err)
	}
	for _, args := range [][]string{
		{"javac", "-cp", path, name + ".java"}, {"java", "-cp", path, "org.junit.platform.console.ConsoleLauncher", "-c", name, "--disable-banner"},
	} {
		cmd := exec.CommandContext(p.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Env = p.dir, append(os.Environ(), p.path())
		if out, err := cmd.CombinedOutput(); err != nil {
			p.Errorf("block at line %d: %s: %v\n%s", b.line, args[0], err, out)
			return
		}
	}
}

// node runs a module with the packages of NODE_PATH, which modules do not read themselves.
func (p *pageRun) node(b codeBlock) {
	(&foreign{name: "service-bus", where: npm, probe: []string{"node", "-e", "require('@azure/service-bus')"}}).want(p.T)
	p.packages()
	file := filepath.Join(p.dir, "main.mjs")
	if err := os.WriteFile(file, []byte(p.here(b.text)), 0o600); err != nil {
		p.Fatal(err)
	}
	if out, err := exec.CommandContext(p.Context(), "node", "--preserve-symlinks", file).CombinedOutput(); err != nil {
		p.Errorf("block at line %d: %v\n%s", b.line, err, out)
	}
}
