package broker

import (
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/storage/store/memory"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
)

// pauseFor simulates a pause of the process for d: nothing can read the clock. Timers fire during the pause, which is
// the worst case at resume.
func (l *laptop) pauseFor(b *testkit.Bubble, d time.Duration) {
	resumed := make(chan struct{})
	l.paused.Store(&resumed)
	b.Advance(d)
	l.paused.Store(nil)
	close(resumed)
}

// Commands that wait for the journal are answered however long the process was paused; without a pause a commit waits for at most
// 30 s.
func TestPauseIsNoWait(t *testing.T) {
	for _, row := range []struct {
		name           string
		pause, journal time.Duration
		text           string
	}{
		{"paused for longer than any wait", time.Minute, 75 * time.Second, ""},
		{"not paused", 0, 75 * time.Second, "no answer to tx.commit within 30s"},
		{"paused, then no answer", time.Minute, 100 * time.Second, "no answer to tx.commit within 30s"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var journal *memory.Journal
			onLaptop(t, func(b *testkit.Bubble, l *laptop) {
				b.Cleanup(func() { _ = journal.Close() })
				paused(b, l, row.pause, row.text)
			}, func(cfg *supervision.Config) {
				journal = memory.New(memory.Options{Delay: row.journal})
				cfg.Journal = journal
			})
		})
	}
}

func paused(b *testkit.Bubble, l *laptop, pause time.Duration, text string) {
	b.Log.Allow("no answer to tx.commit")
	committer, confirmer := b.Connect().Open(), b.Connect().Open()
	if _, err := committer.QueueDeclare("q", true, false, false, false, nil); err != nil {
		b.Fatal(err)
	}
	if err := committer.Tx(); err != nil {
		b.Fatal(err)
	}
	confirmer.Confirms()
	lasting := amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte("m")}
	committer.Send("", "q", lasting)
	committed := make(chan error, 1)
	go func() { committed <- committer.TxCommit() }()
	confirmed := confirmer.Begin("", "q", false, lasting)
	b.Advance(5 * time.Second)
	l.pauseFor(b, pause)
	err := testkit.Receive(b, committed)
	switch {
	case text == "" && err != nil:
		b.Errorf("tx.commit: %v", err)
	case text != "" && (err == nil || !strings.Contains(err.Error(), text)):
		b.Errorf("tx.commit: %v, want %s", err, text)
	}
	if !confirmer.Await(confirmed) {
		b.Error("the publish was not confirmed")
	}
}
