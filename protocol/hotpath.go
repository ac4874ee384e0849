package protocol

import "encoding/binary"

// The methods of the hot path, without a struct and without allocation: basic.publish and basic.ack in, basic.deliver, basic.ack and
// basic.nack out.
//
//	basic.publish │ 60 2 │ 40 2 │ ticket 2 │ exchange 1+n │ routing key 1+n │ mandatory, immediate 1 │
//	basic.deliver │ 60 2 │ 60 2 │ consumer tag 1+n │ delivery tag 8 │ redelivered 1 │ exchange 1+n │ routing key 1+n │
//	basic.ack     │ 60 2 │ 80 2 │ delivery tag 8 │ multiple 1 │
//	basic.nack    │ 60 2 │ 120 2 │ delivery tag 8 │ multiple, requeue 1 │

const (
	publishFixed = 4 + 2 + 1 + 1 + 1 // bytes of a basic.publish with two empty names
	ackSize      = 4 + 8 + 1
)

// PublishView is a basic.publish whose names alias the payload that it was decoded from. As in RabbitMQ they need not be UTF-8.
type PublishView struct {
	Exchange, RoutingKey []byte
	Mandatory, Immediate bool
}

// DecodePublish reads the payload of a basic.publish frame into v and allocates nothing. Arguments that do not fit are
// *ConnectionError 501.
func DecodePublish(payload []byte, v *PublishView) error {
	if len(payload) < publishFixed {
		return cannotDecode(payload[min(4, len(payload)):], classBasic, 40)
	}
	key := 7 + int(payload[6]) // offset of the routing key's length
	if len(payload) < key+2 {
		return cannotDecode(payload[4:], classBasic, 40)
	}
	end := key + 1 + int(payload[key]) // offset of the bits
	if len(payload) != end+1 {
		return cannotDecode(payload[4:], classBasic, 40)
	}
	v.Exchange, v.RoutingKey = payload[7:key:key], payload[key+1:end:end]
	v.Mandatory, v.Immediate = bit(payload[end], 0), bit(payload[end], 1)
	return nil
}

// DecodeAck reads the payload of a basic.ack frame and allocates nothing. Arguments that do not fit are *ConnectionError 501.
func DecodeAck(payload []byte) (tag uint64, multiple bool, err error) {
	if len(payload) != ackSize {
		return 0, false, cannotDecode(payload[min(4, len(payload)):], classBasic, 80)
	}
	return binary.BigEndian.Uint64(payload[4:]), bit(payload[12], 0), nil
}

// AppendDeliverFrame appends a basic.deliver frame. The three names must not exceed 255 bytes; longer ones are cut.
func AppendDeliverFrame(dst []byte, channel uint16, consumerTag string, deliveryTag uint64, redelivered bool, exchange, routingKey []byte) []byte {
	dst, start := openMethod(dst, channel, classBasic, 60)
	dst = appendShort(dst, consumerTag)
	dst = append(appendU64(dst, deliveryTag), octet(redelivered))
	return closeFrame(appendShort(appendShort(dst, exchange), routingKey), start)
}

// AppendAckFrame appends a basic.ack frame: a publisher confirm, when the server sends it.
func AppendAckFrame(dst []byte, channel uint16, deliveryTag uint64, multiple bool) []byte {
	return appendSettleFrame(dst, channel, 80, deliveryTag, octet(multiple))
}

// AppendNackFrame appends a basic.nack frame: a refused publish, when the server sends it.
func AppendNackFrame(dst []byte, channel uint16, deliveryTag uint64, multiple, requeue bool) []byte {
	return appendSettleFrame(dst, channel, 120, deliveryTag, octet(multiple, requeue))
}

func appendSettleFrame(dst []byte, channel, method uint16, deliveryTag uint64, flags byte) []byte {
	dst = appendFrameHeader(dst, FrameMethod, channel, ackSize)
	dst = appendU32(dst, classBasic<<16|uint32(method))
	return append(appendU64(dst, deliveryTag), flags, FrameEnd)
}
