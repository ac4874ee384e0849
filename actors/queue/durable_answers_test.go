package queue

import (
	"errors"
	"testing"

	"candlemark/actors/system/mail"
)

// TestAnswersWaitForTheJournal_DUR3: an answer that messages are gone, or elsewhere, is sent when the journal has
// stored the fact, even if the records are from earlier turns.
func TestAnswersWaitForTheJournal_DUR3(t *testing.T) {
	request := mail.Request{ReplyTo: ch1}
	for name, do := range map[string]func(c *core) (answered func() (int, error)){
		"purge": func(c *core) func() (int, error) {
			c.feed(&mail.Purge{Request: request})
			return repliesOf[*mail.PurgeReply](c)
		},
		"purge of what was acknowledged before": func(c *core) func() (int, error) {
			c.get(ch1)
			c.settle(ch1, mail.Ack, 1, 1)
			c.feed(&mail.Purge{Request: request})
			return repliesOf[*mail.PurgeReply](c)
		},
		"deletion of the oldest": func(c *core) func() (int, error) {
			c.feed(&mail.DeleteMessages{Request: request, Limit: 1})
			return repliesOf[*mail.DeleteMessagesReply](c)
		},
		"settling by a lock": func(c *core) func() (int, error) {
			d := c.take(ch1, "t")[0]
			c.feed(&mail.SettleLocked{Request: request, Locks: []mail.Lock{{Seq: d.Facts.Seq, Lock: d.Facts.Lock}}, How: mail.Ack})
			return repliesOf[*mail.SettleLockedReply](c)
		},
		"settling by a move": func(c *core) func() (int, error) {
			c.feed(&mail.Claim{Request: request, Limit: 10})
			one[*mail.ClaimReply](c)
			c.feed(&mail.Settle{Channel: ch1, Asked: &request, Durable: true, Ranges: []mail.SettleRange{{First: 1, Last: 1}}})
			return repliesOf[*mail.SettleReply](c)
		},
	} {
		for _, limit := range []uint16{1, workLimit} {
			for _, broken := range []error{nil, errors.New("broken")} {
				t.Run(name, func(t *testing.T) {
					c := durableCore(t)
					c.state.turnLimit = limit
					c.trust(-1, "1", "2", "3")
					c.hold = true
					answered := do(c)
					if n, _ := answered(); n != 0 {
						t.Fatal("it is answered before the journal has stored it")
					}
					for c.disk.err = broken; len(c.commits) > 0; {
						c.settleCommit()
					}
					if n, err := answered(); n != 1 || (err == nil) != (broken == nil) {
						t.Errorf("%d answers, %v", n, err)
					}
				})
			}
		}
	}
}

// repliesOf returns a function that counts the answers of a kind since its last call, and returns their error.
func repliesOf[T interface{ Failure() error }](c *core) func() (int, error) {
	return func() (n int, err error) {
		for _, m := range all[T](c) {
			n, err = n+1, m.Failure()
		}
		return n, err
	}
}
