package supervision_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/internal/auth"
	"candlemark/internal/meta"
	"candlemark/internal/store/memory"
	"candlemark/internal/testkit"
	"candlemark/supervision"

	"github.com/rs/zerolog"
)

// TestOlderDefinitionsKeepMessages: a start over definitions that do not know queues of the journal is refused and says which, and what
// they have is there when the newest definitions are back.
func TestOlderDefinitionsKeepMessages(t *testing.T) {
	older := meta.NewMemory()
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		durable(b, ch, "q", nil)
		durable(b, ch, "other", nil)
		stores(b, ch, "", "q", persistent("1", ""), persistent("2", ""))
		stores(b, ch, "", "other", persistent("3", ""))
		older = meta.NewMemory()
		if _, err := meta.Wait(older, meta.Change{Put: []any{auth.VHost{Name: "/"}}}); err != nil {
			b.Fatal(err)
		}
		journal := b.Journal.Reopen(memory.Options{})
		n, err := supervision.Start(supervision.Config{Journal: journal, Meta: older, Log: zerolog.Nop()})
		if n != nil {
			_ = n.Stop(context.Background())
		}
		if !errors.Is(err, supervision.ErrUnknownQueues) {
			b.Fatalf("start: %v", err)
		}
		for _, part := range []string{"3 messages of 2 queues", " has 2", " has 1", "candlemark journal drop"} {
			if !strings.Contains(err.Error(), part) {
				b.Errorf("%q is not in %s", part, err)
			}
		}
		if err := errors.Join(journal.Close(), older.Close()); err != nil {
			b.Error(err)
		}
		b.Journal = journal
	}, 0, func(b *testkit.Bubble, ch *testkit.Channel) {
		if got := append(ch.Drain("q"), ch.Drain("other")...); !slices.Equal(got, []string{"1", "2", "3"}) {
			b.Errorf("left: %q", got)
		}
	})
}

// TestDeletedQueueAtACrash: a broker that ends between the two steps of a deletion starts by itself, without the queue; and the
// definitions forget it then.
func TestDeletedQueueAtACrash(t *testing.T) {
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		durable(b, ch, "q", nil)
		stores(b, ch, "", "q", persistent("1", ""))
		if _, err := meta.Wait(b.Meta, meta.Change{Delete: []any{meta.Queue{VHost: "/", Name: "q"}}}); err != nil {
			b.Fatal(err)
		}
	}, 0, func(b *testkit.Bubble, ch *testkit.Channel) {
		b.Advance(time.Second)
		if d, err := b.Meta.Load(); err != nil || len(d.Ended) != 0 || b.Queue("q") != nil {
			b.Errorf("%v, %v, queue %v", d.Ended, err, b.Queue("q"))
		}
		b.Restart(0)
	})
}

// TestDeletedQueuesAreForgotten: the definitions remember a deleted queue only until its messages are gone.
func TestDeletedQueuesAreForgotten(t *testing.T) {
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		for range 20 {
			durable(b, ch, "q", nil)
			stores(b, ch, "", "q", persistent("1", ""))
			if _, err := ch.QueueDelete("q", false, false, false); err != nil {
				b.Fatal(err)
			}
		}
		b.Advance(time.Second)
		if d, err := b.Meta.Load(); err != nil || len(d.Ended) != 0 {
			b.Errorf("ended %v, %v", d.Ended, err)
		}
	}, 0, func(b *testkit.Bubble, _ *testkit.Channel) {
		if b.Queue("q") != nil {
			b.Error("it is back")
		}
	})
}
