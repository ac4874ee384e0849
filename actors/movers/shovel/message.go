package shovel

import (
	"maps"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// The headers with the path of a message.
const (
	routeHeader = "x-shovelled"
	timeHeader  = "x-shovelled-timestamp"
)

// target returns where to publish a delivery.
func (s *session) target(d *amqp.Delivery) (exchange, key string) {
	to := &s.Work.To
	if to.Queue != "" {
		return "", to.Queue
	}
	exchange, key = d.Exchange, d.RoutingKey
	if to.Exchange != nil {
		exchange = *to.Exchange
	}
	if to.Key != nil {
		key = *to.Key
	}
	return exchange, key
}

// message converts a delivery to a publish, with the shovel's changes. The time of its expiration starts again.
func (s *session) message(d *amqp.Delivery, now time.Time) amqp.Publishing {
	m := amqp.Publishing{
		Headers: d.Headers, ContentType: d.ContentType, ContentEncoding: d.ContentEncoding, DeliveryMode: d.DeliveryMode,
		Priority: d.Priority, CorrelationId: d.CorrelationId, ReplyTo: d.ReplyTo, Expiration: d.Expiration, MessageId: d.MessageId,
		Timestamp: d.Timestamp, Type: d.Type, UserId: d.UserId, AppId: d.AppId, Body: d.Body,
	}
	s.setProperties(&m)
	if !s.Work.Forwarded && !s.Work.Timestamped {
		return m
	}
	if m.Headers = maps.Clone(m.Headers); m.Headers == nil {
		m.Headers = amqp.Table{}
	}
	if s.Work.Forwarded {
		earlier, _ := m.Headers[routeHeader].([]any)
		m.Headers[routeHeader] = append([]any{s.route}, earlier...)
	}
	if s.Work.Timestamped {
		m.Headers[timeHeader] = now.Unix()
	}
	return m
}

func (s *session) setProperties(m *amqp.Publishing) {
	p := &s.Work.Properties
	for from, to := range map[*string]*string{
		p.ContentType: &m.ContentType, p.ContentEncoding: &m.ContentEncoding, p.CorrelationID: &m.CorrelationId, p.ReplyTo: &m.ReplyTo,
		p.Expiration: &m.Expiration, p.MessageID: &m.MessageId, p.Type: &m.Type, p.UserID: &m.UserId, p.AppID: &m.AppId,
	} {
		if from != nil {
			*to = *from
		}
	}
	if p.DeliveryMode != nil {
		m.DeliveryMode = *p.DeliveryMode
	}
	if p.Priority != nil {
		m.Priority = *p.Priority
	}
	if p.Timestamp != nil {
		m.Timestamp = time.Unix(*p.Timestamp, 0)
	}
}

// routed returns the entry of this shovel for the header with the path.
func (s *session) routed() amqp.Table {
	from, to := &s.Work.From, &s.Work.To
	t := amqp.Table{
		"shovelled-by": s.Cluster(), "shovel-type": "dynamic", "shovel-name": s.Work.Name, "shovel-vhost": s.Work.VHost,
		"src-uri": s.source.uri.String(), "dest-uri": s.destination.uri.String(),
	}
	if from.Queue != "" {
		t["src-queue"] = from.Queue
	} else {
		t["src-exchange"], t["src-exchange-key"] = from.Exchange, from.Key
	}
	if to.Queue != "" {
		t["dest-queue"] = to.Queue
	}
	if to.Exchange != nil {
		t["dest-exchange"] = *to.Exchange
	}
	if to.Key != nil {
		t["dest-exchange-key"] = *to.Key
	}
	return t
}
