package trial

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"candlemark/internal/admin/config"
	"candlemark/internal/admin/flaghelp"
)

// Flag makes serve start a whole cluster on this machine.
const Flag = "cluster-try"

// Cut takes the flag out of the arguments; ok is false if they do not have it.
func Cut(args []string) (nodes string, rest []string, ok bool) {
	for i, a := range args {
		name, value, given := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if name != Flag || !strings.HasPrefix(a, "-") {
			continue
		}
		rest = slices.Delete(slices.Clone(args), i, i+1)
		if !given && i < len(rest) {
			value = rest[i]
			rest = slices.Delete(rest, i, i+1)
		}
		return value, rest, true
	}
	return "", args, false
}

// most is the largest cluster to try.
const most = 7

// Run starts nodes of a cluster as processes, each with its folder below one, until SIGINT or SIGTERM, and starts a node that ends again. It
// returns the exit code. Help and wrong settings are left to serve.
func Run(number string, args []string, serve func(args []string) int) int {
	n, err := strconv.Atoi(number)
	if err != nil || n < 3 || n > most || n%2 == 0 {
		fmt.Fprintf(os.Stderr, "candlemark serve: --%s: %q is not 3, 5 or 7, the number of nodes\n", Flag, number)
		return 64
	}
	if _, err := config.Load(flaghelp.New("candlemark serve"), args, os.Environ()); err != nil {
		return serve(args) // help, or an error that each node would report again and again
	}
	dir, rest := "candlemark-cluster", args
	for i, a := range args {
		if value, ok := strings.CutPrefix(strings.TrimLeft(a, "-"), "data-dir="); ok {
			dir, rest = value, slices.Delete(slices.Clone(args), i, i+1)
		} else if strings.TrimLeft(a, "-") == "data-dir" && i+1 < len(args) {
			dir, rest = args[i+1], slices.Delete(slices.Clone(args), i, i+2)
		}
	}
	nodes, err := nodesIn(dir, n)
	if err != nil {
		fmt.Fprintln(os.Stderr, "candlemark serve:", err)
		return 1
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(stop)
	for _, t := range nodes {
		fmt.Printf("%s  amqp://guest:guest@%s  http://%s  %s\n", t.name, t.amqp, t.http, t.dir)
	}
	fmt.Println("All nodes serve clients. The log of one says that it leads: kill it to see another one lead.")
	var running sync.WaitGroup
	ended := make(chan struct{})
	for _, t := range nodes {
		running.Go(func() { t.run(nodes, rest, ended) })
	}
	<-stop
	close(ended)
	running.Wait()
	return 0
}

// node is a node of a cluster to try.
type node struct {
	name, dir, amqp, http, cluster, secret string
}

// nodesIn makes the folders and chooses the ports, which stay the same the next time.
func nodesIn(dir string, n int) (nodes []*node, err error) {
	path := filepath.Join(dir, "nodes")
	text, err := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 5 {
			nodes = append(nodes, &node{f[0], filepath.Join(dir, f[0]), f[1], f[2], f[3], f[4]})
		}
	}
	if err == nil && len(nodes) != n {
		return nil, fmt.Errorf("%s is of a cluster with %d nodes", path, len(nodes))
	}
	if err == nil {
		return nodes, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var listeners []net.Listener
	defer func() {
		for _, l := range listeners {
			_ = l.Close()
		}
	}()
	port := func() string {
		l, failed := net.Listen("tcp", "127.0.0.1:0")
		if failed != nil {
			err = failed
			return ""
		}
		listeners = append(listeners, l)
		return l.Addr().String()
	}
	err = nil
	secret := rand.Text()
	var b strings.Builder
	for i := range n {
		name := fmt.Sprintf("n%d", i+1)
		t := &node{name, filepath.Join(dir, name), port(), port(), port(), secret}
		nodes = append(nodes, t)
		fmt.Fprintln(&b, t.name, t.amqp, t.http, t.cluster, t.secret)
	}
	return nodes, errors.Join(err, os.WriteFile(path, []byte(b.String()), 0o600))
}

// run runs the process of a node, again and again, until ended is closed.
func (t *node) run(all []*node, args []string, ended <-chan struct{}) {
	list := []string{"serve", "--data-dir=" + t.dir, "--amqp=" + t.amqp, "--http=" + t.http, "--cluster-node=" + t.name}
	for _, o := range all {
		list = append(list, "--cluster-member="+o.name+"="+o.cluster)
	}
	path, err := os.Executable()
	for err == nil {
		c := exec.Command(path, append(list, args...)...)
		c.Env = append(os.Environ(), "CANDLEMARK_CLUSTER_SECRET="+t.secret)
		c.Stdout, c.Stderr = prefixed{t.name, os.Stdout}, prefixed{t.name, os.Stderr}
		if err = c.Start(); err != nil {
			break
		}
		over := make(chan error, 1)
		go func() { over <- c.Wait() }()
		select {
		case reason := <-over:
			fmt.Fprintf(os.Stderr, "%s ended: %v; it is started again\n", t.name, reason)
			select {
			case <-time.After(time.Second):
			case <-ended:
				return
			}
		case <-ended:
			_ = c.Process.Signal(os.Interrupt)
			<-over
			return
		}
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", t.name, err)
}

// prefixed writes lines behind a name.
type prefixed struct {
	name string
	to   io.Writer
}

// Write implements io.Writer.
func (p prefixed) Write(b []byte) (int, error) {
	var text strings.Builder
	for line := range strings.Lines(string(b)) {
		text.WriteString(p.name + " " + line)
	}
	_, err := io.WriteString(p.to, text.String())
	return len(b), err
}
