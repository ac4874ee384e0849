package cluster_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	trios "candlemark/integration/testkit/trio"
	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/cluster/pace"
	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/vfs"
)

// TestSlowDisk_CLU37: a leader whose disk is much slower than the others' for a while hands over, with the reason, once; a bit slower it stays.
func TestSlowDisk_CLU37(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		delays := map[string]*atomic.Int64{}
		c := trios.New(t, 800*time.Millisecond, func(c *cluster.Config) {
			delays[c.Name] = &atomic.Int64{}
			delays[c.Name].Store(int64(2 * time.Millisecond))
			c.FS, c.Hang = lazy{vfs.NewMemory(uint64(len(delays))), delays[c.Name]}, time.Hour
		})
		defer c.Close()
		// leads stores messages for d, and reports whether the leader stayed; why has the reason why not.
		seq, why := uint64(0), ""
		leads := func(d time.Duration) bool {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
				seq++
				c.Journal.Append(1, []store.Record{message(seq, nil)}, func(error) {})
				if s := c.Node(c.Leader).Status().Slow; s != "" {
					why = s
				}
				select {
				case <-c.Deposed(c.Leader):
					return false
				default:
				}
			}
			return true
		}
		slow := c.Leader
		delays[slow].Store(int64(20 * time.Millisecond))
		if !leads(pace.Reign + time.Minute) {
			t.Fatalf("a disk that is a bit slower: %s", why)
		}
		delays[slow].Store(int64(200 * time.Millisecond))
		if leads(2 * time.Minute) {
			t.Fatal("it stays")
		}
		if why == "" {
			t.Error("no reason")
		}
		c.Lead(slow)
		if why = ""; !leads(3 * time.Minute) {
			t.Errorf("the office goes on: %s", why)
		}
	})
}
