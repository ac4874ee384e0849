package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// The contents of the damaged folder: messages in several queues, more than fit into one segment.
const (
	damagedQueues  = 3
	damageMessages = 800
	damageBody     = 10 << 10
	damageSegment  = "16777216"
)

func damageQueue(n int) string { return fmt.Sprint("q", n) }

// undamaged returns the data folder of a broker that was stopped or killed.
func undamaged(t *testing.T, end func(*broker)) (dir string) {
	dir = filepath.Join(t.TempDir(), "data")
	b := startIn(t, dir, "--segment-size", damageSegment)
	c := b.dial()
	for q := range damagedQueues {
		_, err := c.QueueDeclare(damageQueue(q), true, false, false, false, nil)
		c.must(err)
	}
	var confirms []*amqp.DeferredConfirmation
	for n := range damageMessages {
		for q := range damagedQueues {
			confirm, err := c.PublishWithDeferredConfirm("", damageQueue(q), false, false,
				amqp.Publishing{DeliveryMode: 2, Body: damageBodyOf(q, n)})
			c.must(err)
			confirms = append(confirms, confirm)
		}
	}
	if slices.ContainsFunc(confirms, func(d *amqp.DeferredConfirmation) bool { return !d.Wait() }) {
		t.Fatal("refused")
	}
	end(b)
	for _, spare := range the(dir, "spare-*") {
		if err := os.Remove(spare); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// damageBodyOf returns a body that repeats the numbers of queue and message.
func damageBodyOf(q, n int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%04d %04d ", q, n), damageBody/10)
}

// tool runs a command of the binary on a folder.
func tool(t *testing.T, dir string, args ...string) (code int, out string) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(args, "--data-dir", dir)...)
	all, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(all)
}

// served consumes all messages of a broker and returns their number. It fails the test unless they are intact and in order.
func (b *broker) served() (n int) {
	b.Helper()
	c := b.dial()
	for q := range damagedQueues {
		before := -1
		for d := range c.taken(damageQueue(q)) {
			var of, number int
			_, err := fmt.Sscanf(string(d.Body[:min(10, len(d.Body))]), "%d %d ", &of, &number)
			if err != nil || of != q || number <= before || !bytes.Equal(d.Body, damageBodyOf(q, number)) {
				b.Fatalf("%s: %.30q came behind %d", damageQueue(q), d.Body, before)
			}
			before = number
			n++
		}
	}
	return n
}

// losses returns the damaged files named in the log, and how many messages it reports as lost.
func (j *journal) losses() (files []string, lost int) {
	for line := range strings.Lines(j.String()) {
		var e struct {
			Message, File string
			Offset        *int64 `json:"offset_bytes"`
			Lost          int    `json:"lost_messages"`
		}
		if json.Unmarshal([]byte(line), &e) == nil && strings.HasPrefix(e.Message, "the journal is damaged") && e.Offset != nil {
			files = append(files, e.File)
			lost += e.Lost
		}
	}
	slices.Sort(files)
	return slices.Compact(files), lost
}

// the returns the files in the journal's folder that match a pattern, sorted by name.
func the(dir, pattern string) []string {
	all, err := filepath.Glob(filepath.Join(dir, "journal", pattern))
	if err != nil {
		panic(err)
	}
	return all
}

// noise overwrites b with pseudo-random bytes.
func noise(b []byte) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

func flip(at int) func([]byte) []byte {
	return func(b []byte) []byte {
		b[at%len(b)] ^= 4
		return b
	}
}

// damage is a way to damage a file in the journal's folder that matches files. The broker must report it if found is
// set.
type damage struct {
	files string
	do    func(b []byte) []byte // nil to remove them
	last  bool                  // damage the last file that matches, otherwise the first
	found string                // beginning of the name of the file that must be reported, "" for none
	least int                   // bounds of the number of lost messages
	most  int
}

const (
	seg1 = "0000000001.segment"
	seg2 = "0000000002.segment"
	in1  = 1624 // messages in the first segment
	in2  = damagedQueues*damageMessages - in1
)

