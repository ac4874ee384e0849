package supervision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/topology"
	"candlemark/protocol"
)

// settleTimeout is how long queues may take to handle the mail that connections left.
const settleTimeout = 5 * time.Second

// Stop ends the broker in order: it closes the listeners, closes every connection with CONNECTION_FORCED, waits until
// the connections have returned their deliveries and the queues have passed all records to the journal, and ends the
// tree. It waits 3 s for a client that does not answer. ctx bounds the wait for connections in addition to StopTimeout;
// remaining connections are cut off, which the error reports. The owner of the journal closes it afterwards.
func (n *Node) Stop(ctx context.Context) error {
	n.mu.Lock()
	already := n.stopping
	n.stopping = true
	for _, l := range n.listeners {
		_ = l.Close()
	}
	n.mu.Unlock()
	if already {
		return nil
	}
	n.serving.Wait()
	var err error
	if n.moves != nil {
		n.moves.End()
	}
	if n.root != nil {
		n.schedules.End()
		n.parameters.End() // before their connections are closed, or they would open new ones
		err = errors.Join(n.leave(ctx), n.settle(ctx))
		n.nodes.end()
		if n.endEvents != nil {
			n.endEvents()
		}
		n.monitor.End()
		n.clockWatcher.end()
		err = errors.Join(err, n.system.Root.StopFuture(n.root).Wait())
	}
	n.loops.Close()
	n.dispatcher.Stop()
	n.system.Shutdown()
	return err
}

// leave waits until the connections have gone.
func (n *Node) leave(ctx context.Context) error {
	gone := make(chan struct{})
	n.asker.Post(n.root, closeAll{
		reason: protocol.ConnectionErrorf(protocol.ConnectionForced, "broker forced connection closure with reason 'shutdown'"),
		gone:   gone,
	})
	late := make(chan struct{})
	defer n.clock.After(n.cfg.StopTimeout, func() { close(late) }).Stop()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late:
		return errors.New("connections did not close in time")
	}
}

// settle waits until every queue has handled its pending mail, every virtual host has handled the consequences, for
// example deleted an exchange with its last binding, and no message is on its way between queues, or it would be in
// both after a restart. The end of an actor overtakes its mail (PRO-1), so acknowledgements that clients have sent long
// ago would be lost.
func (n *Node) settle(ctx context.Context) error {
	ctx, cancel := n.clock.WithTimeout(ctx, settleTimeout)
	defer cancel()
	vhosts := n.vhosts.List("")
	var queues []*topology.Queue
	for _, v := range vhosts {
		queues = slices.AppendSeq(queues, v.Directory().Keepers())
	}
	handled := func() error {
		return n.answered(ctx, "queues", len(queues), func(i int, r mail.Request) (mail.Address, any) {
			return queues[i].PID, &mail.DescribeQueue{Request: r}
		})
	}
	return errors.Join(handled(), n.answered(ctx, "virtual hosts", len(vhosts), func(i int, r mail.Request) (mail.Address, any) {
		return vhosts[i].PID, &mail.AwaitIdle{Request: r}
	}), n.answered(ctx, "dead-letter actors", len(vhosts), func(i int, r mail.Request) (mail.Address, any) {
		return vhosts[i].DeadLetter, &mail.FinishDeadLetters{Request: r}
	}), handled())
}

// answered sends count requests, and fails if not all are answered in time.
func (n *Node) answered(ctx context.Context, whom string, count int, ask func(i int, r mail.Request) (mail.Address, any)) error {
	silent := count
	_ = n.asker.All(ctx, count, func(i int, r mail.Request) { n.asker.Post(ask(i, r)) }, func(any) { silent-- })
	if silent > 0 {
		return fmt.Errorf("%d %s did not finish in time", silent, whom)
	}
	return nil
}
