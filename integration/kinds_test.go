package integration

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"candlemark/protocol"
)

// brokenInput returns all kinds of invalid input, by name.
func brokenInput() map[string]broken {
	all := map[string]broken{}
	add := func(name string, at phase, say []byte) {
		if _, twice := all[name]; twice {
			panic(name)
		}
		all[name] = broken{at, say}
	}
	brokenFrames(add)
	brokenStates(add)
	brokenArguments(add)
	brokenTables(add)
	brokenHeaders(add)
	brokenHandshakes(add)
	return all
}

type adder func(name string, at phase, say []byte)

// raw returns a frame with arbitrary fields.
func raw(kind byte, channel uint16, size uint32, payload []byte, end byte) []byte {
	f := []byte{kind, byte(channel >> 8), byte(channel), byte(size >> 24), byte(size >> 16), byte(size >> 8), byte(size)}
	return append(append(f, payload...), end)
}

func brokenFrames(add adder) {
	for _, kind := range []byte{0, 4, 5, 6, 7, 9, 'A', 0x7f, 0xff} {
		add(fmt.Sprintf("frame of type %d", kind), opened, frameOf(kind, 1, 0, 60, 0, 40))
		add(fmt.Sprintf("frame of type %d, empty, on 0", kind), opened, frameOf(kind, 0))
	}
	get := method(1, &protocol.BasicGet{Queue: "none", NoAck: true})
	for _, end := range []byte{0, 1, 0xcd, 0xcf, 0xff} {
		add(fmt.Sprintf("frame end %#x", end), opened, append(bytes.Clone(get[:len(get)-1]), end))
	}
	for _, channel := range []uint16{2, 2047, 2048, 0x7fff, 0xffff} {
		add(fmt.Sprintf("method on channel %d", channel), opened, method(channel, &protocol.BasicGet{Queue: "none"}))
		add(fmt.Sprintf("header on channel %d", channel), opened, protocol.AppendHeaderFrame(nil, channel, 1, []byte{0, 0}))
		add(fmt.Sprintf("body on channel %d", channel), opened, protocol.AppendBodyFrames(nil, channel, []byte("x"), frameMax))
		add(fmt.Sprintf("channel.open on channel %d", channel), opened, method(channel, &protocol.ChannelOpen{}))
	}
	for n := range 4 {
		add(fmt.Sprintf("method of %d bytes", n), opened, frameOf(1, 1, make([]byte, n)...))
		add(fmt.Sprintf("method of %d bytes on 0", n), opened, frameOf(1, 0, make([]byte, n)...))
	}
	for _, size := range []uint32{frameMax - 7, frameMax, 1 << 20, 1 << 31, 1<<32 - 1} {
		for kind, what := range map[byte]string{1: "method", 2: "header", 3: "body", 8: "heartbeat"} {
			add(fmt.Sprintf("%s said to have %d bytes", what, size), opened, raw(kind, 1, size, []byte("short"), protocol.FrameEnd))
		}
	}
	add("body beyond frame-max", flooding, protocol.AppendBodyFrames(nil, 1, make([]byte, frameMax+1), 0))
	add("method that is one byte beyond frame-max", opened, raw(1, 1, frameMax-7, make([]byte, frameMax-7), protocol.FrameEnd))
	add("heartbeat with a payload", opened, frameOf(protocol.FrameHeartbeat, 0, 1, 2, 3))
	add("heartbeat on 1", opened, frameOf(protocol.FrameHeartbeat, 1))
	add("ten thousand heartbeats", opened, bytes.Repeat(frameOf(protocol.FrameHeartbeat, 0), 10_000))
	add("another protocol header", opened, protocol.ProtocolHeader[:])
	add("an HTTP request", opened, []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	add("zeros", opened, make([]byte, 10_000))
	add("ones", opened, bytes.Repeat([]byte{0xff}, 10_000))
	add("header in place of a body", flooding, protocol.AppendHeaderFrame(nil, 1, 1, []byte{0, 0}))
	add("method in place of a body", flooding, get)
	add("body longer than announced", flooding, protocol.AppendBodyFrames(nil, 1, make([]byte, brokenSize+1), frameMax))
	add("body longer than announced, in two", flooding, protocol.AppendBodyFrames(nil, 1, make([]byte, brokenSize+1), brokenSize+8))
	add("ten thousand empty bodies", flooding, bytes.Repeat(frameOf(protocol.FrameBody, 1), 10_000))
	add("body in place of a header", midway, protocol.AppendBodyFrames(nil, 1, []byte("x"), frameMax))
	add("body alone", opened, protocol.AppendBodyFrames(nil, 1, []byte("x"), frameMax))
	add("empty body alone", opened, frameOf(protocol.FrameBody, 1))
	add("header alone", opened, protocol.AppendHeaderFrame(nil, 1, 0, []byte{0, 0}))
}

// every returns one method of each type, with invalid arguments, or arguments that refer to nothing.
func every() []protocol.Method {
	return []protocol.Method{
		&protocol.ConnectionStart{}, &protocol.ConnectionStartOk{}, &protocol.ConnectionSecure{}, &protocol.ConnectionSecureOk{},
		&protocol.ConnectionTune{}, &protocol.ConnectionTuneOk{}, &protocol.ConnectionOpen{}, &protocol.ConnectionOpenOk{},
		&protocol.ConnectionClose{}, &protocol.ConnectionCloseOk{}, &protocol.ConnectionBlocked{}, &protocol.ConnectionUnblocked{},
		&protocol.ConnectionUpdateSecret{}, &protocol.ConnectionUpdateSecretOk{},
		&protocol.ChannelOpen{}, &protocol.ChannelOpenOk{}, &protocol.ChannelFlow{}, &protocol.ChannelFlowOk{},
		&protocol.ChannelClose{}, &protocol.ChannelCloseOk{}, &protocol.AccessRequest{}, &protocol.AccessRequestOk{},
		&protocol.ExchangeDeclare{}, &protocol.ExchangeDeclareOk{}, &protocol.ExchangeDelete{}, &protocol.ExchangeDeleteOk{},
		&protocol.ExchangeBind{}, &protocol.ExchangeBindOk{}, &protocol.ExchangeUnbind{}, &protocol.ExchangeUnbindOk{},
		&protocol.QueueDeclare{Passive: true, Queue: "none"}, &protocol.QueueDeclareOk{}, &protocol.QueueBind{}, &protocol.QueueBindOk{},
		&protocol.QueuePurge{}, &protocol.QueuePurgeOk{}, &protocol.QueueDelete{}, &protocol.QueueDeleteOk{},
		&protocol.QueueUnbind{}, &protocol.QueueUnbindOk{},
		&protocol.BasicQos{PrefetchSize: 1}, &protocol.BasicQosOk{}, &protocol.BasicConsume{}, &protocol.BasicConsumeOk{},
		&protocol.BasicCancel{ConsumerTag: "none"}, &protocol.BasicCancelOk{}, &protocol.BasicPublish{Exchange: "none"}, &protocol.BasicReturn{},
		&protocol.BasicDeliver{}, &protocol.BasicGet{}, &protocol.BasicGetOk{}, &protocol.BasicGetEmpty{},
		&protocol.BasicAck{DeliveryTag: 9}, &protocol.BasicReject{DeliveryTag: 9}, &protocol.BasicRecoverAsync{}, &protocol.BasicRecover{},
		&protocol.BasicRecoverOk{}, &protocol.BasicNack{DeliveryTag: 9},
		&protocol.TxSelectOk{}, &protocol.TxCommit{}, &protocol.TxCommitOk{}, &protocol.TxRollback{}, &protocol.TxRollbackOk{},
		&protocol.ConfirmSelectOk{},
	}
}

func brokenStates(add adder) {
	for _, m := range every() {
		name := m.Key().String()
		add(name+" on an open channel", opened, method(1, m))
		add(name+" on channel 0", opened, method(0, m))
		add(name+" on no channel", opened, method(77, m))
		add(name+" within a message", midway, method(1, m))
		if m.Key().Class() != 10 || m.Key().Method() != 11 {
			add(name+" in place of start-ok", started, method(0, m))
		}
		if m.Key().Class() != 10 || m.Key().Method() != 31 {
			add(name+" in place of tune-ok", tuned, method(0, m))
		}
		if p := method(1, m); len(p) > 12 { // it has arguments
			payload := p[7 : len(p)-1]
			add(name+" without its arguments", opened, frameOf(1, 1, payload[:4]...))
			add(name+" but for the last byte", opened, frameOf(1, 1, payload[:len(payload)-1]...))
			add(name+" and a byte", opened, frameOf(1, 1, append(bytes.Clone(payload), 0)...))
		}
	}
	for _, id := range [][2]uint16{{0, 0}, {10, 0}, {10, 99}, {20, 12}, {40, 41}, {50, 99}, {60, 0}, {60, 90}, {60, 255}, {70, 10}, {85, 20}, {90, 40}, {0xffff, 0xffff}} {
		add(fmt.Sprintf("method {%d,%d}", id[0], id[1]), opened, frameOf(1, 1, byte(id[0]>>8), byte(id[0]), byte(id[1]>>8), byte(id[1])))
	}
}

func brokenArguments(add adder) {
	long := strings.Repeat("x", 255)
	for name, m := range map[string]protocol.Method{
		"queue name not UTF-8":           &protocol.QueueDeclare{Queue: "a\xff\xfeb", AutoDelete: true},
		"queue name with a NUL":          &protocol.QueueDeclare{Queue: "a\x00b", Exclusive: true},
		"queue name of 255 bytes":        &protocol.QueueDeclare{Queue: long, Exclusive: true},
		"queue of the broker's":          &protocol.QueueDeclare{Queue: "amq.mine"},
		"exchange of the broker's":       &protocol.ExchangeDeclare{Exchange: "amq.mine", Type: "fanout"},
		"exchange without a name":        &protocol.ExchangeDeclare{Type: "fanout"},
		"exchange of no type":            &protocol.ExchangeDeclare{Exchange: "x"},
		"exchange of a type not UTF-8":   &protocol.ExchangeDeclare{Exchange: "x", Type: "\xff"},
		"exchange of another type":       &protocol.ExchangeDeclare{Exchange: "amq.direct", Type: "topic", Durable: true},
		"exchange of a long type":        &protocol.ExchangeDeclare{Exchange: "x", Type: long},
		"delete the default exchange":    &protocol.ExchangeDelete{},
		"bind to the default exchange":   &protocol.QueueBind{Queue: "bystander"},
		"bind an exchange to itself":     &protocol.ExchangeBind{Destination: "amq.fanout", Source: "none"},
		"publish to a name not UTF-8":    &protocol.BasicPublish{Exchange: "\xff"},
		"consume what is not there":      &protocol.BasicConsume{Queue: "none"},
		"ack 0 alone":                    &protocol.BasicAck{},
		"ack the largest":                &protocol.BasicAck{DeliveryTag: 1<<64 - 1, Multiple: true},
		"nack the largest":               &protocol.BasicNack{DeliveryTag: 1<<64 - 1, Multiple: true},
		"reject the largest":             &protocol.BasicReject{DeliveryTag: 1<<64 - 1},
		"prefetch by bytes":              &protocol.BasicQos{PrefetchSize: 1<<32 - 1},
		"channel.close with a long text": &protocol.ChannelClose{ReplyText: long, ReplyCode: 0xffff},
		"flow stopped by the client":     &protocol.ChannelFlow{},
		"recover without requeue":        &protocol.BasicRecover{},
		"last queue, but there is none":  &protocol.BasicGet{},
	} {
		add("arguments: "+name, opened, method(1, m))
	}
	for _, arg := range []string{"x-expires", "x-message-ttl", "x-max-length", "x-max-length-bytes", "x-max-priority", "x-delivery-limit"} {
		for name, v := range map[string]any{
			"negative": int64(-1), "zero": int32(0), "enormous": int64(1<<63 - 1), "text": "1000", "a float": 1.5, "a list": protocol.Array{int32(1)}, "nothing": nil,
		} {
			add("queue with "+arg+" "+name, opened, method(1, &protocol.QueueDeclare{Queue: arg + " " + name, Exclusive: true, Arguments: protocol.Table{{Key: arg, Value: v}}}))
		}
	}
	for _, arg := range []string{"x-dead-letter-exchange", "x-dead-letter-routing-key", "x-overflow", "x-queue-mode", "x-queue-type", "x-dead-letter-strategy", "x-single-active-consumer"} {
		for name, v := range map[string]any{"a number": int32(7), "nonsense": "nonsense \xff", "nothing": nil} {
			add("queue with "+arg+" "+name, opened, method(1, &protocol.QueueDeclare{Queue: arg + " " + name, Exclusive: true, Arguments: protocol.Table{{Key: arg, Value: v}}}))
		}
	}
}

// tableOf returns a field table with any content, whose length field is too large by more.
func tableOf(content []byte, more int) []byte {
	n := uint32(len(content) + more)
	return append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, content...)
}

