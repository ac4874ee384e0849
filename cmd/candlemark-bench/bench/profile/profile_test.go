package profile

import (
	"bytes"
	"errors"
	"flag"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/cmd/candlemark-bench/bench/load"
	"candlemark/protocol"
)

// Every profile is valid, and flags of the command line override its own.
func TestProfiles(t *testing.T) {
	for _, p := range Profiles {
		s, err := Parse([]string{p.Name, "-x", "7", "--verify"})
		if err != nil || s.Producers != 7 || !s.Verify || s.Profile.Name != p.Name || !slices.Equal(s.Given, []string{"--x=7"}) {
			t.Errorf("%s: %v, %+v", p.Name, err, s)
		}
		if p.About == "" || strings.HasSuffix(p.About, ".") {
			t.Errorf("%s: %q is no line about it", p.Name, p.About)
		}
	}
	var help bytes.Buffer
	Usage(&help)
	for _, part := range []string{"chatty-rate", "-x, --producers number", "-qa, --queue-args arguments", "(100)"} {
		if !strings.Contains(help.String(), part) {
			t.Errorf("the help is without %q:\n%s", part, help.String())
		}
	}
}

func TestFlags(t *testing.T) {
	s, err := Parse(strings.Fields("sync -h amqp://h -z 3 --warmup 200ms -c -1 -X 2 -Y 3 -qp q-%d -qpf 2 -qpt 4 -f persistent,mandatory " +
		"-qa x-max-length=10,x-queue-mode=lazy -ca x-priority=5 -mp priority=3,contentType=a/b,x-mine=1 --ttl uniform:1s-2s --pid 1,2 --total-rate 100 -x 5"))
	if err != nil {
		t.Fatal(err)
	}
	if s.URL != "amqp://h" || s.Time != 3*time.Second || s.Warmup != 200*time.Millisecond || s.Confirm != -1 || !reflect.DeepEqual(s.ProducerRate(), load.Always(10)) || len(s.PIDs) != 2 {
		t.Errorf("%+v", s)
	}
	if !slices.Equal(s.Named(), []string{"q-2", "q-3", "q-4"}) || s.Queues != 3 || !s.Mandatory || !s.Persistent {
		t.Errorf("%v %d", s.Named(), s.Queues)
	}
	if v, _ := s.QueueArgs.Get("x-max-length"); v != int64(10) {
		t.Errorf("%T", v)
	}
	p := s.Properties
	if !p.Has(protocol.FlagDeliveryMode|protocol.FlagPriority|protocol.FlagContentType|protocol.FlagHeaders) || p.DeliveryMode != 2 || p.Priority != 3 || p.ContentType != "a/b" || len(p.Headers) != 1 {
		t.Errorf("%+v", p)
	}
}

// Repeated flags for steps are joined, and handed on in this form by --compare.
func TestPlans(t *testing.T) {
	s, err := Parse(strings.Fields("-vr 1000:2 -vr 0:1,500:0.5 -L 70 -vl 20:1 -r 5"))
	if err != nil {
		t.Fatal(err)
	}
	rate, latency := s.ProducerRate(), s.Latency()
	if rate.String() != "1000:2,0:1,500:0.5" || latency.String() != "20:1" || !slices.Contains(s.Given, "--vr=1000:2,0:1,500:0.5") {
		t.Errorf("%s, %s, %v", rate.String(), latency.String(), s.Given)
	}
	if s, err = Parse(strings.Fields("-L 70")); err != nil || s.Latency().At(0) != 70 {
		t.Errorf("%v", err)
	}
}

func TestUsageErrors(t *testing.T) {
	for _, line := range []string{
		"nothing", "sync more", "-x", "-x a", "--nope", "-f sometimes", "-qa x", "--ttl soon", "-x 0 -y 0", "-x -1",
		"idle --kind channels", "churn", "sync --kind nonsense", "-vr 0:1", "-vr 5", "-vl 5:x", "-L -1", "-qp q -qpt 3", "-qp q%d -qpf 3 -qpt 1", "-q 70000", "--compare amqp://a", "--rounds 0", "--reply post", "rpc --protocol 1.0", "--protocol 2", "sync --protocol 1.0 -f mandatory", "sync --protocol 1.0 -ca x-priority=1", "-z soon", "--pid x",
	} {
		if _, err := Parse(strings.Fields(line)); !errors.Is(err, ErrUsage) {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, line := range []string{"-h", "--help", "sync -h", "idle --help"} {
		if _, err := Parse(strings.Fields(line)); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
