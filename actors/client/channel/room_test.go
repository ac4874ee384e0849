package channel

import (
	"slices"
	"strings"
	"testing"

	"candlemark/actors/client/channel/tx"
	"candlemark/actors/system/mail"
	"candlemark/integration/testkit/users"
	"candlemark/internal/access/auth"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"
)

// silent is a peer of the intake that is never evicted.
type silent struct{}

func (silent) Excused() bool { return true }
func (silent) Evict()        {}

// crowd is a rig at a broker where incomplete contents and transactions are each limited to 1 MiB.
type crowd struct {
	*rig
	intake *budget.Intake
}

func newCrowd(t *testing.T) *crowd {
	c := &crowd{intake: budget.NewIntake()}
	c.intake.SetLimits(1<<20, 1<<20)
	c.rig = newRig(t, func(cfg *Config) { cfg.Arrivals = c.intake.Of(silent{}) })
	return c
}

// fill has another connection hold this number of bytes.
func (c *crowd) fill(bytes int64) *budget.Arrival {
	r := &budget.Arrival{}
	if !r.Ask(c.intake.Of(silent{}), bytes, 0, nil) {
		c.t.Fatal("no room")
	}
	return r
}

// hears passes the decisions of the intake to the channel.
func (c *crowd) hears(count int) {
	c.t.Helper()
	if len(c.later) != count {
		c.t.Errorf("%d decisions, want %d", len(c.later), count)
	}
	later := c.later
	c.later = nil
	for _, m := range later {
		c.turn(m)
	}
}

// cut splits a stream after a number of frames.
func cut(all []byte, frames int) (head, rest []byte) {
	at := 0
	for range frames {
		_, n, _, _ := protocol.ParseFrame(all[at:], 0)
		at += n
	}
	return all[:at], all[at:]
}

func (c *crowd) holds(contents, transactions int64) {
	c.t.Helper()
	if a, b := c.intake.Used(); a != contents || b != transactions {
		c.t.Errorf("%d and %d bytes are held, want %d and %d", a, b, contents, transactions)
	}
}

// No bytes are kept of a publish that will be refused; the client gets the refusal when the content is complete, as if it had
// been kept.
func TestRoom_NothingIsKeptOfWhatIsRefused(t *testing.T) {
	body := strings.Repeat("b", 100_000)
	for name, c := range map[string]struct {
		method protocol.BasicPublish
		props  protocol.Properties
	}{
		"missing":    {protocol.BasicPublish{Exchange: "missing"}, protocol.Properties{}},
		"forbidden":  {protocol.BasicPublish{Exchange: "secret"}, protocol.Properties{}},
		"internal":   {protocol.BasicPublish{Exchange: "inner"}, protocol.Properties{}},
		"expiration": {protocol.BasicPublish{Exchange: "x"}, protocol.Properties{Flags: protocol.FlagExpiration, Expiration: "soon"}},
		"user":       {protocol.BasicPublish{Exchange: "x"}, protocol.Properties{Flags: protocol.FlagUserID, UserID: "else"}},
		"reply":      {protocol.BasicPublish{Exchange: "x"}, protocol.Properties{Flags: protocol.FlagReplyTo, ReplyTo: "amq.rabbitmq.reply-to"}},
		"CC":         {protocol.BasicPublish{Exchange: "x"}, withHeaders("CC", "text")},
	} {
		t.Run(name, func(t *testing.T) {
			whole, r := newCrowd(t), newCrowd(t)
			for _, r := range []*crowd{whole, r} {
				r.perms.Refused = []users.Refusal{{User: "guest", Resource: auth.Resource{Kind: auth.Exchange, Name: "secret"}, Permission: auth.Write}}
			}
			head := slices.Concat(frame(&c.method), protocol.AppendHeaderFrame(nil, 1, uint64(len(body)), c.props.Append(nil)))
			frames := protocol.AppendBodyFrames(nil, 1, []byte(body), 4096)
			whole.feed(head, frames)
			want := whole.frames()
			r.feed(head)
			for part := range slices.Chunk(frames, 4096*3) {
				if a := &r.assembler; cap(a.Content) > 0 || len(a.Properties) > 0 || len(a.Publish.Exchange) > 0 {
					t.Fatalf("%d and %d bytes are kept", cap(a.Content), len(a.Properties))
				}
				r.holds(0, 0)
				r.received()
				r.feed(part)
			}
			if got := r.frames(); len(want) != 1 || !slices.Equal(got, want) {
				t.Errorf("received %q, want %q", got, want)
			}
			r.balanced()
		})
	}
}