func field(kind byte, value ...byte) []byte { return append([]byte{1, 'k', kind}, value...) }

// nested returns nested lists or tables, so many levels deep.
func nested(kind byte, levels int) []byte {
	head := []byte{1, 'k', kind}
	var all []byte
	if kind == 'A' { // only the outermost has a key
		all, head = head[:2], head[2:]
	}
	for level := levels - 1; level >= 0; level-- {
		all = append(append(all, head...), tableOf(nil, level*(len(head)+4))...)
	}
	return all
}

func tables() map[string][]byte {
	all := map[string][]byte{
		"longer than its frame":       tableOf(field('t', 1), 1),
		"of 4 GiB":                    append([]byte{0xff, 0xff, 0xff, 0xff}, field('t', 1)...),
		"shorter than its fields":     tableOf(field('t', 1), -1),
		"without a type":              tableOf([]byte{1, 'k'}, 0),
		"with a key that lies":        tableOf([]byte{9, 'k', 't', 1}, 0),
		"with an empty key":           tableOf([]byte{0, 't', 1}, 0),
		"with a key not UTF-8":        tableOf([]byte{2, 0xff, 0xfe, 't', 1}, 0),
		"with a key of 255 bytes":     tableOf(append(append([]byte{255}, bytes.Repeat([]byte{'k'}, 255)...), 't', 1), 0),
		"with a key twice":            tableOf(append(field('t', 1), field('I', 0, 0, 0, 1)...), 0),
		"with a text that lies":       tableOf(field('S', 0xff, 0xff, 0xff, 0xff, 'x'), 0),
		"with a text not UTF-8":       tableOf(field('S', 0, 0, 0, 2, 0xff, 0xfe), 0),
		"with bytes that lie":         tableOf(field('x', 0, 0, 0, 9, 1), 0),
		"with a list that lies":       tableOf(field('A', 0, 0, 0, 9, 't', 1), 0),
		"with a list cut in a field":  tableOf(field('A', 0, 0, 0, 3, 't', 1, 'I'), 0),
		"with a table that lies":      tableOf(field('F', 0, 0, 0, 9, 1, 'k', 't', 1), 0),
		"with a table cut in a field": tableOf(field('F', 0, 0, 0, 3, 1, 'k', 'I'), 0),
		"with a decimal of scale 255": tableOf(field('D', 255, 0xff, 0xff, 0xff, 0xff), 0),
		"with a boolean of 2":         tableOf(field('t', 2), 0),
		"with a float that is none":   tableOf(field('d', 0x7f, 0xf8, 0, 0, 0, 0, 0, 1), 0),
		"with the last second":        tableOf(field('T', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), 0),
		"with 15000 lists in lists":   tableOf(nested('A', 15_000), 0),
		"with 15000 tables in tables": tableOf(nested('F', 15_000), 0),
		"with 120000 nothings":        tableOf(append(append([]byte{1, 'k', 'A'}, tableOf(nil, 120_000)...), bytes.Repeat([]byte{'V'}, 120_000)...), 0),
		"with 30000 fields":           tableOf(bytes.Repeat([]byte{1, 'k', 'V'}, 30_000), 0),
	}
	sizes := map[byte]int{
		't': 1, 'b': 1, 'B': 1, 's': 2, 'u': 2, 'I': 4, 'i': 4, 'l': 8, 'L': 8, 'f': 4, 'd': 8, 'D': 5, 'S': 4, 'A': 4, 'T': 8, 'F': 4, 'x': 4,
	}
	for kind, size := range sizes {
		all[fmt.Sprintf("with a %c cut short", kind)] = tableOf(field(kind, make([]byte, size-1)...), 0)
	}
	for _, kind := range []byte{0, ' ', '0', 'C', 'G', 'U', 'Z', 'a', 'c', 'e', 'z', 0x7f, 0x80, 0xff} {
		all[fmt.Sprintf("with a field of type %#x", kind)] = tableOf(field(kind, 0, 0, 0, 0, 0, 0, 0, 0), 0)
	}
	return all
}

