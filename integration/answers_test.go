package integration

import (
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// TestAnswersSurviveKill_DUR3: what clients were told to be gone does not come back, however early the broker is killed
// after the answers.
func TestAnswersSurviveKill_DUR3(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	flags := []string{"--servicebus-emulator", "--servicebus-http", "127.0.0.1:0"}
	b := startIn(t, dir, flags...)
	ends := map[string]func(){}
	ends["purge"] = func() {
		c := b.dial()
		_, err := c.QueuePurge("purge", false)
		c.must(err)
	}
	ends["purge.http"] = func() {
		b.request("DELETE", "/api/queues/%2F/purge.http/contents", "", http.StatusNoContent)
	}
	ends["tx"] = func() {
		c := b.dial()
		ch, err := c.conn.Channel()
		c.must(err)
		c.must(ch.Tx())
		for range c.length("tx") {
			d, _, err := ch.Get("tx", false)
			c.must(err)
			c.must(d.Ack(false))
		}
		c.must(ch.TxCommit())
	}
	a := b.azure()
	ends["complete"] = func() {
		r := a.receiver("complete", nil)
		for left := 5; left > 0; {
			got, err := r.ReceiveMessages(a.ctx, left, nil)
			a.ok(err)
			for _, m := range got {
				a.ok(r.CompleteMessage(a.ctx, m, &azservicebus.CompleteMessageOptions{}))
			}
			left -= len(got)
		}
	}
	c := b.dial()
	for queue := range ends {
		c.durable(queue, nil)
		c.persistent(queue, "1", "2", "3", "4", "5")
	}
	var all sync.WaitGroup
	for _, end := range ends {
		all.Go(end)
	}
	all.Wait()
	b.kill()
	b = startIn(t, dir, flags...)
	for queue := range ends {
		if n := b.dial().length(queue); n != 0 {
			t.Errorf("%s: %d messages came back", queue, n)
		}
	}
	b.stop()
}