// A content without room waits, with only the read that it began in. Other contents of the connection do not wait, and it
// continues when there is room.
func TestRoom_Waits(t *testing.T) {
	r := newCrowd(t)
	other := r.fill(1 << 20)
	body := strings.Repeat("b", 200_000)
	head, rest := cut(publish("", "q1", body), 3)
	middle, rest := cut(rest, 20)
	r.feed(publish("", "q1", "before"), head)
	r.sent("q1: enqueue before")
	if !r.cfg.Arrivals.Stuck() || cap(r.assembler.Content) > 0 {
		t.Errorf("%d bytes are kept", cap(r.assembler.Content))
	}
	r.feed(middle)
	r.sent()
	r.hears(0)
	other.Return()
	r.hears(1)
	r.holds(int64(len(body))+len64("q1")+2, 0)
	if r.cfg.Arrivals.Stuck() {
		t.Error("stuck")
	}
	r.feed(rest, publish("", "q1", "behind"))
	r.sent("q1: enqueue " + body + " behind")
	r.holds(0, 0)
	r.balanced()
	if r.in.Waits() || r.in.Parked() > 0 {
		t.Error("something waits")
	}
}

func len64(s string) int64 { return int64(len(s)) }

// A content that arrives in one read does not ask for room, nor does a small one.
func TestRoom_NotAsked(t *testing.T) {
	r := newCrowd(t)
	r.fill(1 << 20)
	body := strings.Repeat("b", 100_000)
	r.feed(publish("", "q1", body[:4000]))
	r.sent("q1: enqueue " + body[:4000])
	head, rest := cut(publish("", "q1", body[:60_000]), 3)
	r.feed(head)
	r.feed(rest)
	r.sent("q1: enqueue " + body[:60_000])
	r.balanced()
}

// Everything that a channel has begun is released at its end, whether it waits for room or has it.
func TestRoom_Ends(t *testing.T) {
	for name, end := range map[string]func(c *crowd){
		"with its connection": func(c *crowd) { c.turn(&mail.CloseChannel{}) },
		"by an error":         func(c *crowd) { c.fail(internalError("as ordered"), nil); c.turn(&mail.OutboxReady{}) },
		"by a panic":          func(c *crowd) { c.dropBegun() },
	} {
		for _, waits := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				r := newCrowd(t)
				other := &budget.Arrival{}
				if waits {
					other = r.fill(1 << 20)
				}
				head, _ := cut(publish("", "q1", strings.Repeat("b", 200_000)), 3)
				r.feed(head)
				if r.cfg.Arrivals.Stuck() != waits {
					t.Error("it waits, or does not")
				}
				end(r)
				other.Return()
				r.holds(0, 0)
				r.hears(0)
				if r.cfg.Arrivals.Stuck() {
					t.Error("it is stuck")
				}
			})
		}
	}
}

// A content that does not fit, and cannot wait for room because its own connection holds it, is refused when it is
// complete.
func TestRoom_Refused(t *testing.T) {
	r := newCrowd(t)
	var mine budget.Arrival
	mine.Ask(r.cfg.Arrivals, 1<<20, 0, nil)
	body := strings.Repeat("b", 1<<20+1)
	head, rest := cut(publish("", "q1", body), 3)
	r.feed(head)
	r.hears(1)
	r.holds(1<<20, 0)
	if cap(r.assembler.Content) > 0 {
		t.Error("something is kept")
	}
	head, rest = cut(rest, 100)
	r.feed(head)
	r.received()
	r.feed(rest)
	r.received("channel.close {ReplyCode:406 ReplyText:PRECONDITION_FAILED - no memory for a message of 1048577 bytes " +
		"while the other messages of this connection are incomplete Class:60 Method:40}")
	r.sent()
	r.balanced()
}

// Input that was read is processed even after the end of the connection, and a content completed by it goes to its queue without
// asking for room.
func TestRoom_WholeWhenTheConnectionEnds(t *testing.T) {
	r := newCrowd(t)
	r.fill(1 << 20)
	body := strings.Repeat("b", 200_000)
	head, rest := cut(publish("", "q1", body), 3)
	r.feed(head)
	r.feed(rest)
	r.sent()
	r.turn(&mail.CloseChannel{})
	r.sent("q1: enqueue "+body, "connection: closed 1 false")
	r.holds(1<<20, 0)
	r.balanced()
}

// Transactions are limited, and release their bytes for every way in which they can end.
func TestRoom_Transactions(t *testing.T) {
	body := strings.Repeat("b", 500_000)
	const each = 500_000 + 2 + 2 + tx.PublishBytes + tx.TargetBytes
	for name, end := range map[string]func(c *crowd){
		"commit":   func(c *crowd) { c.command(&protocol.TxCommit{}) },
		"rollback": func(c *crowd) { c.command(&protocol.TxRollback{}) },
		"close":    func(c *crowd) { c.turn(&mail.CloseChannel{}) },
		"panic":    func(c *crowd) { c.dropBegun() },
		"too much": func(c *crowd) {
			c.feed(publish("", "q1", body))
			c.received("tx.select-ok", "channel.close {ReplyCode:406 ReplyText:PRECONDITION_FAILED - no memory for the transaction: "+
				"the uncommitted messages of all channels may have 1048576 bytes in total Class:60 Method:40}")
			c.sent()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newCrowd(t)
			r.command(&protocol.TxSelect{})
			r.feed(publish("", "q1", body))
			r.holds(0, each)
			r.feed(publish("", "q1", body))
			r.holds(0, 2*each)
			if r.cfg.Arrivals.Held() != 2*each {
				t.Error(r.cfg.Arrivals.Held())
			}
			end(r)
			r.holds(0, 0)
		})
	}
}