func brokenTables(add adder) {
	for name, table := range tables() {
		declare := append([]byte{0, 50, 0, 10, 0, 0, byte(len(name))}, name...)
		declare = append(append(declare, 0b100), table...) // exclusive
		add("arguments "+name, opened, raw(1, 1, uint32(len(declare)), declare, protocol.FrameEnd))
		header := append([]byte{0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0}, table...) // headers, no body
		add("headers "+name, midway, raw(2, 1, uint32(len(header)), header, protocol.FrameEnd))
		hello := append([]byte{0, 10, 0, 11}, table...)
		hello = append(hello, "\x05PLAIN\x00\x00\x00\x0c\x00guest\x00guest\x05en_US"...)
		add("client properties "+name, started, raw(1, 0, uint32(len(hello)), hello, protocol.FrameEnd))
	}
}

func brokenHeaders(add adder) {
	header := func(name string, payload ...byte) {
		add("header "+name, midway, frameOf(protocol.FrameHeader, 1, payload...))
	}
	front := func(class byte, weight byte, size ...byte) []byte {
		return append([]byte{0, class, 0, weight}, append(make([]byte, 8-len(size)), size...)...)
	}
	for n := range 14 {
		header(fmt.Sprintf("of %d bytes", n), append(front(60, 0), 0, 0)[:n]...)
	}
	for _, class := range []byte{0, 10, 50, 61, 255} {
		header(fmt.Sprintf("of class %d", class), append(front(class, 0), 0, 0)...)
	}
	header("with a weight", append(front(60, 1), 0, 0)...)
	header("of a body of 2^64-1 bytes", append(front(60, 0, 255, 255, 255, 255, 255, 255, 255, 255), 0, 0)...)
	header("of a body of 2^63 bytes", append(front(60, 0, 128, 0, 0, 0, 0, 0, 0, 0), 0, 0)...)
	header("of a body of 1 GiB", append(front(60, 0, 0x40, 0, 0, 0), 0, 0)...)
	header("with bytes behind", append(front(60, 0), 0, 0, 1, 2, 3)...)
	header("that goes on and does not", append(front(60, 0), 0, 1)...)
	header("that goes on", append(front(60, 0), 0, 1, 0, 0)...)
	header("that goes on for ever", append(front(60, 0), bytes.Repeat([]byte{0, 1}, 5000)...)...)
	header("with a flag that is none", append(front(60, 0), 0, 2)...)
	header("with all flags and nothing", append(front(60, 0), 0xff, 0xfc)...)
	for bit, name := range []string{
		"content-type", "content-encoding", "headers", "delivery-mode", "priority", "correlation-id", "reply-to", "expiration",
		"message-id", "timestamp", "type", "user-id", "app-id", "cluster-id",
	} {
		flags := uint16(1) << (15 - bit)
		header("without its "+name, append(front(60, 0), byte(flags>>8), byte(flags))...)
		header("with a "+name+" that lies", append(front(60, 0), byte(flags>>8), byte(flags), 200, 'x')...)
	}
	text := func(flags uint16, value string) []byte {
		return append(append(front(60, 0), byte(flags>>8), byte(flags), byte(len(value))), value...)
	}
	for _, value := range []string{"", "x", "-1", "1.5", "1e3", " 1", "99999999999999999999", "315360000001", "\xff"} {
		header(fmt.Sprintf("with an expiration of %q", value), text(1<<8, value)...)
	}
	header("with another user's id", text(1<<4, "somebody")...)
	header("with a user id not UTF-8", text(1<<4, "\xff")...)
	for _, mode := range []byte{0, 3, 255} {
		header(fmt.Sprintf("with a delivery-mode of %d", mode), append(front(60, 0), 0x10, 0, mode)...)
	}
	header("with a priority of 255", append(front(60, 0), 0x08, 0, 255)...)
}