var damages = map[string]damage{
	"nothing":                             {"*.segment", func(b []byte) []byte { return b }, false, "", 0, 0},
	"a bit of a body":                     {"*.segment", flip(5_000_000), false, seg1, 1, 1},
	"a bit of a body in the last segment": {"*.segment", flip(500_000), true, seg2, 1, 1},
	"a page of zeros":                     {"*.segment", func(b []byte) []byte { clear(b[9e6 : 9e6+4096]); return b }, false, seg1, 1, 2},
	"a megabyte of noise":                 {"*.segment", func(b []byte) []byte { noise(b[10e6:11e6]); return b }, false, seg1, 96, 102},
	"a header":                            {"*.segment", func(b []byte) []byte { clear(b[:4096]); return b }, false, seg1, 0, 0},
	"a segment cut in half":               {"*.segment", func(b []byte) []byte { return b[:len(b)/2] }, false, seg1, in1/2 - 5, in1/2 + 5},
	"an empty segment":                    {"*.segment", func([]byte) []byte { return nil }, false, seg1, in1 - 2, in1 + 2},
	"something else of that name":         {"*.segment", func([]byte) []byte { b := make([]byte, 1e6); noise(b); return b }, false, seg1, in1 - 2, in1 + 2},
	"no first segment":                    {"*.segment", nil, false, seg1, in1 - 2, in1 + 2},
	"no last segment":                     {"*.segment", nil, true, seg2, in2 - 2, in2 + 2},
	"an empty last segment":               {"*.segment", func([]byte) []byte { return nil }, true, seg2, in2 - 2, in2 + 2},
	"a last segment cut at 4 MiB":         {"*.segment", func(b []byte) []byte { return b[:4<<20] }, true, seg2, in2 - 411, in2 - 400},
	"a bit of the checkpoint":             {"checkpoint-*", flip(30), true, "checkpoint-", 0, 0},
	"no last checkpoint":                  {"checkpoint-*", nil, true, "", 0, 0},
}

func (h *damage) apply(t *testing.T, dir string) {
	files := the(dir, h.files)
	path := files[0]
	if h.last {
		path = files[len(files)-1]
	}
	data, err := os.ReadFile(path)
	if err == nil && h.do != nil {
		err = os.WriteFile(path, h.do(data), 0o600)
	} else if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// However the files of a stopped broker are damaged, the next start detects it, reports the place, keeps a copy, and serves all
// other messages, whole and in order. The tools report the same.
func TestDamagedJournal(t *testing.T) {
	t.Parallel()
	eachDamage(t, (*broker).stop, func(t *testing.T, h *damage, dir string) { h.check(t, dir, true) })
}

// The tools report the same for the journal of a killed broker, and repair leaves a folder without errors.
func TestDamagedJournal_Killed(t *testing.T) {
	t.Parallel()
	eachDamage(t, (*broker).kill, func(t *testing.T, h *damage, dir string) {
		if code, out := tool(t, dir, "journal", "repair"); (code == 1) != (h.found != "") || !strings.Contains(out, h.found) {
			t.Errorf("repair: %d\n%.2000s", code, out)
		}
		if code, out := tool(t, dir, "journal", "check"); code != 0 {
			t.Errorf("check behind repair: %d\n%.2000s", code, out)
		}
		h.check(t, dir, false)
	})
}

// eachDamage damages copies of the folder of a broker that was ended by end, and checks each.
func eachDamage(t *testing.T, end func(*broker), look func(t *testing.T, h *damage, dir string)) {
	whole := undamaged(t, end)
	for what, h := range damages {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if out, err := exec.Command("cp", "-r", whole, dir).CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
			h.apply(t, dir)
			h.tools(t, dir)
			look(t, &h, dir)
		})
	}
}

// tools checks the read-only tools.
func (h *damage) tools(t *testing.T, dir string) {
	t.Helper()
	if code, out := tool(t, dir, "journal", "check"); (code == 1) != (h.found != "") || !strings.Contains(out, h.found) {
		t.Errorf("check: %d\n%.2000s", code, out)
	}
	if code, out := tool(t, dir, "journal", "dump"); code != 0 || !strings.Contains(out, ".segment: ") {
		t.Errorf("dump: %d\n%.2000s", code, out)
	}
}

// check starts a broker on the folder and checks it; reported says that it must report the damage.
func (h *damage) check(t *testing.T, dir string, reported bool) {
	t.Helper()
	b := startIn(t, dir)
	files, lost := b.log.losses()
	missing := damagedQueues*damageMessages - b.served()
	if missing < h.least || missing > h.most {
		t.Errorf("%d messages are missing, not %d to %d", missing, h.least, h.most)
	}
	if reported && h.found != "" {
		if len(files) != 1 || !strings.HasPrefix(files[0], h.found) || lost != missing {
			t.Errorf("%d messages are missing, %d are said to be lost in %v", missing, lost, files)
		}
	} else if len(files) > 0 {
		t.Errorf("the log names %v", files)
	}
	copies, err := filepath.Glob(filepath.Join(dir, "quarantine", h.found+"*"))
	if kept := len(copies) > 0; err != nil || kept != (h.found != "" && h.do != nil) {
		t.Errorf("in quarantine are %v %v", copies, err)
	}
	b.dial().send(damageQueue(0), "after") // new messages are accepted
	b.stop()
}
