package queue

import (
	"errors"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/policies"
)

// prepares prepares deliveries to ch1 and messages, and returns the error.
func (c *core) prepares(numbers []uint64, headers [][]byte, bytes int64) error {
	c.t.Helper()
	c.feed(&mail.PrepareWork{Request: mail.Request{ReplyTo: ch1, ID: 5}, Channel: ch1, Numbers: numbers, Headers: headers, Bytes: bytes})
	reply := one[*mail.PrepareWorkReply](c)
	if reply.ID != 5 {
		c.t.Errorf("%+v", reply)
	}
	return reply.Err
}

// TestPrepare_TXN6: prepared deliveries stay locked until they are settled, beyond their timeout and in spite of return requests.
func TestPrepare_TXN6(t *testing.T) {
	c := newCore(t, timeout(1000))
	c.put("1", "2", "3")
	c.consume(ch1, "a", 0)
	all[*mail.Deliver](c)
	c.at(999)
	if err := c.prepares([]uint64{1, 2}, nil, 0); err != nil {
		t.Fatal(err)
	}
	c.at(1000)
	c.wantNumbers("back", c.returned(), 3)
	c.at(100_000)
	c.wantNumbers("back", c.returned())
	if first := c.locks(0, 0).Deliveries[0].Seq; c.takeBack(first) {
		t.Error("taken back")
	}
	c.wantLost(c.asks(mail.Ack, mail.Range{First: 1, Last: 2}))
	c.want("ready", c.ready(), "3")
}

// TestPrepareLost_TXN6: either all deliveries are prepared, or none.
func TestPrepareLost_TXN6(t *testing.T) {
	c := newCore(t, timeout(1000))
	if err := c.prepares([]uint64{1}, nil, 0); !errors.Is(err, mail.ErrDeliveryLost) {
		t.Error(err)
	}
	c.put("1", "2")
	c.get(ch1)
	c.at(500)
	c.get(ch1)
	for _, numbers := range [][]uint64{{2, 1}, {2, 3}} {
		c.at(1000)
		if err := c.prepares(numbers, nil, 0); !errors.Is(err, mail.ErrDeliveryLost) {
			t.Error(numbers, err)
		}
	}
	all[*mail.DeliveriesRequeued](c)
	c.at(1500)
	c.wantNumbers("back", c.returned(), 2)
}

// TestUnprepare_TXN6: released deliveries are locked as before, and requeued at once if their timeout has passed.
func TestUnprepare_TXN6(t *testing.T) {
	for _, late := range []bool{false, true} {
		c := newCore(t, timeout(1000))
		c.put("1", "2")
		c.get(ch1)
		c.get(ch1)
		if err := c.prepares([]uint64{1}, nil, 0); err != nil {
			t.Fatal(err)
		}
		if late {
			c.at(5000)
			c.wantNumbers("back", c.returned(), 2)
		} else {
			c.at(400)
		}
		c.feed(&mail.ReleaseWork{Channel: ch1, Numbers: []uint64{1, 2, 3}}, &mail.ReleaseWork{Channel: ch2, Numbers: []uint64{1}})
		if late {
			c.wantNumbers("back", c.returned(), 1)
			continue
		}
		c.at(999)
		c.wantNumbers("early", c.returned())
		c.at(1000)
		c.wantNumbers("back", c.returned(), 1, 2)
	}
}

// TestPrepareGone_TXN6: the prepared deliveries of a channel are requeued when it ends.
func TestPrepareGone_TXN6(t *testing.T) {
	c := newCore(t, timeout(1000))
	c.put("1")
	c.get(ch1)
	if err := c.prepares([]uint64{1}, nil, 0); err != nil {
		t.Fatal(err)
	}
	c.feed(&mail.ChannelGone{Channel: ch1})
	c.want("ready", c.ready(), "1")
	c.get(ch2)
	c.at(1000)
	c.want("ready", c.ready(), "1")
}

// TestPrepareMessages_TXN6: a queue with reject-publish refuses to prepare messages above its limit, and accepts
// messages it has prepared.
func TestPrepareMessages_TXN6(t *testing.T) {
	c := newCore(t, maxLength(2, "reject-publish"))
	c.put("1")
	if err := c.prepares(nil, [][]byte{nil, nil}, 2); !errors.Is(err, mail.ErrWorkRefused) {
		t.Error(err)
	}
	if err := c.prepares(nil, [][]byte{nil}, 1); err != nil {
		t.Error(err)
	}
	c.put("somebody else's")
	e := mail.NewEnqueue(ch1, nil)
	e.Prepared = true
	e.Messages = append(e.Messages, msg("agreed", -1))
	c.feed(e)
	c.put("refused")
	c.want("ready", c.ready(), "1", "somebody else's", "agreed")
	if err := newCore(t, func(s *policies.QueueSettings) { s.MaxLength = 0 }).prepares(nil, [][]byte{nil}, 1); err != nil {
		t.Error("drop-head:", err)
	}
}

// TestPrepareSession_TXN6: prepared messages must name their session; a prepared delivery keeps its session locked.
func TestPrepareSession_TXN6(t *testing.T) {
	c := newSessions(t)
	if err := c.prepares(nil, [][]byte{ofSession("s", "").Header, nil}, 2); !errors.Is(err, mail.ErrSessionNeeded) {
		t.Error(err)
	}
	for _, settled := range []bool{true, false} {
		c := newSessions(t)
		c.sends("s 1", "s 2")
		if r := c.wants(ch1, "a", "s", 0); r == nil || r.Err != nil {
			t.Fatal(r)
		}
		c.feed(&mail.SetLinkCredit{Channel: ch1, Tag: "a", Credit: 10})
		all[*mail.Deliver](c)
		if err := c.prepares([]uint64{1}, [][]byte{ofSession("s", "").Header}, 1); err != nil {
			t.Fatal(err)
		}
		c.at(1000)
		c.wantNumbers("back", c.returned(), 2)
		if r := c.wants(ch2, "b", "s", 0); r == nil || r.Err == nil {
			t.Error("somebody else has the session")
		}
		if settled {
			c.wantLost(c.asks(mail.Ack, mail.Range{First: 1, Last: 1}))
			c.want("ready", c.ready(), "2")
		} else {
			c.feed(&mail.ReleaseWork{Channel: ch1, Numbers: []uint64{1}})
			c.wantNumbers("back", c.returned(), 1)
		}
		if r := c.wants(ch2, "b", "s", 0); r == nil || r.Err != nil {
			t.Error("nobody gets the session")
		}
	}
}

// TestPrepareRenewed_TXN6: the lock of a prepared delivery can be renewed; after a rollback it lasts until that time.
func TestPrepareRenewed_TXN6(t *testing.T) {
	c := newCore(t, timeout(1000))
	c.put("1")
	c.get(ch1)
	if err := c.prepares([]uint64{1}, nil, 0); err != nil {
		t.Fatal(err)
	}
	c.at(600)
	if n, until := c.renews(mail.RenewLock{Channel: ch1, Number: 1}); n != 1 || until != 1600 {
		t.Fatalf("%d until %d", n, until)
	}
	c.feed(&mail.ReleaseWork{Channel: ch1, Numbers: []uint64{1}})
	c.at(1599)
	c.want("ready", c.ready())
	c.at(1600)
	c.want("ready", c.ready(), "1")
}
