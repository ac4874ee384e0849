package channel

import "candlemark/actors/system/mail"

// traceDeliveries traces deliveries of a queue to a consumer or basic.get.
func (s *state) traceDeliveries(queue string, items []mail.Delivery) {
	for i := range items {
		d := &items[i]
		s.queues.Tracer.Delivered(queue, &d.Message, s.output.HeaderOf(d), d.Redelivered)
	}
	s.queues.Flush()
}
