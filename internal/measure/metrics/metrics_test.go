package metrics

import (
	"slices"
	"testing"
	"time"

	"candlemark/internal/measure/queuestats"
)

// Queues report changes of their numbers; the total is the sum of the latest reports, and queues that end leave only their counters in it.
func TestSumsFollowTheQueues(t *testing.T) {
	var all Queues
	type reporter struct {
		share    *Share
		reported queuestats.Sums
	}
	var queues []*reporter
	for i := range 2 * shards {
		queues = append(queues, &reporter{share: all.Of(Quorum, uint64(i))})
	}
	want := queuestats.Sums{}
	for i, q := range queues {
		now := queuestats.Sums{queuestats.Ready: int64(i), queuestats.UnackedBytes: 100, queuestats.Enqueued: int64(2 * i)}
		q.share.Report(&q.reported, &now)
		now[queuestats.Ready]++
		now[queuestats.UnackedBytes] = 0
		q.share.Report(&q.reported, &now)
		want.Add(&now)
	}
	if got := all.Total(Quorum); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	held := &reporter{share: all.Of(Holder, 1)}
	held.share.Report(&held.reported, &queuestats.Sums{queuestats.Scheduled: 7})
	if got := all.All(); got != want {
		t.Errorf("%v, want %v: a holder is no queue", got, want)
	}
	for _, q := range queues {
		q.share.Forget(&q.reported)
	}
	if got := all.Total(Quorum); got != (queuestats.Sums{queuestats.Enqueued: want[queuestats.Enqueued]}) {
		t.Errorf("%v is left; what was counted was %d", got, want[queuestats.Enqueued])
	}
}

func TestKinds(t *testing.T) {
	for _, test := range []struct {
		queueType string
		holder    bool
		want      Kind
	}{{"classic", false, Classic}, {"quorum", false, Quorum}, {"stream", false, Stream}, {"classic", true, Holder}} {
		if got := KindOf(test.queueType, test.holder); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

// Values recorded in runs give the same histogram as single values.
func TestRunsAreTheValues(t *testing.T) {
	var all Queues
	var one Lateness
	late := Late{Share: all.Of(Classic, 3)}
	for _, d := range []time.Duration{0, 1, 100 * time.Microsecond, 100*time.Microsecond + 1, 700, 700, 700, time.Minute, time.Minute + 1, time.Hour, -5} {
		one.Observe(d)
		late.Expired(1000, 1000*1e6+int64(d))
		late.Released(2000, 2000*1e6+int64(d))
	}
	late.Flush()
	want := one.Buckets()
	for what, got := range map[string]Buckets{"expired": all.Expired(), "released": all.Released()} {
		if !slices.Equal(got.Counts, want.Counts) || got.Sum != want.Sum {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	if n := len(want.Counts); want.Counts[0] != 7 || want.Counts[1] != 1 || want.Counts[n-2] != 1 || want.Counts[n-1] != 2 || want.Count() != 11 {
		t.Errorf("%+v", want)
	}
	(&Late{}).Expired(1, 2) // without a Share
}

// Upper bounds are inclusive, as in Prometheus, and the last bucket contains all larger values.
func TestSizes(t *testing.T) {
	var a, b, sum Published
	for _, bytes := range []int{0, 100, 101, 1000, 50_000_000, 100_000_000, 100_000_001} {
		a.Count(bytes, 2, bytes > 0)
	}
	b.Count(7, 0, false)
	sum.Add(&a)
	sum.Add(&b)
	got := sum.Sizes()
	if want := []uint64{3, 2, 0, 0, 0, 0, 1, 1, 1}; !slices.Equal(got.Counts, want) || got.Sum != 250_001_209 || sum.Routed != 14 || sum.Confirm != 6 {
		t.Errorf("%+v, %+v", got, sum)
	}
	b.AtLeast(&sum)
	if b != sum {
		t.Errorf("%+v, want %+v", b, sum)
	}
}

// Reporting a queue's numbers does not allocate.
func TestReportsDoNotAllocate(t *testing.T) {
	var all Queues
	var reported, now queuestats.Sums
	late := Late{Share: all.Of(Classic, 0)}
	if n := testing.AllocsPerRun(100, func() {
		now[queuestats.Ready]++
		now[queuestats.Enqueued]++
		late.Expired(1, 1e6)
		late.Flush()
		late.Share.Report(&reported, &now)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
