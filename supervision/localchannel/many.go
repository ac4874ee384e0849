package localchannel

import (
	"context"
	"sync"
	"sync/atomic"

	"candlemark/internal/access/auth"
	"candlemark/protocol"
)

// atOnce is the number of concurrent commands of RunAll, which share a write of the definitions to the disk.
const atOnce = 64

// RunAll implements management.Commands.
func (c *Commands) RunAll(ctx context.Context, by auth.User, vhost string, all []protocol.Method, done func(i int, err error)) error {
	var next atomic.Int64
	var reporting sync.Mutex
	var workers sync.WaitGroup
	for range min(len(all), atOnce) {
		workers.Go(func() {
			w := &worker{commands: c, by: by, vhost: vhost}
			defer w.leave(ctx)
			for i := int(next.Add(1)) - 1; i < len(all) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				err := w.run(ctx, all[i])
				reporting.Lock()
				done(i, err)
				reporting.Unlock()
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}

// worker runs one command after the other on a channel, and on a new channel after each refusal, which closes the old
// one.
type worker struct {
	commands *Commands
	by       auth.User
	vhost    string
	channel  *localChannel // nil for none yet
}

func (w *worker) run(ctx context.Context, m protocol.Method) (err error) {
	if w.channel == nil {
		if w.channel, err = w.commands.open(ctx, w.by, w.vhost, auth.Unchecked{}); err != nil {
			return err
		}
	}
	w.channel.method(m)
	if _, err = w.channel.next(ctx); err != nil {
		w.leave(ctx)
	}
	return err
}

func (w *worker) leave(ctx context.Context) {
	if w.channel != nil {
		w.channel.leave(ctx)
		w.channel = nil
	}
}
