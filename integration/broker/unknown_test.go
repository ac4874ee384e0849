package broker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/storage/definitions"
	journals "candlemark/internal/storage/store"
	"candlemark/internal/storage/store/memory"
	"candlemark/supervision"

	"github.com/rs/zerolog"
)

// TestOlderDefinitionsKeepMessages: the broker refuses to start with definitions that lack queues of the journal, and names
// these; their messages are present when the newest definitions are restored.
func TestOlderDefinitionsKeepMessages(t *testing.T) {
	older := definitions.NewMemory()
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		durable(b, ch, "q", nil)
		durable(b, ch, "other", nil)
		stores(b, ch, "", "q", persistent("1", ""), persistent("2", ""))
		stores(b, ch, "", "other", persistent("3", ""))
		older = definitions.NewMemory()
		if _, err := definitions.Wait(older, definitions.Change{Put: []any{auth.VHost{Name: "/"}}}); err != nil {
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
		for _, part := range []string{
			"3 messages of 2 queues", "queue 'q' in vhost '/' (number ", ") has 2", "queue 'other' in vhost '/' (number ", ") has 1", "candlemark journal adopt", "candlemark journal drop", "nothing was dropped",
		} {
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

// TestDeletedQueueAtACrash: a broker that ends between the two steps of a deletion starts without the queue and without
// intervention, and then removes it from the definitions.
func TestDeletedQueueAtACrash(t *testing.T) {
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		durable(b, ch, "q", nil)
		stores(b, ch, "", "q", persistent("1", ""))
		if _, err := definitions.Wait(b.Meta, definitions.Change{Delete: []any{definitions.Queue{VHost: "/", Name: "q"}}}); err != nil {
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

// TestDeletedQueuesAreForgotten: the definitions record a deleted queue only until its messages are deleted.
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

// TestNamesInTheJournal: the journal records the name of a durable queue from its first message until its end, and no other
// names.
func TestNamesInTheJournal(t *testing.T) {
	name := journals.Name{VHost: "/", Queue: "q"}
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		for _, queue := range []string{"q", "never used", "deleted"} {
			durable(b, ch, queue, nil)
		}
		if _, err := ch.QueueDeclare("transient", false, false, false, false, nil); err != nil {
			b.Fatal(err)
		}
		for _, queue := range []string{"q", "deleted", "transient"} {
			stores(b, ch, "", queue, persistent("1", ""))
		}
		if _, err := ch.QueueDelete("deleted", false, false, false); err != nil {
			b.Fatal(err)
		}
		b.Advance(time.Second)
		if got := slices.Collect(maps.Values(b.Journal.Names())); !slices.Equal(got, []journals.Name{name}) {
			b.Errorf("names %v", got)
		}
		if got := ch.Drain("q"); len(got) != 1 {
			b.Errorf("drained %q", got)
		}
	}, 0, func(b *testkit.Bubble, _ *testkit.Channel) {
		if got := slices.Collect(maps.Values(b.Journal.Names())); !slices.Equal(got, []journals.Name{name}) {
			b.Errorf("names after a start: %v", got)
		}
	})
}

// TestNamesAreRecordedByAStart: in a data folder without names, a start records the names of queues that have messages and
// removes names of unknown queues without messages; a start that is refused reports a queue without a name by its number.
func TestNamesAreRecordedByAStart(t *testing.T) {
	var id journals.QueueID
	again(t, func(b *testkit.Bubble, ch *testkit.Channel) {
		durable(b, ch, "q", nil)
		stores(b, ch, "", "q", persistent("1", ""))
		for id = range b.Journal.Names() { // the only one
			list := recall(b, id)
			b.Journal.Append(id, []journals.Record{{Kind: journals.Retire}, {Kind: journals.Put, First: list[0].Seq, Last: list[0].Seq, Deadline: journals.Never, TTL: -1}}, nil)
		}
		b.Journal.Append(1<<50, []journals.Record{journals.Naming(journals.Name{VHost: "/", Queue: "empty"})}, nil)
		b.Advance(time.Second)

		var log strings.Builder
		older, reopened := definitions.NewMemory(), b.Journal.Reopen(memory.Options{})
		if _, err := definitions.Wait(older, definitions.Change{Put: []any{auth.VHost{Name: "/"}}}); err != nil {
			b.Fatal(err)
		}
		_, err := supervision.Start(supervision.Config{Journal: reopened, Meta: older, Log: zerolog.New(&log)})
		want := fmt.Sprintf("queue number %d (name not recorded) has 1", id)
		if !errors.Is(err, supervision.ErrUnknownQueues) || !strings.Contains(err.Error(), want) || !strings.Contains(log.String(), fmt.Sprintf(`"number":%d,"messages":1`, id)) {
			b.Errorf("start: %v\n%s", err, log.String())
		}
		if names := reopened.Names(); len(names) != 1 {
			b.Errorf("a refused start changed the names: %v", names)
		}
		if err := errors.Join(reopened.Close(), older.Close()); err != nil {
			b.Error(err)
		}
		b.Journal = reopened
	}, 0, func(b *testkit.Bubble, _ *testkit.Channel) {
		b.Advance(time.Second)
		if names := b.Journal.Names(); len(names) != 1 || names[id] != (journals.Name{VHost: "/", Queue: "q"}) {
			b.Errorf("names %v", names)
		}
	})
}

func recall(b *testkit.Bubble, id journals.QueueID) (list []journals.Recovered) {
	done := make(chan []journals.Recovered, 1)
	b.Journal.Recall(id, func(list []journals.Recovered, _ error) { done <- list })
	return <-done
}
