package session

import (
	"candlemark/actors/channel/trace"
	"candlemark/actors/mail"
)

// newTracer makes what copies to the trace exchange, with the number of the session where channels have theirs.
func newTracer(s *state) trace.Tracer {
	c := &s.cfg
	return trace.Tracer{
		Origin: trace.Origin{Node: c.Node, VHost: c.VHost.Name, Connection: c.ConnectionName, User: c.User.Name, Channel: c.Channel},
		VHost:  c.VHost, Routes: s.routes, Batches: &s.batches, Log: c.Log,
	}
}

// traceDelivery copies what a link got of a queue.
func traceDelivery(s *state, queue string, d *mail.Delivery) {
	if s.cfg.VHost.Tracing() {
		header, _ := d.Message.Overlay.Header(d.Message.Header) // none if it cannot be read
		s.tracer.Delivered(queue, &d.Message, header, d.Redelivered)
	}
}
