package cluster

import (
	"sync"

	"github.com/hashicorp/raft"
)

// AppendEntriesPipeline implements raft.Transport.
func (t *transport) AppendEntriesPipeline(id raft.ServerID, to raft.ServerAddress) (raft.AppendPipeline, error) {
	p, err := t.NetworkTransport.AppendEntriesPipeline(id, to)
	if err != nil {
		return nil, err
	}
	return newPipeline(p), nil
}

// pipeline has calls whose answers come later. Raft reads no answer after one without success, and sends further calls meanwhile, for which its own
// pipeline waits for ever: the node would get nothing until another one leads. Here answers are always read, and calls fail then.
type pipeline struct {
	raft.AppendPipeline
	answers chan raft.AppendFuture
	broken  chan struct{} // closed after an answer without success
	closed  chan struct{}
	once    sync.Once
}

func newPipeline(p raft.AppendPipeline) *pipeline {
	n := &pipeline{AppendPipeline: p, answers: make(chan raft.AppendFuture), broken: make(chan struct{}), closed: make(chan struct{})}
	go n.run()
	return n
}

// run passes answers on, up to the first one without success.
func (p *pipeline) run() {
	for broken := false; ; {
		var f raft.AppendFuture
		select {
		case f = <-p.AppendPipeline.Consumer():
		case <-p.closed:
			return
		}
		if broken {
			continue
		}
		if f.Error() != nil || !f.Response().Success {
			broken = true
			close(p.broken)
		}
		select {
		case p.answers <- f:
		case <-p.closed:
			return
		}
	}
}

// AppendEntries implements raft.AppendPipeline.
func (p *pipeline) AppendEntries(c *raft.AppendEntriesRequest, a *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	select {
	case <-p.broken:
		return nil, raft.ErrPipelineShutdown
	default:
	}
	shorten(c)
	return p.AppendPipeline.AppendEntries(c, a)
}

// Consumer implements raft.AppendPipeline.
func (p *pipeline) Consumer() <-chan raft.AppendFuture { return p.answers }

// Close implements raft.AppendPipeline.
func (p *pipeline) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.AppendPipeline.Close()
}
