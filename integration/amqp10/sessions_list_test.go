package amqp10

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/integration/testkit"

	"github.com/Azure/go-amqp"
)

// everySession is the time by which clients request all sessions instead of sessions whose states have changed since.
var everySession = time.UnixMilli(253402300800000)

// listed returns the ids of a page of sessions.
func (n *node) listed(since time.Time, skip, top int32) (ids []string) {
	n.Helper()
	code, answer := n.ask("get-message-sessions", map[string]any{"last-updated-time": since, "skip": skip, "top": top})
	ids, _ = answer["sessions-ids"].([]string)
	if next, _ := answer["skip"].(int32); code == 200 && int(next) != int(skip)+len(ids) || code != 200 && code != 204 {
		n.Errorf("%d, %v", code, answer)
	}
	return ids
}

// Sessions are listed page by page, and by the time at which their states were stored.
func TestSessionList_SESSION8_Wire(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		sessions(b)
		n := c.node("s")
		if got := n.listed(everySession, 0, 10); len(got) != 0 {
			t.Error(got)
		}
		var want []string
		for i := range 25 {
			id := fmt.Sprint("id", i)
			want = append(want, id)
			c.sendsTo("s", id, "m")
		}
		var got []string
		for {
			page := n.listed(everySession, int32(len(got)), 10)
			if got = append(got, page...); len(page) == 0 {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		r := c.receiver("s", ofSession("id7"))
		time.Sleep(time.Minute / 2)
		since := time.Now()
		if code, _ := n.ask("set-session-state", map[string]any{"session-id": "id7", "session-state": []byte("half")}); code != 200 {
			t.Error(code)
		}
		if got := n.listed(since, 0, 10); !slices.Equal(got, []string{"id7"}) {
			t.Errorf("%q since then", got)
		}
		if got := n.listed(since.Add(time.Hour), 0, 10); len(got) != 0 {
			t.Errorf("%q later", got)
		}
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// A receiver that waits for a session stops waiting when its AMQP session or connection ends: the next session goes to another
// receiver.
func TestWaitingEnds_SESSION3_Wire(t *testing.T) {
	run(t, func(b *testkit.Bubble, c *client) {
		sessions(b)
		other := connect(b, nil)
		ended := make(chan error, 2)
		waits := func(c *client) *amqp.Session {
			s := c.begin()
			go func() {
				_, err := s.NewReceiver(context.Background(), "s", nextSession(10*time.Minute))
				ended <- err
			}()
			synctest.Wait()
			return s
		}
		if err := waits(c).Close(context.Background()); err != nil {
			t.Error(err)
		}
		waits(other)
		_ = other.conn.Close()
		for range 2 {
			if err := <-ended; err == nil {
				t.Error("there is a session")
			}
		}
		synctest.Wait()
		c.sendsTo("s", "a", "1")
		r := c.receiver("s", nextSession(0))
		if id := r.LinkSourceFilterValue(sessionFilter); id != "a" {
			t.Fatal(id)
		}
		if err := r.IssueCredit(1); err != nil {
			t.Fatal(err)
		}
		c.want(r, "1")
	})
}
