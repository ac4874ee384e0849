package queries

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"
)

// A user whose queries wait keeps nobody else from waiting; the rest is refused at once.
func TestTurns_ACC10(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, served := newTurns(), map[string]int{}
		as := func(user string) context.Context {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			t.Cleanup(cancel)
			return events.WithOrigin(ctx, &events.Origin{User: user})
		}
		refused := 0
		for range 20 {
			go func() {
				leave, err := all.take(as("greedy"))
				if errors.Is(err, management.ErrBusy) {
					refused++
					return
				}
				time.Sleep(time.Second)
				served["greedy"]++
				leave()
			}()
			synctest.Wait()
		}
		leave, err := all.take(as("other"))
		if err != nil || refused != 20-perUser || served["greedy"] > perUser {
			t.Fatal(err, refused, served)
		}
		leave()
		time.Sleep(time.Minute)
		ctx, cancel := context.WithCancel(as("greedy"))
		hold, err := all.take(as("other"))
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := all.take(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		hold()
		if len(all.of) != 0 || len(all.running) != 0 {
			t.Errorf("%v, %d run", all.of, len(all.running))
		}
	})
}
