package queue

import (
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/mail"
	"candlemark/internal/store"
)

// slowJournal takes a while to accept what it is told, which keeps its queue waiting.
type slowJournal struct {
	store.Journal
	told []time.Time // of Appends that removed something
}

func (j *slowJournal) Append(queue store.QueueID, list []store.Record, done func(error)) {
	time.Sleep(time.Millisecond)
	for _, r := range list {
		if r.Kind == store.Remove {
			j.told = append(j.told, time.Now())
		}
	}
	j.Journal.Append(queue, list, done)
}

// TestJournalIsToldFirst has a consumer that acknowledges automatically: whatever it does when it gets the message comes
// behind the removal in the journal, so that a crash cannot keep the one and undo the other.
func TestJournalIsToldFirst(t *testing.T) {
	slow := &slowJournal{}
	bubble(t, settings(), func(r *rig) {
		r.config.Queue.Durable = true
		r.wrap = func(j store.Journal) store.Journal { slow.Journal = j; return slow }
	}, func(r *rig) {
		m := numbered(1, -1)
		m.Persistent = true
		r.settled(batch(r.channel, m))
		r.settled(&mail.Consume{Request: mail.Request{ReplyTo: r.channel.pid}, Channel: r.channel.pid, Tag: "x", NoAck: true})
		time.Sleep(time.Second)
		synctest.Wait()
		for n := len(r.channel.mail); n > 0; n-- {
			a := <-r.channel.mail
			if d, ok := a.what.(*mail.Deliver); ok {
				d.Release()
				if len(slow.told) != 1 || a.at.Before(slow.told[0]) {
					t.Errorf("delivered at %v, the journal was told at %v", a.at, slow.told)
				}
				return
			}
		}
		t.Error("not delivered")
	})
}