func brokenHandshakes(add adder) {
	for name, say := range map[string]string{
		"AMQP 0-8": "AMQP\x01\x01\x08\x00", "AMQP 0-9": "AMQP\x01\x01\x00\x09", "AMQP 0-10": "AMQP\x01\x01\x00\x0a", "AMQP 1.0": "AMQP\x00\x01\x00\x00",
		"AMQP 1.0 over SASL": "AMQP\x03\x01\x00\x00", "AMQP 1.0 over TLS": "AMQP\x02\x01\x00\x00", "AMQP 0-9-2": "AMQP\x00\x00\x09\x02",
		"TLS": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "HTTP": "GET / HTTP/1.1\r\n\r\n", "STOMP": "CONNECT\naccept-version:1.2\n\n\x00",
		"MQTT": "\x10\x0c\x00\x04MQTT\x04\x02\x00\x3c\x00\x00", "zeros": "\x00\x00\x00\x00\x00\x00\x00\x00", "amqp": "amqp\x00\x00\x09\x01",
		"a method": string(method(0, &protocol.ConnectionStartOk{})),
	} {
		add("first "+name, silent, []byte(say))
	}
	hello := func(mechanism, response, locale string) []byte {
		return method(0, &protocol.ConnectionStartOk{Mechanism: mechanism, Response: []byte(response), Locale: locale})
	}
	for name, x := range map[string][3]string{
		"no mechanism": {"", "\x00guest\x00guest", "en_US"}, "a mechanism of its own": {"MAGIC", "", "en_US"}, "a mechanism not UTF-8": {"\xff", "", "en_US"},
		"EXTERNAL": {"EXTERNAL", "", "en_US"}, "no response": {"PLAIN", "", "en_US"}, "a response without NULs": {"PLAIN", "guestguest", "en_US"},
		"a response with one NUL": {"PLAIN", "\x00guest", "en_US"}, "a response with many NULs": {"PLAIN", "\x00\x00\x00\x00\x00", "en_US"},
		"a wrong password": {"PLAIN", "\x00guest\x00wrong", "en_US"}, "an unknown user": {"PLAIN", "\x00nobody\x00guest", "en_US"},
		"a response of 100 KB": {"PLAIN", strings.Repeat("\x00guest", 16_000), "en_US"}, "a user not UTF-8": {"PLAIN", "\x00\xff\x00guest", "en_US"},
		"AMQPLAIN cut short": {"AMQPLAIN", "\x05LOGINS\x00\x00", "en_US"}, "AMQPLAIN of nothing": {"AMQPLAIN", "", "en_US"},
		"AMQPLAIN without a password": {"AMQPLAIN", "\x05LOGINS\x00\x00\x00\x05guest", "en_US"}, "AMQPLAIN with numbers": {"AMQPLAIN", "\x05LOGINI\x00\x00\x00\x05\x08PASSWORDI\x00\x00\x00\x01", "en_US"},
		"no locale": {"PLAIN", "\x00nobody\x00x", ""},
	} {
		add("login with "+name, started, hello(x[0], x[1], x[2]))
	}
	for name, m := range map[string]protocol.ConnectionTuneOk{
		"a frame-max of 1": {FrameMax: 1}, "a frame-max of 4095": {FrameMax: 4095}, "a larger frame-max": {FrameMax: frameMax + 1},
		"the largest frame-max": {FrameMax: 1<<32 - 1}, "more channels": {FrameMax: frameMax, ChannelMax: 0xffff},
	} {
		add("tune-ok with "+name, tuned, method(0, &m))
	}
	tune := method(0, &protocol.ConnectionTuneOk{ChannelMax: 10, FrameMax: 4096})
	for name, say := range map[string][]byte{
		"tune-ok twice":            tune,
		"open of no virtual host":  method(0, &protocol.ConnectionOpen{VirtualHost: "none"}),
		"open of a name not UTF-8": method(0, &protocol.ConnectionOpen{VirtualHost: "\xff"}),
		"open of ''":               method(0, &protocol.ConnectionOpen{}),
		"open on a channel":        method(1, &protocol.ConnectionOpen{VirtualHost: "/"}),
		"a channel before open":    method(1, &protocol.ChannelOpen{}),
		"a body before open":       protocol.AppendBodyFrames(nil, 1, []byte("x"), 0),
		"a frame beyond frame-max": raw(1, 0, 5000, make([]byte, 5000), protocol.FrameEnd),
		"garbage":                  []byte(strings.Repeat("garbage ", 100)),
	} {
		add("behind tune-ok "+name, tuned, slices.Concat(tune, say))
	}
	for _, at := range []phase{silent, started, tuned} {
		stage := cmp.Or(map[phase]string{started: "start", tuned: "tune"}[at], "nothing")
		add("behind "+stage+": a heartbeat on 0", at, frameOf(protocol.FrameHeartbeat, 0))
		add("behind "+stage+": a header", at, protocol.AppendHeaderFrame(nil, 0, 0, []byte{0, 0}))
		add("behind "+stage+": a frame of 4 GiB", at, raw(1, 0, 1<<32-1, []byte("x"), 0))
		add("behind "+stage+": ones", at, bytes.Repeat([]byte{0xff}, 5000))
	}
}
