package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"candlemark/cmd/candlemark-bench/bench"
	"candlemark/cmd/candlemark-bench/bench/profile"
	"candlemark/protocol"
)

// measured runs candlemark-bench against a broker and returns the exit code and the standard output.
func measured(t *testing.T, b *broker, amqp string, args ...string) (code int, out string) {
	t.Helper()
	code, out, complaint := measuredUntil(t.Context(), b, amqp, args...)
	if complaint != "" {
		t.Log(complaint)
	}
	return code, out
}

// measuredUntil also returns the standard error.
func measuredUntil(ctx context.Context, b *broker, amqp string, args ...string) (code int, out, complaint string) {
	var stdout, stderr bytes.Buffer
	p := &bench.Command{
		Getenv: func(name string) string { return map[string]string{"CANDLEMARK_HTTP_URL": "http://" + b.http}[name] },
		Stdout: &stdout, Stderr: &stderr,
	}
	code = p.Run(ctx, append([]string{args[0], "--url", "amqp://" + amqp, "--quiet"}, args[1:]...))
	return code, stdout.String(), stderr.String()
}

// short are the flags that make a profile end within a fraction of a second.
var short = map[string]string{
	"":            "-z 0.3 --warmup 0.1 --verify",
	"sync":        "-z 0.3 --warmup 0.1 --verify -f persistent,mandatory",
	"expiry":      "-C 500 --ttl uniform:50ms-250ms --verify",
	"mass-expiry": "-C 500 --within 100ms -z 0.1 --warmup 0 --verify",
	"delays":      "-C 100 --ttl mix:20ms,60ms,100ms --verify",
	"idle":        "--count 40 -z 0.1 -b 4 --settle 30ms",

	"bulk": "-z 0.3 --warmup 0.1 --verify -X 2 -Y 2 -x 2 -y 2 --ttl uniform:1m-2m --label a",
}

// variants are command lines that run profiles with further flags.
var variants = map[string]string{
	"queue mode":       "expiry -C 200 --mode queue --ttl 100ms",
	"policy mode":      "expiry -C 200 --mode policy --ttl 100ms",
	"with a TTL":       "delays -C 50 --via message --ttl 50ms",
	"delayed exchange": "delays -C 50 --via exchange --ttl uniform:10ms-50ms",
	"leases":           "idle --kind queues --count 10 --lease 1s -z 0.1 --settle 30ms",
	"messages":         "idle --kind messages --count 100 -z 0.1 --settle 30ms",
	"reply queues":     "rpc --reply queue -x 3 -y 2 -C 50",
	"pull of a queue":  "stream -x 2 -C 200 -t topic --queues 2 -y 2 -R 20000 -q 10 --consume-after --persistent",
	"what changes":     "stream -vr 5000:0.1,0:0.1 -vl 100:0.1 -vl 0:0.1 -q 10 -z 0.3 --warmup 0",
	"slow consumers":   "stream -y 2 -L 200 -q 5 -z 0.1 --warmup 0 --max-backlog 100",
	"AMQP 1.0":         "stream --protocol 1.0 -x 2 -y 2 -X 2 -Y 2 --queues 2 -c 100 -q 50 -A 10 -C 2000 --mp priority=3,contentType=a/b,k=v --persistent",
	"1.0, one by one":  "sync --protocol 1.0 -C 300",
	"1.0, settled":     "stream --protocol 1.0 -a -c 0 -C 3000",
	"1.0, large":       "stream --protocol 1.0 -s 300000 -C 30 -c 5 -q 3",
	"1.0, with TTLs":   "stream --protocol 1.0 -s 300000 -C 30 -c 5 -q 3 --ttl uniform:1m-2m -t topic",
	"limits":           "stream -D 50 -q 5 -z 1m --max-backlog 100 -a",
}

// All profiles run against one broker: no message is lost, duplicated, early or out of order, and results are complete.
func TestBench(t *testing.T) {
	t.Parallel()
	b := start(t)
	amqp := b.amqp
	t.Run("beside each other", func(t *testing.T) { besideEachOther(t, b, amqp) })
	t.Run("compare", func(t *testing.T) { compared(t, b, amqp) })
	t.Run("early", func(t *testing.T) { early(t, b, amqp) })
	// 100 messages take longer than --lead only because of their rate
	if code, out, complaint := measuredUntil(t.Context(), b, amqp, "mass-expiry", "-C", "100", "-r", "200", "--lead", "400ms"); code == 0 || !strings.Contains(complaint, "longer than --lead") {
		t.Errorf("exit code %d: %s, %s", code, out, complaint)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // ends the run as an interrupt does
	defer cancel()
	if code, out, complaint := measuredUntil(ctx, b, amqp, "sync", "-z", "1h", "--verify"); code != 0 || !strings.Contains(out, "nothing lost") {
		t.Errorf("exit code %d: %s, %s", code, out, complaint)
	}
	if code, _ := measured(t, b, amqp+"/nowhere", "sync"); code != 69 {
		t.Errorf("exit code %d for no virtual host", code)
	}
	if code, out := measured(t, b, amqp, "sync", "--qa", "x-max-length=-1", "-z", "1h"); code != 69 {
		t.Errorf("exit code %d for a queue that cannot be: %s", code, out)
	}
	if code, out := measured(t, b, amqp, "sync", "--protocol", "1.0", "-u", "nowhere", "-p", "-z", "1h"); code != 69 {
		t.Errorf("exit code %d for no queue over AMQP 1.0: %s", code, out)
	}
	if code, _ := measured(t, b, amqp, "sync", "--nope"); code != 64 {
		t.Errorf("exit code %d for no flag", code)
	}
	nothingLeft(t, b)
}

// besideEachOther runs all profiles, variants and faults in parallel.
func besideEachOther(t *testing.T, b *broker, amqp string) {
	for _, p := range profile.Profiles {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			whole(t, b, amqp, p.Name)
		})
	}
	for fault, times := range faults {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			found(t, b, amqp, fault, times)
		})
	}
	for name, line := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if code, out := measured(t, b, amqp, append(strings.Fields(line), "--verify")...); code != 0 || !strings.Contains(out, "nothing lost") {
				t.Errorf("exit code %d: %s", code, out)
			}
		})
	}
}

// nothingLeft waits until the broker has no queues: queues of delays expire after 5.2 s.
func nothingLeft(t *testing.T, b *broker) {
	for end := time.Now().Add(patience); ; <-time.After(50 * time.Millisecond) {
		left := b.request("GET", "/api/queues", "", http.StatusOK)
		if left == "[]" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("queues are left: %s", left)
		}
	}
}

// whole runs a profile briefly and checks that its result has all fields. A run that was too short for a busy machine is
// repeated with more time.
func whole(t *testing.T, b *broker, amqp, profile string) {
	flags, special := short[profile]
	if !special {
		flags = short[""]
	}
	var r map[string]any
	for lead := 1500 * time.Millisecond; r == nil; lead *= 2 {
		args := append([]string{profile, "--json", "--lead", lead.String()}, strings.Fields(flags)...) // only mass-expiry uses --lead
		code, out, complaint := measuredUntil(t.Context(), b, amqp, args...)
		err := json.Unmarshal([]byte(out), &r)
		if brief := strings.Contains(complaint, "longer than --lead") || r["sent"] == 0.0 && profile != "idle"; brief && lead < time.Minute {
			r = nil
		} else if err != nil || code != 0 {
			t.Fatalf("exit code %d, %v: %s, %s", code, err, out, complaint)
		}
	}
	for _, key := range []string{"profile", "flags", "url", "broker", "at", "took_s", "sent", "received", "figures", "verify", "client", "machine"} {
		if r[key] == nil {
			t.Errorf("no %s in %v", key, r)
		}
	}
	if r["sent"] == 0.0 && profile != "idle" || r["cost"] == nil && r["no_cost"] == nil {
		t.Error(r)
	}
}

// compared runs a comparison in which both URLs lead to the same broker.
func compared(t *testing.T, b *broker, amqp string) {
	both := "amqp://" + amqp + ",amqp://" + amqp
	code, out := measured(t, b, amqp, "sync", "-z", "0.1", "--rounds", "2", "--compare", both)
	if code != 0 || !strings.Contains(out, "publish_per_s") || !strings.Contains(out, "ratio") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// early checks that a run reports messages as early that expire too soon because of a policy unknown to the run.
func early(t *testing.T, b *broker, amqp string) {
	b.request("PUT", "/api/policies/%2F/early", `{"pattern":"^bench[.].*q$","apply-to":"queues","definition":{"message-ttl":10}}`, http.StatusCreated)
	code, out := measured(t, b, amqp, "expiry", "-C", "10", "--ttl", "5s", "--verify")
	if code != 1 || !strings.Contains(out, "EARLY 10") {
		t.Errorf("exit code %d: %s", code, out)
	}
	b.request("DELETE", "/api/policies/%2F/early", "", http.StatusNoContent)
}

// faults are the findings of a run and how often a proxy in front of the broker forwards a message.
var faults = map[string]int{`"lost":0,"doubled":1`: 2, `"lost":1,"doubled":0`: 0}

// found checks that a run reports messages that a proxy in front of the broker drops or duplicates.
func found(t *testing.T, b *broker, amqp, fault string, times int) {
	between := newRepeater(t, amqp, times)
	code, out := measured(t, b, between, "sync", "-a", "-C", "50", "--verify", "--json", "--drain", "10s")
	if code != 1 || !strings.Contains(out, fault) {
		t.Errorf("exit code %d, without %s: %s", code, fault, out)
	}
}

// newRepeater starts a proxy and returns its address. The proxy forwards all frames once, except that it sends the
// tenth delivery of each connection the given number of times.
func newRepeater(t *testing.T, to string, times int) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		done.Wait()
	})
	done.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				t.Error(err)
				_ = client.Close()
				return
			}
			done.Go(func() {
				_, _ = io.Copy(server, client)
				_ = server.Close()
			})
			done.Go(func() {
				repeat(client, server, times)
				_ = client.Close()
			})
		}
	})
	return l.Addr().String()
}

// repeat forwards all frames once, except that it sends the tenth message the given number of times.
func repeat(to io.Writer, from io.Reader, times int) {
	var in, message []byte
	buf, count := make([]byte, 64<<10), 0
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		in = append(in, buf[:n]...)
		for {
			f, n, _, err := protocol.ParseFrame(in, 0)
			if err != nil || n == 0 {
				break
			}
			class, method, _ := protocol.MethodKey(f.Payload)
			switch delivery := f.Type == protocol.FrameMethod && class == 60 && method == 60; {
			case delivery, len(message) > 0:
				message = append(message, in[:n]...)
			default:
				_, _ = to.Write(in[:n])
			}
			in = in[n:]
			if f.Type == protocol.FrameBody {
				if count++; count != 10 {
					_, _ = to.Write(message)
				} else {
					_, _ = to.Write(bytes.Repeat(message, times))
				}
				message = message[:0]
			}
		}
	}
}
